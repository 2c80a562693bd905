/*
 * Rules about compilations: inside the profile at all, and again and again for one function.
 *
 * What a compilation costs is the core time with nothing to run meanwhile, and that is the impact
 * ("time"); what was compiled and what its variants differ in is from "cache".
 */
#include "analysis/doctor/doctor.h"

#define MAX_SHAPES 3 /* told of a family */

static void add_compile_ranges(struct ts_doctor *doctor, int64_t from_ps)
{
	const struct ts_outline *outline = doctor->ctx->outline;

	for (size_t i = 0; outline && i < outline->compile.nr; i++)
		if (outline->compile.items[i].end_ps > from_ps)
			ts_doctor_range(doctor, TS_NONE, outline->compile.items[i].start_ps,
					outline->compile.items[i].end_ps);
}

static void say_compiles(struct ts_doctor *doctor, int64_t count, int64_t host_ps)
{
	char time[TS_UNIT_MAX];

	if (count > 0)
		ts_buf_printf(&doctor->text, "%" PRId64 " compilation%s take%s %s of host time",
			      count, count == 1 ? "" : "s", count == 1 ? "s" : "",
			      ts_fmt_ps(time, host_ps));
	else
		ts_buf_printf(&doctor->text, "Compilation takes %s of host time",
			      ts_fmt_ps(time, host_ps));
}

/* Core time of compilation in the steps after the first, and in how many of them. */
struct recompiles {
	int64_t lost_ps, from_ps;
	size_t nr_steps;
	int64_t first_step; /* the first one with a compilation */
};

static bool waits_for_compile(const struct ts_table *table, size_t row, size_t nr_cores)
{
	double step_ps = (double)TS_MAX(ts_cell_int(table, row, "duration_ps"), 0) *
			 (double)TS_MAX(nr_cores, 1);
	double lost_ps = ts_cell_number(table, row, "compilation_ps");

	return lost_ps > 0 && lost_ps >= TS_MIN_STEP_SHARE * step_ps;
}

static struct recompiles find_recompiles(const struct ts_table *table, size_t nr_cores)
{
	struct recompiles found = { .first_step = -1 };

	for (size_t i = 1; table && i < table->nr_rows; i++) {
		int64_t lost = ts_cell_int(table, i, "compilation_ps");

		if (!waits_for_compile(table, i, nr_cores))
			continue;
		if (found.nr_steps++ == 0) {
			found.first_step = ts_cell_int(table, i, "step");
			found.from_ps = ts_cell_int(table, i, "start_ps");
		}
		found.lost_ps = ts_i64_add(found.lost_ps, lost);
	}
	return found;
}

/* Share of core time lost to compilations that no finding about steps tells of. */
static double compile_share(const struct ts_doctor *doctor)
{
	const struct ts_table *table = ts_result_find_table(doctor->time, "per_step");
	struct recompiles told = find_recompiles(table, doctor->nr_cores);

	return ts_doctor_share(
		doctor,
		TS_MAX(ts_i64_sub(doctor->bucket_ps[TS_BUCKET_COMPILATION], told.lost_ps), 0));
}

/* One by one where that is known, else times with some in them. */
static int64_t nr_compilations(const struct ts_doctor *doctor)
{
	int64_t count = doctor->cache
				? ts_value_int(ts_result_get(doctor->cache, "compilation_count"))
				: -1;

	return count > 0 ? count : ts_value_int(ts_result_get(doctor->time, "compilation_count"));
}

/* " The longest is jit_f, 1.2 s (code generation 0.9 s)." */
static void say_longest(struct ts_doctor *doctor)
{
	const struct ts_table *table =
		doctor->cache ? ts_result_find_table(doctor->cache, "compilations") : NULL;
	char dur[TS_UNIT_MAX], code[TS_UNIT_MAX];
	int64_t codegen_ps;

	if (!table || table->nr_rows == 0)
		return;
	codegen_ps = ts_cell_int(table, 0, "codegen_ps");
	ts_buf_puts(&doctor->text, " The longest is ");
	ts_say_name(doctor, ts_cell_text(table, 0, "module"));
	ts_buf_printf(&doctor->text, ", %s", ts_fmt_ps(dur, ts_cell_int(table, 0, "duration_ps")));
	if (codegen_ps > 0)
		ts_buf_printf(&doctor->text, " (code generation %s)", ts_fmt_ps(code, codegen_ps));
	ts_buf_putc(&doctor->text, '.');
}

static void say_restored(struct ts_doctor *doctor)
{
	int64_t hits = doctor->cache
			       ? ts_value_int(ts_result_get(doctor->cache, "persistent_cache_hits"))
			       : -1;

	if (hits >= 0)
		ts_buf_printf(&doctor->text,
			      " The persistent cache gave %" PRId64 " more executable%s.", hits,
			      hits == 1 ? "" : "s");
}

static void check_compilation(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_settings *settings = doctor->ctx->settings;
	int64_t host_ps = ts_value_int(ts_result_get(doctor->time, "compilation_host_ps"));
	int64_t count = nr_compilations(doctor);
	double share = ts_doctor_bucket_share(doctor, TS_BUCKET_COMPILATION);
	char wait[TS_UNIT_MAX], text[TS_UNIT_MAX];
	struct ts_bytes none = { NULL, 0 };
	struct ts_finding *finding;

	if (!((double)host_ps > settings->compilation_time_high * (double)TS_PS_PER_MS) &&
	    !(compile_share(doctor) * 100 >= settings->impact_warning))
		return;
	finding = ts_doctor_report(doctor, rule, none, none,
				   doctor->bucket_ps[TS_BUCKET_COMPILATION]);
	if (!finding)
		return;
	if (finding->severity == TS_INFO)
		finding->severity = TS_WARNING;
	say_compiles(doctor, count, TS_MAX(host_ps, 0));
	ts_buf_puts(&doctor->text, " inside the profile");
	finding->title = ts_doctor_text(doctor);
	if (!isnan(share))
		ts_buf_printf(&doctor->text,
			      "Meanwhile the cores have nothing to run for %s (%s of "
			      "core time).",
			      ts_fmt_ps(wait, finding->impact_ps), ts_fmt_share(text, share));
	else
		ts_buf_puts(&doctor->text, "What the cores lost by it is unknown.");
	say_longest(doctor);
	say_restored(doctor);
	ts_say_host_events(doctor, TS_BUCKET_COMPILATION);
	finding->evidence = ts_doctor_text(doctor);
	add_compile_ranges(doctor, INT64_MIN);
}

/* The row of the family whose variants took the most time to compile here; -1: there is none. */
static int64_t find_family(const struct ts_table *families)
{
	for (size_t i = 0; families && i < families->nr_rows; i++)
		if (ts_cell_int(families, i, "compilations") > 0)
			return (int64_t)i; /* they are in that order */
	return -1;
}

static const struct ts_list *list_cell(const struct ts_table *table, size_t row, const char *column)
{
	struct ts_value cell = ts_cell(table, row, column);

	return cell.type == TS_VALUE_LIST ? cell.as.list : NULL;
}

static void say_shapes(struct ts_doctor *doctor, const struct ts_list *shapes)
{
	size_t nr = TS_MIN(shapes->nr, MAX_SHAPES);

	for (size_t i = 0; i < nr; i++) {
		ts_buf_puts(&doctor->text, i ? ", " : ": ");
		ts_say_name(doctor, shapes->items[i].as.s);
	}
	if (shapes->nr > nr)
		ts_buf_printf(&doctor->text, " and %zu more", shapes->nr - nr);
}

/* " Padding parameter 0 dimension 0 to 1280 or 1536 would leave 2 of them, for 14.4 % padding." */
static void say_buckets(struct ts_doctor *doctor, const struct ts_list *axes)
{
	enum { PLACES, VALUES, BUCKETS, PADDED, NR_COLS };
	const struct ts_list *buckets;
	char text[TS_UNIT_MAX];

	if (!axes || axes->nr != 1 || axes->nr_names != NR_COLS ||
	    axes->items[BUCKETS].type != TS_VALUE_LIST)
		return; /* of several dimensions the report has the sizes */
	buckets = axes->items[BUCKETS].as.list;
	if (buckets->nr == 0)
		return;
	ts_buf_puts(&doctor->text, " Padding ");
	ts_say_name(doctor, axes->items[PLACES].as.s);
	for (size_t i = 0; i < buckets->nr; i++)
		ts_buf_printf(&doctor->text, "%s%" PRId64,
			      i == 0		     ? " to "
			      : i + 1 == buckets->nr ? " or "
						     : ", ",
			      buckets->items[i].as.i);
	ts_buf_printf(&doctor->text, " would leave %zu of them, for %s padding.", buckets->nr,
		      ts_fmt_pct(text, ts_value_number(axes->items[PADDED])));
}

/* What to do about differences that no padding ends. */
static const struct {
	const char *differs, *hint;
} hints[] = {
	{ "dtype", " Give the function one dtype." },
	{ "static argument", " Pass what changes as an array, not as a static argument." },
	{ "constant", " Pass what changes as an array, not as a Python number or a closure." },
	{ "number of parameters", " Give the function the same arguments in every call." },
};

static void say_hints(struct ts_doctor *doctor, struct ts_bytes differs)
{
	for (size_t i = 0; i < TS_NELEM(hints); i++)
		if (ts_bytes_has(differs, hints[i].differs))
			ts_buf_puts(&doctor->text, hints[i].hint);
}

static void say_family(struct ts_doctor *doctor, const struct ts_table *families, size_t row)
{
	struct ts_bytes differs = ts_cell_text(families, row, "differs");
	const struct ts_list *shapes = list_cell(families, row, "parameter_shapes");
	char time[TS_UNIT_MAX];

	ts_buf_putc(&doctor->text, ' ');
	ts_say_name(doctor, ts_cell_text(families, row, "name"));
	ts_buf_printf(&doctor->text, " has %" PRId64 " variants, %" PRId64 " compiled here in %s",
		      ts_cell_int(families, row, "variants"),
		      ts_cell_int(families, row, "compilations"),
		      ts_fmt_ps(time, ts_cell_int(families, row, "compile_ps")));
	if (differs.n > 0) {
		ts_buf_puts(&doctor->text, "; they differ in ");
		ts_say_name(doctor, differs);
		if (shapes && ts_bytes_has(differs, "shape"))
			say_shapes(doctor, shapes);
	}
	ts_buf_putc(&doctor->text, '.');
	say_buckets(doctor, list_cell(families, row, "axes"));
	say_hints(doctor, differs);
}

/* Without steps: a function that was compiled here more than once, for sizes or types. */
static void check_family(struct ts_doctor *doctor, const struct ts_rule *rule,
			 const struct ts_table *families)
{
	int64_t row = find_family(families);
	struct ts_bytes none = { NULL, 0 }, name;
	struct ts_finding *finding;

	if (row < 0 || ts_cell_int(families, (size_t)row, "compilations") < 2)
		return;
	name = ts_cell_text(families, (size_t)row, "name");
	finding = ts_doctor_report(doctor, rule, name, none,
				   ts_cell_int(families, (size_t)row, "wait_ps"));
	if (!finding)
		return;
	ts_say_name(doctor, name);
	ts_buf_printf(&doctor->text, " is compiled %" PRId64 " times",
		      ts_cell_int(families, (size_t)row, "compilations"));
	finding->title = ts_doctor_text(doctor);
	say_family(doctor, families, (size_t)row);
	finding->evidence = ts_doctor_text(doctor);
	finding->evidence = ts_bytes_cut(finding->evidence, 1, finding->evidence.n); /* the space */
	add_compile_ranges(doctor, INT64_MIN);
}

static void check_recompilation(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_table *table = ts_result_find_table(doctor->time, "per_step");
	struct recompiles found = find_recompiles(table, doctor->nr_cores);
	struct ts_bytes none = { NULL, 0 };
	struct ts_finding *finding;
	const struct ts_table *families =
		doctor->cache ? ts_result_find_table(doctor->cache, "families") : NULL;
	char lost[TS_UNIT_MAX];

	if (!table || table->nr_rows == 0)
		check_family(doctor, rule, families);
	if (found.nr_steps == 0)
		return;
	finding = ts_doctor_report(doctor, rule, none, none, found.lost_ps);
	if (!finding)
		return;
	ts_buf_printf(&doctor->text, "%zu step%s after the first wait%s for a compilation",
		      found.nr_steps, found.nr_steps == 1 ? "" : "s",
		      found.nr_steps == 1 ? "s" : "");
	finding->title = ts_doctor_text(doctor);
	ts_buf_printf(&doctor->text, "The cores lose %s by it", ts_fmt_ps(lost, found.lost_ps));
	if (found.first_step >= 0)
		ts_buf_printf(&doctor->text, "; the first is step %" PRId64, found.first_step);
	ts_buf_printf(&doctor->text, ". The profile has %zu steps.", table->nr_rows);
	if (find_family(families) >= 0)
		say_family(doctor, families, (size_t)find_family(families));
	finding->evidence = ts_doctor_text(doctor);
	add_compile_ranges(doctor, found.from_ps);
}

const struct ts_rule ts_rule_compilation = {
	.name = "compilation",
	.confidence = TS_CERTAIN,
	.keep = true,
	.check = check_compilation,
	.ceiling = "the core time with nothing to run while the host compiles",
};
const struct ts_rule ts_rule_recompilation = {
	.name = "recompilation",
	.confidence = TS_LIKELY,
	.check = check_recompilation,
	.ceiling = "the core time that steps after the first lose to compilations",
};
