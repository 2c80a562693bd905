/* SPDX-License-Identifier: MIT */
/* The parts of the analysis samples: what it keeps of a line, and how rows of utilization follow from the counters of a chip. */
#ifndef TS_ANALYSIS_HARDWARE_SAMPLES_H
#define TS_ANALYSIS_HARDWARE_SAMPLES_H

#include "analysis/analysis.h"
#include "analysis/facts/samples.h"

/* The counters of a chip by id, the last of each: made by ts_counters_sort(). */
struct counters_by_id {
	const struct ts_counter *const *items;
	size_t nr;
};

struct chip_units; /* ids and formulas of a chip */

/* By what the profile calls the device, the whole text, as XProf does; NULL: its ids are not published. */
const struct chip_units *ts_chip_units_find(struct ts_bytes kind);
const char *ts_chip_units_name(const struct chip_units *chip);
size_t ts_chip_units_max(const struct chip_units *chip); /* rows that it can have */
/* Its rows in XProf's order, without those of cores that counted no cycle; .device and .sample are the caller's. How many. */
size_t ts_chip_units_put(const struct chip_units *chip, const struct counters_by_id *counters,
			 struct ts_unit_row *rows);

#endif
