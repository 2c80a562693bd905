/* SPDX-License-Identifier: MIT */
/*
 * Is the comparison fair? What differs between the runs besides their speed, written before any number:
 * the chip, how many, hosts, steps, what the programs take in and how much they compute.
 */
#include "compare/parts.h"

#include "base/check.h"
#include "result/schema/ops.def"
#include "result/schema/capture.def"
#include "result/schema/compare.def"

#include <inttypes.h>

#define KERNELS_SHARED 0.5 /* of the time: below it the kernels are another model's */

enum fairness { FAIR, WITH_CARE, UNFAIR };
static const char *const fairness_names[] = { "yes", "with care", "no" };

struct checking {
	struct comparing *comparing;
	struct ts_table *table;
	size_t run;
	struct variants variants[2]; /* of the baseline, of the run */
	enum fairness worst;
};

#define DIFFERENCE_CELLS(X) \
	X(run, ts_text(ts_bytes_of(label))) \
	X(what, ts_text(ts_bytes_of(what))) \
	X(baseline, ts_text(ts_result_text(result, "%.*s", TS_ARG(base)))) \
	X(other, ts_text(ts_result_text(result, "%.*s", TS_ARG(other)))) \
	X(comparable, ts_text(ts_bytes_of(fairness_names[fairness]))) \
	X(meaning, ts_text(ts_bytes_of(meaning)))

/* What differs, in a row and in a sentence. */
static void add_difference(struct checking *checking, const char *what, struct ts_bytes base,
			   struct ts_bytes other, enum fairness fairness, const char *meaning)
{
	struct ts_result *result = checking->comparing->result;
	const char *label = checking->comparing->labels[checking->run];

	checking->worst = TS_MAX(checking->worst, fairness);
	ts_result_note(result, "%s: %s: %.*s, baseline %.*s: %s", label, what, TS_ARG(other),
		       TS_ARG(base), meaning);
	TS_CELLS(result, checking->table, compare_differences, DIFFERENCE_CELLS);
}

static struct ts_bytes number(struct checking *checking, size_t n)
{
	return ts_result_text(checking->comparing->result, "%zu", n);
}

static struct ts_bytes fair_chip_of(const struct ts_profile *profile)
{
	struct ts_bytes kind = { NULL, 0 };

	if (profile->nr_devices > 0)
		kind = profile->devices[0].kind;
	return kind.n ? kind : TS_LIT("unknown");
}

static struct ts_bytes fair_kind_of(const struct ts_profile *profile)
{
	if (profile->nr_devices == 0)
		return TS_LIT("no device");
	if (ts_profile_is_of_cpus(profile))
		return TS_LIT("CPU");
	return profile->devices[0].is_gpu ? TS_LIT("GPU") : TS_LIT("TPU");
}

static void fair_check_devices(struct checking *checking, const struct ts_profile *base,
			       const struct ts_profile *other)
{
	if (!ts_bytes_eq(fair_kind_of(base), fair_kind_of(other)))
		add_difference(checking, "kind of session", fair_kind_of(base), fair_kind_of(other),
			       UNFAIR, "times are of different things");
	else if (!ts_bytes_eq(fair_chip_of(base), fair_chip_of(other)))
		add_difference(checking, "chip", fair_chip_of(base), fair_chip_of(other), WITH_CARE,
			       "the difference is the chips' as well as the programs'");
	if (base->nr_devices != other->nr_devices)
		add_difference(checking, "devices", number(checking, base->nr_devices),
			       number(checking, other->nr_devices), WITH_CARE,
			       "times are of one core; work may be shared out differently");
	if (base->nr_hosts != other->nr_hosts)
		add_difference(checking, "hosts", number(checking, base->nr_hosts),
			       number(checking, other->nr_hosts), WITH_CARE,
			       "some hosts may be missing from a capture");
}

static struct ts_bytes fair_source_of(const struct ts_measured *measured)
{
	struct ts_bytes source = ts_measured_step_source(measured);

	return source.n > 0 ? source : TS_LIT("none");
}

static void fair_check_steps(struct checking *checking, const struct ts_measured *base,
			     const struct ts_measured *other)
{
	struct ts_bytes ours = fair_source_of(base), theirs = fair_source_of(other);

	if (ts_bytes_eq(ours, theirs))
		return;
	if (base->nr_steps == 0 || other->nr_steps == 0)
		add_difference(checking, "steps", ours, theirs, WITH_CARE,
			       "wall times are compared, which grow with what was captured");
	else
		add_difference(
			checking, "steps", ours, theirs, WITH_CARE,
			"marked steps hold the time between executions, inferred ones may not, and "
			"a host's are the time of its program");
}

static struct ts_bytes fair_verdict_of(const struct ts_measured *measured)
{
	struct ts_value verdict = TS_GET(measured->capture, capture, verdict);

	return verdict.type == TS_VALUE_TEXT ? verdict.as.s : TS_LIT("unknown");
}

static struct ts_bytes fair_way_of(const struct ts_profile *profile)
{
	return ts_profile_predicted(profile).n > 0 ? TS_LIT("predicted") : TS_LIT("measured");
}

/* Said of two predictions as well: no time of either was measured. */
static void check_predicted(struct checking *checking, const struct ts_profile *base,
			    const struct ts_profile *other)
{
	bool neither = ts_profile_predicted(base).n == 0 && ts_profile_predicted(other).n == 0;

	if (!neither)
		add_difference(checking, "times", fair_way_of(base), fair_way_of(other), WITH_CARE,
			       "a predicted step did not run: its times are worked out");
}

/* A capture that does not show what it is taken for spoils any comparison. */
static void fair_check_capture(struct checking *checking, const struct ts_measured *base,
			       const struct ts_measured *other)
{
	struct ts_bytes ours = fair_verdict_of(base), theirs = fair_verdict_of(other);
	bool bad = ts_bytes_is(ours, "misleading") || ts_bytes_is(theirs, "misleading") ||
		   ts_bytes_is(ours, "empty") || ts_bytes_is(theirs, "empty");

	if (bad)
		add_difference(checking, "capture", ours, theirs, UNFAIR,
			       "run `tpusight check` for why this profile is unreliable");
}

/* Of each name the module that ran most, of equal ones the first. Rows of modules[] stand in the
 * profile's order. */
static enum ts_status find_mains(const struct comparing *comparing, size_t run,
				 struct ts_strmap *mains, struct ts_error *err)
{
	const struct ts_profile *profile = comparing->runs[run].profile;
	const struct ts_table *rows = comparing->measured[run].modules;

	for (size_t m = 0; m < profile->nr_modules; m++) {
		uint32_t known = ts_strmap_find(mains, profile->modules[m].name);

		if (known != TS_NONE &&
		    ts_value_int(TS_CELL_OF(rows, ops_modules, m, executions)) <=
			    ts_value_int(TS_CELL_OF(rows, ops_modules, known, executions)))
			continue;
		if (!ts_strmap_set(mains, profile->modules[m].name, (uint32_t)m))
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

static struct ts_bytes dtype_of(struct ts_bytes shape)
{
	return ts_bytes_cut(shape, 0, ts_bytes_find(shape, "["));
}

/* The first parameter that differs says enough. */
static void check_parameters(struct checking *checking, const struct ts_hlo_module *base,
			     const struct ts_hlo_module *other)
{
	struct ts_arena *scratch = &checking->comparing->scratch;
	uint32_t nr =
		TS_MAX(base->comps[base->entry].nr_params, other->comps[other->entry].nr_params);

	for (uint32_t i = 0; i < nr; i++) {
		struct ts_bytes ours = ts_compare_parameter(base, i, scratch);
		struct ts_bytes theirs = ts_compare_parameter(other, i, scratch);
		struct ts_bytes what =
			ts_result_text(checking->comparing->result, "parameter %" PRIu32 " of %.*s",
				       i, TS_ARG(base->name));

		if (ts_bytes_eq(ours, theirs) || !what.p)
			continue;
		add_difference(checking, (const char *)what.p, ours.n ? ours : TS_LIT("none"),
			       theirs.n ? theirs : TS_LIT("none"), WITH_CARE,
			       ts_bytes_eq(dtype_of(ours), dtype_of(theirs))
				       ? "the programs take in arrays of other shapes: a step is "
					 "other work"
				       : "the programs take in other arrays: a step is other work");
		return;
	}
}

/* The programs of one name, which both runs have: are they called with the same shapes? */
static void check_variants(struct checking *checking, struct ts_bytes name)
{
	const struct variants *base = &checking->variants[0], *other = &checking->variants[1];
	const struct ts_measured *measured = checking->comparing->measured;
	const struct ts_hlo_module *ours =
		ts_variants_only_in(base, other, name, measured[0].modules);
	const struct ts_hlo_module *theirs =
		ts_variants_only_in(other, base, name, measured[checking->run].modules);
	struct ts_bytes what =
		ts_result_text(checking->comparing->result, "variants of %.*s", TS_ARG(name));

	if (ours && theirs)
		check_parameters(checking, ours, theirs);
	else if ((ours || theirs) && what.p)
		add_difference(checking, (const char *)what.p,
			       number(checking, ts_variants_count(base, name)),
			       number(checking, ts_variants_count(other, name)), WITH_CARE,
			       "one of them also has arrays of other shapes: a part of it is other "
			       "work");
}

static void fair_check_names(struct checking *checking, const struct ts_strmap *ours,
			     const struct ts_strmap *theirs)
{
	const struct comparing *comparing = checking->comparing;
	const struct ts_profile *base = comparing->runs[0].profile;
	const struct ts_profile *other = comparing->runs[checking->run].profile;
	size_t nr_shared = 0;

	for (uint32_t m = 0; m < base->nr_modules; m++) {
		struct ts_bytes name = base->modules[m].name;
		bool is_shared = ts_strmap_find(theirs, name) != TS_NONE;

		nr_shared += is_shared;
		if (is_shared && ts_strmap_find(ours, name) == m)
			check_variants(checking, name);
	}
	if (nr_shared == 0 && base->nr_modules > 0 && other->nr_modules > 0)
		add_difference(
			checking, "modules", base->modules[0].name, other->modules[0].name,
			WITH_CARE,
			"no program has the same name in both: ops are matched by scope and shape");
}

static enum ts_status check_modules(struct checking *checking, struct ts_error *err)
{
	struct ts_strmap ours = { NULL, 0, 0 }, theirs = { NULL, 0, 0 };
	enum ts_status st = find_mains(checking->comparing, 0, &ours, err);

	if (st == TS_OK)
		st = find_mains(checking->comparing, checking->run, &theirs, err);
	if (st == TS_OK)
		fair_check_names(checking, &ours, &theirs);
	ts_strmap_release(&ours);
	ts_strmap_release(&theirs);
	return st;
}

static enum ts_status check_programs(struct checking *checking, struct ts_error *err)
{
	struct comparing *comparing = checking->comparing;
	size_t runs[] = { 0, checking->run };
	enum ts_status st = TS_OK;

	memset(checking->variants, 0, sizeof(checking->variants));
	for (size_t i = 0; st == TS_OK && i < TS_NELEM(runs); i++)
		st = ts_variants_init(&checking->variants[i], comparing->runs[runs[i]].profile,
				      &comparing->scratch, err);
	if (st == TS_OK)
		st = check_modules(checking, err);
	for (size_t i = 0; i < TS_NELEM(runs); i++)
		ts_variants_release(&checking->variants[i]);
	return st;
}

/* The share of the ops' time that belongs to ops which OTHER has by name. NaN: unknown. */
static double shared_time(const struct ts_measured *measured, const struct ts_measured *other,
			  struct ts_results *results)
{
	struct ts_strmap names = { NULL, 0, 0 };
	double shared = 0, all = 0;
	bool good = true;

	for (size_t i = 0; other->ops && i < other->ops->nr_rows && good; i++)
		good = ts_strmap_set(&names,
				     ts_value_text(TS_CELL_OF(other->ops, ops_ops, i, name)),
				     (uint32_t)i);
	for (size_t i = 0; measured->ops && i < measured->ops->nr_rows && good; i++) {
		double ps = ts_value_number(TS_CELL_OF(measured->ops, ops_ops, i, exclusive_ps));

		all += ps;
		if (ts_strmap_find(&names, ts_value_text(TS_CELL_OF(measured->ops, ops_ops, i,
								    name))) != TS_NONE)
			shared += ps;
	}
	ts_strmap_release(&names);
	results->failed |= !good;
	return good && all > 0 ? shared / all : NAN;
}

/*
 * A trace has kernels and not programs: runs that share few of them are of other models, or
 * work on other shapes.
 */
static void check_kernels(struct checking *checking, const struct ts_measured *base,
			  const struct ts_measured *other)
{
	struct ts_result *result = checking->comparing->result;
	double ours = shared_time(base, other, result->owner);
	double theirs = shared_time(other, base, result->owner);

	if (ours < KERNELS_SHARED || theirs < KERNELS_SHARED)
		add_difference(checking, "time in kernels of both",
			       ts_result_text(result, "%.1f %%", ours * 100),
			       ts_result_text(result, "%.1f %%", theirs * 100), WITH_CARE,
			       "other models, or other shapes: a step is other work");
}

static int64_t world_size(const struct ts_profile *profile)
{
	return profile->nr_hosts > 0 ? profile->hosts[0].world_size : TS_UNKNOWN;
}

static void check_world(struct checking *checking, const struct ts_profile *base,
			const struct ts_profile *other)
{
	int64_t ours = world_size(base), theirs = world_size(other);

	if (ours > 0 && theirs > 0 && ours != theirs)
		add_difference(checking, "ranks of the job", number(checking, (size_t)ours),
			       number(checking, (size_t)theirs), WITH_CARE,
			       "work and communication are shared out differently");
}

static bool fair_has_modules(const struct comparing *comparing, size_t run)
{
	return comparing->runs[run].profile->nr_modules > 0;
}

static enum ts_status check_run(struct checking *checking, struct ts_error *err)
{
	struct comparing *comparing = checking->comparing;
	const struct ts_compare_run *base = &comparing->runs[0];
	const struct ts_compare_run *other = &comparing->runs[checking->run];

	fair_check_devices(checking, base->profile, other->profile);
	fair_check_steps(checking, &comparing->measured[0], &comparing->measured[checking->run]);
	fair_check_capture(checking, &comparing->measured[0], &comparing->measured[checking->run]);
	check_predicted(checking, base->profile, other->profile);
	check_world(checking, base->profile, other->profile);
	if (!fair_has_modules(comparing, 0) && !fair_has_modules(comparing, checking->run))
		check_kernels(checking, &comparing->measured[0],
			      &comparing->measured[checking->run]);
	return check_programs(checking, err);
}

enum ts_status ts_compare_fairness(struct comparing *comparing, struct ts_error *err)
{
	struct checking checking = {
		.comparing = comparing,
		.table = TS_TABLE(comparing->result, compare_differences),
	};
	enum ts_status st = TS_OK;
	size_t nr_rows;

	TS_ASSERT(comparing);
	TS_ASSERT(comparing->nr > 1 && comparing->nr <= TS_COMPARE_MAX);
	for (checking.run = 1; st == TS_OK && checking.run < comparing->nr; checking.run++)
		st = check_run(&checking, err);
	if (st)
		return st;
	nr_rows = checking.table->nr_rows;
	TS_SET(comparing->result, compare, comparable,
	       ts_text(ts_bytes_of(fairness_names[checking.worst])));
	if (nr_rows == 0)
		ts_result_note(comparing->result,
			       "chip, devices, hosts, the source of steps and "
			       "%s are the same in all runs",
			       fair_has_modules(comparing, 0) ? "the programs' parameters"
							      : "most of the kernels");
	return TS_OK;
}
