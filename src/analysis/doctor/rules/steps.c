/* SPDX-License-Identifier: MIT */
/*
 * Rules about steps and about the host's part in them: input, and steps that take longer than the
 * others.
 */
#include "analysis/doctor/doctor.h"

#include "analysis/facts/cache.h"
#include "analysis/facts/timeline.h"
#include "analysis/kit/source.h"
#include "analysis/settings_list.h"
#include "base/order.h"

/* The longest gaps under the input pipeline, each on its core. */
static void add_input_ranges(struct ts_doctor *doctor)
{
	size_t nr = 0;

	for (size_t i = 0; i < doctor->time->nr_gaps && nr < TS_MAX_RANGES; i++) {
		const struct ts_time_gap *gap = &doctor->time->gaps[i];

		if (gap->cause != TS_BUCKET_INPUT)
			continue;
		ts_doctor_range(doctor, gap->device, gap->start_ps,
				ts_i64_add(gap->start_ps, gap->dur_ps));
		nr++;
	}
}

static void check_input_bound(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	double share = ts_doctor_bucket_share(doctor, TS_BUCKET_INPUT);
	int64_t input_ps = doctor->bucket_ps[TS_BUCKET_INPUT];
	struct ts_finding *finding;

	if (!(share * 100 > doctor->ctx->settings->input_high))
		return;
	finding = ts_doctor_report_run(doctor, rule, input_ps);
	finding->title =
		TS_SENTENCE(doctor, "Devices wait for input {share} of the time", TS_SHARE(share));
	TS_PUT(doctor,
	       "For {core} of {core} nothing runs and the next launch waits for the input pipeline "
	       "or a "
	       "transfer to the device.",
	       TS_CORE(input_ps), TS_CORE(doctor->total_ps));
	ts_put_host_events(doctor, TS_BUCKET_INPUT);
	ts_put_per_step(doctor, TS_BUCKET_INPUT);
	ts_put_cores(doctor, TS_BUCKET_INPUT);
	finding->evidence = ts_doctor_text(doctor);
	ts_doctor_root_at_host(doctor, finding, TS_BUCKET_INPUT);
	add_input_ranges(doctor);
}

#define MAX_SHOWN 3

static struct ts_bytes rules_steps_op_name(const struct ts_doctor *doctor, uint32_t op)
{
	return op == TS_NONE ? (struct ts_bytes){ NULL, 0 } : doctor->ctx->profile->ops[op].name;
}

static const struct ts_cache_family *family_of(const struct ts_cache_facts *cache,
					       const struct ts_cache_compilation *row)
{
	for (size_t i = 0; i < cache->nr_families; i++)
		if (ts_bytes_eq(ts_module_stem(row->module), cache->families[i].stem))
			return &cache->families[i];
	return NULL;
}

/* Of what is compiled in the step's gap, the longest; NULL: nothing is, or its name is unknown. */
static const struct ts_cache_compilation *compiled_in(const struct ts_doctor *doctor,
						      const struct ts_slow_step *slow)
{
	const struct ts_cache_facts *cache = ts_cache_facts(doctor->ctx);
	const struct ts_cache_compilation *longest = NULL;
	int64_t end_ps = ts_i64_add(slow->gap.start_ps, slow->gap.dur_ps);

	if (slow->cause != TS_BUCKET_COMPILATION || slow->gap.device == TS_NONE)
		return NULL;
	for (size_t i = 0; i < cache->nr_compilations; i++) {
		const struct ts_cache_compilation *row = &cache->compilations[i];

		if (row->module.n > 0 && row->start_ps < end_ps &&
		    ts_i64_add(row->start_ps, row->duration_ps) > slow->gap.start_ps &&
		    (!longest || row->duration_ps > longest->duration_ps))
			longest = row;
	}
	return longest;
}

static struct ts_bytes rules_steps_source_of(const struct ts_doctor *doctor,
					     const struct ts_cache_compilation *row)
{
	const struct ts_cache_family *family = family_of(ts_cache_facts(doctor->ctx), row);

	return family ? ts_instr_source(doctor->result, family->code)
		      : (struct ts_bytes){ NULL, 0 };
}

/* " jit_f was recompiled then: its code is at model.py:22." */
static void rules_steps_put_compiled(struct ts_doctor *doctor, const struct ts_slow_step *slow)
{
	const struct ts_cache_compilation *row = compiled_in(doctor, slow);
	struct ts_bytes source =
		row ? rules_steps_source_of(doctor, row) : (struct ts_bytes){ NULL, 0 };

	if (!row)
		return;
	TS_PUT(doctor, " {name} was {text} then[: its code is at {name}].",
	       TS_NAME(ts_module_stem(row->module)),
	       TS_STRING(row->is_again ? "recompiled" : "compiled"), TS_NAME(source));
}

/* " Step 216 takes 33.9 ms more: compilation, with the host in XLA::TPU run backend." */
static void rules_steps_put_step(struct ts_doctor *doctor, const struct ts_slow_step *slow)
{
	struct ts_gap_witness witness =
		ts_gap_witness_of(ts_gaps_facts(doctor->ctx), doctor->time, &slow->gap);

	TS_PUT(doctor, " Step {count} takes {time} more: {text} grew by {core}",
	       TS_COUNT(doctor->time->steps[slow->step].number), TS_TIME(slow->excess_ps),
	       TS_STRING(ts_bucket_title(slow->cause)), TS_CORE(slow->cause_excess_ps));
	if (slow->is_straggler)
		TS_PUT(doctor, " on {name}, which the other cores wait for",
		       TS_NAME(doctor->ctx->profile->devices[slow->device].label));
	else
		ts_put(doctor, " over all cores");
	TS_PUT(doctor, "[, most in {name}][, with the host in {name}].",
	       TS_NAME(rules_steps_op_name(doctor, slow->op)), TS_NAME(witness.event));
	rules_steps_put_compiled(doctor, slow);
}

/* " They come at a beat: every 100 steps ..." */
static void put_period(struct ts_doctor *doctor, const struct ts_time_facts *time)
{
	int64_t first = INT64_MAX;
	size_t nr = 0;

	for (size_t i = 0; time->slow_period > 0 && i < time->nr_slow; i++)
		if (time->slow[i].period == time->slow_period) {
			first = TS_MIN(first, (int64_t)time->steps[time->slow[i].step].number);
			nr++;
		}
	if (nr > 0)
		TS_PUT(doctor,
		       " They come at a beat: every {count} steps from step {count} on ({count} of "
		       "them), as checkpoints, evaluation and logging do.",
		       TS_COUNT(time->slow_period), TS_COUNT(first), TS_COUNT(nr));
}

static int64_t all_excess(const struct ts_time_facts *time)
{
	int64_t sum_ps = 0;

	for (size_t i = 0; i < time->nr_slow; i++)
		sum_ps = ts_i64_add(sum_ps, TS_MAX(time->slow[i].excess_ps, 0));
	return sum_ps;
}

static void rules_steps_put_slow(struct ts_doctor *doctor, const struct ts_time_facts *time)
{
	TS_PUT(doctor, "The median of {count} steps is {time}, half of them are within {time}.",
	       TS_COUNT(time->nr_steps), TS_TIME(time->median_step_ps), TS_TIME(time->step_mad_ps));
	for (size_t i = 0; i < TS_MIN(time->nr_slow, MAX_SHOWN); i++)
		rules_steps_put_step(doctor, &time->slow[i]);
	put_period(doctor, time);
}

static void add_slow_places(struct ts_doctor *doctor, const struct ts_time_facts *time,
			    struct ts_finding *finding)
{
	struct ts_selection ops = { .nr = 0 };

	for (size_t i = 0; i < time->nr_slow; i++) {
		const struct ts_slow_step *slow = &time->slow[i];
		const struct ts_op_fact *fact = ts_op_fact_of(doctor->ops, slow->op);
		int64_t start_ps = time->steps[slow->step].start_ps;

		ts_doctor_range(doctor, TS_NONE, start_ps, ts_i64_add(start_ps, slow->duration_ps));
		if (i < MAX_SHOWN && fact)
			ops.items[ops.nr++] = fact;
	}
	ops.nr_all = ops.nr;
	ts_doctor_where(doctor, finding, &ops);
	for (size_t i = 0; i < TS_MIN(time->nr_slow, MAX_SHOWN); i++) {
		const struct ts_cache_compilation *row = compiled_in(doctor, &time->slow[i]);

		if (row)
			ts_doctor_show_code(doctor, finding, ts_module_stem(row->module),
					    rules_steps_source_of(doctor, row));
	}
}

/* Advice by what grew; where nothing says why, that of the rule. What a host did in the gap goes first. */
static const char *advice_for(const struct ts_slow_step *slow)
{
	static const char *const by_cause[TS_NR_BUCKETS] = {
		[TS_BUCKET_COMPILATION] = "recompilation",
		[TS_BUCKET_INPUT] = "input_bound",
		[TS_BUCKET_LAUNCH] = "launch_bound",
		[TS_BUCKET_HOST_TRANSFER] = "host_copies",
	};

	if (slow->is_straggler)
		return "straggler";
	return by_cause[slow->cause] ? by_cause[slow->cause] : "slow_steps";
}

/* That of the slowest step. */
static void choose_advice(struct ts_doctor *doctor, const struct ts_slow_step *slowest,
			  struct ts_finding *finding)
{
	struct ts_gap_witness witness =
		ts_gap_witness_of(ts_gaps_facts(doctor->ctx), doctor->time, &slowest->gap);
	const struct ts_advice *advice = ts_advice_find(doctor->framework, advice_for(slowest));

	if (slowest->cause == TS_BUCKET_IDLE &&
	    ts_doctor_advise_by_event(doctor, finding, &witness))
		return;
	finding->advice = ts_bytes_of(advice->advice);
	finding->code = ts_bytes_of(advice->code);
}

/* --- steps whose work on GPUs is known: the host's mark ends when it has launched that, and how long the
 * host waits in one step or the next says nothing of the step */

TS_ORDER(rules_steps_longest_first, struct ts_worked_step, TS_DOWN(duration_ps) TS_UP(start_ps))

#define MIN_WORKED 4 /* steps; of fewer the median says little */

TS_ORDER(rules_steps_by_kind, struct ts_worked_step, TS_UP(kind) TS_UP(duration_ps))

struct worked {
	struct ts_worked_step *steps; /* the longest first */
	struct ts_worked_step *slow;  /* likewise: longer than the median of its kind */
	size_t nr, nr_slow;
	int64_t median_ps, excess_ps;
};

/* Steps that do different work are not compared. */
static void rules_steps_find_worked(struct worked *of, double over)
{
	size_t end;

	TS_SORT(of->steps, of->nr, rules_steps_by_kind);
	for (size_t from = 0; from < of->nr; from = end) {
		const struct ts_worked_step *steps = of->steps + from;
		int64_t median_ps, low_ps;

		for (end = from + 1; end < of->nr && of->steps[end].kind == steps[0].kind;)
			end++;
		if (end - from < MIN_WORKED)
			continue;
		low_ps = steps[(end - from - 1) / 2].duration_ps;
		median_ps = low_ps + (steps[(end - from) / 2].duration_ps - low_ps) / 2;
		for (size_t i = from; i < end; i++) {
			struct ts_worked_step step = of->steps[i];

			if ((double)step.duration_ps <= over * (double)median_ps)
				continue;
			of->excess_ps = ts_i64_add(of->excess_ps, step.duration_ps - median_ps);
			step.excess_ps = step.duration_ps - median_ps;
			of->slow[of->nr_slow++] = step;
		}
	}
}

static struct worked judge_worked(struct ts_doctor *doctor)
{
	const struct ts_timeline_facts *timeline = ts_timeline_facts(doctor->ctx);
	double over = 1 + doctor->ctx->settings->slow_step_high / 100;
	struct worked of = { .nr = timeline->nr_steps };

	of.steps = ts_arena_array(&doctor->scratch, of.nr, sizeof(*of.steps));
	of.slow = ts_arena_array(&doctor->scratch, of.nr, sizeof(*of.slow));
	if (!of.steps || !of.slow) {
		doctor->failed = true;
		return (struct worked){ .nr = 0 };
	}
	memcpy(of.steps, timeline->steps, of.nr * sizeof(*of.steps));
	of.median_ps = timeline->median_step_ps;
	rules_steps_find_worked(&of, over);
	TS_SORT(of.slow, of.nr_slow, rules_steps_longest_first);
	return of;
}

static void check_worked(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	struct worked of = judge_worked(doctor);
	const struct ts_op_fact *grown;
	struct ts_finding *finding;
	int64_t grown_ps;

	if (of.nr < MIN_WORKED || of.nr_slow == 0)
		return;
	finding = ts_doctor_report_run(
		doctor, rule, ts_i64_mul(of.excess_ps, (int64_t)TS_MAX(doctor->time->nr_cores, 1)));
	finding->title = TS_SENTENCE(doctor,
				     "{count} of {count} steps {text} over {number} % longer than "
				     "the median, by the work "
				     "on GPUs",
				     TS_COUNT(of.nr_slow), TS_COUNT(of.nr),
				     TS_STRING(of.nr_slow == 1 ? "takes" : "take"),
				     TS_ROUNDED(doctor->ctx->settings->slow_step_high));
	TS_PUT(doctor,
	       "The median of {count} steps, each to the end of the last kernel that it launched, "
	       "is "
	       "{time}; of the host's marks it is {time}.",
	       TS_COUNT(of.nr), TS_TIME(of.median_ps), TS_TIME(doctor->time->median_step_ps));
	for (size_t i = 0; i < of.nr_slow && i < TS_MAX_RANGES; i++)
		ts_doctor_range(doctor, TS_NONE, of.slow[i].start_ps,
				ts_i64_add(of.slow[i].start_ps, of.slow[i].duration_ps));
	for (size_t i = 0; i < TS_MIN(of.nr_slow, MAX_SHOWN); i++)
		TS_PUT(doctor, " Step {count} takes {time} more.", TS_COUNT(of.slow[i].number),
		       TS_TIME(of.slow[i].excess_ps));
	grown = ts_doctor_grown_op(doctor, &grown_ps);
	if (grown && 2 * grown_ps > of.excess_ps) {
		finding->root.op = grown->name;
		TS_PUT(doctor, " {name} takes {time} more in {text}.", TS_NAME(grown->name),
		       TS_TIME(grown_ps), TS_STRING(of.nr_slow == 1 ? "it" : "them"));
	}
	finding->evidence = ts_doctor_text(doctor);
	finding->root.kind = "step";
	for (enum ts_bucket pause = TS_FIRST_PAUSE; pause < TS_NR_BUCKETS; pause++)
		ts_doctor_claim_class(doctor, pause, finding->impact_ps);
	ts_doctor_cures(doctor, (struct ts_cure){ .kind = TS_CURE_STEPS });
}

/* --- steps that run another program than most, as an evaluation or a checkpoint does: it is work of its own */

static int64_t executions_of(const struct ts_ops_facts *ops, struct ts_bytes stem)
{
	int64_t sum = 0;

	for (size_t i = 0; i < ops->nr_modules; i++)
		if (ts_bytes_eq(ts_module_stem(ops->modules[i].name), stem))
			sum = ts_i64_add(sum, TS_MAX(ops->modules[i].executions, 0));
	return sum;
}

/* The program of the op that grew most, where it runs in less than half of the steps, all its variants
 * together; else NULL. */
static const struct ts_module_fact *other_program(const struct ts_doctor *doctor,
						  const struct ts_slow_step *slow)
{
	const struct ts_op *op = slow->op == TS_NONE ? NULL : &doctor->ctx->profile->ops[slow->op];
	int64_t all = ts_i64_mul((int64_t)doctor->time->nr_steps, (int64_t)doctor->time->nr_cores);

	for (size_t i = 0; op && op->has_program && i < doctor->ops->nr_modules; i++) {
		const struct ts_module_fact *module = &doctor->ops->modules[i];

		if (module->program_id != op->program_id || module->executions <= 0)
			continue;
		return executions_of(doctor->ops, ts_module_stem(module->name)) < (all + 1) / 2
			       ? module
			       : NULL;
	}
	return NULL;
}

/* What the step takes longer than the median beside one execution of the other program that it runs. */
static int64_t rules_steps_lost_ps(const struct ts_doctor *doctor, const struct ts_slow_step *slow,
				   const struct ts_module_fact *program)
{
	int64_t own_ps = program ? program->total_ps / program->executions : 0;
	int64_t left_ps = ts_i64_sub(slow->excess_ps, own_ps);
	double limit_ps =
		doctor->ctx->settings->slow_step_high / 100 * (double)doctor->time->median_step_ps;

	return program && (double)left_ps <= limit_ps ? 0 : left_ps;
}

/* The slow steps that another program does not explain, and of the others one. */
struct explained {
	struct ts_time_facts time; /* .slow: what is left, each with what it loses */
	const struct ts_module_fact *program;
	size_t nr;
	int64_t excess_ps; /* the longest */
};

static struct explained explain_programs(struct ts_doctor *doctor)
{
	const struct ts_time_facts *time = doctor->time;
	struct ts_slow_step *left =
		ts_arena_array(&doctor->scratch, time->nr_slow + 1, sizeof(*left));
	struct explained found = { .time = *time };

	found.time.slow = left;
	found.time.nr_slow = 0;
	doctor->failed |= !left;
	for (size_t i = 0; left && i < time->nr_slow; i++) {
		const struct ts_module_fact *program = other_program(doctor, &time->slow[i]);
		int64_t ps = rules_steps_lost_ps(doctor, &time->slow[i], program);

		if (ps > 0) {
			left[found.time.nr_slow] = time->slow[i];
			left[found.time.nr_slow++].excess_ps = ps;
			continue;
		}
		found.program = found.nr++ == 0 ? program : found.program;
		found.excess_ps = TS_MAX(found.excess_ps, time->slow[i].excess_ps);
	}
	found.time.nr_slow_steps -= (int64_t)found.nr;
	return found;
}

static void put_program(struct ts_doctor *doctor, const struct explained *explained)
{
	if (explained->nr > 0)
		TS_PUT(doctor,
		       "{count} step{s} run{v} another program than most, {name}, and take{v} up "
		       "to {time} "
		       "more: work of its own, which is not counted as lost. ",
		       TS_COUNT(explained->nr), TS_NAME(ts_module_stem(explained->program->name)),
		       TS_TIME(explained->excess_ps));
}

static void report_programs(struct ts_doctor *doctor, const struct ts_rule *rule,
			    const struct explained *explained)
{
	struct ts_finding *finding = ts_doctor_report_run(doctor, rule, 0);

	ts_doctor_keep(doctor);
	finding->title = TS_SENTENCE(doctor, "{count} step{s} take{v} longer because of {name}",
				     TS_COUNT(explained->nr),
				     TS_NAME(ts_module_stem(explained->program->name)));
	put_program(doctor, explained);
	put_period(doctor, doctor->time);
	finding->evidence = ts_doctor_text(doctor);
	add_slow_places(doctor, doctor->time, finding);
}

static void report_slow(struct ts_doctor *doctor, const struct ts_rule *rule,
			const struct explained *explained)
{
	const struct ts_time_facts *time = &explained->time;
	int64_t cores = (int64_t)TS_MAX(time->nr_cores, 1);
	struct ts_finding *finding =
		ts_doctor_report_run(doctor, rule, ts_i64_mul(all_excess(time), cores));

	finding->title = TS_SENTENCE(
		doctor,
		"{count} of {count} steps {text} slow (more than {number} % above the median)",
		TS_COUNT(time->nr_slow_steps), TS_COUNT(time->nr_steps),
		TS_STRING(time->nr_slow_steps == 1 ? "is" : "are"),
		TS_ROUNDED(doctor->ctx->settings->slow_step_high));
	for (size_t i = 0; i < time->nr_slow; i++)
		ts_doctor_claim_class(doctor, time->slow[i].cause,
				      ts_i64_mul(time->slow[i].excess_ps, cores));
	put_program(doctor, explained);
	rules_steps_put_slow(doctor, time);
	finding->evidence = ts_doctor_text(doctor);
	add_slow_places(doctor, time, finding);
	ts_doctor_cures(doctor, (struct ts_cure){ .kind = TS_CURE_STEPS });
	finding->root.kind = "step";
	finding->root.op = rules_steps_op_name(doctor, time->slow[0].op);
	if (time->slow[0].is_straggler)
		finding->root.device = doctor->ctx->profile->devices[time->slow[0].device].label;
	choose_advice(doctor, &time->slow[0], finding);
}

static void check_slow_steps(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	struct explained explained;

	if (ts_timeline_facts(doctor->ctx)->nr_steps > 0) {
		check_worked(doctor, rule);
		return;
	}
	explained = explain_programs(doctor);
	if (explained.time.nr_slow > 0)
		report_slow(doctor, rule, &explained);
	else if (explained.nr > 0)
		report_programs(doctor, rule, &explained);
}

const struct ts_rule ts_rule_input_bound = {
	.name = "input_bound",
	.confidence = TS_LIKELY,
	.check = check_input_bound,
	.classes = TS_CLASS(TS_BUCKET_INPUT),
	.ceiling = "the core time with nothing to run while the host prepares input",
};
const struct ts_rule ts_rule_slow_steps = {
	.name = "slow_steps",
	.confidence = TS_CERTAIN,
	.symptom = true,
	.check = check_slow_steps,
	.ceiling = "what these steps take longer than the median one, on all cores",
};
