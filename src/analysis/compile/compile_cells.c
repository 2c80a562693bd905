/* SPDX-License-Identifier: MIT */
/*
 * What the tables of the compile analysis are filled with: the frame and the region of an id, and the
 * fields that PyTorch's and XLA's programs share.
 */
#include "analysis/compile/compile.h"

#include "base/units.h"
#include "result/schema/compile.def"

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

void ts_compile_put_time(struct ts_result *result, int64_t compile_ps, const char *source)
{
	double ms = compile_ps < 0 ? NAN : (double)compile_ps / (double)TS_PS_PER_MS;

	TS_ASSERT((compile_ps < 0) == !source);
	TS_SET(result, compile, compile_time_ms, ts_real(ms));
	TS_SET(result, compile, compile_time_ps, ts_int_or_null(compile_ps));
	TS_SET(result, compile, compile_time_from, ts_text_or_null(ts_bytes_of(source)));
}

#define IF_KNOWN(value) (fusion->nr_after < 0 ? ts_null() : ts_int(value))
void ts_compile_put_fusion(const struct compile_fusion *fusion, struct ts_result *result)
{
	double ratio =
		fusion->nr_after > 0 ? (double)fusion->nr_before / (double)fusion->nr_after : NAN;

	TS_ASSERT((fusion->nr_after < 0) == (fusion->nr_before < 0));
	TS_SET(result, compile, ops_before_fusion, ts_int_or_null(fusion->nr_before));
	TS_SET(result, compile, ops_after_fusion, ts_int_or_null(fusion->nr_after));
	TS_SET(result, compile, fusion_ratio, ts_real(ratio));
	TS_SET(result, compile, fused_kernel_runs, IF_KNOWN(fusion->nr_generated));
	TS_SET(result, compile, fused_kernel_count, IF_KNOWN(fusion->nr_kernels));
}
