/* What cores wait for that runs beside them: collectives and copies within the device, and which
 * compute could cover them. From the view "async". */
#include "analysis/doctor/doctor.h"

const struct ts_table *ts_waits_table(const struct ts_doctor *doctor)
{
	const struct ts_result *result = ts_results_find(doctor->ctx->results, "async");

	return result ? ts_result_find_table(result, "ops") : NULL;
}

static bool is_true(const struct ts_table *table, size_t row, const char *column)
{
	struct ts_value cell = ts_table_cell(table, row, ts_table_column(table, column));

	return cell.type == TS_VALUE_BOOL && cell.as.b;
}

static bool is_collective(const struct ts_doctor *doctor, const struct ts_table *table, size_t row)
{
	int64_t op = ts_cell_int(table, row, "op_index");

	return op >= 0 && (uint64_t)op < doctor->ctx->profile->nr_ops &&
	       doctor->ctx->profile->ops[op].kind == TS_OP_COLLECTIVE;
}

struct ts_waits ts_waits_find(const struct ts_doctor *doctor, const struct ts_table *table,
			      bool collectives)
{
	struct ts_waits waits = { .coverable_ps = -1 };

	for (size_t i = 0; table && i < table->nr_rows; i++) {
		int64_t coverable_ps = ts_cell_int(table, i, "coverable_ps");

		if (is_collective(doctor, table, i) != collectives ||
		    is_true(table, i, "is_host") || ts_cell_int(table, i, "exposed_ps") <= 0)
			continue;
		if (waits.nr < TS_MAX_WAITS)
			waits.row[waits.nr++] = i;
		waits.nr_all++;
		waits.exposed_ps =
			ts_i64_add(waits.exposed_ps, ts_cell_int(table, i, "exposed_ps"));
		waits.hidden_ps = ts_i64_add(waits.hidden_ps, ts_cell_int(table, i, "hidden_ps"));
		if (coverable_ps >= 0)
			waits.coverable_ps =
				ts_i64_add(TS_MAX(waits.coverable_ps, 0), coverable_ps);
	}
	return waits;
}

/* "copy-start.2 (88.0 s, 47 % hidden; fusion.3 could run meanwhile)" */
static void put_wait(struct ts_doctor *doctor, const struct ts_table *table, size_t row)
{
	TS_PUT(doctor, "{name} ({time}, {share} hidden[; {name} could run meanwhile])",
	       TS_NAME(ts_cell_text(table, row, "name")),
	       TS_TIME(ts_cell_int(table, row, "exposed_ps")),
	       TS_SHARE(ts_cell_number(table, row, "hidden_pct") / 100),
	       TS_NAME(ts_cell_text(table, row, "could_hide")));
}

void ts_put_waits(struct ts_doctor *doctor, const struct ts_table *table,
		  const struct ts_waits *waits)
{
	for (size_t i = 0; i < waits->nr; i++) {
		ts_put(doctor, i > 0 ? ", " : "");
		put_wait(doctor, table, waits->row[i]);
	}
	TS_PUT(doctor, "[ and {count} more].",
	       TS_WHEN(waits->nr_all > waits->nr, TS_COUNT(waits->nr_all - waits->nr)));
}

void ts_put_coverable(struct ts_doctor *doctor)
{
	const struct ts_table *table = ts_waits_table(doctor);
	struct ts_waits waits = ts_waits_find(doctor, table, true);

	if (waits.coverable_ps < 0)
		return;
	TS_PUT(doctor,
	       " By the compiled schedule, compute that does not depend on them could cover {time} "
	       "of it at most: ",
	       TS_TIME(waits.coverable_ps));
	ts_put_waits(doctor, table, &waits);
}
