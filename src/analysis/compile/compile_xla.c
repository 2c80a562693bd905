/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the compile analysis reports of XLA's programs: the facts of cache, in the terms of this view. XLA
 * compiles whole functions, so a graph does not break.
 */
#include "analysis/compile/compile.h"

#include "analysis/facts/cache.h"
#include "analysis/kit/lists.h"
#include "analysis/kit/table.h"

#define MAX_ROWS 200

#define REGION_COLUMNS(X) \
	X(function, TS_MEASURED, "program", ts_text(family->stem)) \
	X(variants, TS_COMPILED, "variants", ts_int((int64_t)family->nr_variants)) \
	X(calls, TS_MEASURED, "executions", ts_int_or_null(family->nr_runs)) \
	X(time_ps, TS_MEASURED, "time", ts_int_or_null(family->time_ps)) \
	X(compilations, TS_MEASURED, "compiled", ts_int_or_null(family->nr_compiled)) \
	X(compile_ps, TS_MEASURED, "compile time", ts_int_or_null(family->compile_ps))

static const struct ts_column region_columns[] = { REGION_COLUMNS(TS_COLUMN) };

static void put_regions(struct ts_result *result, const struct ts_cache_facts *cache)
{
	struct ts_table *table = ts_result_table(result, "regions", "Compiled programs",
						 region_columns, TS_NELEM(region_columns));

	for (size_t i = 0; i < TS_MIN(cache->nr_families, MAX_ROWS); i++) {
		const struct ts_cache_family *family = &cache->families[i];

		TS_CELLS(result, table, REGION_COLUMNS);
	}
}

#define RECOMPILE_COLUMNS(X) \
	X(function, TS_MEASURED, "recompiled", ts_text(family->stem)) \
	X(compilations, TS_MEASURED, "compiled", ts_int(family->nr_compiled)) \
	X(recompilations, TS_DERIVED, "again", ts_int(family->nr_again)) \
	X(compile_ps, TS_MEASURED, "compile time", ts_int(family->compile_ps)) \
	X(reason, TS_COMPILED, "they differ in", ts_text_or_null(family->differs)) \
	X(parameter_shapes, TS_COMPILED, NULL, \
	  ts_text_list(result, family->shapes, family->nr_shapes))

static const struct ts_column recompile_columns[] = { RECOMPILE_COLUMNS(TS_COLUMN) };

/* Functions that were compiled though they had an executable, and what their variants differ in. */
static void put_recompiles(struct ts_result *result, const struct ts_cache_facts *cache)
{
	struct ts_table *table = ts_result_table(result, "recompiles", "Recompilations",
						 recompile_columns, TS_NELEM(recompile_columns));

	for (size_t i = 0; i < cache->nr_families && table->nr_rows < MAX_ROWS; i++) {
		const struct ts_cache_family *family = &cache->families[i];

		if (family->nr_again > 0)
			TS_CELLS(result, table, RECOMPILE_COLUMNS);
	}
}

void ts_compile_report_xla(const struct ts_context *ctx, struct ts_compile_facts *facts,
			   struct ts_result *result)
{
	const struct ts_cache_facts *cache = ts_cache_facts(ctx);
	int64_t ps = cache->nr_compiled > 0 ? cache->compile_ps : -1;
	struct compile_fusion fusion = ts_compile_fusion_xla(ctx);

	if (cache->nr_compiled <= 0 && fusion.nr_after < 0 && cache->nr_families == 0) {
		ts_result_note(result, "nothing of a compiler is in this profile");
		return;
	}
	facts->compiler = TS_COMPILER_XLA;
	facts->nr_recompiles = cache->nr_again;
	ts_result_field(result, "compiler", ts_text(TS_LIT("XLA")), TS_DERIVED, "compiler");
	ts_compile_put_time(result, ps, ps < 0 ? NULL : "profile");
	ts_result_field(result, "graph_breaks", ts_null(), TS_DERIVED, NULL);
	ts_result_field(result, "recompilations", ts_int_or_null(facts->nr_recompiles), TS_DERIVED,
			"recompilations");
	ts_compile_put_fusion(&fusion, result);
	put_regions(result, cache);
	put_recompiles(result, cache);
}
