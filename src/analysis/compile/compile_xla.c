/* SPDX-License-Identifier: MIT */
/*
 * What the compile analysis reports of XLA's programs: the facts of cache, in the terms of this view. XLA
 * compiles whole functions, so a graph does not break.
 */
#include "analysis/compile/compile.h"

#include "analysis/facts/cache.h"
#include "analysis/kit/lists.h"
#include "result/schema/compile.def"

#define MAX_ROWS 200

#define REGION_CELLS(X) \
	X(function, ts_text(family->stem)) \
	X(variants, ts_int((int64_t)family->nr_variants)) \
	X(calls, ts_int_or_null(family->nr_runs)) \
	X(time_ps, ts_int_or_null(family->time_ps)) \
	X(compilations, ts_int_or_null(family->nr_compiled)) \
	X(compile_ps, ts_int_or_null(family->compile_ps))

static void compile_xla_put_regions(struct ts_result *result, const struct ts_cache_facts *cache)
{
	struct ts_table *table = TS_TABLE(result, compile_programs);

	for (size_t i = 0; i < TS_MIN(cache->nr_families, MAX_ROWS); i++) {
		const struct ts_cache_family *family = &cache->families[i];

		TS_CELLS(result, table, compile_programs, REGION_CELLS);
	}
}

#define RECOMPILE_CELLS(X) \
	X(function, ts_text(family->stem)) \
	X(compilations, ts_int(family->nr_compiled)) \
	X(recompilations, ts_int(family->nr_again)) \
	X(compile_ps, ts_int(family->compile_ps)) \
	X(reason, ts_text_or_null(family->differs)) \
	X(parameter_shapes, ts_text_list(result, family->shapes, family->nr_shapes))

/* Functions that were compiled though they had an executable, and what their variants differ in. */
static void put_recompiles(struct ts_result *result, const struct ts_cache_facts *cache)
{
	struct ts_table *table = TS_TABLE(result, compile_program_recompiles);

	for (size_t i = 0; i < cache->nr_families && table->nr_rows < MAX_ROWS; i++) {
		const struct ts_cache_family *family = &cache->families[i];

		if (family->nr_again > 0)
			TS_CELLS(result, table, compile_program_recompiles, RECOMPILE_CELLS);
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
	TS_SET(result, compile, compiler, ts_text(TS_LIT("XLA")));
	ts_compile_put_time(result, ps, ps < 0 ? NULL : "profile");
	TS_SET(result, compile, graph_breaks, ts_null())->label = NULL;
	TS_SET(result, compile, recompilations,
	       ts_value_from(ts_int_or_null(facts->nr_recompiles), TS_DERIVED));
	ts_compile_put_fusion(&fusion, result);
	compile_xla_put_regions(result, cache);
	put_recompiles(result, cache);
}
