/* SPDX-License-Identifier: MIT */
/* Chips and their counters, for profiles that are built by hand. */
#ifndef TESTS_ANALYSIS_HARDWARE_GIVEN_COUNTERS_H
#define TESTS_ANALYSIS_HARDWARE_GIVEN_COUNTERS_H

#include "tests/analysis/given.h"

#define V6E_CYCLES 3257466888
#define V6E_MXU_1  3257467408 /* cycles in which one matrix unit was busy */
#define V6E_MXU_2  3257467416
#define V6E_READ   3019980856 /* RD_RESP_PS0 of the first channel */

static inline struct xp given_chip(struct given *given, const char *kind)
{
	struct xp xp = xp_plane(&given->bytes, "/device:TPU:0");

	xp_stat_text(&xp, XP_PLANE_STATS, "device_type_string", kind);
	xp_stat_int(&xp, XP_PLANE_STATS, "device_id", 5);
	xp_stat_real(&xp, XP_PLANE_STATS, "peak_teraflops_per_second", 1);
	xp_stat_real(&xp, XP_PLANE_STATS, "peak_hbm_bw_gigabytes_per_second", 1638);
	return xp;
}

static inline void given_counter(struct xp *xp, int64_t key, int64_t id, int64_t value)
{
	size_t event = xp_begin_event(xp, key, 0, 0);

	xp_stat_int(xp, XP_EVENT_STATS, "performance_counter_id", id);
	xp_stat_int(xp, XP_EVENT_STATS, "counter_value", value);
	ts_pbw_end(xp->out, event);
}

static inline double number(struct given *given, const char *table, size_t row, const char *column)
{
	return ts_value_number(cell(given, "counters", table, row, column));
}

#endif
