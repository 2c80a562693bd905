/* SPDX-License-Identifier: MIT */
/* Who is faster, and could that be chance; figures and buckets side by side. */
#include "compare/parts.h"

#include "base/check.h"
#include "base/units.h"
#include "result/schema/ops.def"
#include "result/schema/overview.def"
#include "result/schema/time.def"
#include "result/schema/compare.def"

#include <stdlib.h>

static double median(const struct ts_measured *measured)
{
	double ps = NAN;

	if (measured->by_step)
		ps = ts_value_number(
			TS_GET(measured->overview, overview, overview.step_time_ps.median));
	return isnan(ps) ? measured->time_ps : ps;
}

/* Of the baseline's time to the run's: 2 is twice as fast. */
static double speed_up(const struct comparing *comparing, size_t run)
{
	return median(&comparing->measured[0]) / median(&comparing->measured[run]);
}

/* A prediction is no sample: of two of them the longer one is longer. */
static bool is_exact(const struct comparing *comparing, size_t run)
{
	return run > 0 && ts_profile_predicted(comparing->runs[0].profile).n > 0 &&
	       ts_profile_predicted(comparing->runs[run].profile).n > 0;
}

static bool is_tested(const struct comparing *comparing, size_t run)
{
	return run > 0 && comparing->by_step && !is_exact(comparing, run);
}

enum word {
	WORD_FASTER,
	WORD_SLOWER,
	WORD_EQUAL,
	WORD_NONE,
	WORD_TOO_FEW,
	WORD_UNTESTED,
	WORD_UNKNOWN
};

static const char *const words[] = {
	"faster",
	"slower",
	"equal",
	"no clear difference",
	"too few steps to tell",
	"one time against another: nothing to test",
	"unknown",
};

static enum word times_word_of(const struct comparing *comparing, size_t run)
{
	const struct ts_rank *rank = &comparing->differ[run].rank;

	if (!(speed_up(comparing, run) > 0))
		return WORD_UNKNOWN;
	if (is_exact(comparing, run))
		return median(&comparing->measured[run]) == median(&comparing->measured[0])
			       ? WORD_EQUAL
		       : speed_up(comparing, run) > 1 ? WORD_FASTER
						      : WORD_SLOWER;
	if (!comparing->by_step)
		return WORD_UNTESTED;
	if (rank->p < COMPARE_ALPHA)
		return rank->effect > 0 ? WORD_SLOWER : WORD_FASTER;
	return rank->p_least >= COMPARE_ALPHA ? WORD_TOO_FEW : WORD_NONE;
}

/* "step time 5.79 ms against 2.85 ms (8 and 12 steps, p 0.0002)" */
static void times_put_times(const struct comparing *comparing, size_t run, struct ts_buf *out)
{
	const struct ts_measured *base = &comparing->measured[0],
				 *measured = &comparing->measured[run];
	char ours[TS_UNIT_MAX], theirs[TS_UNIT_MAX];

	ts_buf_printf(out, "%s%s, was %s", ts_fmt_ps(ours, llround(median(measured))),
		      is_exact(comparing, run) ? " per predicted step"
		      : comparing->by_step     ? " per step (median)"
					       : " in all",
		      ts_fmt_ps(theirs, llround(median(base))));
	if (is_tested(comparing, run))
		ts_buf_printf(out, " (%zu and %zu steps, p %.2g)", measured->nr_steps,
			      base->nr_steps, comparing->differ[run].rank.p);
}

/* A few slow steps leave the median where it is; they are in the mean, and so in the difference. */
static void put_mean(const struct comparing *comparing, size_t run, struct ts_buf *out)
{
	double base = comparing->measured[0].time_ps,
	       change = comparing->measured[run].time_ps - base;

	if (times_word_of(comparing, run) == WORD_NONE && fabs(change) > COMPARE_SAME * base)
		ts_buf_printf(out, "; the mean step is %.1f %% %s, which a few steps make",
			      fabs(change) / base * 100, change > 0 ? "longer" : "shorter");
}

/* "2.03x faster (95 % sure: 1.97 to 2.1): " */
static void put_ratio(const struct comparing *comparing, size_t run, struct ts_buf *out)
{
	const struct ts_differ *differ = &comparing->differ[run];
	double times = speed_up(comparing, run);
	bool fast = times >= 1, tested = is_tested(comparing, run);
	double low = fast ? differ->ratio_low : 1 / differ->ratio_high;
	double high = fast ? differ->ratio_high : 1 / differ->ratio_low;

	ts_buf_printf(out, "%.3gx %s", fast ? times : 1 / times,
		      words[times_word_of(comparing, run)]);
	if (tested && isfinite(low) && isfinite(high))
		ts_buf_printf(out, " (95 %% sure: %.3g to %.3g)", low, high);
	ts_buf_puts(out, ": ");
}

static struct ts_value times_verdict_of(struct comparing *comparing, size_t run)
{
	enum word word = times_word_of(comparing, run);
	double times = speed_up(comparing, run);
	struct ts_buf out = TS_BUF_INIT;
	struct ts_value value;

	if (word == WORD_UNKNOWN) {
		ts_buf_puts(&out, "unknown: no time on a device to compare");
	} else {
		/* ranks and medians may differ about which is longer: then no ratio is written */
		if ((word == WORD_FASTER && times >= 1) || (word == WORD_SLOWER && times < 1))
			put_ratio(comparing, run, &out);
		else
			ts_buf_printf(&out, "%s: ", words[word]);
		times_put_times(comparing, run, &out);
		put_mean(comparing, run, &out);
	}
	value = ts_text(ts_result_text(comparing->result, "%.*s", TS_ARG(ts_buf_bytes(&out))));
	comparing->result->owner->failed |= out.failed;
	ts_buf_release(&out);
	return value;
}

#define RUN_CELLS(X) \
	X(run, ts_text(ts_bytes_of(comparing->labels[run]))) \
	X(path, ts_text(of->name)) \
	X(chip, \
	  of->profile->nr_devices ? ts_text_or_null(of->profile->devices[0].kind) : ts_null()) \
	X(devices, ts_int((int64_t)of->profile->nr_devices)) \
	X(hosts, ts_int((int64_t)of->profile->nr_hosts)) \
	X(steps, ts_int((int64_t)measured->nr_steps)) \
	X(step_source, ts_text_or_null(ts_measured_step_source(measured))) \
	X(time_ps, ts_compare_ps(measured->time_ps)) \
	X(median_ps, ts_compare_ps(median(measured))) \
	X(speed_up, run ? ts_real(speed_up(comparing, run)) : ts_null()) \
	X(speed_up_low, tested ? ts_real(differ->ratio_low) : ts_null()) \
	X(speed_up_high, tested ? ts_real(differ->ratio_high) : ts_null()) \
	X(p_value, tested ? ts_real(rank->p) : ts_null()) \
	X(effect, tested ? ts_real(rank->effect) : ts_null()) \
	X(u, tested ? ts_real(rank->u) : ts_null()) \
	X(p_is_exact, tested ? ts_bool(rank->exact) : ts_null()) \
	X(independent_steps, tested ? ts_int((int64_t)differ->counted[1]) : ts_null()) \
	X(verdict, run ? ts_text(ts_bytes_of(words[times_word_of(comparing, run)])) : ts_null())

static void times_put_run(struct comparing *comparing, size_t run, struct ts_table *table)
{
	const struct ts_compare_run *of = &comparing->runs[run];
	const struct ts_measured *measured = &comparing->measured[run];
	const struct ts_differ *differ = &comparing->differ[run];
	const struct ts_rank *rank = &differ->rank;
	bool tested = is_tested(comparing, run);

	TS_CELLS(comparing->result, table, compare_runs, RUN_CELLS);
}

/* Steps that come in stretches are fewer observations than they are steps. */
static void note_stretches(struct comparing *comparing, size_t run)
{
	const struct ts_differ *differ = &comparing->differ[run];
	size_t nr = comparing->measured[run].nr_steps;

	if (run > 0 && comparing->by_step && differ->counted[1] < nr)
		ts_result_note(
			comparing->result,
			"%s: slow steps are correlated; effective sample size %zu of %zu steps",
			comparing->labels[run], differ->counted[1], nr);
	nr = comparing->measured[0].nr_steps;
	if (run == 1 && comparing->by_step && differ->counted[0] < nr)
		ts_result_note(
			comparing->result,
			"%s: slow steps are correlated; effective sample size %zu of %zu steps",
			comparing->labels[0], differ->counted[0], nr);
}

static void put_verdicts(struct comparing *comparing)
{
	struct ts_result *result = comparing->result;

	TS_SET(result, compare, basis,
	       ts_text(comparing->by_step ? TS_LIT("step") : TS_LIT("wall")));
	TS_SET(result, compare, run_count, ts_int((int64_t)comparing->nr));
	if (comparing->nr > 1)
		TS_SET(result, compare, baseline, ts_text(ts_bytes_of(comparing->labels[0])));
	for (size_t r = 1; r < comparing->nr; r++) {
		struct ts_bytes name =
			ts_result_text(result, "%s.run_%zu", TS_FIELD_NAME(compare, verdicts), r);

		if (name.p)
			ts_result_field(result, (const char *)name.p,
					times_verdict_of(comparing, r), TS_DERIVED,
					comparing->labels[r]);
	}
}

enum ts_status ts_compare_times(struct comparing *comparing, struct ts_error *err)
{
	const struct ts_measured *base = &comparing->measured[0];
	struct ts_table *table =
		TS_TITLED_TABLE(comparing->result, compare_runs,
				comparing->nr > 1 ? ts_sheet_compare_runs.title : NULL);
	enum ts_status st = TS_OK;

	TS_ASSERT(comparing);
	TS_ASSERT(comparing->nr >= 1 && comparing->nr <= TS_COMPARE_MAX);
	for (size_t r = 0; st == TS_OK && r < comparing->nr; r++) {
		const struct ts_measured *measured = &comparing->measured[r];

		st = ts_differ(
			&(struct ts_step_times){ base->step_ps, NULL, base->nr_steps },
			&(struct ts_step_times){ measured->step_ps, NULL, measured->nr_steps },
			&comparing->differ[r], err);
		if (st == TS_OK)
			times_put_run(comparing, r, table);
		if (st == TS_OK)
			note_stretches(comparing, r);
	}
	table->text_rows = TS_COMPARE_MAX;
	if (st == TS_OK)
		put_verdicts(comparing);
	return st;
}

/* FLOPs of a core in a step (or in the run), by what the ops say of themselves. */
static double core_flops(const struct ts_measured *measured)
{
	double sum = NAN;

	for (size_t i = 0; measured->ops && i < measured->ops->nr_rows; i++) {
		double flops = ts_value_number(TS_CELL_OF(measured->ops, ops_ops, i, flops)) *
			       ts_value_number(TS_CELL_OF(measured->ops, ops_ops, i, occurrences));

		if (flops > 0)
			sum = isnan(sum) ? flops : sum + flops;
	}
	return sum / measured->parts;
}

#define OF_TIME(name) TS_NAME_THAT("time." #name, TS_FIELD_AT(time, name))

/* The figure's name ends in its unit, as everywhere. */
static const struct figure {
	const char *name, *title, *path; /* PATH NULL: the FLOPs of a core */
	const char *better;
	double unit;
} figures[] = {
	{ "step_time_ps.median", "step time, median",
	  TS_FIELD_NAME(overview, overview.step_time_ps.median), "lower", 1 },
	{ "step_time_ps.mean", "step time, mean",
	  TS_FIELD_NAME(overview, overview.step_time_ps.mean), "lower", 1 },
	{ "step_time_ps.p90", "step time, p90", TS_FIELD_NAME(overview, overview.step_time_ps.p90),
	  "lower", 1 },
	{ "wall_ps", "wall time", OF_TIME(wall_ps), NULL, 1 },
	{ "compilation_host_ps", "host compilations", OF_TIME(compilation_host_ps), "lower", 1 },
	{ "peak_bytes", "peak of a program", "peak_memory_mb", "lower", 1.0 / 1048576 },
	{ "allocator_peak_bytes", "allocators' peak", "allocator_peak_mb", "lower", 1.0 / 1048576 },
	{ "health_score", "health", TS_FIELD_NAME(overview, overview.health_score), "higher", 1 },
	{ "duty_cycle_pct", "duty cycle", TS_FIELD_NAME(overview, overview.duty_cycle_pct),
	  "higher", 1 },
	{ "mxu_utilization_pct", "MXU utilization",
	  TS_FIELD_NAME(overview, overview.mxu_utilization_pct), "higher", 1 },
	{ "hbm_utilization_pct", "HBM utilization",
	  TS_FIELD_NAME(overview, overview.hbm_utilization_pct), "higher", 1 },
	{ "padding_waste_pct", "padding waste", TS_FIELD_NAME(overview, overview.padding_waste_pct),
	  "lower", 1 },
	{ "core_flops", "FLOPs of a core", NULL, NULL, 1 },
};

static void figure_values(const struct comparing *comparing, const struct figure *figure,
			  double values[TS_COMPARE_MAX])
{
	for (size_t r = 0; r < comparing->nr; r++) {
		const struct ts_measured *measured = &comparing->measured[r];

		if (!figure->path)
			values[r] = core_flops(measured);
		else if (ts_measured_value(measured, comparing->runs[r].results,
					   ts_bytes_of(figure->path), &values[r]))
			values[r] /= figure->unit;
		else
			values[r] = NAN;
	}
}

static bool any_known(const double *values, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (isfinite(values[i]))
			return true;
	return false;
}

#define FIGURE_CELLS(X) \
	X(figure, ts_text(ts_bytes_of(figure->name))) \
	X(title, ts_text(ts_bytes_of(figure->title))) \
	X(better, figure->better ? ts_text(ts_bytes_of(figure->better)) : ts_null())
#define FIGURE_EACH_CELLS(X) \
	X(value, ts_real(values[r])) \
	X(change, ts_real(change)) \
	X(change_pct, ts_share_pct(change == 0 ? 0 : change / fabs(values[0])))

static void put_figure(struct comparing *comparing, const struct ts_compare_table *table,
		       const struct figure *figure, const double *values)
{
	struct ts_value *row;

	COMPARE_ROW(comparing, table, compare_figures, row, FIGURE_CELLS);
	for (size_t r = 0; r < comparing->nr; r++) {
		double change = values[r] - values[0];

		COMPARE_RUN(table, compare_figures_each, row, r, FIGURE_EACH_CELLS);
	}
}

void ts_compare_figures(struct comparing *comparing)
{
	struct ts_compare_table table =
		ts_compare_table(comparing, &ts_sheet_compare_figures,
				 &ts_sheet_compare_figures_each, ts_sheet_compare_figures.title);

	TS_ASSERT(comparing);
	TS_ASSERT(comparing->nr >= 1 && comparing->nr <= TS_COMPARE_MAX);
	for (size_t i = 0; table.table && i < TS_NELEM(figures); i++) {
		double values[TS_COMPARE_MAX];

		figure_values(comparing, &figures[i], values);
		if (any_known(values, comparing->nr))
			put_figure(comparing, &table, &figures[i], values);
	}
	if (table.table) {
		table.table->unit_column = 1;
		table.table->text_rows = TS_NELEM(figures);
	}
}

#define BUCKET_CELLS(X) \
	X(bucket, ts_text(ts_bytes_of(ts_bucket_name(bucket)))) \
	X(title, ts_text(ts_bytes_of(ts_bucket_title(bucket))))
#define BUCKET_EACH_CELLS(X) \
	X(ps, ts_compare_ps(measured->bucket_ps[bucket])) \
	X(pct, ts_share_pct(measured->bucket_ps[bucket] / measured->time_ps)) \
	X(change_ps, ts_compare_ps(measured->bucket_ps[bucket] - \
				   comparing->measured[0].bucket_ps[bucket]))

static void put_bucket(struct comparing *comparing, const struct ts_compare_table *table,
		       enum ts_bucket bucket)
{
	struct ts_value *row;

	COMPARE_ROW(comparing, table, compare_buckets, row, BUCKET_CELLS);
	for (size_t r = 0; r < comparing->nr; r++) {
		const struct ts_measured *measured = &comparing->measured[r];

		COMPARE_RUN(table, compare_buckets_each, row, r, BUCKET_EACH_CELLS);
	}
}

static bool holds_time(const struct comparing *comparing, enum ts_bucket bucket)
{
	for (size_t r = 0; r < comparing->nr; r++)
		if (comparing->measured[r].bucket_ps[bucket] > 0)
			return true;
	return false;
}

void ts_compare_buckets(struct comparing *comparing)
{
	struct ts_compare_table table = ts_compare_table(
		comparing, &ts_sheet_compare_buckets, &ts_sheet_compare_buckets_each,
		comparing->by_step ? ts_sheet_compare_buckets.title : "Wall time of a core");

	TS_ASSERT(comparing);
	TS_ASSERT(comparing->nr >= 1 && comparing->nr <= TS_COMPARE_MAX);
	/* people see those that hold time */
	for (int b = 0; table.table && b < TS_NR_BUCKETS; b++)
		if (holds_time(comparing, (enum ts_bucket)b))
			put_bucket(comparing, &table, (enum ts_bucket)b);
	if (table.table && table.table->nr_rows == 0)
		table.table->title = NULL;
	else if (table.table)
		table.table->text_rows = table.table->nr_rows;
	for (int b = 0; table.table && b < TS_NR_BUCKETS; b++)
		if (!holds_time(comparing, (enum ts_bucket)b))
			put_bucket(comparing, &table, (enum ts_bucket)b);
}
