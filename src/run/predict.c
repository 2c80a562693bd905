/* SPDX-License-Identifier: MIT */
/* From compiled modules to a session of a step that did not run. */
#include "run/predict.h"

#include "analysis/kit/op_time.h"
#include "base/check.h"
#include "codec/pb.h"
#include "codec/xspace.h"
#include "io/file.h"
#include "io/newfile.h"
#include "write/predicted.h"

#define SESSION_FILE "/plugins/profile/predicted/predicted.xplane.pb"
#define DIR_MODE     0777

/* The chip table's names as profiles write them, where that is another; XProf knows these. */
static const struct {
	const char *name, *kind;
	bool has_megacore;
} kinds[] = {
	{ "TPU v4i", "TPU v4 Lite", false }, { "TPU v4", "TPU v4", true },
	{ "TPU v5e", "TPU v5 Lite", false }, { "TPU v5p", "TPU v5", true },
	{ "TPU v6e", "TPU v6 Lite", false },
};

static void set_kind(struct ts_predicted *predicted, const char *name)
{
	predicted->device_kind = name;
	for (size_t i = 0; i < TS_NELEM(kinds); i++)
		if (strcmp(kinds[i].name, name) == 0) {
			predicted->device_kind = kinds[i].kind;
			predicted->has_megacore = kinds[i].has_megacore;
		}
}

/* What is held of a module until it is written. */
struct held_module {
	struct ts_op_times times;
	struct ts_schedule schedule;
	struct ts_schedule_sum *sums;
	const char **basis;
};

static enum ts_status predict_module(struct held_module *one, const struct ts_profile *profile,
				     uint32_t module, const struct ts_rates *rates,
				     const struct ts_topology *topology, struct ts_error *err)
{
	size_t nr = (size_t)profile->modules[module].nr_instrs + 1;
	enum ts_status st;

	one->sums = calloc(nr, sizeof(*one->sums));
	one->basis = calloc(nr, sizeof(*one->basis));
	if (!one->sums || !one->basis)
		return ts_fail_nomem(err);
	st = ts_op_times_make(&one->times, profile, module, rates, topology, err);
	if (st)
		return st;
	for (size_t i = 0; i + 1 < nr; i++) {
		const struct ts_op_time *time = &one->times.items[i];

		if (time->kind != TS_TIME_NONE)
			one->basis[i] =
				time->unknown ? time->unknown : ts_time_basis_name(time->basis);
	}
	one->schedule = (struct ts_schedule){ .module = one->times.module,
					      .ops = one->times.walked,
					      .sums = one->sums,
					      .with_events = true };
	return ts_schedule_walk(&one->schedule, err);
}

static void predict_release(struct held_module *all, size_t nr)
{
	for (size_t i = 0; all && i < nr; i++) {
		ts_op_times_release(&all[i].times);
		ts_schedule_release(&all[i].schedule);
		free(all[i].sums);
		free(all[i].basis);
	}
	free(all);
}

static enum ts_status predict_make(const struct ts_run *run,
				   const struct ts_predict_options *options,
				   const struct ts_rates *rates, struct ts_buf *out,
				   struct ts_error *err)
{
	const struct ts_profile *profile = &run->profile;
	struct held_module *all = calloc(profile->nr_modules + 1, sizeof(*all));
	struct ts_predicted_module *modules = calloc(profile->nr_modules + 1, sizeof(*modules));
	struct ts_predicted predicted = { .modules = modules,
					  .nr_modules = profile->nr_modules,
					  .topology = options->topology,
					  .libtpu = options->libtpu,
					  .peak_flops_per_s = rates->peak_flops_per_s,
					  .hbm_bytes_per_s = rates->hbm_bytes_per_s,
					  .version = options->version };
	struct ts_topology topology;
	enum ts_status st = all && modules ? TS_OK : ts_fail_nomem(err);

	ts_topology_parse(options->topology, rates->name, &topology);
	predicted.nr_cores = topology.nr_cores * topology.nr_slices;
	set_kind(&predicted, rates->name);
	for (uint32_t i = 0; i < profile->nr_modules && st == TS_OK; i++) {
		st = predict_module(&all[i], profile, i, rates, &topology, err);
		modules[i] = (struct ts_predicted_module){ .module = &profile->modules[i],
							   .schedule = &all[i].schedule,
							   .basis = all[i].basis };
	}
	if (st == TS_OK)
		ts_predicted_write(out, &predicted);
	predict_release(all, profile->nr_modules);
	free(modules);
	return st == TS_OK && out->failed ? ts_fail_nomem(err) : st;
}

/* Does the device's plane of these bytes say that it was predicted? */
static bool predict_is_ours(struct ts_bytes bytes)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb space = ts_pb_of(bytes, &error);

	while (ts_pb_next(&space)) {
		struct ts_pb plane;

		if (space.field != XSPACE_PLANES)
			continue;
		plane = ts_pb_enter(&space);
		while (ts_pb_next(&plane)) {
			struct ts_pb entry, value;

			if (plane.field != XPLANE_STAT_METADATA)
				continue;
			entry = ts_pb_enter(&plane);
			while (ts_pb_next(&entry)) {
				if (entry.field != MAP_VALUE)
					continue;
				value = ts_pb_enter(&entry);
				while (ts_pb_next(&value))
					if (value.field == XSTATMETA_NAME &&
					    ts_bytes_is(ts_pb_bytes(&value), TS_PREDICTED_STAT))
						return true;
			}
		}
	}
	return false;
}

/* What is there already must be a predicted profile, or nothing. */
static enum ts_status predict_check_place(const char *path, struct ts_error *err)
{
	struct ts_input input = TS_INPUT_INIT;
	enum ts_status st;

	if (!ts_file_exists(path))
		return TS_OK;
	st = ts_input_open(&input, path, err);
	if (st == TS_OK && !predict_is_ours(input.bytes))
		st = ts_fail(
			err, TS_USAGE,
			"%s: is there already, and is no predicted profile (name another folder)",
			path);
	ts_input_release(&input);
	return st;
}

static enum ts_status predict_save(const char *path, struct ts_bytes bytes, struct ts_error *err)
{
	size_t made = 0;
	enum ts_status st = predict_check_place(path, err);

	if (st == TS_OK)
		st = ts_dir_make_for(path, DIR_MODE, &made, err);
	if (st == TS_OK)
		st = ts_newfile_save(path, bytes, err);
	if (st)
		ts_dir_unmake_for(path, made);
	return st;
}

enum ts_status ts_predict(const struct ts_run *run, const struct ts_predict_options *options,
			  char **path, struct ts_error *err)
{
	const struct ts_rates *rates;
	struct ts_buf out = TS_BUF_INIT, name = TS_BUF_INIT;
	enum ts_status st;

	TS_ASSERT(run && options && path);
	*path = NULL;
	rates = run->rates ? &run->rates[run->profile.nr_devices] : NULL;
	if (!ts_op_times_knows(rates))
		return ts_fail(err, TS_USAGE,
			       "nothing can be predicted for %.*s (name a TPU with --chip)",
			       TS_ARG(options->chip));
	ts_buf_printf(&name, "%s" SESSION_FILE, options->folder);
	st = name.failed ? ts_fail_nomem(err) : predict_make(run, options, rates, &out, err);
	if (st == TS_OK)
		st = predict_save((const char *)name.p, ts_buf_bytes(&out), err);
	if (st == TS_OK)
		*path = strdup((const char *)name.p);
	if (st == TS_OK && !*path)
		st = ts_fail_nomem(err);
	ts_buf_release(&out);
	ts_buf_release(&name);
	return st;
}
