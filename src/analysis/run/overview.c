/* SPDX-License-Identifier: MIT */
/*
 * The head of the report: the run, its hosts and devices, the handful of numbers people ask for
 * first, and the steps. Made of the facts of other analyses and the profile; sees no events.
 */
#include "analysis/facts/doctor.h"
#include "analysis/facts/memory.h"
#include "analysis/facts/padding.h"
#include "analysis/facts/samples.h"
#include "analysis/facts/systolic.h"
#include "analysis/facts/time.h"
#include "analysis/facts/timeline.h"

#define TS_NEEDS(X) X(time) X(timeline) X(samples) X(systolic) X(padding) X(memory) X(doctor)
#include "analysis/kit/needs.h"

#include "analysis/kit/gpu_idle.h"
#include "analysis/kit/others.h"
#include "analysis/kit/run_steps.h"
#include "base/units.h"
#include "result/schema/overview.def"

#define HOST_ITEMS(X) \
	X(name, ts_text(host->name)) \
	X(file, ts_text(host->file)) \
	X(bytes, ts_int((int64_t)host->file_bytes)) \
	X(start_unix_ns, \
	  host->start_unix_ns > 0 ? ts_id((uint64_t)host->start_unix_ns) : ts_null())

#define DEVICE_ITEMS(X) \
	X(id, ts_int((int64_t)i)) \
	X(host, ts_text(profile->hosts[device->host].name)) \
	X(name, ts_text(device->name)) \
	X(kind, ts_text_or_null(device->kind)) \
	X(chip, ts_text_or_null(ts_bytes_of(rates->name))) \
	X(peak_flops_per_s, ts_real(rates->peak_flops_per_s)) \
	X(hbm_bytes_per_s, ts_real(rates->hbm_bytes_per_s)) \
	X(hbm_bytes, ts_int_or_null(rates->hbm_bytes)) \
	X(mxu_dim, ts_int_or_null(rates->mxu_dim)) \
	X(mxu_count, ts_int_or_null(rates->mxu_count))

static void overview_put_hosts(const struct ts_profile *profile, struct ts_result *result)
{
	struct ts_value list = TS_ITEMS(result, overview_host, profile->nr_hosts);
	struct ts_overview_host_row *row = TS_ITEM_ROWS(list, overview_host);

	for (size_t i = 0; row && i < profile->nr_hosts; i++) {
		const struct ts_host *host = &profile->hosts[i];

		TS_ITEM_CELLS(&row[i], overview_host, HOST_ITEMS);
	}
	TS_SET(result, overview, run.hosts, list);
}

static void overview_put_devices(const struct ts_context *ctx, struct ts_result *result)
{
	const struct ts_profile *profile = ctx->profile;
	struct ts_value list = TS_ITEMS(result, overview_device, profile->nr_devices);
	struct ts_overview_device_row *row = TS_ITEM_ROWS(list, overview_device);

	for (size_t i = 0; row && i < profile->nr_devices; i++) {
		const struct ts_device *device = &profile->devices[i];
		const struct ts_rates *rates = &ctx->rates[i];

		TS_ITEM_CELLS(&row[i], overview_device, DEVICE_ITEMS);
	}
	TS_SET(result, overview, run.devices, list);
}

/* Of the devices; where they ran nothing, of what the hosts did; else of the capture. */
static void put_wall_time(const struct ts_context *ctx, struct ts_result *result)
{
	const struct ts_time_facts *time = ts_time_facts(ctx);
	const struct ts_outline *outline = ctx->outline;
	int64_t ps = ctx->profile->capture_ps;
	const char *of = ps >= 0 ? "capture" : NULL;

	if (time->nr_cores > 0) {
		ps = time->wall_ps;
		of = "devices";
	} else if (outline && outline->host_first_ps <= outline->host_last_ps) {
		ps = ts_i64_sub(outline->host_last_ps, outline->host_first_ps);
		of = "hosts";
	}
	TS_SET(result, overview, run.duration_ps, ts_int_or_null(ps));
	TS_SET(result, overview, run.duration_of, of ? ts_text(ts_bytes_of(of)) : ts_null());
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

enum {
	STEP_MEAN,
	STEP_MEDIAN,
	STEP_P90,
	STEP_P99,
	STEP_MIN,
	STEP_MAX,
	STEP_STDDEV,
	NR_STEP_FIELDS
};

/* Where the seven figures of a time stand among the fields. */
#define STEP_FIELDS(object) \
	{ \
		[STEP_MEAN] = TS_FIELD_AT(overview, overview.object.mean), \
		[STEP_MEDIAN] = TS_FIELD_AT(overview, overview.object.median), \
		[STEP_P90] = TS_FIELD_AT(overview, overview.object.p90), \
		[STEP_P99] = TS_FIELD_AT(overview, overview.object.p99), \
		[STEP_MIN] = TS_FIELD_AT(overview, overview.object.min), \
		[STEP_MAX] = TS_FIELD_AT(overview, overview.object.max), \
		[STEP_STDDEV] = TS_FIELD_AT(overview, overview.object.stddev), \
	}
static const size_t device_fields[NR_STEP_FIELDS] = STEP_FIELDS(step_time_ps);
static const size_t host_fields[NR_STEP_FIELDS] = STEP_FIELDS(host_step_time_ps);

static void overview_sift(double *heap, size_t at, size_t nr)
{
	double value = heap[at];
	size_t child;

	for (; (child = 2 * at + 1) < nr; at = child) {
		if (child + 1 < nr && heap[child + 1] > heap[child])
			child++;
		if (value >= heap[child])
			break;
		heap[at] = heap[child];
	}
	heap[at] = value;
}

/* In place: qsort() takes as much room again, and a run may have millions of steps. */
static void overview_sort(double *ps, size_t nr)
{
	for (size_t i = nr / 2; i-- > 0;)
		overview_sift(ps, i, nr);
	for (size_t i = nr; i-- > 1;) {
		double largest = ps[0];

		ps[0] = ps[i];
		ps[i] = largest;
		overview_sift(ps, 0, i);
	}
}

/* Sorts PS; there is at least one. */
static void put_step_times(struct ts_result *result, const size_t *fields, bool shown,
			   enum ts_origin from, double *ps, size_t nr)
{
	double sum = 0, squares = 0, of[NR_STEP_FIELDS];

	overview_sort(ps, nr);
	for (size_t i = 0; i < nr; i++)
		sum += ps[i];
	of[STEP_MEAN] = sum / (double)nr;
	for (size_t i = 0; i < nr; i++)
		squares += (ps[i] - of[STEP_MEAN]) * (ps[i] - of[STEP_MEAN]);
	of[STEP_MEDIAN] = quantile(ps, nr, 0.5);
	of[STEP_P90] = quantile(ps, nr, 0.9);
	of[STEP_P99] = quantile(ps, nr, 0.99);
	of[STEP_MIN] = ps[0];
	of[STEP_MAX] = ps[nr - 1];
	of[STEP_STDDEV] = sqrt(squares / (double)nr);
	for (size_t i = 0; i < NR_STEP_FIELDS; i++) {
		struct ts_value value = ts_value_from(ts_int((int64_t)floor(of[i] + 0.5)), from);
		struct ts_field *field = TS_SET_AT(result, overview, fields[i], value);

		if (!shown)
			field->label = NULL;
	}
}

/* A step of the run: as its devices ran it, as its hosts marked it, or both. */
struct run_step {
	uint64_t number;
	int64_t start_ps, duration_ps, host_duration_ps, cores; /* -1: unknown */
};

struct run_steps {
	struct run_step *items; /* those that are listed */
	size_t nr, nr_all;
	struct run_step others; /* sums of their durations */
	double *ps, *host_ps;	/* of all */
	size_t nr_host;
	const char *source;
	enum ts_origin from; /* not measured where the profile does not mark them */
};

/* What one host marked, added to the step of the run that it is of. */
static void add_host_step(struct run_step *sum, int64_t *nr_hosts, const struct ts_step *step)
{
	sum->number = step->number;
	sum->start_ps = *nr_hosts ? TS_MIN(sum->start_ps, step->start_ps) : step->start_ps;
	sum->host_duration_ps =
		ts_i64_add(sum->host_duration_ps, ts_i64_sub(step->end_ps, step->start_ps));
	(*nr_hosts)++;
}

/* The steps that hosts marked, each the mean over the hosts that did. */
static enum ts_status overview_take_host_steps(const struct ts_steps *marked,
					       struct run_step **steps, size_t *nr,
					       struct ts_error *err)
{
	struct run_step *sums = calloc(marked->nr_steps + 1, sizeof(*sums));
	int64_t *nr_hosts = calloc(marked->nr_steps + 1, sizeof(*nr_hosts));

	*steps = sums;
	*nr = 0;
	for (size_t h = 0; sums && nr_hosts && h < marked->nr_devices; h++)
		for (size_t i = 0; i < marked->devices[h].nr; i++) {
			uint32_t row = ts_device_steps_row(&marked->devices[h], i);

			add_host_step(&sums[row], &nr_hosts[row], &marked->devices[h].items[i]);
		}
	for (size_t i = 0; sums && nr_hosts && i < marked->nr_steps; i++) {
		if (nr_hosts[i] == 0)
			continue;
		sums[*nr] = sums[i];
		sums[*nr].host_duration_ps /= nr_hosts[i];
		sums[*nr].duration_ps = sums[*nr].host_duration_ps;
		sums[(*nr)++].cores = TS_UNKNOWN;
	}
	free(nr_hosts);
	return sums && nr_hosts ? TS_OK : ts_fail_nomem(err);
}

/* Of steps that both mark the numbers are the same; those of inferred steps are our own. */
static void join_host_steps(const struct ts_outline *outline, struct run_steps *steps,
			    const struct run_step *hosts, size_t nr_hosts)
{
	size_t at = 0;

	for (size_t i = 0; i < steps->nr; i++) {
		steps->items[i].host_duration_ps = TS_UNKNOWN;
		if (outline->steps.source != TS_STEPS_MARKED)
			continue;
		while (at < nr_hosts && hosts[at].number < steps->items[i].number)
			at++;
		if (at < nr_hosts && hosts[at].number == steps->items[i].number)
			steps->items[i].host_duration_ps = hosts[at].host_duration_ps;
	}
}

static void take_device_steps(const struct ts_time_facts *time, struct run_steps *steps)
{
	for (size_t i = 0; i < time->nr_listed; i++) {
		const struct ts_time_step *step = &time->steps[i];

		steps->items[steps->nr++] =
			(struct run_step){ .number = step->number,
					   .start_ps = step->start_ps,
					   .duration_ps = ts_time_step_duration(step),
					   .cores = step->cores };
	}
	steps->nr_all = time->nr_steps;
	steps->others.duration_ps = time->others_ps;
	for (struct ts_time_walk walk = { .time = time }; ts_time_next_step(&walk);)
		steps->ps[walk.nr - 1] = (double)ts_time_step_duration(&walk.step);
}

static int64_t cores_of_step(const struct ts_time_facts *time, uint64_t number)
{
	for (struct ts_time_walk walk = { .time = time }; ts_time_next_step(&walk);)
		if (walk.step.number == number)
			return walk.step.cores;
	return TS_UNKNOWN;
}

/* Marks of the host end when it has launched a step's work; that itself ends later. */
static void take_worked_steps(const struct ts_context *ctx, struct run_steps *steps)
{
	const struct ts_timeline_facts *timeline = ts_timeline_facts(ctx);

	steps->source = "launched";
	for (size_t i = 0; i < timeline->nr_steps; i++) {
		const struct ts_worked_step *step = &timeline->steps[i];

		steps->items[steps->nr++] = (struct run_step){
			.number = step->number,
			.start_ps = step->start_ps,
			.duration_ps = step->duration_ps,
			.cores = cores_of_step(ts_time_facts(ctx), step->number),
		};
	}
}

static void take_known_steps(const struct ts_context *ctx, struct run_steps *steps)
{
	bool marked = ctx->outline->steps.source == TS_STEPS_MARKED;

	steps->source = marked ? "marked" : "inferred";
	steps->from = marked ? TS_MEASURED : TS_INFERRED;
	if (ts_timeline_facts(ctx)->nr_steps > 0)
		take_worked_steps(ctx, steps);
	else
		take_device_steps(ts_time_facts(ctx), steps);
}

static void release_steps(struct run_steps *steps)
{
	free(steps->items);
	free(steps->ps);
	free(steps->host_ps);
}

/* Of steps that are all at hand: those that are listed, and the sum of the others. */
static enum ts_status overview_choose_steps(struct run_steps *steps, size_t max,
					    struct ts_error *err)
{
	int64_t *durations = malloc((steps->nr + 1) * sizeof(*durations));
	uint32_t *rows;
	size_t nr_listed = 0;

	for (size_t i = 0; durations && i < steps->nr; i++)
		durations[i] = steps->items[i].duration_ps;
	rows = durations ? ts_choose_rows(durations, steps->nr, max, &nr_listed) : NULL;
	for (size_t i = 0; rows && i < steps->nr; i++)
		steps->others.duration_ps = ts_i64_add(steps->others.duration_ps, durations[i]);
	for (size_t i = 0; rows && i < nr_listed; i++) {
		steps->items[i] = steps->items[rows[i]];
		steps->others.duration_ps -= steps->items[i].duration_ps;
	}
	steps->nr = rows ? nr_listed : 0;
	free(durations);
	free(rows);
	return rows ? TS_OK : ts_fail_nomem(err);
}

/* Steps of the devices as the time view has them; else those whose work is known, else those of hosts. */
static enum ts_status fill_steps(const struct ts_context *ctx, struct run_steps *steps,
				 const struct run_step *hosts, size_t nr_hosts,
				 struct ts_error *err)
{
	bool of_time = ts_time_facts(ctx)->nr_steps > 0 && ts_timeline_facts(ctx)->nr_steps == 0;
	size_t nr_known = ts_time_facts(ctx)->nr_steps + ts_timeline_facts(ctx)->nr_steps;

	if (nr_known == 0) {
		memcpy(steps->items, hosts, nr_hosts * sizeof(*hosts));
		steps->nr = nr_hosts;
	} else {
		take_known_steps(ctx, steps);
		join_host_steps(ctx->outline, steps, hosts, nr_hosts);
	}
	if (of_time)
		return TS_OK;
	steps->nr_all = steps->nr;
	for (size_t i = 0; i < steps->nr; i++)
		steps->ps[i] = (double)steps->items[i].duration_ps;
	return overview_choose_steps(steps, ctx->max_steps ? ctx->max_steps : TS_USUAL_STEPS, err);
}

static enum ts_status collect_steps(const struct ts_context *ctx, struct run_steps *steps,
				    struct ts_error *err)
{
	const struct ts_time_facts *time = ts_time_facts(ctx);
	size_t nr_known = ts_timeline_facts(ctx)->nr_steps;
	struct run_step *hosts;
	size_t nr_hosts, nr_items, nr_all;
	enum ts_status st;

	*steps = (struct run_steps){ .source = "host", .from = TS_MEASURED };
	st = overview_take_host_steps(&ctx->outline->host_steps, &hosts, &nr_hosts, err);
	if (st)
		goto done;
	nr_items = TS_MAX(TS_MAX(time->nr_listed, nr_known), nr_hosts) + 1;
	nr_all = TS_MAX(TS_MAX(time->nr_steps, nr_known), nr_hosts) + 1;
	steps->nr_host = nr_hosts;
	steps->host_ps = malloc((nr_hosts + 1) * sizeof(*steps->host_ps));
	steps->items = malloc(nr_items * sizeof(*steps->items));
	steps->ps = malloc(nr_all * sizeof(*steps->ps));
	if (!steps->host_ps || !steps->items || !steps->ps) {
		st = ts_fail_nomem(err);
		goto done;
	}
	for (size_t i = 0; i < nr_hosts; i++)
		steps->host_ps[i] = (double)hosts[i].host_duration_ps;
	st = fill_steps(ctx, steps, hosts, nr_hosts, err);
done:
	free(hosts);
	return st;
}

/* "marked on the host as execute_* (2 prefill, 6 decode), each to the end of its last kernel" */
static struct ts_bytes source_of_ranges(const struct ts_context *ctx, struct ts_result *result)
{
	const struct ts_steps *steps = &ctx->outline->steps;
	bool is_marked = steps->source == TS_STEPS_MARKED;
	struct ts_phases phases;
	char text[128] = "";
	size_t n = 0;

	if (ts_steps_count_phases(steps, &phases, NULL))
		phases.nr_known = 0;
	for (size_t i = TS_DOES_PREFILL; i <= TS_DOES_MIXED && phases.nr_known > 0; i++)
		if (phases.nr[i] > 0)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%zu %s",
					      n ? ", " : " (", phases.nr[i], ts_step_phase_name(i));
	return ts_result_text(
		result, "%s %s%s%s%s",
		is_marked ? "marked on the host as" : "inferred from the ranges", steps->made_of,
		text, n ? ")" : "",
		ts_timeline_facts(ctx)->nr_steps > 0 ? ", each to the end of its last kernel" : "");
}

/* Where steps are not those that the devices' own markers show, the summary says so. */
static void overview_put_step_source(const struct ts_context *ctx, const struct run_steps *steps,
				     struct ts_result *result)
{
	const struct ts_outline *outline = ctx->outline;
	struct ts_bytes text = { NULL, 0 };

	if (steps->nr_all == 0)
		return;
	if (outline->steps.is_range)
		text = source_of_ranges(ctx, result);
	else if (ts_timeline_facts(ctx)->nr_steps > 0)
		text = TS_LIT("marks on the host, each to the end of its last kernel");
	else if (ts_time_facts(ctx)->nr_steps == 0)
		text = ts_result_text(result, "marked on the host as %s",
				      outline->host_steps.made_of);
	else if (outline->steps.source == TS_STEPS_INFERRED)
		text = ts_result_text(result, "inferred from %s", outline->steps.made_of);
	if (text.n > 0)
		TS_SET(result, overview, overview.step_source, ts_text(text));
}

#define OF_STEPS(value) ts_value_from(value, steps->from)

#define STEP_CELLS(X) \
	X(step, OF_STEPS(ts_int((int64_t)step->number))) \
	X(start_ps, OF_STEPS(ts_int(step->start_ps))) \
	X(duration_ps, OF_STEPS(ts_int(step->duration_ps))) \
	X(host_duration_ps, ts_int_or_null(step->host_duration_ps)) \
	X(cores, ts_int_or_null(step->cores)) \
	X(source, ts_text(ts_bytes_of(steps->source)))

static void overview_put_step(const struct run_steps *steps, const struct run_step *step,
			      struct ts_result *result, struct ts_table *table)
{
	TS_CELLS(result, table, overview_steps, STEP_CELLS);
}

#define STEP_SUMS(X) X(duration_ps) X(source)

static void put_step_table(const struct run_steps *steps, struct ts_result *result)
{
	struct ts_table *table = TS_TABLE(result, overview_steps);

	for (size_t i = 0; i < steps->nr; i++)
		overview_put_step(steps, &steps->items[i], result, table);
	if (steps->nr == steps->nr_all)
		return;
	overview_put_step(steps, &steps->others, result, table);
	TS_END_OTHERS(result, table, overview_steps, steps->nr_all - steps->nr, step, STEP_SUMS);
}

/* The steps of the time view, less its buckets; where there are none, those of the hosts. */
static enum ts_status overview_put_steps(const struct ts_context *ctx, struct ts_result *result,
					 struct ts_error *err)
{
	struct run_steps steps;
	enum ts_status st = collect_steps(ctx, &steps, err);

	if (st) {
		release_steps(&steps);
		return st;
	}
	TS_SET(result, overview, overview.step_count,
	       ts_value_from(steps.nr_all ? ts_int((int64_t)steps.nr_all) : ts_null(), steps.from));
	overview_put_step_source(ctx, &steps, result);
	if (steps.nr_all)
		put_step_times(result, device_fields, true, steps.from, steps.ps, steps.nr_all);
	else
		TS_SET(result, overview, overview.step_time_ps.whole, ts_null());
	if (steps.nr_host)
		put_step_times(result, host_fields, strcmp(steps.source, "host") != 0, TS_MEASURED,
			       steps.host_ps, steps.nr_host);
	else
		TS_SET(result, overview, overview.host_step_time_ps.whole, ts_null());
	put_step_table(&steps, result);
	release_steps(&steps);
	return TS_OK;
}

static void overview_put_run(const struct ts_context *ctx, struct ts_result *result)
{
	const struct ts_profile *profile = ctx->profile;

	TS_SET(result, overview, run.logdir, ts_text_or_null(profile->logdir));
	TS_SET(result, overview, run.run, ts_text_or_null(profile->run));
	TS_SET(result, overview, run.session, ts_text_or_null(profile->session));
	TS_SET(result, overview, run.is_predicted, ts_bool(ts_profile_predicted(profile).n > 0));
	put_wall_time(ctx, result);
	TS_SET(result, overview, run.capture_ps, ts_int_or_null(profile->capture_ps));
	overview_put_hosts(profile, result);
	overview_put_devices(ctx, result);
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
			TS_ARG(device->label), TS_ARG(device->kind));
	}
}

/* By the memory's own counters where the profile has them. */
static void put_hbm(const struct ts_context *ctx, struct ts_result *result)
{
	double measured = ts_unit_share(ts_samples_facts(ctx), TS_UNIT_HBM);

	TS_SET(result, overview, overview.hbm_utilization_pct,
	       isfinite(measured) ? ts_value_from(ts_share_pct(measured), TS_MEASURED)
				  : ts_held_pct(result, ts_memory_facts(ctx)->hbm));
}

static enum ts_status overview_close(void *state, const struct ts_context *ctx, void *facts,
				     struct ts_result *result, struct ts_error *err)
{
	if (ctx->profile->nr_hosts == 0) { /* modules alone: there was no run */
		TS_SET(result, overview, run.whole, ts_null());
		return TS_OK;
	}
	overview_put_run(ctx, result);
	TS_SET(result, overview, overview.health_score,
	       ts_int_or_null(ts_doctor_facts(ctx)->health_score));
	TS_SET(result, overview, overview.duty_cycle_pct,
	       ts_share_pct(ts_time_facts(ctx)->duty_cycle));
	TS_SET(result, overview, overview.gpu_idle_pct,
	       ts_share_pct(ts_gpu_idle(ctx, ts_time_facts(ctx))));
	TS_SET(result, overview, overview.mxu_utilization_pct,
	       ts_held_pct(result, ts_systolic_facts(ctx)->run));
	if (ctx->profile->nr_devices > 0 && ctx->rates[0].matrix_units)
		TS_SET(result, overview, overview.matrix_units,
		       ts_text(ts_bytes_of(ctx->rates[0].matrix_units)));
	put_hbm(ctx, result);
	TS_SET(result, overview, overview.padding_waste_pct,
	       ts_share_pct(ts_padding_facts(ctx)->waste_share));
	note_unknown_chips(ctx, result);
	return overview_put_steps(ctx, result, err);
}

const struct ts_analysis ts_analysis_overview = {
	.schema = &ts_schema_overview,
	.needs = TS_NEEDED,
	.pass = TS_PASS_SECOND,
	.close = overview_close,
};
