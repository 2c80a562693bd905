/* SPDX-License-Identifier: MIT */
/*
 * Rules about host memory: copies whose other end is in S(5), and infeed, outfeed and host
 * send/recv. A copy's bytes are those of the array as laid out; what is measured is the time that
 * the core waits for it (the -done op), so bytes over wait is what the core gets, and more than the
 * link carries where a part of the copy was hidden.
 */
#include "analysis/doctor/doctor.h"
#include "analysis/settings_list.h"
#include "result/impossible.h"

#define MAX_MODULES  8
#define HIDDEN_SHARE 0.01 /* of the group's wait: below, a copy counts as hidden */

/* Is the op an infeed, an outfeed or a host send/recv, by XLA's category? */
static bool is_feed(const struct ts_op_fact *fact)
{
	return TS_OPCODE_IN(ts_opcode_whole(fact->category_id), TS_OPCODE_INFEED, TS_OPCODE_OUTFEED,
			    TS_OPCODE_SEND, TS_OPCODE_RECV, TS_XLA_HOST_SEND, TS_XLA_HOST_RECV);
}

static bool match_copy(const struct ts_doctor *doctor, const struct ts_op_fact *fact,
		       const void *arg)
{
	const struct ts_bytes *module = arg;
	const struct ts_op *op = ts_fact_op(doctor, fact);

	return fact->bucket == TS_BUCKET_HOST_TRANSFER && !is_feed(fact) &&
	       !(op && op->async == TS_ASYNC_START) && ts_bytes_eq(fact->module, *module);
}

static bool match_feed(const struct ts_doctor *doctor, const struct ts_op_fact *fact,
		       const void *arg)
{
	return fact->bucket == TS_BUCKET_HOST_TRANSFER && is_feed(fact) && fact->exclusive_ps > 0;
}

/* The copies of one module. Bytes and times are over all cores and executions. */
struct copies {
	struct ts_bytes module;
	struct ts_selection all;
	struct ts_selection waits; /* those that the core notices */
	double bytes_to, bytes_from, bytes_waited;
	double least_bytes, most_bytes; /* of one copy that is waited for */
	double runs;			/* executions of the module over all cores; NaN */
	double module_ps;
	bool runs_are_steps;
};

static void count_copy(struct ts_doctor *doctor, struct copies *group,
		       const struct ts_op_fact *fact)
{
	struct ts_copy copy = ts_fact_copy(doctor, fact);
	double sum = copy.bytes * (double)TS_MAX(fact->occurrences, 0);

	if (copy.to_host)
		group->bytes_to += sum;
	else
		group->bytes_from += sum;
	if ((double)fact->exclusive_ps < HIDDEN_SHARE * (double)group->all.exclusive_ps)
		return;
	ts_selection_add(&group->waits, fact, fact->exclusive_ps);
	group->bytes_waited += sum;
	group->least_bytes = fmin(group->least_bytes, copy.bytes);
	group->most_bytes = fmax(group->most_bytes, copy.bytes);
}

static double host_or_nan(int64_t number)
{
	return number < 0 ? NAN : (double)number;
}

static void host_find_module(const struct ts_doctor *doctor, struct copies *group)
{
	double steps = (double)doctor->nr_steps * (double)doctor->time->nr_cores;

	for (size_t i = 0; i < doctor->ops->nr_modules; i++) {
		const struct ts_module_fact *module = &doctor->ops->modules[i];

		if (!ts_bytes_eq(module->name, group->module))
			continue;
		group->runs = host_or_nan(module->executions);
		group->module_ps = host_or_nan(module->total_ps);
		break;
	}
	if (isnan(group->runs) && steps > 0)
		group->runs = steps;
	group->runs_are_steps = steps > 0 && fabs(group->runs - steps) <= steps * 0.05;
}

static struct copies host_group_of(struct ts_doctor *doctor, struct ts_bytes module)
{
	struct copies group = {
		.module = module, .least_bytes = INFINITY, .runs = NAN, .module_ps = NAN
	};

	group.all = ts_doctor_select(doctor, match_copy, &module);
	for (size_t i = 0; i < doctor->nr_facts; i++)
		if (match_copy(doctor, &doctor->facts[i], &module))
			count_copy(doctor, &group, &doctor->facts[i]);
	host_find_module(doctor, &group);
	return group;
}

static const char *per_run(const struct copies *group)
{
	return group->runs_are_steps ? "a step" : "an execution";
}

/* "4 copies of 5.00 GiB a step" */
static void put_copies(struct ts_doctor *doctor, const struct copies *group)
{
	double n = group->runs > 0 ? (double)group->waits.occurrences / group->runs
				   : (double)group->waits.occurrences;
	bool equal = group->least_bytes >= group->most_bytes * 0.999;
	bool known = group->bytes_waited > 0 && isfinite(group->bytes_waited);

	ts_buf_printf(&doctor->text, fabs(n - round(n)) < 0.05 ? "%.0f" : "%.1f", n);
	TS_PUT(doctor, " {text}[ of {bytes}][{text}][ {text}]",
	       TS_STRING(n > 0.95 && n < 1.05 ? "copy" : "copies"),
	       TS_WHEN(known, TS_BYTES(group->bytes_waited / (double)group->waits.occurrences)),
	       TS_WHEN(known, TS_STRING(equal ? "" : " on average")),
	       TS_WHEN(group->runs > 0, TS_STRING(per_run(group))));
}

static double host_seconds(double ps)
{
	return ps / 1e12;
}

/* Above the link's peak most of the copies ran before the wait for them began: then it is not a rate. */
static double waited_rate(const struct ts_doctor *doctor, const struct copies *group)
{
	double wait_s = host_seconds((double)group->waits.exclusive_ps);
	double peak = doctor->rates ? doctor->rates->host_bytes_per_s : NAN;
	double rate = wait_s > 0 && group->bytes_waited > 0 ? group->bytes_waited / wait_s : NAN;

	return ts_is_impossible(rate, peak) ? NAN : rate;
}

static struct ts_bytes copies_title(struct ts_doctor *doctor, const struct copies *group)
{
	TS_PUT(doctor, "Copies to and from host memory take {share} of device time: ",
	       TS_SHARE(ts_doctor_share(doctor, group->all.exclusive_ps)));
	put_copies(doctor, group);
	return TS_SENTENCE(doctor, "[ at {rate}]", TS_RATE(waited_rate(doctor, group)));
}

static void put_traffic(struct ts_doctor *doctor, const struct copies *group)
{
	size_t hidden = group->all.nr_all - group->waits.nr_all;

	if (!(group->runs > 0) || !isfinite(group->bytes_to + group->bytes_from))
		return;
	TS_PUT(doctor,
	       " A core sends {bytes} to the host and fetches {bytes} {text}[; {count} more {text} "
	       "hidden behind these].",
	       TS_BYTES(group->bytes_to / group->runs), TS_BYTES(group->bytes_from / group->runs),
	       TS_STRING(per_run(group)), TS_WHEN(hidden > 0, TS_COUNT(hidden)),
	       TS_STRING(hidden == 1 ? "copy is" : "copies are"));
}

static void host_put_link(struct ts_doctor *doctor, const struct copies *group)
{
	double wait_s = host_seconds((double)group->all.exclusive_ps),
	       rate = waited_rate(doctor, group);
	double all = wait_s > 0 ? (group->bytes_to + group->bytes_from) / wait_s : NAN;
	double peak = doctor->rates ? doctor->rates->host_bytes_per_s : NAN;

	if (!isfinite(rate))
		return;
	TS_PUT(doctor,
	       " Bytes over wait: {rate}[, and {rate} with the hidden copies, both ways][; the "
	       "host "
	       "link's peak is {rate} each way].",
	       TS_RATE(rate),
	       TS_WHEN(all > rate * 1.01 && !ts_is_impossible(all, 2 * peak), TS_RATE(all)),
	       TS_WHEN(peak > 0, TS_RATE(peak)));
}

static struct ts_bytes copies_evidence(struct ts_doctor *doctor, const struct copies *group)
{
	double part = fmin((double)group->all.exclusive_ps / group->module_ps, 1);

	TS_PUT(doctor,
	       "{core} of {core}[, {share} of the module's], in {count} wait{s}[. Most in "
	       "{ops}][ of {name}].",
	       TS_CORE(group->all.exclusive_ps), TS_CORE(doctor->total_ps),
	       TS_WHEN(group->module_ps > 0, TS_SHARE(part)), TS_COUNT(group->waits.occurrences),
	       TS_OPS(&group->waits, 4), TS_NAME(group->module));
	put_traffic(doctor, group);
	host_put_link(doctor, group);
	return ts_doctor_text(doctor);
}

static int64_t device_part(const struct ts_shape *shape)
{
	int64_t sum = 0;

	if (shape->nr_parts == 0)
		return ts_shape_in_space(shape, TS_SPACE_HOST) ? 0 : ts_shape_bytes(shape);
	for (uint32_t i = 0; i < shape->nr_parts; i++)
		if (!ts_shape_in_space(&shape->parts[i], TS_SPACE_HOST))
			sum = ts_i64_add(sum, ts_shape_bytes(&shape->parts[i]));
	return sum;
}

/* HBM that the module takes: parameters, results and temporaries; -1 without a buffer
 * assignment. */
static int64_t hbm_used(const struct ts_hlo_module *module)
{
	const struct ts_hlo_comp *entry;
	int64_t sum = module->buffers.temp_bytes;

	if (!module->buffers.present || sum < 0 || module->entry >= module->nr_comps)
		return -1;
	entry = &module->comps[module->entry];
	for (uint32_t i = 0; i < entry->nr_instrs; i++) {
		const struct ts_hlo_instr *instr = &module->instrs[entry->first_instr + i];

		if (instr->opcode == TS_OPCODE_PARAMETER)
			sum = ts_i64_add(sum, device_part(&instr->shape));
	}
	if (entry->root < module->nr_instrs)
		sum = ts_i64_add(sum, device_part(&module->instrs[entry->root].shape));
	return sum;
}

static void put_room(struct ts_doctor *doctor, const struct copies *group)
{
	const struct ts_op *op = ts_fact_op(doctor, group->all.items[0]);
	int64_t hbm = doctor->rates ? doctor->rates->hbm_bytes : -1, used = -1;

	if (hbm <= 0)
		return;
	if (op && op->module < doctor->ctx->profile->nr_modules)
		used = hbm_used(&doctor->ctx->profile->modules[op->module]);
	if (used >= 0 && used < hbm)
		TS_PUT(doctor,
		       "Keep up to {bytes} more of it in HBM: the module takes {bytes} of "
		       "{bytes}. ",
		       TS_BYTES(hbm - used), TS_BYTES(used), TS_BYTES(hbm));
}

/* Can overlap hide the copies at all? Only if the link at its peak is quicker than the compute. */
static void put_overlap(struct ts_doctor *doctor, const struct copies *group)
{
	double peak = doctor->rates ? doctor->rates->host_bytes_per_s : NAN;
	double busy = (group->module_ps - (double)group->all.exclusive_ps) / group->runs;
	double least = fmax(group->bytes_to, group->bytes_from) / group->runs / peak * 1e12;

	if (!(peak > 0) || !(busy >= 0) || !isfinite(least) || !isfinite(busy))
		return;
	TS_PUT(doctor,
	       " At the link's peak the copies need {time} {text}, and the other ops take {time}: "
	       "{text}.",
	       TS_TIME(ts_to_ps(least)), TS_STRING(per_run(group)), TS_TIME(ts_to_ps(busy)),
	       TS_STRING(least > busy ? "overlap alone cannot hide them, fewer bytes must be moved"
				      : "overlap can hide them all"));
}

static void report_copies(struct ts_doctor *doctor, const struct ts_rule *rule,
			  const struct copies *group)
{
	struct ts_finding *finding;
	struct ts_bytes none = { NULL, 0 };

	if (group->all.nr == 0 || group->waits.nr == 0)
		return;
	finding = ts_doctor_report(doctor, rule, group->module, none, group->all.exclusive_ps);
	finding->title = copies_title(doctor, group);
	finding->evidence = copies_evidence(doctor, group);
	put_room(doctor, group);
	ts_buf_put(&doctor->text, finding->advice);
	put_overlap(doctor, group);
	finding->advice = ts_doctor_text(doctor);
	ts_doctor_where(doctor, finding, &group->waits);
}

static bool seen(const struct ts_bytes *modules, size_t nr, struct ts_bytes module)
{
	for (size_t i = 0; i < nr; i++)
		if (ts_bytes_eq(modules[i], module))
			return true;
	return false;
}

static void check_host_copies(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	double limit = doctor->ctx->settings->host_transfer_high / 100;
	struct ts_bytes modules[MAX_MODULES];
	size_t nr = 0;

	if (!(ts_doctor_bucket_share(doctor, TS_BUCKET_HOST_TRANSFER) > limit))
		return;
	for (size_t i = 0; i < doctor->nr_facts && nr < MAX_MODULES; i++) {
		const struct ts_op_fact *fact = &doctor->facts[i];
		struct copies group;

		if (!match_copy(doctor, fact, &fact->module) || seen(modules, nr, fact->module))
			continue;
		modules[nr++] = fact->module;
		group = host_group_of(doctor, fact->module);
		report_copies(doctor, rule, &group);
	}
}

static void check_infeed_outfeed(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	double limit = doctor->ctx->settings->host_transfer_high / 100;
	struct ts_selection ops = ts_doctor_select(doctor, match_feed, NULL);
	double share = ts_doctor_share(doctor, ops.exclusive_ps);
	struct ts_finding *finding;

	if (!(share > limit) || ops.nr == 0)
		return;
	finding = ts_doctor_report_run(doctor, rule, ops.exclusive_ps);
	finding->title = TS_SENTENCE(
		doctor, "Infeed, outfeed and host send/recv take {share} of device time",
		TS_SHARE(share));
	TS_PUT(doctor, "{core} in {count} execution{s}[, most in {ops}].",
	       TS_CORE(ops.exclusive_ps), TS_COUNT(ops.occurrences), TS_OPS(&ops, 4));
	ts_put_per_step(doctor, TS_BUCKET_HOST_TRANSFER);
	ts_put_cores(doctor, TS_BUCKET_HOST_TRANSFER);
	finding->evidence = ts_doctor_text(doctor);
	ts_doctor_where(doctor, finding, &ops);
}

const struct ts_rule ts_rule_host_copies = {
	.name = "host_copies",
	.confidence = TS_CERTAIN,
	.check = check_host_copies,
	.classes = TS_CLASS(TS_BUCKET_HOST_TRANSFER),
	.ceiling = "the core time of the copies: what is left of it when all are hidden or gone",
};
const struct ts_rule ts_rule_infeed_outfeed = {
	.name = "infeed_outfeed",
	.confidence = TS_CERTAIN,
	.check = check_infeed_outfeed,
	.ceiling = "the core time of these ops",
};
