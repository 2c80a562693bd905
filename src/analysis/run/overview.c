/*
 * The head of the report: the run, its hosts and devices, the handful of numbers people ask for
 * first, and the steps. Made of the facts of other analyses and the profile; sees no events.
 */
#include "analysis/facts/doctor.h"
#include "analysis/facts/memory.h"
#include "analysis/facts/padding.h"
#include "analysis/facts/systolic.h"
#include "analysis/facts/time.h"

#define TS_NEEDS(X) X(time) X(systolic) X(padding) X(memory) X(doctor)
#include "analysis/kit/needs.h"

#include "analysis/kit/table.h"
#include "base/units.h"

static const char *const host_names[] = { "name", "file", "bytes", "start_unix_ns" };
static const char *const device_names[] = {
	"id",	     "host",	"name",	    "kind", "chip", "peak_flops_per_s", "hbm_bytes_per_s",
	"hbm_bytes", "mxu_dim", "mxu_count"
};

static void put_hosts(const struct ts_profile *profile, struct ts_result *result)
{
	struct ts_value *row;
	struct ts_value list =
		ts_result_list(result, host_names, TS_NELEM(host_names), profile->nr_hosts, &row);

	for (size_t i = 0; row && i < profile->nr_hosts; i++, row += TS_NELEM(host_names)) {
		const struct ts_host *host = &profile->hosts[i];

		row[0] = ts_text(host->name);
		row[1] = ts_text(host->file);
		row[2] = ts_int((int64_t)host->file_bytes);
		row[3] = host->start_unix_ns > 0 ? ts_id((uint64_t)host->start_unix_ns) : ts_null();
	}
	ts_result_field(result, "run.hosts", list, TS_MEASURED, NULL);
}

static void put_devices(const struct ts_context *ctx, struct ts_result *result)
{
	const struct ts_profile *profile = ctx->profile;
	struct ts_value *row;
	struct ts_value list = ts_result_list(result, device_names, TS_NELEM(device_names),
					      profile->nr_devices, &row);

	for (size_t i = 0; row && i < profile->nr_devices; i++, row += TS_NELEM(device_names)) {
		const struct ts_device *device = &profile->devices[i];
		const struct ts_rates *rates = &ctx->rates[i];

		row[0] = ts_int((int64_t)i);
		row[1] = ts_text(profile->hosts[device->host].name);
		row[2] = ts_text(device->name);
		row[3] = ts_text_or_null(device->kind);
		row[4] = ts_text_or_null(ts_bytes_of(rates->name));
		row[5] = ts_real(rates->peak_flops_per_s);
		row[6] = ts_real(rates->hbm_bytes_per_s);
		row[7] = ts_int_or_null(rates->hbm_bytes);
		row[8] = ts_int_or_null(rates->mxu_dim);
		row[9] = ts_int_or_null(rates->mxu_count);
	}
	ts_result_field(result, "run.devices", list, TS_MEASURED, NULL);
}

static struct ts_value wall_time(const struct ts_context *ctx)
{
	const struct ts_time_facts *time = ts_time_facts(ctx);

	return time->nr_cores > 0 ? ts_int(time->wall_ps) : ts_null();
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Linear between the closest ranks (numpy's default). */
static double quantile(const double *sorted, size_t nr, double q)
{
	double at = q * (double)(nr - 1);
	size_t below = (size_t)at;

	if (below + 1 >= nr)
		return sorted[nr - 1];
	return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

static struct ts_value rounded(double ps)
{
	return ts_int((int64_t)floor(ps + 0.5));
}

/* Steps that no marker says are a conclusion. */
static enum ts_origin origin_of_steps(const struct ts_context *ctx)
{
	return ctx->outline->steps.source == TS_STEPS_INFERRED ? TS_INFERRED : TS_MEASURED;
}

static void put_step_times(struct ts_result *result, double *ps, size_t nr, enum ts_origin origin)
{
	double sum = 0, squares = 0, mean;

	qsort(ps, nr, sizeof(*ps), by_value);
	for (size_t i = 0; i < nr; i++)
		sum += ps[i];
	mean = sum / (double)nr;
	for (size_t i = 0; i < nr; i++)
		squares += (ps[i] - mean) * (ps[i] - mean);
	ts_result_field(result, "overview.step_time_ps.mean", rounded(mean), origin,
			"step time, mean");
	ts_result_field(result, "overview.step_time_ps.median", rounded(quantile(ps, nr, 0.5)),
			origin, "median");
	ts_result_field(result, "overview.step_time_ps.p90", rounded(quantile(ps, nr, 0.9)), origin,
			NULL);
	ts_result_field(result, "overview.step_time_ps.p99", rounded(quantile(ps, nr, 0.99)),
			origin, NULL);
	ts_result_field(result, "overview.step_time_ps.min", rounded(ps[0]), origin, "min");
	ts_result_field(result, "overview.step_time_ps.max", rounded(ps[nr - 1]), origin, "max");
	ts_result_field(result, "overview.step_time_ps.stddev", rounded(sqrt(squares / (double)nr)),
			origin, NULL);
}

#define STEP_COLUMNS(X) \
	X(step, TS_MEASURED, NULL, ts_value_from(ts_int((int64_t)step->number), origin)) \
	X(start_ps, TS_MEASURED, NULL, ts_value_from(ts_int(step->start_ps), origin)) \
	X(duration_ps, TS_MEASURED, NULL, \
	  ts_value_from(ts_int(ts_time_step_duration(step)), origin)) \
	X(cores, TS_MEASURED, NULL, ts_int(step->cores)) \
	X(source, TS_DERIVED, NULL, ts_text(ts_bytes_of(source)))

static const struct ts_column step_columns[] = { STEP_COLUMNS(TS_COLUMN) };

/* The steps of the time view, less its buckets. */
static enum ts_status put_steps(const struct ts_context *ctx, struct ts_result *result,
				struct ts_error *err)
{
	const struct ts_time_facts *time = ts_time_facts(ctx);
	const enum ts_origin origin = origin_of_steps(ctx);
	const char *source = ctx->outline->steps.source == TS_STEPS_MARKED ? "marked" : "inferred";
	size_t nr = time->nr_steps;
	double *ps = malloc((nr + 1) * sizeof(*ps));
	struct ts_table *table;

	if (!ps)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < nr; i++)
		ps[i] = (double)ts_time_step_duration(&time->steps[i]);
	ts_result_field(result, "overview.step_count", nr ? ts_int((int64_t)nr) : ts_null(), origin,
			"steps");
	if (nr && ctx->outline->steps.source == TS_STEPS_INFERRED) /* the summary says so */
		ts_result_field(result, "overview.step_source",
				ts_text(ts_result_text(result, "inferred from %s",
						       ctx->outline->steps.made_of)),
				TS_DERIVED, NULL);
	if (nr)
		put_step_times(result, ps, nr, origin);
	else
		ts_result_field(result, "overview.step_time_ps", ts_null(), TS_MEASURED, NULL);
	free(ps);
	table = ts_result_table(result, "steps", NULL, step_columns, TS_NELEM(step_columns));
	for (size_t i = 0; i < nr; i++) {
		const struct ts_time_step *step = &time->steps[i];

		TS_CELLS(result, table, STEP_COLUMNS);
	}
	return TS_OK;
}

static void put_run(const struct ts_context *ctx, struct ts_result *result)
{
	const struct ts_profile *profile = ctx->profile;

	ts_result_field(result, "run.logdir", ts_text_or_null(profile->logdir), TS_MEASURED, NULL);
	ts_result_field(result, "run.run", ts_text_or_null(profile->run), TS_MEASURED, NULL);
	ts_result_field(result, "run.session", ts_text_or_null(profile->session), TS_MEASURED,
			NULL);
	ts_result_field(result, "run.duration_ps", wall_time(ctx), TS_MEASURED, "wall time");
	ts_result_field(result, "run.capture_ps", ts_int_or_null(profile->capture_ps), TS_MEASURED,
			NULL);
	put_hosts(profile, result);
	put_devices(ctx, result);
}

static void note_unknown_chips(const struct ts_context *ctx, struct ts_result *result)
{
	for (size_t i = 0; i < ctx->profile->nr_devices; i++) {
		const struct ts_device *device = &ctx->profile->devices[i];

		if (ctx->rates[i].name || (i > 0 && ts_bytes_eq(device->kind, device[-1].kind)))
			continue;
		ts_result_note(
			result,
			"%.*s: the chip \"%.*s\" is not in the table: what the profile does not "
			"say of its rates is unknown",
			TS_ARG(device->name), TS_ARG(device->kind));
	}
}

static enum ts_status overview_close(void *state, const struct ts_context *ctx, void *facts,
				     struct ts_result *result, struct ts_error *err)
{
	if (ctx->profile->nr_hosts == 0) { /* modules alone: there was no run */
		ts_result_field(result, "run", ts_null(), TS_MEASURED, NULL);
		return TS_OK;
	}
	put_run(ctx, result);
	ts_result_field(result, "overview.health_score",
			ts_int_or_null(ts_doctor_facts(ctx)->health_score), TS_DERIVED, "health");
	ts_result_field(result, "overview.duty_cycle_pct",
			ts_share_pct(ts_time_facts(ctx)->duty_cycle), TS_MEASURED, "duty cycle");
	ts_result_field(result, "overview.mxu_utilization_pct",
			ts_held_pct(result, ts_systolic_facts(ctx)->run), TS_MODELLED,
			"MXU utilization");
	ts_result_field(result, "overview.hbm_utilization_pct",
			ts_held_pct(result, ts_memory_facts(ctx)->hbm), TS_MODELLED,
			"HBM utilization");
	ts_result_field(result, "overview.padding_waste_pct",
			ts_share_pct(ts_padding_facts(ctx)->waste_share), TS_MODELLED,
			"padding waste");
	note_unknown_chips(ctx, result);
	return put_steps(ctx, result, err);
}

const struct ts_analysis ts_analysis_overview = {
	.name = "overview",
	.title = "Overview",
	.top_level = true,
	.needs = TS_NEEDED,
	.pass = TS_PASS_SECOND,
	.close = overview_close,
};
