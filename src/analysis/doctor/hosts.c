/*
 * Words about time without an op: what the hosts did meanwhile (results "gaps" and "time"), and
 * how it is spread over steps and cores.
 */
#include "analysis/doctor/doctor.h"

#define MAX_EVENTS   3
#define MIN_OF_FIRST 0.1 /* of the time of the first host event: one with less is left out */

static void put_event(struct ts_doctor *doctor, const struct ts_table *table, size_t row)
{
	TS_PUT(doctor, "{name}[ on {name}] ({time} in {count} gap{s}[, ended by {name}])",
	       TS_NAME(ts_cell_text(table, row, "host_event")),
	       TS_NAME(ts_cell_text(table, row, "host_thread")),
	       TS_TIME(ts_cell_int(table, row, "total_ps")),
	       TS_COUNT(ts_cell_int(table, row, "count")),
	       TS_NAME(ts_cell_text(table, row, "ended_by")));
}

void ts_put_host_events(struct ts_doctor *doctor, enum ts_bucket bucket)
{
	const struct ts_result *gaps = ts_results_find(doctor->ctx->results, "gaps");
	const struct ts_table *table = gaps ? ts_result_find_table(gaps, "gaps_by_event") : NULL;
	double first_ps = 0;
	int nr = 0;

	for (size_t i = 0; table && i < table->nr_rows && nr < MAX_EVENTS; i++) {
		double ps = ts_cell_number(table, i, "total_ps");

		if (ts_cell_text(table, i, "host_event").n == 0 || ps < first_ps * MIN_OF_FIRST ||
		    !ts_bytes_is(ts_cell_text(table, i, "cause"), ts_bucket_name(bucket)))
			continue;
		first_ps = nr == 0 ? ps : first_ps;
		ts_put(doctor, nr++ ? ", " : " Meanwhile the host is in ");
		put_event(doctor, table, i);
	}
	ts_put(doctor, nr > 0 ? "." : "");
}

void ts_put_per_step(struct ts_doctor *doctor, enum ts_bucket bucket)
{
	const struct ts_table *steps = ts_result_find_table(doctor->time, "per_step");
	int64_t sum_ps = 0;
	char column[40];
	size_t nr = 0;

	snprintf(column, sizeof(column), "%s_ps", ts_bucket_name(bucket));
	for (size_t i = 0; steps && i < steps->nr_rows; i++) {
		int64_t ps = ts_cell_int(steps, i, column), cores = ts_cell_int(steps, i, "cores");
		double step_ps = ts_cell_number(steps, i, "total_ps");

		if (ps <= 0 || cores <= 0 || !((double)ps >= TS_MIN_STEP_SHARE * step_ps))
			continue;
		nr++;
		sum_ps = ts_i64_add(sum_ps, ps / cores);
	}
	if (nr > 0)
		TS_PUT(doctor, " {count} of {count} steps wait for it, {time} each on a core.",
		       TS_COUNT(nr), TS_COUNT(steps->nr_rows), TS_TIME(sum_ps / (int64_t)nr));
}

void ts_put_cores(struct ts_doctor *doctor, enum ts_bucket bucket)
{
	const struct ts_table *cores = ts_result_find_table(doctor->time, "per_core");
	size_t most = 0, least = 0;
	char column[40];

	snprintf(column, sizeof(column), "%s_ps", ts_bucket_name(bucket));
	if (!cores || cores->nr_rows < 2)
		return;
	for (size_t i = 1; i < cores->nr_rows; i++) {
		if (ts_cell_int(cores, i, column) > ts_cell_int(cores, most, column))
			most = i;
		if (ts_cell_int(cores, i, column) < ts_cell_int(cores, least, column))
			least = i;
	}
	TS_PUT(doctor, " Most on {name} ({time}), least on {name} ({time}).",
	       TS_NAME(ts_cell_text(cores, most, "device")),
	       TS_TIME(ts_cell_int(cores, most, column)),
	       TS_NAME(ts_cell_text(cores, least, "device")),
	       TS_TIME(ts_cell_int(cores, least, column)));
}
