/* SPDX-License-Identifier: MIT */
/* What the timeline says: of all ranks together, of each, of each class, of each step. */
#include "analysis/gpu/timeline.h"

#include "analysis/kit/cells.h"
#include "analysis/kit/run_steps.h"
#include "analysis/kit/spread.h"
#include "base/units.h"
#include "base/order.h"
#include "result/schema/timeline.def"

#define TRACK_ORDER 5 /* below the time classes */

/* Of all ranks: what one of them does on average; times of threads and streams are summed. */
struct sums {
	size_t nr_ranks, nr_steps;
	bool has_device;
	int64_t first_ps, last_ps, cpu_time_ps, device_time_ps;
	double length_ps, cpu_ps, device_ps, both_ps; /* over all ranks */
	int64_t class_ps[TS_NR_TRACE_CLASSES], steps_ps;
};

struct report {
	const struct timeline_state *sum;
	const struct ts_context *ctx;
	struct ts_result *result;
	struct sums sums;
	bool is_tpu;
};

static struct ts_value timeline_report_ms(int64_t ps)
{
	return ts_real((double)ps / (double)TS_PS_PER_MS);
}

static int64_t timeline_report_length(const struct timeline_rank *rank)
{
	return rank->first_ps <= rank->last_ps ? rank->last_ps - rank->first_ps : 0;
}

/* A rank without an event is not a row. */
static bool timeline_report_is_empty(const struct timeline_rank *rank)
{
	return rank->first_ps > rank->last_ps;
}

static bool has_device(const struct ts_context *ctx, uint32_t host)
{
	for (size_t i = 0; i < ctx->profile->nr_devices; i++)
		if (ctx->profile->devices[i].host == host)
			return true;
	return false;
}

/* --- the steps of a rank */

/* A trace without steps is one step. */
static struct timeline_step whole_trace(const struct timeline_rank *rank)
{
	return (struct timeline_step){ .number = TS_NO_NUMBER,
				       .start_ps = rank->first_ps,
				       .end_ps = rank->last_ps,
				       .own = rank->steps.behind };
}

static void timeline_report_add_step(struct sums *sums, const struct timeline_step *step)
{
	for (size_t c = 0; c < TS_NR_TRACE_CLASSES; c++)
		sums->class_ps[c] = ts_i64_add(sums->class_ps[c], step->own.ps[c]);
	sums->nr_steps++;
	sums->steps_ps = ts_i64_add(sums->steps_ps, step->end_ps - step->start_ps);
}

static void timeline_report_add_steps(struct sums *sums, const struct timeline_rank *rank)
{
	const struct timeline_step whole = whole_trace(rank);
	size_t nr = ts_timeline_steps_whole(&rank->steps);

	if (rank->steps.nr == 0)
		timeline_report_add_step(sums, &whole);
	for (size_t i = 0; i < nr; i++)
		timeline_report_add_step(sums, &rank->steps.items[i]);
}

static void timeline_report_add_rank(struct sums *sums, const struct ts_context *ctx,
				     const struct timeline_rank *rank)
{
	sums->nr_ranks++;
	sums->has_device |= has_device(ctx, rank->host);
	sums->first_ps = TS_MIN(sums->first_ps, rank->first_ps);
	sums->last_ps = TS_MAX(sums->last_ps, rank->last_ps);
	sums->cpu_time_ps = ts_i64_add(sums->cpu_time_ps, rank->cpu_time_ps);
	sums->device_time_ps = ts_i64_add(sums->device_time_ps, rank->device_time_ps);
	sums->length_ps += (double)timeline_report_length(rank);
	sums->cpu_ps += (double)rank->cpu_ps;
	sums->device_ps += (double)rank->device_ps;
	sums->both_ps += (double)rank->both_ps;
	timeline_report_add_steps(sums, rank);
}

static struct sums timeline_report_sums_of(const struct timeline_state *sum,
					   const struct ts_context *ctx)
{
	struct sums sums = { .first_ps = INT64_MAX, .last_ps = INT64_MIN };

	for (size_t i = 0; i < sum->nr_ranks; i++)
		if (!timeline_report_is_empty(&sum->ranks[i]))
			timeline_report_add_rank(&sums, ctx, &sum->ranks[i]);
	return sums;
}

static struct ts_timeline_facts timeline_report_facts_of(const struct sums *sums)
{
	if (sums->nr_ranks == 0)
		return (struct ts_timeline_facts){ .total_ps = -1,
						   .cpu_time_ps = -1,
						   .device_time_ps = -1 };
	return (struct ts_timeline_facts){
		.steps_ps = sums->steps_ps,
		.other_ps = sums->class_ps[TS_TRACE_OTHER],
		.total_ps = sums->last_ps - sums->first_ps,
		.cpu_time_ps = sums->cpu_time_ps,
		.device_time_ps = sums->has_device ? sums->device_time_ps : -1,
	};
}

#define STEP_CELLS(X) \
	X(rank, ts_int_or_null(host->rank)) \
	X(step, step->number == TS_NO_NUMBER ? ts_null() : ts_int((int64_t)step->number)) \
	X(start_ps, ts_int(TS_MIN(step->start_ps, step->earliest_ps))) \
	X(duration_ps, ts_int(step->end_ps - step->start_ps)) \
	X(kernel_ps, ts_int(ps[TS_TRACE_KERNEL])) \
	X(memcpy_ps, ts_int(ps[TS_TRACE_MEMCPY])) \
	X(memset_ps, ts_int(ps[TS_TRACE_MEMSET])) \
	X(communication_ps, ts_int(ps[TS_TRACE_COMMUNICATION])) \
	X(runtime_ps, ts_int(ps[TS_TRACE_RUNTIME])) \
	X(dataloader_ps, ts_int(ps[TS_TRACE_DATALOADER])) \
	X(cpu_exec_ps, ts_int(ps[TS_TRACE_CPU_EXEC])) \
	X(other_ps, ts_int(ps[TS_TRACE_OTHER])) \
	X(kernels, timeline_report_kernels_of(report, rank, step)) \
	X(counted, ts_bool(counted))

/* Those that the step launched: only where its marks on the host are what makes it a step of devices. */
static struct ts_value timeline_report_kernels_of(const struct report *report,
						  const struct timeline_rank *rank,
						  const struct timeline_step *step)
{
	bool is_known = rank->steps.source == TIMELINE_MARKS || rank->steps.source == TIMELINE_NONE;

	return is_known && !report->is_tpu ? ts_int((int64_t)step->nr_kernels) : ts_null();
}

static void timeline_report_put_step(const struct report *report, struct ts_table *table,
				     const struct timeline_rank *rank,
				     const struct timeline_step *step, bool counted)
{
	const struct ts_host *host = &report->ctx->profile->hosts[rank->host];
	const int64_t *ps = step->own.ps;

	TS_CELLS(report->result, table, timeline_steps, STEP_CELLS);
}

static void put_rank_steps(const struct report *report, struct ts_table *table,
			   const struct timeline_rank *rank)
{
	const struct timeline_step whole = whole_trace(rank);
	size_t nr_whole = ts_timeline_steps_whole(&rank->steps);

	if (rank->steps.nr == 0)
		timeline_report_put_step(report, table, rank, &whole, true);
	for (size_t i = 0; i < rank->steps.nr; i++)
		timeline_report_put_step(report, table, rank, &rank->steps.items[i], i < nr_whole);
	if (nr_whole < rank->steps.nr)
		ts_result_note(report->result,
			       "the last %zu of %zu steps are not counted: the profiler may have "
			       "missed kernels that they launched",
			       rank->steps.nr - nr_whole, rank->steps.nr);
}

static void timeline_report_put_steps(const struct report *report)
{
	/* The headings are of what a GPU has; a TPU runs ops, copies to and from its host, and no more of these. */
	struct ts_table *table = report->is_tpu ? TS_TABLE(report->result, timeline_tpu_steps)
						: TS_TABLE(report->result, timeline_steps);

	for (size_t i = 0; i < report->sum->nr_ranks; i++)
		if (!timeline_report_is_empty(&report->sum->ranks[i]))
			put_rank_steps(report, table, &report->sum->ranks[i]);
}

/* --- time by class */

#define CLASS_CELLS(X) \
	X(class, ts_text(ts_bytes_of(class_name(report, c)))) \
	X(total_ps, ts_int(sums->class_ps[c])) \
	X(step_mean_ps, timeline_report_mean(sums->class_ps[c], sums->nr_steps)) \
	X(share_pct, ts_part_pct(sums->class_ps[c], sums->steps_ps))

static const char *class_name(const struct report *report, size_t class)
{
	if (report->is_tpu && class == TS_TRACE_KERNEL)
		return "Ops";
	return report->is_tpu && class == TS_TRACE_MEMCPY ? "Host copies"
							  : ts_trace_class_names[class];
}

static struct ts_value timeline_report_mean(int64_t sum_ps, size_t nr)
{
	return nr ? ts_int((int64_t)llround((double)sum_ps / (double)nr)) : ts_null();
}

static void put_classes(const struct report *report)
{
	const struct sums *sums = &report->sums;
	struct ts_table *table = TS_TABLE(report->result, timeline_classes);

	for (size_t c = 0; c < TS_NR_TRACE_CLASSES; c++)
		if (!report->is_tpu || sums->class_ps[c] > 0)
			TS_CELLS(report->result, table, timeline_classes, CLASS_CELLS);
}

/* --- ranks and streams */

#define OF_DEVICE(value) (device ? (value) : ts_null()) /* the rank has one, or null */
#define RANK_CELLS(X) \
	X(rank, ts_int_or_null(host->rank)) \
	X(host, ts_text_or_null(host->name)) \
	X(total_time_ps, ts_int(all_ps)) \
	X(cpu_active_ps, ts_int(rank->cpu_ps)) \
	X(cpu_active_pct, ts_part_pct(rank->cpu_ps, all_ps)) \
	X(gpu_active_ps, OF_DEVICE(ts_int(rank->device_ps))) \
	X(gpu_active_pct, OF_DEVICE(ts_part_pct(rank->device_ps, all_ps))) \
	X(overlap_ps, OF_DEVICE(ts_int(rank->both_ps))) \
	X(overlap_pct, OF_DEVICE(ts_part_pct(rank->both_ps, all_ps))) \
	X(cpu_time_ps, ts_int(rank->cpu_time_ps)) \
	X(cuda_time_ps, OF_DEVICE(ts_int(rank->device_time_ps)))

static void timeline_report_put_ranks(const struct report *report)
{
	struct ts_table *table = TS_TITLED_TABLE(report->result, timeline_ranks,
						 report->sums.nr_ranks > 1 ? "Ranks" : NULL);

	for (size_t i = 0; i < report->sum->nr_ranks; i++) {
		const struct timeline_rank *rank = &report->sum->ranks[i];
		const struct ts_host *host = &report->ctx->profile->hosts[rank->host];
		bool device = has_device(report->ctx, rank->host);
		int64_t all_ps = timeline_report_length(rank);

		if (!timeline_report_is_empty(rank))
			TS_CELLS(report->result, table, timeline_ranks, RANK_CELLS);
	}
}

#define STREAM_CELLS(X) \
	X(rank, ts_int_or_null(profile->hosts[plane->host].rank)) \
	X(device, ts_text_or_null(plane->name)) \
	X(stream, ts_text_or_null(line->name)) \
	X(events, ts_int((int64_t)stream->nr_events)) \
	X(busy_ps, ts_int(stream->busy_ps))

static void timeline_report_put_streams(const struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	struct ts_table *table = TS_TITLED_TABLE(report->result, timeline_streams,
						 report->sum->nr_streams < 2 ? NULL
						 : report->is_tpu	     ? "Cores"
									     : "Streams");

	for (size_t i = 0; i < report->sum->nr_streams; i++) {
		const struct timeline_stream *stream = &report->sum->streams[i];
		const struct ts_line *line = &profile->lines[stream->line];
		const struct ts_plane *plane = &profile->planes[line->plane];

		TS_CELLS(report->result, table, timeline_streams, STREAM_CELLS);
	}
}

/* --- fields */

static void put_active(const struct report *report)
{
	const struct sums *sums = &report->sums;
	struct ts_result *result = report->result;
	double nr = (double)sums->nr_ranks;
	const struct {
		size_t ms, ps, pct;
		double all_ps;
		bool known;
	} rows[] = {
#define ACTIVE(name) \
	TS_FIELD_AT(timeline, name##_ms), TS_FIELD_AT(timeline, name##_ps), \
		TS_FIELD_AT(timeline, name##_pct)
		{ ACTIVE(cpu_active), sums->cpu_ps, true },
		{ ACTIVE(gpu_active), sums->device_ps, sums->has_device },
		{ ACTIVE(overlap), sums->both_ps, sums->has_device },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		int64_t ps = (int64_t)llround(rows[i].all_ps / nr);
		double share_pct =
			sums->length_ps > 0 ? 100 * rows[i].all_ps / sums->length_ps : NAN;

		TS_SET_AT(result, timeline, rows[i].ms,
			  rows[i].known ? timeline_report_ms(ps) : ts_null());
		TS_SET_AT(result, timeline, rows[i].ps, rows[i].known ? ts_int(ps) : ts_null());
		TS_SET_AT(result, timeline, rows[i].pct,
			  rows[i].known ? ts_real(share_pct) : ts_null());
	}
}

static void timeline_report_put_totals(const struct report *report,
				       const struct ts_timeline_facts *facts)
{
	struct ts_result *result = report->result;
	bool has_device = facts->device_time_ps >= 0;

	TS_SET(result, timeline, total_time_ms, timeline_report_ms(facts->total_ps));
	TS_SET(result, timeline, total_time_ps, ts_int(facts->total_ps));
	put_active(report);
	TS_SET(result, timeline, cpu_time_ms, timeline_report_ms(facts->cpu_time_ps));
	TS_SET(result, timeline, cpu_time_ps, ts_int(facts->cpu_time_ps));
	TS_SET(result, timeline, cuda_time_ms,
	       has_device ? timeline_report_ms(facts->device_time_ps) : ts_null());
	TS_SET(result, timeline, cuda_time_ps, ts_int_or_null(facts->device_time_ps));
	TS_SET(result, timeline, step_count, ts_int((int64_t)report->sums.nr_steps));
}

static const char *const sources[] = {
	[TIMELINE_NONE] = "the whole trace: no steps are known",
	[TIMELINE_MARKS] = "marks on the host, each to the end of its last kernel",
	[TIMELINE_DEVICES] = "the devices', the mean of a host's devices",
	[TIMELINE_HOST] = "the host's marks",
};

/* Of the first rank that has events; ranks of one job mark alike. */
static void timeline_report_put_step_source(const struct report *report)
{
	size_t i = 0;

	while (timeline_report_is_empty(&report->sum->ranks[i]))
		i++;
	TS_SET(report->result, timeline, step_source,
	       ts_text(ts_bytes_of(sources[report->sum->ranks[i].steps.source])));
}

/* --- the drawn row */

static const struct ts_label *labels_of(struct ts_result *result)
{
	struct ts_label *labels =
		ts_arena_array(&result->owner->arena, TS_NR_TRACE_CLASSES, sizeof(*labels));

	for (size_t c = 0; labels && c < TS_NR_TRACE_CLASSES; c++)
		labels[c] = (struct ts_label){ ts_bytes_of(ts_trace_class_names[c]), NULL, 0 };
	return labels;
}

/* On the host's first device, which stands for all of them. */
static enum ts_status draw_rank(const struct report *report, struct timeline_rank *rank,
				struct ts_error *err)
{
	const struct ts_profile *profile = report->ctx->profile;
	struct ts_track *track;
	uint32_t device = 0;

	while (device < profile->nr_devices && profile->devices[device].host != rank->host)
		device++;
	if (rank->slices.nr == 0 || device == profile->nr_devices)
		return TS_OK;
	track = ts_result_track(report->result, TS_TRACK_SLICES, "Step classes", device,
				TRACK_ORDER);
	if (!track)
		return ts_fail_nomem(err);
	track->description = "What each moment counts as: kernels before copies before "
			     "communication before what the host does";
	track->is_of_classes = true;
	track->labels = labels_of(report->result);
	track->nr_labels = TS_NR_TRACE_CLASSES;
	if (!track->labels || !ts_slices_finish(&rank->slices, report->result, track))
		return ts_fail_nomem(err);
	return TS_OK;
}

static enum ts_status timeline_report_draw(const struct report *report, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < report->sum->nr_ranks && st == TS_OK; i++)
		if (!timeline_report_is_empty(&report->sum->ranks[i]))
			st = draw_rank(report, &report->sum->ranks[i], err);
	return st;
}

/* --- the steps by their work, of all ranks */

/* Where no step launches a kernel, the host's marks are all that is known. */
static size_t nr_worked(const struct timeline_rank *rank)
{
	size_t nr = rank->steps.fixed ? 0 : ts_timeline_steps_whole(&rank->steps);

	for (size_t i = 0; i < nr; i++)
		if (rank->steps.items[i].nr_kernels > 0)
			return nr;
	return 0;
}

TS_ORDER(by_number, struct ts_worked_step, TS_UP(number) TS_UP(start_ps))

/* Steps of one number become one, whose duration is their mean. How many are left. */
static size_t fold_ranks(struct ts_worked_step *steps, size_t nr)
{
	size_t left = 0;

	TS_SORT(steps, nr, by_number);
	for (size_t i = 0; i < nr; i++) {
		struct ts_worked_step *last = &steps[left > 0 ? left - 1 : 0];

		if (left > 0 && last->number == steps[i].number) {
			last->duration_ps = ts_i64_add(last->duration_ps, steps[i].duration_ps);
			last->nr_ranks++;
		} else {
			steps[left++] = steps[i];
		}
	}
	for (size_t i = 0; i < left; i++)
		steps[i].duration_ps /= steps[i].nr_ranks;
	return left;
}

/* What the steps do, as the outline knows them by their numbers. */
static enum ts_status find_kinds(const struct ts_context *ctx, struct ts_worked_step *steps,
				 size_t nr, struct ts_error *err)
{
	const struct ts_steps *known = &ctx->outline->steps;
	struct ts_steps_walk walk;
	struct ts_run_step step;
	size_t at = 0;
	enum ts_status st;

	if (known->nr_works == 0)
		return TS_OK;
	st = ts_steps_walk_open(&walk, known, err);
	while (st == TS_OK && ts_steps_walk_next(&walk, &step)) {
		while (at < nr && steps[at].number < step.number)
			at++;
		if (at < nr && step.cores > 0 && steps[at].number == step.number)
			steps[at].kind = ts_steps_work(known, step.work).kind;
	}
	if (st == TS_OK)
		ts_steps_walk_close(&walk);
	return st;
}

static enum ts_status timeline_report_find_median(struct ts_timeline_facts *facts,
						  struct ts_error *err)
{
	int64_t *ps = malloc((facts->nr_steps + 1) * sizeof(*ps));

	if (!ps)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < facts->nr_steps; i++)
		ps[i] = facts->steps[i].duration_ps;
	facts->median_step_ps = ts_median_of(ps, facts->nr_steps);
	free(ps);
	return TS_OK;
}

static enum ts_status list_worked(const struct report *report, struct ts_timeline_facts *facts,
				  struct ts_error *err)
{
	struct ts_worked_step *steps;
	enum ts_status st;
	size_t nr = 0;

	for (size_t i = 0; i < report->sum->nr_ranks; i++)
		nr += nr_worked(&report->sum->ranks[i]);
	steps = ts_arena_array(&report->result->owner->arena, nr + 1, sizeof(*steps));
	if (!steps)
		return ts_fail_nomem(err);
	nr = 0;
	for (size_t i = 0; i < report->sum->nr_ranks; i++) {
		const struct timeline_rank *rank = &report->sum->ranks[i];
		size_t nr_own = nr_worked(rank);

		for (size_t k = 0; k < nr_own; k++) {
			const struct timeline_step *step = &rank->steps.items[k];

			steps[nr++] = (struct ts_worked_step){
				step->number, step->start_ps, step->end_ps - step->start_ps, 1, 0, 0
			};
		}
	}
	facts->steps = steps;
	facts->nr_steps = fold_ranks(steps, nr);
	st = find_kinds(report->ctx, steps, facts->nr_steps, err);
	if (st)
		return st;
	return timeline_report_find_median(facts, err);
}

/* Devices, and all of them are not GPUs. */
static bool has_tpu(const struct ts_profile *profile)
{
	for (size_t i = 0; i < profile->nr_devices; i++)
		if (ts_device_has_streams(&profile->devices[i]))
			return false;
	return profile->nr_devices > 0;
}

enum ts_status ts_timeline_report(struct timeline_state *sum, const struct ts_context *ctx,
				  struct ts_timeline_facts *facts, struct ts_result *result,
				  struct ts_error *err)
{
	struct report report = { sum, ctx, result, timeline_report_sums_of(sum, ctx),
				 has_tpu(ctx->profile) };
	enum ts_status st;

	*facts = timeline_report_facts_of(&report.sums);
	st = list_worked(&report, facts, err);
	if (st)
		return st;
	if (report.sums.nr_ranks == 0)
		return TS_OK;
	timeline_report_put_steps(&report);
	put_classes(&report);
	timeline_report_put_ranks(&report);
	timeline_report_put_streams(&report);
	timeline_report_put_totals(&report, facts);
	timeline_report_put_step_source(&report);
	if (ctx->no_python)
		ts_result_note(result, "what Python's tracer saw is not counted as CPU activity");
	return timeline_report_draw(&report, err);
}
