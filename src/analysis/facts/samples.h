/* SPDX-License-Identifier: MIT */
/*
 * What the analysis samples knows: the counters of the hardware that the profile holds. Those that were read when the capture
 * ended, and the rows of utilization that follow from them; those over time; and when a clock was held back.
 */
#ifndef TS_ANALYSIS_FACTS_SAMPLES_H
#define TS_ANALYSIS_FACTS_SAMPLES_H

#include "model/profile.h"
#include "result/result.h"

/* A counter when the capture ended. */
struct ts_counter {
	uint32_t op;	/* whose name is the register's: index into profile->ops */
	uint64_t place; /* in the line: of two with one id the later one counts */
	uint64_t id;	/* as the chip numbers it */
	uint64_t count; /* .value as a whole number, at least 0 */
	double value;
	struct ts_bytes description, sets; /* .n 0: not in the profile */
};

/* The counters of a chip, read once. */
struct ts_counter_set {
	uint32_t device;
	int64_t sample;	   /* the number of the reading */
	const char *known; /* the chip whose ids they are: "TPU v6e"; NULL: its ids are not known */
	const struct ts_counter *items;
	size_t nr;
};

enum ts_unit_about { TS_UNIT_OTHER, TS_UNIT_MXU, TS_UNIT_HBM, TS_UNIT_SKIPPED, TS_NR_UNIT_ABOUTS };

/* What a unit did of what it can do, as XProf's utilization viewer has it. */
struct ts_unit_row {
	uint32_t device;
	int64_t sample;
	uint32_t node; /* the core or SparseCore of the chip */
	const char *name, *unit;
	enum ts_unit_about about;
	double achieved, peak;
	double counted_s; /* the time that the core's cycles are; of a SparseCore NaN */
};

/* Rows about one thing, of the last reading of each device: counters count on from reading to reading. */
struct ts_unit_sum {
	double achieved, peak;
	double counted_s;    /* by all its cores */
	double flops_peak;   /* what the matrix units could do in that time; NaN: unknown */
	uint32_t nr_devices; /* 0: there is no such row */
};

/*
 * A counter over time on a device. Its points are (time, sum of value x time so far), or of a running total (time, value): the
 * difference of two is what lies between them, however many samples were left out. They are in the order of time.
 */
struct ts_series {
	uint32_t device, op; /* whose name is the label */
	const char *unit;    /* "W", "%"; "" where it is not known */
	bool is_total;	     /* it only grows */
	int64_t nr;	     /* samples */
	double min, max, first, last, mean;
	const struct ts_point *points; /* the last is where .mean ends */
	size_t nr_points;
};

/* A time in which the clock of a device was held back. */
struct ts_throttled {
	uint32_t device;
	struct ts_span span;
};

struct ts_samples_facts {
	const struct ts_counter_set *sets;
	const struct ts_unit_row *rows;
	const struct ts_series *series; /* by device */
	const struct ts_throttled
		*throttled; /* by device and time; those of a device do not overlap */
	size_t nr_sets, nr_rows, nr_series, nr_throttled;
	struct ts_unit_sum sums[TS_NR_UNIT_ABOUTS];
	int64_t nr_over; /* samples of counters beyond the number that is kept */
};

/* What units of one kind did of what they can do; NaN: no counter says. */
static inline double ts_unit_share(const struct ts_samples_facts *samples, enum ts_unit_about about)
{
	const struct ts_unit_sum *sum = &samples->sums[about];

	return sum->peak > 0 ? sum->achieved / sum->peak : (double)NAN;
}

/* What the points say of [START, END): value x ps, or of a running total how much it grew. *HINT is 0 at first, and a walk in the
 * order of time costs nothing extra. *KNOWN_PS: for how much of the time there are points. */
double ts_series_between(const struct ts_series *series, int64_t start_ps, int64_t end_ps,
			 size_t *hint, int64_t *known_ps);

#endif
