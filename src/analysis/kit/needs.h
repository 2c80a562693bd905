/* SPDX-License-Identifier: MIT */
/*
 * What an analysis needs of others. Include this after TS_NEEDS, an X list of analyses, in the one
 * file of an analysis or in the header that its files share:
 *
 *	#define TS_NEEDS(X) X(ops) X(time)
 *	#include "analysis/kit/needs.h"
 *
 * It declares ts_ops_facts(ctx) and ts_time_facts(ctx), which give the facts of facts/ops.h and
 * facts/time.h, never NULL: the runner closes an analysis when all that it needs is closed. Facts of
 * an analysis that is not in the list cannot be reached. .needs = TS_NEEDED tells the runner.
 */
#ifndef TS_NEEDS
#error "define TS_NEEDS(X) before including analysis/kit/needs.h"
#endif

#include "analysis/analysis.h"
#include "base/check.h"

#define TS_NEED_READ(name) \
	struct ts_##name##_facts; \
	extern const size_t ts_id_##name; /* its place in the list (ids.c) */ \
	static inline const struct ts_##name##_facts *ts_##name##_facts(const struct ts_context *ctx) \
	{ \
		TS_ASSERT(ctx->facts[ts_id_##name]); \
		return ctx->facts[ts_id_##name]; \
	}
TS_NEEDS(TS_NEED_READ)

#define TS_NEED_ID(name) &ts_id_##name,
#define TS_NEEDED ((const size_t *const[]){ TS_NEEDS(TS_NEED_ID) NULL })

/* For a .report alone, which is called when they are closed: its own facts and those of later analyses, the same list under
 * this name, and .shows = TS_SHOWN. A rule beside its analysis has its facts in doctor->own. */
#ifdef TS_SHOWS
TS_SHOWS(TS_NEED_READ)
#define TS_SHOWN ((const size_t *const[]){ TS_SHOWS(TS_NEED_ID) NULL })
#endif
#undef TS_NEED_READ
