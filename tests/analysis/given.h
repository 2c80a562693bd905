/* SPDX-License-Identifier: MIT */
/*
 * A profile built field by field (tests/read/xplane_make.h) and analysed as the program does it. Times
 * are in microseconds here, for short numbers.
 */
#ifndef TESTS_ANALYSIS_GIVEN_H
#define TESTS_ANALYSIS_GIVEN_H

#include "base/units.h"
#include "run/state.h"
#include "tests/run/memory_run.h"
#include "tests/read/xplane_make.h"
#include "tests/result/values.h"

#define US	TS_PS_PER_US
#define PROGRAM 7

struct given {
	struct ts_buf bytes;
	struct memory_run mem;
};

static inline struct given *given_nothing(void)
{
	struct given *given = calloc(1, sizeof(*given));

	assert_non_null(given);
	memory_run_init(&given->mem);
	return given;
}

/* A core of a TPU v5e: 197 TFLOP/s, 819 GB/s. */
static inline struct xp given_core(struct given *given, const char *name)
{
	struct xp xp = xp_plane(&given->bytes, name);

	xp_stat_text(&xp, XP_PLANE_STATS, "device_type_string", "TPU v5 lite");
	xp_stat_real(&xp, XP_PLANE_STATS, "peak_teraflops_per_second", 197);
	xp_stat_real(&xp, XP_PLANE_STATS, "peak_hbm_bw_gigabytes_per_second", 819);
	return xp;
}

static inline void given_event(struct xp *xp, int64_t id, int64_t start_us, int64_t dur_us)
{
	xp_event(xp, id, start_us * US, dur_us * US);
}

static inline void not_kept(void *ctx, const struct ts_analysis *analysis, struct ts_bytes saved)
{
}

/* Each state is saved and loaded on its way, as one of another machine is. */
static inline void analyse(struct given *given, size_t overlay_budget)
{
	static const struct ts_state_sink sink = { NULL, not_kept };
	struct ts_error err = TS_ERROR_INIT;

	given->mem.states = &sink;
	assert_false(given->bytes.failed);
	if (memory_run_add(&given->mem, ts_buf_bytes(&given->bytes), "host", &err) ||
	    memory_run_analyse(&given->mem, overlay_budget, &err))
		fail_msg("%s", err.text);
}

static inline void done(struct given *given)
{
	memory_run_release(&given->mem);
	ts_buf_release(&given->bytes);
	free(given);
}

static inline const struct ts_result *view(struct given *given, const char *name)
{
	const struct ts_result *result = ts_results_find(&given->mem.run.results, name);

	assert_non_null(result);
	return result;
}

static inline struct ts_value field(struct given *given, const char *name, const char *what)
{
	return ts_result_get(view(given, name), what);
}

static inline void assert_us(struct given *given, const char *name, const char *what, int64_t us)
{
	int64_t is = ts_value_int(field(given, name, what));

	if (is != us * US)
		fail_msg("%s.%s is %lld, not %lld us", name, what, (long long)is, (long long)us);
}

static inline struct ts_value cell(struct given *given, const char *name, const char *table,
				   size_t row, const char *column)
{
	const struct ts_table *found = ts_result_find_table(view(given, name), table);

	assert_non_null(found);
	assert_true(row < found->nr_rows && ts_table_column(found, column) >= 0);
	return ts_table_cell(found, row, ts_table_column(found, column));
}

static inline size_t nr_rows(struct given *given, const char *name, const char *table)
{
	const struct ts_table *found = ts_result_find_table(view(given, name), table);

	assert_non_null(found);
	return found->nr_rows;
}

/* What the doctor finds by a rule; NULL: nothing. */
static inline const struct ts_finding *finding_by(struct given *given, const char *rule)
{
	return finding_of(view(given, "doctor"), rule);
}

#endif
