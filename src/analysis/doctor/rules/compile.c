/*
 * Rules about compilations: inside the profile at all, and again and again for one function.
 *
 * What a compilation costs is the core time with nothing to run meanwhile, and that is the impact
 * ("time"); what was compiled and what its variants differ in is from the
 * facts of cache.
 */
#include "analysis/doctor/doctor.h"

#include "analysis/facts/cache.h"

#define MAX_SHAPES 3 /* shown of a family */

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

static bool waits_for_compile(const struct ts_time_step *step, size_t nr_cores)
{
	double step_ps = (double)ts_time_step_duration(step) * (double)TS_MAX(nr_cores, 1);
	double lost_ps = (double)step->ps[TS_BUCKET_COMPILATION];

	return lost_ps > 0 && lost_ps >= TS_MIN_STEP_SHARE * step_ps;
}

static struct recompiles find_recompiles(const struct ts_time_facts *time, size_t nr_cores)
{
	struct recompiles found = { .first_step = -1 };

	for (size_t i = 1; i < time->nr_steps; i++) {
		const struct ts_time_step *step = &time->steps[i];

		if (!waits_for_compile(step, nr_cores))
			continue;
		if (found.nr_steps++ == 0) {
			found.first_step = (int64_t)step->number;
			found.from_ps = step->start_ps;
		}
		found.lost_ps = ts_i64_add(found.lost_ps, step->ps[TS_BUCKET_COMPILATION]);
	}
	return found;
}

/* Share of core time lost to compilations that no finding about steps reports. */
static double compile_share(const struct ts_doctor *doctor)
{
	struct recompiles reported = find_recompiles(doctor->time, doctor->nr_cores);

	return ts_doctor_share(
		doctor,
		TS_MAX(ts_i64_sub(doctor->bucket_ps[TS_BUCKET_COMPILATION], reported.lost_ps), 0));
}

/* Each compilation counts where they are known, else each span of time with some in it. */
static int64_t nr_compilations(const struct ts_doctor *doctor)
{
	int64_t count = ts_cache_facts(doctor->ctx)->nr_compiled;

	return count > 0 ? count : doctor->ctx->outline->nr_compiles;
}

/* " The longest is jit_f, 1.2 s (code generation 0.9 s)." */
static void put_longest(struct ts_doctor *doctor)
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

static void check_compilation(struct ts_doctor *doctor, const struct ts_rule *rule)
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
	put_longest(doctor);
	put_restored(doctor);
	ts_put_host_events(doctor, TS_BUCKET_COMPILATION);
	finding->evidence = ts_doctor_text(doctor);
	add_compile_ranges(doctor, INT64_MIN);
}

/* The family whose variants took the most time to compile here; NULL: there was not one. */
static const struct ts_cache_family *find_family(const struct ts_doctor *doctor)
{
	const struct ts_cache_facts *cache = ts_cache_facts(doctor->ctx);

	for (size_t i = 0; i < cache->nr_families; i++)
		if (cache->families[i].nr_compiled > 0)
			return &cache->families[i]; /* they are in that order */
	return NULL;
}

static void put_shapes(struct ts_doctor *doctor, const struct ts_cache_family *family)
{
	size_t nr = TS_MIN(family->nr_shapes, MAX_SHAPES);

	for (size_t i = 0; i < nr; i++)
		TS_PUT(doctor, "{text}{name}", TS_STRING(i ? ", " : ": "),
		       TS_NAME(family->shapes[i]));
	if (family->nr_shapes > nr)
		TS_PUT(doctor, " and {count} more", TS_COUNT(family->nr_shapes - nr));
}

/* " Padding parameter 0 dimension 0 to 1280 or 1536 would leave 2 of them, for 14.4 % padding." */
static void put_buckets(struct ts_doctor *doctor, const struct ts_cache_family *family)
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

static void put_family(struct ts_doctor *doctor, const struct ts_cache_family *family)
{
	TS_PUT(doctor,
	       "{name} has {count} variants, {count} compiled here in {time}[; they differ in "
	       "{name}]",
	       TS_NAME(family->stem), TS_COUNT(family->nr_variants), TS_COUNT(family->nr_compiled),
	       TS_TIME(family->compile_ps), TS_NAME(family->differs));
	if (family->differences & TS_DIFFERS_SHAPE)
		put_shapes(doctor, family);
	ts_put(doctor, ".");
	put_buckets(doctor, family);
	put_hints(doctor, family->differences);
}

/* Without steps: a function that was compiled here more than once, for sizes or types. */
static void check_family(struct ts_doctor *doctor, const struct ts_rule *rule,
			 const struct ts_cache_family *family)
{
	struct ts_bytes none = { NULL, 0 };
	struct ts_finding *finding;

	if (!family || family->nr_compiled < 2)
		return;
	finding = ts_doctor_report(doctor, rule, family->stem, none, family->wait_ps);
	finding->title = TS_SENTENCE(doctor, "{name} is compiled {count} times",
				     TS_NAME(family->stem), TS_COUNT(family->nr_compiled));
	put_family(doctor, family);
	finding->evidence = ts_doctor_text(doctor);
	add_compile_ranges(doctor, INT64_MIN);
}

static void check_recompilation(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_cache_family *family = find_family(doctor);
	struct recompiles found = find_recompiles(doctor->time, doctor->nr_cores);
	struct ts_finding *finding;

	if (doctor->time->nr_steps == 0)
		check_family(doctor, rule, family);
	if (found.nr_steps == 0)
		return;
	finding = ts_doctor_report_run(doctor, rule, found.lost_ps);
	finding->title =
		TS_SENTENCE(doctor, "{count} step{s} after the first wait{v} for a compilation",
			    TS_COUNT(found.nr_steps));
	TS_PUT(doctor,
	       "The cores lose {core} by it[; the first is step {count}]. The profile has {count} "
	       "steps.",
	       TS_CORE(found.lost_ps), TS_COUNT(found.first_step),
	       TS_COUNT(doctor->time->nr_steps));
	if (family) {
		ts_put(doctor, " ");
		put_family(doctor, family);
	}
	finding->evidence = ts_doctor_text(doctor);
	add_compile_ranges(doctor, found.from_ps);
}

const struct ts_rule ts_rule_compilation = {
	.name = "compilation",
	.confidence = TS_CERTAIN,
	.keep = true,
	.check = check_compilation,
	.classes = TS_CLASS(TS_BUCKET_COMPILATION),
	.ceiling = "the core time with nothing to run while the host compiles",
};
const struct ts_rule ts_rule_recompilation = {
	.name = "recompilation",
	.confidence = TS_LIKELY,
	.check = check_recompilation,
	.classes = TS_CLASS(TS_BUCKET_COMPILATION),
	.ceiling = "the core time that steps after the first lose to compilations",
};
