/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tables of the compile analysis are filled with: the frame and the region of an id, and the
 * fields that PyTorch's and XLA's programs share.
 */
#include "analysis/compile/compile.h"

#include "analysis/kit/table.h"
#include "base/units.h"

bool ts_compile_is_seen(const struct compile_state *sum, const struct ts_profile *profile)
{
	const struct compile_counts *counts = &sum->counts;

	TS_ASSERT(sum && profile);
	return sum->nr_regions + sum->nr_phases + sum->nr_kernels > 0 ||
	       counts->nr_functions + counts->nr_backwards + counts->nr_graph_calls +
			       counts->nr_lookups + counts->nr_compiles >
		       0 ||
	       profile->torch_log.nr_files > 0;
}

uint64_t ts_compile_frame_key(struct ts_compile_id id)
{
	id.compile = -1;
	return ts_compile_id_key(id);
}

const struct compile_region *ts_compile_region_of(const struct compile_report *report, uint64_t key)
{
	uint32_t at = ts_map_find(&report->sum->region_of_key, key);

	TS_ASSERT(at == TS_NONE || at < report->sum->nr_regions);
	return at == TS_NONE ? NULL : &report->sum->regions[at];
}

bool ts_compile_frame_of(const struct compile_report *report, const struct compile_region *region,
			 struct ts_torch_frame *frame)
{
	if (!region || region->frame_op == TS_NONE)
		return false;
	return ts_torch_frame_of(report->ctx->profile->ops[region->frame_op].name, frame);
}

#define TIME_FIELDS(X) \
	X(compile_time_ms, TS_MEASURED, NULL, ts_real(ms)) \
	X(compile_time_ps, TS_MEASURED, "host time in the compiler", ts_int_or_null(compile_ps)) \
	X(compile_time_from, TS_DERIVED, NULL, ts_text_or_null(ts_bytes_of(source)))

void ts_compile_put_time(struct ts_result *result, int64_t compile_ps, const char *source)
{
	double ms = compile_ps < 0 ? NAN : (double)compile_ps / (double)TS_PS_PER_MS;

	TS_ASSERT((compile_ps < 0) == !source);
	TS_FIELDS(result, TIME_FIELDS);
}

#define IF_KNOWN(value) (fusion->nr_after < 0 ? ts_null() : ts_int(value))
#define FUSION_FIELDS(X) \
	X(ops_before_fusion, TS_DERIVED, "ops before fusion", ts_int_or_null(fusion->nr_before)) \
	X(ops_after_fusion, TS_MEASURED, "kernels run", ts_int_or_null(fusion->nr_after)) \
	X(fusion_ratio, TS_DERIVED, "ops a kernel", ts_real(ratio)) \
	X(fused_kernel_runs, TS_MEASURED, NULL, IF_KNOWN(fusion->nr_generated)) \
	X(fused_kernel_count, TS_MEASURED, NULL, IF_KNOWN(fusion->nr_kernels))

void ts_compile_put_fusion(const struct compile_fusion *fusion, struct ts_result *result)
{
	double ratio =
		fusion->nr_after > 0 ? (double)fusion->nr_before / (double)fusion->nr_after : NAN;

	TS_ASSERT((fusion->nr_after < 0) == (fusion->nr_before < 0));
	TS_FIELDS(result, FUSION_FIELDS);
}
