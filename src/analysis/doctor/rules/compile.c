/* SPDX-License-Identifier: MIT */
/*
 * Rules about compilations: inside the profile at all, and again and again for one function.
 *
 * What a compilation costs is the core time with nothing to run meanwhile, and that is the impact
 * ("time"); what was compiled, and why once more, is from the facts of cache. A finding is about one
 * function and its compilations. Where the events do not name a function, the steps that wait are
 * counted instead.
 */
#include "analysis/doctor/doctor.h"

#include "analysis/facts/cache.h"
#include "analysis/kit/source.h"
#include "analysis/settings_list.h"

#define MAX_SHAPES    3 /* shown of a family */
#define MAX_FUNCTIONS 5 /* with a finding each: those that took longest to compile */

static void add_compile_ranges(struct ts_doctor *doctor, int64_t from_ps)
{
	const struct ts_outline *outline = doctor->ctx->outline;

	for (size_t i = 0; outline && i < outline->compile.nr; i++)
		if (outline->compile.items[i].end_ps > from_ps)
			ts_doctor_range(doctor, TS_NONE, outline->compile.items[i].start_ps,
					outline->compile.items[i].end_ps);
}

static void put_compiles(struct ts_doctor *doctor, int64_t count, int64_t host_ps)
{
	if (count > 0)
		TS_PUT(doctor, "{count} compilation{s} take{v} {time} of host time",
		       TS_COUNT(count), TS_TIME(host_ps));
	else
		TS_PUT(doctor, "Compilation takes {time} of host time", TS_TIME(host_ps));
}

/* Core time of compilation in the steps after the first, and in how many of them. */
struct recompiles {
	int64_t lost_ps, from_ps;
	size_t nr_steps;
	int64_t first_step; /* the first one with a compilation */
};

static bool waits_for_compile(const struct ts_time_step *step)
{
	double lost_ps = (double)step->ps[TS_BUCKET_COMPILATION];

	return lost_ps > 0 && lost_ps >= TS_MIN_STEP_SHARE * (double)step->total_ps;
}

static struct recompiles find_recompiles(const struct ts_time_facts *time)
{
	struct recompiles found = { .first_step = -1 };

	for (struct ts_time_walk walk = { .time = time }; ts_time_next_step(&walk);) {
		const struct ts_time_step *step = &walk.step;

		if (walk.nr == 1 || !waits_for_compile(step))
			continue;
		if (found.nr_steps++ == 0) {
			found.first_step = (int64_t)step->number;
			found.from_ps = step->start_ps;
		}
		found.lost_ps = ts_i64_add(found.lost_ps, step->ps[TS_BUCKET_COMPILATION]);
	}
	return found;
}

/* Does an event say which function was compiled? */
static bool knows_functions(const struct ts_cache_facts *cache)
{
	for (size_t i = 0; i < cache->nr_compilations; i++)
		if (cache->compilations[i].module.n > 0)
			return true;
	return false;
}

/* What the findings about recompilation report. */
static int64_t recompiles_ps(const struct ts_doctor *doctor)
{
	const struct ts_cache_facts *cache = ts_cache_facts(doctor->ctx);
	int64_t sum_ps = 0;

	if (!knows_functions(cache))
		return find_recompiles(doctor->time).lost_ps;
	for (size_t i = 0; i < cache->nr_families; i++)
		sum_ps = ts_i64_add(sum_ps, TS_MAX(cache->families[i].again_wait_ps, 0));
	return sum_ps;
}

/* Share of core time lost to compilations that no finding about recompilation reports. */
static double compile_share(const struct ts_doctor *doctor)
{
	return ts_doctor_share(doctor, TS_MAX(ts_i64_sub(doctor->bucket_ps[TS_BUCKET_COMPILATION],
							 recompiles_ps(doctor)),
					      0));
}

/* Each compilation counts where they are known, else each span of time with some in it. */
static int64_t nr_compilations(const struct ts_doctor *doctor)
{
	int64_t count = ts_cache_facts(doctor->ctx)->nr_compiled;

	return count > 0 ? count : doctor->ctx->outline->nr_compiles;
}

/* " The longest is jit_f, 1.2 s (code generation 0.9 s)." */
static void rules_compile_put_longest(struct ts_doctor *doctor)
{
	const struct ts_cache_compilation *longest = ts_cache_facts(doctor->ctx)->longest;

	if (!longest)
		return;
	TS_PUT(doctor, " The longest is {name}, {time}[ (code generation {time})].",
	       TS_NAME(longest->module), TS_TIME(longest->duration_ps),
	       TS_WHEN(longest->codegen_ps > 0, TS_TIME(longest->codegen_ps)));
}

static void put_restored(struct ts_doctor *doctor)
{
	TS_PUT(doctor, "[ The persistent cache gave {count} more executable{s}.]",
	       TS_COUNT(ts_cache_facts(doctor->ctx)->nr_restored));
}

static bool is_long(const struct ts_doctor *doctor)
{
	return (double)doctor->ctx->outline->compile_ps >
	       doctor->ctx->settings->compilation_time_high * (double)TS_PS_PER_MS;
}

static void rules_compile_check_compilation(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	int64_t host_ps = doctor->ctx->outline->compile_ps;
	int64_t count = nr_compilations(doctor);
	double share = ts_doctor_bucket_share(doctor, TS_BUCKET_COMPILATION);
	struct ts_finding *finding;

	if (!is_long(doctor) &&
	    !(compile_share(doctor) * 100 >= doctor->ctx->settings->impact_warning))
		return;
	finding = ts_doctor_report_run(doctor, rule, doctor->bucket_ps[TS_BUCKET_COMPILATION]);
	if (is_long(doctor))
		ts_doctor_lift(doctor, TS_WARNING,
			       "the hosts compile for longer than compilation_time_high");
	put_compiles(doctor, count, TS_MAX(host_ps, 0));
	ts_put(doctor, " inside the profile");
	finding->title = ts_doctor_text(doctor);
	if (!isnan(share))
		TS_PUT(doctor,
		       "Meanwhile the cores have nothing to run for {core} ({share} of core time).",
		       TS_CORE(finding->impact_ps), TS_SHARE(share));
	else
		ts_put(doctor, "What the cores lost by it is unknown.");
	rules_compile_put_longest(doctor);
	put_restored(doctor);
	ts_put_host_events(doctor, TS_BUCKET_COMPILATION);
	finding->evidence = ts_doctor_text(doctor);
	add_compile_ranges(doctor, INT64_MIN);
}

static void rules_compile_put_shapes(struct ts_doctor *doctor, const struct ts_cache_family *family)
{
	size_t nr = TS_MIN(family->nr_shapes, MAX_SHAPES);

	for (size_t i = 0; i < nr; i++)
		TS_PUT(doctor, "{text}{name}", TS_STRING(i ? ", " : ": "),
		       TS_NAME(family->shapes[i]));
	if (family->nr_shapes > nr)
		TS_PUT(doctor, " and {count} more", TS_COUNT(family->nr_shapes - nr));
}

/* " Padding parameter 0 dimension 0 to 1280 or 1536 would leave 2 of them, for 14.4 % padding." */
static void rules_compile_put_buckets(struct ts_doctor *doctor,
				      const struct ts_cache_family *family)
{
	const struct ts_cache_axis *axis = family->axes;

	if (family->nr_axes != 1 || axis->nr_buckets == 0)
		return; /* of several dimensions the report has the sizes */
	TS_PUT(doctor, " Padding {name}", TS_NAME(axis->where));
	for (size_t i = 0; i < axis->nr_buckets; i++)
		TS_PUT(doctor, "{text}{count}",
		       TS_STRING(i == 0			     ? " to "
				 : i + 1 == axis->nr_buckets ? " or "
							     : ", "),
		       TS_COUNT(axis->buckets[i]));
	TS_PUT(doctor, " would leave {count} of them, for {pct} padding.",
	       TS_COUNT(axis->nr_buckets), TS_PCT(axis->waste_share * 100));
}

/* What to do about differences that no padding ends. */
static const struct {
	unsigned differences;
	const char *hint;
} hints[] = {
	{ TS_DIFFERS_DTYPE, " Give the function one dtype." },
	{ TS_DIFFERS_RESULT, " A shape that is asked for is compiled: ask for few sizes, and cut "
			     "what is needed out of them." },
	{ TS_DIFFERS_CODE, " Pass what changes as an array, not as a static argument." },
	{ TS_DIFFERS_CONSTANT,
	  " Pass what changes as an array, not as a Python number or a closure." },
	{ TS_DIFFERS_COUNT, " Give the function the same arguments in every call." },
};

static void put_hints(struct ts_doctor *doctor, unsigned differences)
{
	for (size_t i = 0; i < TS_NELEM(hints); i++)
		if (differences & hints[i].differences)
			ts_put(doctor, hints[i].hint);
}

static void rules_compile_put_family(struct ts_doctor *doctor, const struct ts_cache_family *family)
{
	TS_PUT(doctor,
	       "{name} has {count} variant{s}, {count} compiled here in {time}[; they differ in "
	       "{name}]",
	       TS_NAME(family->stem), TS_COUNT(family->nr_variants), TS_COUNT(family->nr_compiled),
	       TS_TIME(family->compile_ps), TS_NAME(family->differs));
	if (family->differences & TS_DIFFERS_SHAPE)
		rules_compile_put_shapes(doctor, family);
	TS_PUT(doctor, ".[ Its code is at {name}.]",
	       TS_NAME(ts_instr_source(doctor->result, family->code)));
}

/* Several programs for parameters of the same shapes and types. */
static bool is_static(const struct ts_cache_family *family)
{
	unsigned same = TS_DIFFERS_CODE | TS_DIFFERS_CONSTANT;

	return family->differences && !(family->differences & ~same);
}

static void put_static(struct ts_doctor *doctor, const struct ts_cache_family *family)
{
	TS_PUT(doctor,
	       " All have parameters of the same shapes: {count} compilation{s}[ in {count} "
	       "call{s}]. A static argument, or a value that the function closes over, has "
	       "changed.",
	       TS_COUNT(family->nr_compiled), TS_COUNT(family->nr_calls));
}

/* The first step that waits for a compilation; -1: there is not one. */
static int64_t waiting_step(const struct ts_doctor *doctor, const struct ts_cache_compilation *row)
{
	const struct ts_time_facts *time = doctor->time;
	int64_t row_end_ps = ts_i64_add(row->start_ps, row->duration_ps);

	for (struct ts_time_walk walk = { .time = time }; ts_time_next_step(&walk);) {
		const struct ts_time_step *step = &walk.step;
		int64_t end_ps = ts_i64_add(step->start_ps, ts_time_step_duration(step));

		if (step->start_ps < row_end_ps && end_ps > row->start_ps &&
		    waits_for_compile(step))
			return (int64_t)step->number;
	}
	return -1;
}

/* The times of the function's own recompilations. The first step that waits for one, or -1. */
static int64_t add_ranges(struct ts_doctor *doctor, const struct ts_cache_family *family)
{
	const struct ts_cache_facts *cache = ts_cache_facts(doctor->ctx);
	int64_t first_step = -1;

	for (size_t i = 0; i < cache->nr_compilations; i++) {
		const struct ts_cache_compilation *row = &cache->compilations[i];

		if (!row->is_again || !ts_bytes_eq(ts_module_stem(row->module), family->stem))
			continue;
		if (first_step < 0)
			first_step = waiting_step(doctor, row);
		ts_doctor_range(doctor, TS_NONE, row->start_ps,
				ts_i64_add(row->start_ps, row->duration_ps));
	}
	return first_step;
}

static void rules_compile_put_title(struct ts_doctor *doctor, const struct ts_cache_family *family,
				    int64_t first_step)
{
	TS_PUT(doctor, "{name} was {text}[ {count} times]", TS_NAME(family->stem),
	       TS_STRING(family->nr_compiled > 1 ? "compiled" : "recompiled"),
	       TS_WHEN(family->nr_compiled > 1, TS_COUNT(family->nr_compiled)));
	if (is_static(family))
		ts_put(doctor, " for parameters of the same shapes");
	TS_PUT(doctor, "[; step {count} waited for it]", TS_COUNT(first_step));
}

static void report_function(struct ts_doctor *doctor, const struct ts_rule *rule,
			    const struct ts_cache_family *family)
{
	const struct ts_advice *own = ts_advice_find(doctor->framework, "recompilation_static");
	struct ts_bytes none = { NULL, 0 };
	struct ts_finding *finding =
		ts_doctor_report(doctor, rule, family->stem, none, family->again_wait_ps);
	int64_t first_step = add_ranges(doctor, family);

	rules_compile_put_title(doctor, family, first_step);
	finding->title = ts_doctor_text(doctor);
	TS_PUT(doctor,
	       "It had an executable already[ when {count} of these compilations began][. The "
	       "devices lose {core} by it]. ",
	       TS_WHEN(family->nr_again < family->nr_compiled, TS_COUNT(family->nr_again)),
	       TS_CORE(family->again_wait_ps));
	rules_compile_put_family(doctor, family);
	if (is_static(family))
		put_static(doctor, family);
	rules_compile_put_buckets(doctor, family);
	put_hints(doctor, family->differences);
	finding->evidence = ts_doctor_text(doctor);
	ts_doctor_show_code(doctor, finding, family->stem,
			    ts_instr_source(doctor->result, family->code));
	if (is_static(family) && own) {
		finding->advice = ts_bytes_of(own->advice);
		finding->code = ts_bytes_of(own->code);
	}
}

static void report_functions(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_cache_facts *cache = ts_cache_facts(doctor->ctx);
	size_t nr = 0;

	for (size_t i = 0; i < cache->nr_families && nr < MAX_FUNCTIONS; i++) {
		if (cache->families[i].nr_again <= 0)
			continue;
		report_function(doctor, rule, &cache->families[i]); /* they are in that order */
		nr++;
	}
}

static void report_steps(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	struct recompiles found = find_recompiles(doctor->time);
	struct ts_finding *finding;

	if (found.nr_steps == 0)
		return;
	finding = ts_doctor_report_run(doctor, rule, found.lost_ps);
	finding->title =
		TS_SENTENCE(doctor, "{count} step{s} after the first wait{v} for a compilation",
			    TS_COUNT(found.nr_steps));
	finding->evidence = TS_SENTENCE(
		doctor,
		"The cores lose {core} by it[; the first is step {count}]. The profile has {count} "
		"steps.",
		TS_CORE(found.lost_ps), TS_COUNT(found.first_step),
		TS_COUNT(doctor->time->nr_steps));
	add_compile_ranges(doctor, found.from_ps);
}

static void check_recompilation(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	if (knows_functions(ts_cache_facts(doctor->ctx)))
		report_functions(doctor, rule);
	else
		report_steps(doctor, rule);
}

const struct ts_rule ts_rule_compilation = {
	.name = "compilation",
	.confidence = TS_CERTAIN,
	.keep = true,
	.check = rules_compile_check_compilation,
	.classes = TS_CLASS(TS_BUCKET_COMPILATION),
	.ceiling = "the core time with nothing to run while the host compiles",
};
const struct ts_rule ts_rule_recompilation = {
	.name = "recompilation",
	.confidence = TS_LIKELY,
	.check = check_recompilation,
	.classes = TS_CLASS(TS_BUCKET_COMPILATION),
	.ceiling = "the core time with nothing to run while the function is compiled again",
};
