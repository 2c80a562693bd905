/* Who gets how much of the overlay: a percentage of a host's slices for each kind of row. */
#include "analysis/analysis.h"

static const size_t percent[TS_NR_SHARES] = {
	[TS_SHARE_TIME] = 33,  [TS_SHARE_FINDINGS] = 33,    [TS_SHARE_PADDING] = 12,
	[TS_SHARE_TIMES] = 10, [TS_SHARE_COMPILATIONS] = 6, [TS_SHARE_SPARSECORES] = 6,
};

size_t ts_overlay_share(const struct ts_context *ctx, enum ts_share share, size_t nr_rows)
{
	size_t whole = ctx->overlay_budget / 100, rest = ctx->overlay_budget % 100;

	return (whole * percent[share] + rest * percent[share] / 100) / TS_MAX(nr_rows, 1);
}
