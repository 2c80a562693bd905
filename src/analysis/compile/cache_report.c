/* SPDX-License-Identifier: MIT */
/* What the cache analysis shows: compilations, calls, families, and a row for each device. */
#include "analysis/compile/cache.h"

#include "base/order.h"
#include "analysis/kit/lists.h"
#include "analysis/kit/source.h"
#include "result/schema/cache.def"

#define MAX_ROWS   200 /* of compilations and of functions: the largest */
#define MAX_LABELS 64

/* Unlike ts_part_pct() of the kit it divides first: the last digit of the report depends on it. */
static struct ts_value cache_report_share_of(int64_t part, int64_t all)
{
	return all > 0 ? ts_share_pct((double)part / (double)all) : ts_null();
}

#define IF_KNOWN(ps)	 (is_known ? ts_int_or_null(ps) : ts_null())
#define IF_CALLED(value) (calls > 0 ? (value) : ts_null())
#define IF_USED(value)	 (restored < 0 ? ts_null() : (value))
static struct ts_value cache_report_persistent_cache(const struct ts_cache_facts *facts)
{
	static const char *const names[] = { [TS_CACHE_OFF] = "off", [TS_CACHE_ON] = "on" };

	return ts_text_or_null(ts_bytes_of(names[facts->persistent]));
}

static void cache_report_put_fields(const struct cache_report *report)
{
	const struct ts_cache_facts *facts = report->facts;
	int64_t compiled = facts->nr_compiled, restored = facts->nr_restored;
	bool is_known = compiled >= 0;
	int64_t wait_ps = ts_time_facts(report->ctx)->bucket_ps[TS_BUCKET_COMPILATION];
	int64_t hits = 0, calls = 0;

	for (size_t i = 0; i < report->sum->nr_functions; i++) {
		hits += report->sum->functions[i].nr_hits;
		calls += ts_cache_nr_calls(&report->sum->functions[i]);
	}
	TS_SET(report->result, cache, compilation_count, ts_int_or_null(compiled));
	TS_SET(report->result, cache, compilation_ps, ts_int_or_null(facts->compile_ps));
	TS_SET(report->result, cache, wait_ps, IF_KNOWN(wait_ps));
	TS_SET(report->result, cache, wait_attributed_ps, IF_KNOWN(report->attributed_ps));
	TS_SET(report->result, cache, cache_hits, IF_CALLED(ts_int(hits)));
	TS_SET(report->result, cache, cache_misses, IF_CALLED(ts_int(calls - hits)));
	TS_SET(report->result, cache, cache_hit_pct, cache_report_share_of(hits, calls));
	TS_SET(report->result, cache, persistent_cache, cache_report_persistent_cache(facts));
	TS_SET(report->result, cache, persistent_cache_hits, ts_int_or_null(restored));
	TS_SET(report->result, cache, persistent_cache_misses, IF_USED(ts_int(compiled)));
	TS_SET(report->result, cache, persistent_cache_hit_pct,
	       IF_USED(cache_report_share_of(restored, restored + compiled)));
}

static struct ts_value cache_report_function_of(const struct ts_profile *profile, uint32_t call_op)
{
	if (call_op == TS_NONE)
		return ts_null();
	return ts_text_or_null(ts_host_function(profile->ops[call_op].name));
}

static struct ts_value cache_report_program_of(const struct cache_state *sum, uint32_t program)
{
	return program == TS_NONE ? ts_null() : ts_id(sum->programs[program].id);
}

static struct ts_value cache_report_cause_of(const struct cache_request *request)
{
	static const char *const names[] = {
		[CACHE_FIRST] = "first", [CACHE_AGAIN] = "again", [CACHE_BY_HAND] = "by hand"
	};

	if (request->is_restored || request->module.n == 0)
		return ts_null();
	return ts_text(ts_bytes_of(names[request->cause]));
}

#define REQUEST_CELLS(X) \
	X(module, ts_text_or_null(request->module)) \
	X(start_ps, ts_int(request->start_ps)) \
	X(duration_ps, ts_int(ts_cache_duration(request))) \
	X(trace_ps, ts_int_or_null(request->trace_ps)) \
	X(lower_ps, ts_int_or_null(request->lower_ps)) \
	X(passes_ps, ts_int_or_null(request->passes_ps)) \
	X(codegen_ps, ts_int_or_null(request->codegen_ps)) \
	X(wait_ps, ts_int_or_null(request->wait_ps)) \
	X(outcome, ts_text(outcome)) \
	X(inferred, ts_bool(request->is_inferred)) \
	X(cause, cache_report_cause_of(request)) \
	X(function, cache_report_function_of(profile, request->call_op)) \
	X(source, ts_text_or_null(ts_instr_source(report->result, request->code))) \
	X(program_id, cache_report_program_of(report->sum, request->program)) \
	X(thread, ts_text_or_null(line->name)) \
	X(host, ts_text_or_null(host->name))

static void put_requests(const struct cache_report *report)
{
	size_t nr = report->sum->nr_requests;
	struct ts_table *table = TS_TABLE(report->result, cache_compilations);

	for (size_t i = 0; i < TS_MIN(nr, MAX_ROWS); i++) {
		const struct cache_request *request = report->longest[i];
		const struct ts_profile *profile = report->ctx->profile;
		const struct ts_line *line = &profile->lines[request->line];
		const struct ts_host *host = &profile->hosts[profile->planes[line->plane].host];
		struct ts_bytes outcome =
			request->is_restored ? TS_LIT("restored") : TS_LIT("compiled");

		TS_CELLS(report->result, table, cache_compilations, REQUEST_CELLS);
	}
	if (nr > MAX_ROWS)
		ts_result_note(report->result, "the %d longest of %zu compilations are listed",
			       MAX_ROWS, nr);
}

#define FUNCTION_CELLS(X) \
	X(function, ts_text(inner.n ? inner : name)) \
	X(calls, ts_int(ts_cache_nr_calls(function))) \
	X(hits, ts_int(function->nr_hits)) \
	X(compiled, ts_int(function->nr_compiled)) \
	X(restored, ts_int(function->nr_restored)) \
	X(hit_pct, cache_report_share_of(function->nr_hits, ts_cache_nr_calls(function))) \
	X(compile_ps, ts_int(function->compile_ps))

TS_ORDER_AT(cache_report_longest_compiled_first, struct cache_function,
	    TS_DOWN(compile_ps) TS_DOWN_BY(ts_cache_nr_calls) TS_UP(op))

static enum ts_status put_functions(const struct cache_report *report, struct ts_error *err)
{
	const struct cache_state *sum = report->sum;
	struct ts_table *table = TS_TABLE(report->result, cache_functions);
	const struct cache_function **order =
		calloc(sum->nr_functions + 1, sizeof(const struct cache_function *));

	if (!order)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < sum->nr_functions; i++)
		order[i] = &sum->functions[i];
	TS_SORT(order, sum->nr_functions, cache_report_longest_compiled_first);
	for (size_t i = 0; i < TS_MIN(sum->nr_functions, MAX_ROWS); i++) {
		const struct cache_function *function = order[i];
		struct ts_bytes name = report->ctx->profile->ops[function->op].name;
		struct ts_bytes inner = ts_host_function(name);

		TS_CELLS(report->result, table, cache_functions, FUNCTION_CELLS);
	}
	free(order);
	return TS_OK;
}

#define PROGRAM_ITEMS(X) \
	X(program_id, ts_id(variant->program_id)) \
	X(first_ps, variant->nr_runs > 0 ? ts_int(variant->first_ps) : ts_null()) \
	X(executions, ts_int_or_null(variant->nr_runs)) \
	X(time_ps, ts_int_or_null(variant->time_ps)) \
	X(compilations, ts_int_or_null(variant->nr_compiled)) \
	X(compile_ps, ts_int_or_null(variant->compile_ps))

static struct ts_value list_programs(struct ts_result *result, const struct ts_cache_family *family)
{
	size_t nr = TS_MIN(family->nr_variants, CACHE_MAX_SHAPES);
	struct ts_value list = TS_ITEMS(result, cache_program, nr);
	struct ts_cache_program_row *row = TS_ITEM_ROWS(list, cache_program);

	for (size_t i = 0; row && i < nr; i++) {
		const struct ts_cache_variant *variant = &family->variants[i];

		TS_ITEM_CELLS(&row[i], cache_program, PROGRAM_ITEMS);
	}
	return list;
}

#define AXIS_ITEMS(X) \
	X(places, ts_text(axis->where)) \
	X(values, \
	  ts_int_list(result, axis->values, TS_MIN(family->nr_known, CACHE_MAX_SHAPES))) \
	X(buckets, ts_int_list(result, axis->buckets, axis->nr_buckets)) \
	X(padded_pct, ts_share_pct(axis->waste_share))

static struct ts_value list_axes(struct ts_result *result, const struct ts_cache_family *family)
{
	struct ts_value list = TS_ITEMS(result, cache_axis, family->nr_axes);
	struct ts_cache_axis_row *row = TS_ITEM_ROWS(list, cache_axis);

	for (size_t i = 0; row && i < family->nr_axes; i++) {
		const struct ts_cache_axis *axis = &family->axes[i];

		TS_ITEM_CELLS(&row[i], cache_axis, AXIS_ITEMS);
	}
	return list;
}

#define FAMILY_CELLS(X) \
	X(name, ts_text(family->stem)) \
	X(variants, ts_int((int64_t)family->nr_variants)) \
	X(differs, ts_text_or_null(family->differs)) \
	X(compilations, ts_int_or_null(family->nr_compiled)) \
	X(recompilations, ts_int_or_null(family->nr_again)) \
	X(compile_ps, ts_int_or_null(family->compile_ps)) \
	X(wait_ps, ts_int_or_null(family->wait_ps)) \
	X(restored, ts_int_or_null(family->nr_restored)) \
	X(executions, ts_int_or_null(family->nr_runs)) \
	X(time_ps, ts_int_or_null(family->time_ps)) \
	X(source, ts_text_or_null(ts_instr_source(result, family->code))) \
	X(parameter_shapes, ts_text_list(result, family->shapes, family->nr_shapes)) \
	X(bucket_advice, ts_text_or_null(advice)) \
	X(programs, list_programs(result, family)) \
	X(axes, list_axes(result, family))

static void put_families(const struct cache_report *report)
{
	struct ts_result *result = report->result;
	struct ts_table *table = TS_TABLE(result, cache_families);

	for (size_t i = 0; i < TS_MIN(report->facts->nr_families, MAX_ROWS); i++) {
		const struct ts_cache_family *family = &report->facts->families[i];
		struct ts_bytes advice = ts_cache_bucket_advice(family, result);

		TS_CELLS(result, table, cache_families, FAMILY_CELLS);
	}
}

/* The labels of a row: one a module, the last for all further ones. */
static uint32_t cache_report_label_of(struct ts_result *result, struct ts_label *labels, size_t *nr,
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
	labels[i] = (struct ts_label){ ts_result_text(result, "%.*s", TS_ARG(name)), NULL, 0 };
	(*nr)++;
	return i;
}

/* The requests of the device's host as slices. */
static enum ts_status add_slices(const struct cache_report *report, uint32_t device,
				 struct ts_slices *slices, struct ts_label *labels,
				 size_t *nr_labels, struct ts_error *err)
{
	const struct ts_profile *profile = report->ctx->profile;

	for (size_t i = 0; slices->budget > 0 && i < report->sum->nr_requests; i++) {
		const struct cache_request *request = &report->sum->requests[i];
		uint32_t plane = profile->lines[request->line].plane;

		if (profile->planes[plane].host != profile->devices[device].host ||
		    request->end_ps <= request->start_ps)
			continue;
		if (!ts_slices_add(slices, request->start_ps, request->end_ps,
				   cache_report_label_of(report->result, labels, nr_labels,
							 request->module)))
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

static enum ts_status cache_report_put_slices(struct ts_result *result, uint32_t device,
					      struct ts_slices *slices,
					      const struct ts_label *labels, size_t nr_labels,
					      struct ts_error *err)
{
	struct ts_track *track =
		ts_result_track(result, TS_TRACK_SLICES, "Host compiles", device, 3);

	if (!track)
		return ts_fail_nomem(err);
	track->labels = labels;
	track->nr_labels = nr_labels;
	track->description = "modules that this device's host compiled or restored from the "
			     "persistent cache";
	return ts_slices_finish(slices, result, track) ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status cache_report_put_track(const struct cache_report *report, uint32_t device,
					     struct ts_error *err)
{
	struct ts_slices slices = { .budget = ts_overlay_device_share(
					    report->ctx, TS_SHARE_COMPILATIONS, device) };
	struct ts_label *labels =
		ts_arena_array(&report->result->owner->arena, MAX_LABELS, sizeof(*labels));
	size_t nr_labels = 0;
	enum ts_status st = labels ? add_slices(report, device, &slices, labels, &nr_labels, err)
				   : ts_fail_nomem(err);

	if (st == TS_OK && slices.nr > 0)
		st = cache_report_put_slices(report->result, device, &slices, labels, nr_labels,
					     err);
	ts_slices_release(&slices);
	return st;
}

static void cache_report_put_notes(const struct cache_report *report)
{
	const struct cache_counts *counts = &report->sum->counts;

	if (counts->nr_inferred > 0)
		ts_result_note(report->result,
			       "%lld calls lowered a function and ran it without a compilation: "
			       "taken as restored from the persistent cache (the Python tracer "
			       "would show it)",
			       (long long)counts->nr_inferred);
	if (report->facts->nr_compiled < 0)
		ts_result_note(report->result,
			       "the profile has no event of a host thread: what was "
			       "compiled is unknown");
	if (report->facts->persistent == TS_CACHE_OFF)
		ts_result_note(report->result,
			       "JAX asked for a persistent cache and there was none: with "
			       "JAX_COMPILATION_CACHE_DIR=FOLDER the next start of the job "
			       "compiles less");
	else if (report->facts->persistent == TS_CACHE_UNKNOWN && counts->nr_compiled > 0)
		ts_result_note(report->result,
			       "whether a persistent cache was in use is unknown (JAX's Python "
			       "tracer would show it)");
	if (report->sum->nr_requests >= CACHE_MAX_REQUESTS)
		ts_result_note(report->result, "only the first %d compilations are told apart",
			       CACHE_MAX_REQUESTS);
	if (report->sum->nr_runs >= CACHE_MAX_RUNS)
		ts_result_note(report->result, "only the first %d runs on the CPU were counted",
			       CACHE_MAX_RUNS);
}

enum ts_status ts_cache_report(const struct cache_report *report, struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(report->sum && report->facts && report->longest);
	cache_report_put_fields(report);
	put_requests(report);
	st = put_functions(report, err);
	if (st)
		return st;
	put_families(report);
	for (uint32_t i = 0;
	     report->ctx->overlay_budget > 0 && i < report->ctx->profile->nr_devices; i++) {
		st = cache_report_put_track(report, i, err);
		if (st)
			return st;
	}
	cache_report_put_notes(report);
	return TS_OK;
}
