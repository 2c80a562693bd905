/* SPDX-License-Identifier: MIT */
/* The time breakdown for a console. */
#include "write/breakdown.h"

#include <math.h>

#include "base/check.h"
#include "base/units.h"
#include "codec/term.h"
#include "result/schema/time.def"

#define LABEL_WIDTH 17 /* the longest label of ours: Rematerialization */
#define VALUE_WIDTH 7
#define SHARE_WIDTH 7

struct unit {
	const char *name;
	int64_t digit_ps; /* of the last digit shown: a hundredth */
};

static const struct unit *breakdown_unit_of(int64_t total_ps)
{
	static const struct unit units[] = {
		{ "s", TS_PS_PER_S / 100 },
		{ "ms", TS_PS_PER_MS / 100 },
		{ "\u00b5s", TS_PS_PER_US / 100 },
	};

	if (total_ps >= 100 * TS_PS_PER_S)
		return &units[0];
	return total_ps >= TS_PS_PER_MS / 10 ? &units[1] : &units[2];
}

/*
 * Whole numbers for PARTS that sum to TOTAL: each rounded down, and the largest remainders up until
 * nothing is left. TOTAL is the sum of the parts to the nearest, so what is left is less than NR.
 */
static void apportion(const double *parts, int64_t *shown, size_t nr, int64_t total)
{
	double rest[TS_BREAKDOWN_MAX] = { 0 };

	for (size_t i = 0; i < nr; i++) {
		shown[i] = (int64_t)floor(parts[i]);
		rest[i] = parts[i] - floor(parts[i]);
		total -= shown[i];
	}
	for (; total > 0; total--) {
		size_t most = 0;

		for (size_t i = 1; i < nr; i++)
			if (rest[i] > rest[most])
				most = i;
		shown[most]++;
		rest[most] -= 1;
	}
}

struct shown {
	const char *label;
	int64_t hundredths, tenths; /* of the unit, of a percent */
};

/* The rows that hold time, as they are shown; how many there are. */
static size_t work_out(const struct ts_breakdown_row *rows, size_t nr, const struct unit *unit,
		       struct shown *shown)
{
	double times[TS_BREAKDOWN_MAX] = { 0 }, shares[TS_BREAKDOWN_MAX] = { 0 };
	double sum = 0, digit = (double)unit->digit_ps;
	int64_t hundredths[TS_BREAKDOWN_MAX], tenths[TS_BREAKDOWN_MAX];
	size_t n = 0;

	for (size_t i = 0; i < nr && n < TS_BREAKDOWN_MAX; i++) {
		if (rows[i].ps <= 0)
			continue;
		shown[n].label = rows[i].label;
		times[n++] = (double)rows[i].ps;
		sum += (double)rows[i].ps;
	}
	for (size_t i = 0; i < n; i++) {
		shares[i] = times[i] / sum * 1000;
		times[i] /= digit;
	}
	apportion(times, hundredths, n, llround(sum / digit));
	apportion(shares, tenths, n, n ? 1000 : 0);
	for (size_t i = 0; i < n; i++) {
		shown[i].hundredths = hundredths[i];
		shown[i].tenths = tenths[i];
	}
	return n;
}

static size_t put_hundredths(char text[TS_UNIT_MAX], int64_t hundredths)
{
	int n = snprintf(text, TS_UNIT_MAX, "%lld.%02lld", (long long)(hundredths / 100),
			 (long long)(hundredths % 100));

	return (size_t)n;
}

static void breakdown_put_row(struct ts_buf *out, const struct shown *row, const char *unit,
			      size_t width)
{
	char value[TS_UNIT_MAX], share[TS_UNIT_MAX];

	put_hundredths(value, row->hundredths);
	snprintf(share, sizeof(share), "%lld.%lld", (long long)(row->tenths / 10),
		 (long long)(row->tenths % 10));
	ts_buf_puts(out, "  ");
	ts_term_cell(out, ts_bytes_of(row->label), LABEL_WIDTH, TS_TERM_LEFT);
	ts_buf_printf(out, "%*s %s%*s%%\n", (int)width, value, unit, SHARE_WIDTH, share);
}

void ts_breakdown_text(struct ts_buf *out, const struct ts_breakdown_row *rows, size_t nr,
		       int64_t total_ps, const char *bottleneck, size_t columns)
{
	const struct ts_term_wrap how = { .width = columns, .at = 2, .indent = 4 };
	const struct unit *unit = breakdown_unit_of(total_ps);
	struct shown shown[TS_BREAKDOWN_MAX];
	size_t n = work_out(rows, nr, unit, shown), width = VALUE_WIDTH;
	struct ts_buf line = TS_BUF_INIT;
	char total[TS_UNIT_MAX];

	TS_ASSERT(out);
	TS_ASSERT(rows || nr == 0);
	put_hundredths(total, llround((double)total_ps / (double)unit->digit_ps));
	ts_buf_printf(out, "  Total Time: %s %s\n", total, unit->name);
	for (size_t i = 0; i < n; i++) { /* a space before the longest value */
		char value[TS_UNIT_MAX];

		width = TS_MAX(width, put_hundredths(value, shown[i].hundredths) + 1);
	}
	for (size_t i = 0; i < n; i++)
		breakdown_put_row(out, &shown[i], unit->name, width);
	if (bottleneck && *bottleneck) {
		ts_buf_puts(&line, "Bottleneck: ");
		ts_buf_puts(&line, bottleneck);
		ts_buf_puts(out, "  ");
		ts_term_wrap(out, ts_buf_bytes(&line), how);
		ts_buf_putc(out, '\n');
	}
	out->failed |= line.failed;
	ts_buf_release(&line);
}

static const struct bucket {
	size_t field;
	const char *label;
} buckets[] = {
	{ TS_FIELD_AT(time, buckets.compute_ps), "Compute" },
	{ TS_FIELD_AT(time, buckets.below_roofline_ps), "Below roofline" },
	{ TS_FIELD_AT(time, buckets.memory_wait_ps), "Memory Wait" },
	{ TS_FIELD_AT(time, buckets.communication_ps), "Communication" },
	{ TS_FIELD_AT(time, buckets.host_transfer_ps), "Host transfer" },
	{ TS_FIELD_AT(time, buckets.rematerialization_ps), "Rematerialization" },
	{ TS_FIELD_AT(time, buckets.unexplained_ps), "Unexplained" },
	{ TS_FIELD_AT(time, buckets.compilation_ps), "Compilation" },
	{ TS_FIELD_AT(time, buckets.input_ps), "Input" },
	{ TS_FIELD_AT(time, buckets.launch_ps), "Launch" },
	{ TS_FIELD_AT(time, buckets.idle_ps), "Idle" },
};

/* Insertion: few rows, and equal ones keep their order. */
static void sort_rows(struct ts_breakdown_row *rows, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		struct ts_breakdown_row row = rows[i];
		size_t at = i;

		for (; at > 0 && rows[at - 1].ps < row.ps; at--)
			rows[at] = rows[at - 1];
		rows[at] = row;
	}
}

bool ts_breakdown_of_time(struct ts_buf *out, const struct ts_result *time, size_t columns)
{
	struct ts_breakdown_row rows[TS_NELEM(buckets)];
	int64_t total_ps = ts_value_int(TS_GET(time, time, total_ps));
	int64_t cores = TS_MAX(ts_value_int(TS_GET(time, time, cores)), 1);
	struct ts_value bottleneck = TS_GET(time, time, bottleneck);
	struct ts_buf text = TS_BUF_INIT;

	TS_ASSERT(out);
	if (total_ps < 0)
		return false;
	for (size_t i = 0; i < TS_NELEM(buckets); i++)
		rows[i] = (struct ts_breakdown_row){
			buckets[i].label,
			ts_value_int(TS_GET_AT(time, time, buckets[i].field)) / cores
		};
	sort_rows(rows, TS_NELEM(rows));
	if (bottleneck.type == TS_VALUE_TEXT)
		ts_buf_put(&text, bottleneck.as.s);
	ts_buf_putc(&text, '\0');
	if (text.failed)
		out->failed = true;
	else
		ts_breakdown_text(out, rows, TS_NELEM(rows), total_ps / cores, (const char *)text.p,
				  columns);
	ts_buf_release(&text);
	return true;
}
