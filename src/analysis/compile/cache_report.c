/* What the cache analysis says: compilations, calls, families, and a row for each device. */
#include "analysis/compile/cache.h"

#include "base/buf.h"
#include "base/units.h"

#define MAX_ROWS   200 /* of compilations and of functions: the largest */
#define MAX_SHAPES 32  /* variants whose shapes are told of a family */
#define MAX_PARAMS 8   /* shapes told of a variant */
#define MAX_LABELS 64

struct report {
	struct cache_state *sum;
	const struct ts_context *ctx;
	struct ts_result *result;
	struct cache_families families;
	struct ts_buf text;
	bool failed; /* a text is not whole */
};

static struct ts_bytes keep_text(struct report *report)
{
	struct ts_bytes text =
		ts_result_text(report->result, "%.*s", TS_ARG(ts_buf_bytes(&report->text)));

	report->failed |= report->text.failed; /* clear forgets it */
	ts_buf_clear(&report->text);
	return text;
}

/* A compilation without a name has that of the function that was called. */
static void name_requests(struct report *report)
{
	struct ts_arena *arena = &report->result->owner->arena;

	for (size_t i = 0; i < report->sum->nr_requests; i++) {
		struct cache_request *request = &report->sum->requests[i];

		if (request->module.n == 0 && request->call_op != TS_NONE)
			request->module = cache_module_name(
				arena, report->ctx->profile->ops[request->call_op].name);
	}
}

static struct ts_value share_of(int64_t part, int64_t all)
{
	return all > 0 ? ts_share_pct((double)part / (double)all) : ts_null();
}

static void put_fields(const struct report *report, int64_t attributed_ps)
{
	const struct cache_counts *counts = &report->sum->counts;
	struct ts_result *result = report->result;
	int64_t hits = 0, misses = 0;
	bool used = counts->nr_restored > 0 || counts->nr_writes > 0, called;
	int64_t wait_ps = ts_time_facts(report->ctx)->bucket_ps[TS_BUCKET_COMPILATION];

	for (size_t i = 0; i < report->sum->nr_functions; i++) {
		const struct cache_function *function = &report->sum->functions[i];

		hits += function->nr_hits;
		misses += function->nr_compiled + function->nr_restored;
	}
	called = hits + misses > 0;
	ts_result_field(result, "compilation_count", ts_int(counts->nr_compiled), TS_MEASURED,
			"compilations");
	ts_result_field(result, "compilation_ps", ts_int(counts->compile_ps), TS_MEASURED,
			"host time in compilations");
	ts_result_field(result, "wait_ps", ts_int_or_null(wait_ps), TS_MEASURED,
			"core time waiting for them");
	ts_result_field(result, "wait_attributed_ps", ts_int_or_null(attributed_ps), TS_MEASURED,
			NULL);
	ts_result_field(result, "cache_hits", called ? ts_int(hits) : ts_null(), TS_MEASURED,
			"calls that found an executable");
	ts_result_field(result, "cache_misses", called ? ts_int(misses) : ts_null(), TS_MEASURED,
			"calls that needed a new one");
	ts_result_field(result, "cache_hit_pct", share_of(hits, hits + misses), TS_MEASURED, NULL);
	ts_result_field(result, "persistent_cache_hits",
			used ? ts_int(counts->nr_restored) : ts_null(), TS_MEASURED,
			"persistent cache hits");
	ts_result_field(result, "persistent_cache_misses",
			used ? ts_int(counts->nr_compiled) : ts_null(), TS_DERIVED,
			"persistent cache misses");
	ts_result_field(
		result, "persistent_cache_hit_pct",
		used ? share_of(counts->nr_restored, counts->nr_restored + counts->nr_compiled)
		     : ts_null(),
		TS_DERIVED, NULL);
}

enum {
	REQ_MODULE,
	REQ_START,
	REQ_DURATION,
	REQ_TRACE,
	REQ_LOWER,
	REQ_PASSES,
	REQ_CODEGEN,
	REQ_WAIT,
	REQ_OUTCOME,
	REQ_INFERRED,
	REQ_FUNCTION,
	REQ_PROGRAM,
	REQ_THREAD,
	REQ_HOST,
	NR_REQ
};

static const struct ts_column request_columns[NR_REQ] = {
	[REQ_MODULE] = { "module", TS_MEASURED, "module" },
	[REQ_START] = { "start_ps", TS_MEASURED, "start" },
	[REQ_DURATION] = { "duration_ps", TS_MEASURED, "duration" },
	[REQ_TRACE] = { "trace_ps", TS_MEASURED, "trace" },
	[REQ_LOWER] = { "lower_ps", TS_MEASURED, "lower" },
	[REQ_PASSES] = { "passes_ps", TS_MEASURED, "HLO passes" },
	[REQ_CODEGEN] = { "codegen_ps", TS_MEASURED, "code" },
	[REQ_WAIT] = { "wait_ps", TS_MEASURED, "cores waited" },
	[REQ_OUTCOME] = { "outcome", TS_MEASURED, "outcome" },
	[REQ_INFERRED] = { "inferred", TS_DERIVED, NULL },
	[REQ_FUNCTION] = { "function", TS_MEASURED, NULL },
	[REQ_PROGRAM] = { "program_id", TS_DERIVED, NULL },
	[REQ_THREAD] = { "thread", TS_MEASURED, NULL },
	[REQ_HOST] = { "host", TS_MEASURED, NULL },
};

static int longest_first(const void *a, const void *b)
{
	const struct cache_request *x = *(const struct cache_request *const *)a;
	const struct cache_request *y = *(const struct cache_request *const *)b;
	int64_t dx = ts_i64_sub(x->end_ps, x->start_ps), dy = ts_i64_sub(y->end_ps, y->start_ps);

	if (dx != dy)
		return dx > dy ? -1 : 1;
	return (x > y) - (x < y); /* they stand in the order of time */
}

static void put_request(const struct report *report, const struct cache_request *request,
			struct ts_value *cells)
{
	const struct ts_profile *profile = report->ctx->profile;
	const struct ts_line *line = &profile->lines[request->line];
	struct ts_bytes outcome = request->is_restored ? TS_LIT("restored") : TS_LIT("compiled");

	cells[REQ_MODULE] = ts_text_or_null(request->module);
	cells[REQ_START] = ts_int(request->start_ps);
	cells[REQ_DURATION] = ts_int(ts_i64_sub(request->end_ps, request->start_ps));
	cells[REQ_TRACE] = ts_int_or_null(request->trace_ps);
	cells[REQ_LOWER] = ts_int_or_null(request->lower_ps);
	cells[REQ_PASSES] = ts_int_or_null(request->passes_ps);
	cells[REQ_CODEGEN] = ts_int_or_null(request->codegen_ps);
	cells[REQ_WAIT] = ts_int_or_null(request->wait_ps);
	cells[REQ_OUTCOME] = ts_text(outcome);
	cells[REQ_INFERRED] = ts_bool(request->is_inferred);
	if (request->call_op != TS_NONE)
		cells[REQ_FUNCTION] =
			ts_text_or_null(ts_host_function(profile->ops[request->call_op].name));
	if (request->program != TS_NONE)
		cells[REQ_PROGRAM] = ts_id(report->sum->programs[request->program].id);
	cells[REQ_THREAD] = ts_text_or_null(line->name);
	cells[REQ_HOST] = ts_text_or_null(profile->hosts[profile->planes[line->plane].host].name);
}

static bool put_requests(const struct report *report)
{
	const struct cache_state *sum = report->sum;
	struct ts_table *table = ts_result_table(report->result, "compilations",
						 "Compilations by time", request_columns, NR_REQ);
	const struct cache_request **order =
		calloc(sum->nr_requests + 1, sizeof(const struct cache_request *));
	bool good = table && order;

	for (size_t i = 0; good && i < sum->nr_requests; i++)
		order[i] = &sum->requests[i];
	if (good && sum->nr_requests > 1)
		qsort(order, sum->nr_requests, sizeof(*order), longest_first);
	for (size_t i = 0; good && i < TS_MIN(sum->nr_requests, MAX_ROWS); i++) {
		struct ts_value *cells = ts_table_row(report->result, table);

		good = cells != NULL;
		if (good)
			put_request(report, order[i], cells);
	}
	free(order);
	if (sum->nr_requests > MAX_ROWS)
		ts_result_note(report->result, "the %d longest of %zu compilations are listed",
			       MAX_ROWS, sum->nr_requests);
	return good;
}

static const struct ts_column function_columns[] = {
	{ "function", TS_MEASURED, "function" },       { "calls", TS_MEASURED, "calls" },
	{ "hits", TS_MEASURED, "ran at once" },	       { "compiled", TS_MEASURED, "compiled" },
	{ "restored", TS_MEASURED, "restored" },       { "hit_pct", TS_MEASURED, "hit rate" },
	{ "compile_ps", TS_MEASURED, "compile time" },
};

static int64_t nr_calls(const struct cache_function *function)
{
	return function->nr_hits + function->nr_compiled + function->nr_restored;
}

static int dearest_first(const void *a, const void *b)
{
	const struct cache_function *x = a, *y = b;

	if (x->compile_ps != y->compile_ps)
		return x->compile_ps > y->compile_ps ? -1 : 1;
	if (nr_calls(x) != nr_calls(y))
		return nr_calls(x) > nr_calls(y) ? -1 : 1;
	return (x->op > y->op) - (x->op < y->op);
}

/* Sorts the functions: their map is not good any more. */
static bool put_functions(const struct report *report)
{
	struct cache_state *sum = report->sum;
	struct ts_table *table = ts_result_table(report->result, "functions", "Jitted functions",
						 function_columns, TS_NELEM(function_columns));

	if (table && sum->nr_functions > 1)
		qsort(sum->functions, sum->nr_functions, sizeof(*sum->functions), dearest_first);
	for (size_t i = 0; table && i < TS_MIN(sum->nr_functions, MAX_ROWS); i++) {
		const struct cache_function *function = &sum->functions[i];
		struct ts_bytes name = report->ctx->profile->ops[function->op].name;
		struct ts_bytes inner = ts_host_function(name);
		struct ts_value *cells = ts_table_row(report->result, table);

		if (!cells)
			return false;
		cells[0] = ts_text(inner.n ? inner : name);
		cells[1] = ts_int(nr_calls(function));
		cells[2] = ts_int(function->nr_hits);
		cells[3] = ts_int(function->nr_compiled);
		cells[4] = ts_int(function->nr_restored);
		cells[5] = share_of(function->nr_hits, nr_calls(function));
		cells[6] = ts_int(function->compile_ps);
	}
	return table != NULL;
}

enum {
	FAM_NAME,
	FAM_VARIANTS,
	FAM_DIFFERS,
	FAM_COMPILED,
	FAM_COMPILE,
	FAM_WAIT,
	FAM_RESTORED,
	FAM_RUNS,
	FAM_TIME,
	FAM_SHAPES,
	FAM_BUCKETS,
	FAM_PROGRAMS,
	FAM_AXES,
	NR_FAM
};

static const struct ts_column family_columns[NR_FAM] = {
	[FAM_NAME] = { "name", TS_MEASURED, "family" },
	[FAM_VARIANTS] = { "variants", TS_COMPILED, "variants" },
	[FAM_DIFFERS] = { "differs", TS_COMPILED, "they differ in" },
	[FAM_COMPILED] = { "compilations", TS_MEASURED, "compiled" },
	[FAM_COMPILE] = { "compile_ps", TS_MEASURED, "compile time" },
	[FAM_WAIT] = { "wait_ps", TS_MEASURED, "cores waited" },
	[FAM_RESTORED] = { "restored", TS_MEASURED, NULL },
	[FAM_RUNS] = { "executions", TS_MEASURED, "executions" },
	[FAM_TIME] = { "time_ps", TS_MEASURED, NULL },
	[FAM_SHAPES] = { "parameter_shapes", TS_COMPILED, NULL },
	[FAM_BUCKETS] = { "bucket_advice", TS_DERIVED, "pad to" },
	[FAM_PROGRAMS] = { "programs", TS_MEASURED, NULL },
	[FAM_AXES] = { "axes", TS_DERIVED, NULL },
};

static const struct {
	unsigned bit;
	const char *words;
} difference_names[] = {
	{ CACHE_DIFFERS_FUNCTION, "source" },
	{ CACHE_DIFFERS_COUNT, "number of parameters" },
	{ CACHE_DIFFERS_RANK, "rank" },
	{ CACHE_DIFFERS_SHAPE, "shape" },
	{ CACHE_DIFFERS_DTYPE, "dtype" },
	{ CACHE_DIFFERS_LAYOUT, "layout" },
	{ CACHE_DIFFERS_CODE, "static argument or code" },
	{ CACHE_DIFFERS_CONSTANT, "constant, sharding or donation" },
};

static struct ts_value say_differences(struct report *report, unsigned differences)
{
	for (size_t i = 0; i < TS_NELEM(difference_names); i++)
		if (differences & difference_names[i].bit)
			ts_buf_printf(&report->text, "%s%s", report->text.n ? ", " : "",
				      difference_names[i].words);
	return ts_text_or_null(keep_text(report));
}

static void say_shape(struct ts_buf *text, const struct ts_shape *shape)
{
	ts_buf_printf(text, "%s[", ts_dtype_name(shape->dtype));
	for (uint32_t d = 0; d < shape->rank; d++)
		ts_buf_printf(text, "%s%lld", d ? "," : "", (long long)shape->dims[d]);
	ts_buf_putc(text, ']');
}

static bool same_shape(const struct ts_shape *a, const struct ts_shape *b)
{
	if (!a || !b || a->dtype != b->dtype || a->rank != b->rank)
		return false;
	return a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof(*a->dims)) == 0;
}

/* Is the parameter not the same in all variants? */
static bool parameter_changes(const struct report *report, const struct cache_family *family,
			      uint32_t number)
{
	const struct ts_hlo_module *modules = report->ctx->profile->modules;
	const struct ts_shape *first =
		cache_parameter(&modules[family->variants[0].module], number);

	for (size_t i = 1; i < family->nr_known; i++)
		if (!same_shape(first,
				cache_parameter(&modules[family->variants[i].module], number)))
			return true;
	return false;
}

/* The parameters that change; all where none does. */
static struct ts_value say_parameters(struct report *report, const struct cache_family *family,
				      const struct cache_variant *variant)
{
	const struct ts_hlo_module *module = &report->ctx->profile->modules[variant->module];
	uint32_t nr = cache_nr_parameters(module), nr_said = 0;
	bool sizes = family->differences &
		     (CACHE_DIFFERS_SHAPE | CACHE_DIFFERS_DTYPE | CACHE_DIFFERS_RANK);

	for (uint32_t p = 0; p < nr; p++) {
		const struct ts_shape *shape = cache_parameter(module, p);

		if (!shape || (sizes && !parameter_changes(report, family, p)))
			continue;
		if (nr_said++ == MAX_PARAMS) {
			ts_buf_puts(&report->text, ", ...");
			break;
		}
		if (nr_said > 1)
			ts_buf_puts(&report->text, ", ");
		say_shape(&report->text, shape);
	}
	return ts_text(keep_text(report));
}

static struct ts_value list_shapes(struct report *report, const struct cache_family *family)
{
	size_t nr = TS_MIN(family->nr_known, MAX_SHAPES);
	struct ts_value *items, list = ts_result_list(report->result, NULL, 0, nr, &items);

	for (size_t i = 0; items && i < nr; i++)
		items[i] = say_parameters(report, family, &family->variants[i]);
	return list;
}

/* On a CPU an executable from the persistent cache says that it is the program of the process that
 * compiled it. */
static struct ts_value runs_of(const struct report *report, int64_t nr_runs)
{
	return nr_runs == 0 && report->families.has_strangers ? ts_null() : ts_int(nr_runs);
}

static struct ts_value list_programs(struct report *report, const struct cache_family *family)
{
	static const char *const names[] = { "program_id", "first_ps",	   "executions",
					     "time_ps",	   "compilations", "compile_ps" };
	size_t nr = TS_MIN(family->nr_variants, MAX_SHAPES);
	struct ts_value *items,
		list = ts_result_list(report->result, names, TS_NELEM(names), nr, &items);

	for (size_t i = 0; items && i < nr; i++, items += TS_NELEM(names)) {
		const struct cache_variant *variant = &family->variants[i];

		items[0] = ts_id(variant->program_id);
		items[1] = variant->nr_runs ? ts_int(variant->first_ps) : ts_null();
		items[2] = runs_of(report, variant->nr_runs);
		items[3] = variant->nr_runs ? ts_int(variant->time_ps) : ts_null();
		items[4] = ts_int(variant->nr_compiled);
		items[5] = ts_int(variant->compile_ps);
	}
	return list;
}

static struct ts_value list_numbers(struct report *report, const int64_t *numbers, size_t nr)
{
	struct ts_value *items, list = ts_result_list(report->result, NULL, 0, nr, &items);

	for (size_t i = 0; items && i < nr; i++)
		items[i] = ts_int(numbers[i]);
	return list;
}

static struct ts_value say_places(struct report *report, const struct cache_axis *axis)
{
	for (size_t i = 0; i < axis->nr_places; i++)
		ts_buf_printf(&report->text, "%sparameter %u dimension %u", i ? ", " : "",
			      axis->places[i].parameter, axis->places[i].dim);
	if (axis->nr_all_places > axis->nr_places)
		ts_buf_printf(&report->text, " and %zu more",
			      axis->nr_all_places - axis->nr_places);
	return ts_text(keep_text(report));
}

static struct ts_value list_axes(struct report *report, const struct cache_family *family)
{
	static const char *const names[] = { "places", "values", "buckets", "padded_pct" };
	struct ts_value *items, list = ts_result_list(report->result, names, TS_NELEM(names),
						      family->nr_axes, &items);

	for (size_t i = 0; items && i < family->nr_axes; i++, items += TS_NELEM(names)) {
		const struct cache_axis *axis = &family->axes[i];

		items[0] = say_places(report, axis);
		items[1] = list_numbers(report, axis->values, TS_MIN(family->nr_known, MAX_SHAPES));
		items[2] = list_numbers(report, axis->buckets, axis->nr_buckets);
		items[3] = ts_share_pct(axis->waste_share);
	}
	return list;
}

/* "16, 104 (21 % padding)", by dimension. */
static struct ts_value say_buckets(struct report *report, const struct cache_family *family)
{
	for (size_t i = 0; i < family->nr_axes; i++) {
		const struct cache_axis *axis = &family->axes[i];
		char text[TS_UNIT_MAX];

		if (axis->nr_buckets == 0)
			continue;
		if (report->text.n)
			ts_buf_puts(&report->text, "; ");
		for (size_t b = 0; b < axis->nr_buckets; b++)
			ts_buf_printf(&report->text, "%s%lld", b ? ", " : "",
				      (long long)axis->buckets[b]);
		ts_buf_printf(&report->text, " (%s padding)",
			      ts_fmt_pct(text, axis->waste_share * 100));
	}
	return ts_text_or_null(keep_text(report));
}

static void put_family(struct report *report, const struct cache_family *family,
		       struct ts_value *cells)
{
	cells[FAM_NAME] = ts_text(family->stem);
	cells[FAM_VARIANTS] = ts_int((int64_t)family->nr_variants);
	cells[FAM_DIFFERS] = say_differences(report, family->differences);
	cells[FAM_COMPILED] = ts_int(family->nr_compiled);
	cells[FAM_COMPILE] = ts_int(family->compile_ps);
	cells[FAM_WAIT] = ts_int_or_null(family->wait_ps);
	cells[FAM_RESTORED] = ts_int(family->nr_restored);
	cells[FAM_RUNS] = runs_of(report, family->nr_runs);
	cells[FAM_TIME] = family->nr_runs ? ts_int(family->time_ps) : ts_null();
	cells[FAM_SHAPES] = list_shapes(report, family);
	cells[FAM_BUCKETS] = say_buckets(report, family);
	cells[FAM_PROGRAMS] = list_programs(report, family);
	cells[FAM_AXES] = list_axes(report, family);
}

static int most_compiled_first(const void *a, const void *b)
{
	const struct cache_family *x = a, *y = b;

	if (x->compile_ps != y->compile_ps)
		return x->compile_ps > y->compile_ps ? -1 : 1;
	if (x->time_ps != y->time_ps)
		return x->time_ps > y->time_ps ? -1 : 1;
	if (x->nr_variants != y->nr_variants)
		return x->nr_variants > y->nr_variants ? -1 : 1;
	return ts_bytes_cmp(x->stem, y->stem);
}

/* One program is no family; nor are those of which nothing was compiled or ran here. */
static bool put_families(struct report *report)
{
	struct cache_families *families = &report->families;
	struct ts_table *table = ts_result_table(
		report->result, "families", "Variants of one function", family_columns, NR_FAM);

	if (table && families->nr > 1)
		qsort(families->items, families->nr, sizeof(*families->items), most_compiled_first);
	for (size_t i = 0; table && i < families->nr && table->nr_rows < MAX_ROWS; i++) {
		const struct cache_family *family = &families->items[i];
		struct ts_value *cells;

		if (family->nr_variants < 2 ||
		    family->nr_compiled + family->nr_restored + family->nr_runs == 0)
			continue;
		cells = ts_table_row(report->result, table);
		if (!cells)
			return false;
		put_family(report, family, cells);
	}
	return table && !report->failed;
}

/* The labels of a row: one a module, the last for all further ones. */
static uint32_t label_of(struct report *report, struct ts_label *labels, size_t *nr,
			 struct ts_bytes module)
{
	struct ts_bytes name = module.n ? module : TS_LIT("(unknown module)");
	uint32_t i = 0;

	while (i < *nr && !ts_bytes_eq(labels[i].name, name))
		i++;
	if (i < *nr || *nr == MAX_LABELS)
		return TS_MIN(i, MAX_LABELS - 1);
	if (*nr == MAX_LABELS - 1)
		name = TS_LIT("(other modules)");
	labels[i] =
		(struct ts_label){ ts_result_text(report->result, "%.*s", TS_ARG(name)), NULL, 0 };
	(*nr)++;
	return i;
}

static bool put_track(struct report *report, uint32_t device)
{
	const struct ts_profile *profile = report->ctx->profile;
	struct ts_slices slices = { .budget = ts_overlay_share(report->ctx, TS_SHARE_COMPILATIONS,
							       profile->nr_devices) };
	struct ts_label *labels =
		ts_arena_array(&report->result->owner->arena, MAX_LABELS, sizeof(*labels));
	struct ts_track *track = NULL;
	size_t nr_labels = 0;
	bool good = labels != NULL;

	for (size_t i = 0; good && slices.budget > 0 && i < report->sum->nr_requests; i++) {
		const struct cache_request *request = &report->sum->requests[i];
		uint32_t plane = profile->lines[request->line].plane;

		if (profile->planes[plane].host != profile->devices[device].host ||
		    request->end_ps <= request->start_ps)
			continue;
		good = ts_slices_add(&slices, request->start_ps, request->end_ps,
				     label_of(report, labels, &nr_labels, request->module));
	}
	if (good && slices.nr > 0) {
		track = ts_result_track(report->result, TS_TRACK_SLICES, "Host compiles", device,
					3);
		good = track != NULL;
	}
	if (good && track) {
		track->labels = labels;
		track->nr_labels = nr_labels;
		track->description =
			"modules that this device's host compiled or restored from the "
			"persistent cache";
		good = ts_slices_finish(&slices, report->result, track);
	}
	ts_slices_release(&slices);
	return good;
}

static void put_notes(const struct report *report)
{
	const struct cache_counts *counts = &report->sum->counts;

	if (counts->nr_inferred > 0)
		ts_result_note(report->result,
			       "%lld calls lowered a function and ran it without a compilation: "
			       "taken as restored from the persistent cache (the Python tracer "
			       "would show it)",
			       (long long)counts->nr_inferred);
	if (report->sum->nr_requests >= CACHE_MAX_REQUESTS)
		ts_result_note(report->result, "only the first %d compilations are told apart",
			       CACHE_MAX_REQUESTS);
	if (report->sum->nr_runs >= CACHE_MAX_RUNS)
		ts_result_note(report->result, "only the first %d runs on the CPU were counted",
			       CACHE_MAX_RUNS);
}

enum ts_status cache_report(struct cache_state *sum, const struct ts_context *ctx,
			    struct ts_result *result, struct ts_error *err)
{
	struct report report = { .sum = sum, .ctx = ctx, .result = result, .text = TS_BUF_INIT };
	int64_t attributed_ps;
	bool good;

	cache_match_backends(sum, ctx->profile);
	name_requests(&report);
	good = cache_match_programs(sum, ctx->profile);
	attributed_ps = cache_match_waits(sum, ts_time_facts(ctx));
	put_fields(&report, attributed_ps);
	good = good && cache_families_make(&report.families, sum, ctx->profile) &&
	       put_requests(&report) && put_functions(&report) && put_families(&report);
	for (uint32_t i = 0; good && ctx->overlay_budget > 0 && i < ctx->profile->nr_devices; i++)
		good = put_track(&report, i);
	put_notes(&report);
	cache_families_release(&report.families);
	ts_buf_release(&report.text);
	return good ? TS_OK : ts_fail_nomem(err);
}
