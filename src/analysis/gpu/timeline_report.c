/* What the timeline says: of all ranks together, of each, of each class, of each step. */
#include "analysis/gpu/timeline.h"

#include "base/units.h"

#define TRACK_ORDER 5 /* below the time classes */

static struct ts_value ms(int64_t ps)
{
	return ts_real((double)ps / (double)TS_PS_PER_MS);
}

static struct ts_value pct(int64_t part_ps, double whole_ps)
{
	return whole_ps > 0 ? ts_real(100 * (double)part_ps / whole_ps) : ts_null();
}

static int64_t length(const struct timeline_rank *rank)
{
	return rank->first_ps <= rank->last_ps ? rank->last_ps - rank->first_ps : 0;
}

/* Ranks without an event are none. */
static bool is_empty(const struct timeline_rank *rank)
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

/* Of all ranks: what one of them does on average; times of threads and streams are summed. */
struct sums {
	size_t nr_ranks, nr_steps;
	bool has_device;
	int64_t first_ps, last_ps, cpu_time_ps, device_time_ps;
	double length_ps, cpu_ps, device_ps, both_ps; /* over all ranks */
	int64_t class_ps[TS_NR_TRACE_CLASSES], steps_ps;
};

static void add_rank(struct sums *sums, const struct ts_context *ctx,
		     const struct timeline_rank *rank)
{
	sums->nr_ranks++;
	sums->has_device |= has_device(ctx, rank->host);
	sums->first_ps = TS_MIN(sums->first_ps, rank->first_ps);
	sums->last_ps = TS_MAX(sums->last_ps, rank->last_ps);
	sums->cpu_time_ps = ts_i64_add(sums->cpu_time_ps, rank->cpu_time_ps);
	sums->device_time_ps = ts_i64_add(sums->device_time_ps, rank->device_time_ps);
	sums->length_ps += (double)length(rank);
	sums->cpu_ps += (double)rank->cpu_ps;
	sums->device_ps += (double)rank->device_ps;
	sums->both_ps += (double)rank->both_ps;
}

static void put_active(struct ts_result *result, const struct sums *sums)
{
	double nr = (double)sums->nr_ranks;
	const struct {
		const char *ms, *ps, *pct, *label, *pct_label;
		double all_ps;
		bool known;
	} rows[] = {
		{ "cpu_active_ms", "cpu_active_ps", "cpu_active_pct", "CPU active",
		  "CPU active, share", sums->cpu_ps, true },
		{ "gpu_active_ms", "gpu_active_ps", "gpu_active_pct", "device active",
		  "device active, share", sums->device_ps, sums->has_device },
		{ "overlap_ms", "overlap_ps", "overlap_pct", "both at once", "both at once, share",
		  sums->both_ps, sums->has_device },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		int64_t ps = (int64_t)llround(rows[i].all_ps / nr);

		ts_result_field(result, rows[i].ms, rows[i].known ? ms(ps) : ts_null(), TS_MEASURED,
				NULL);
		ts_result_field(result, rows[i].ps, rows[i].known ? ts_int(ps) : ts_null(),
				TS_MEASURED, rows[i].label);
		ts_result_field(result, rows[i].pct,
				rows[i].known && sums->length_ps > 0
					? ts_real(100 * rows[i].all_ps / sums->length_ps)
					: ts_null(),
				TS_MEASURED, rows[i].pct_label);
	}
}

static void put_totals(struct ts_result *result, const struct sums *sums)
{
	int64_t total_ps = sums->last_ps - sums->first_ps;
	struct ts_value none = ts_null();

	ts_result_field(result, "total_time_ms", ms(total_ps), TS_MEASURED, NULL);
	ts_result_field(result, "total_time_ps", ts_int(total_ps), TS_MEASURED, "total time");
	put_active(result, sums);
	ts_result_field(result, "cpu_time_ms", ms(sums->cpu_time_ps), TS_MEASURED, NULL);
	ts_result_field(result, "cpu_time_ps", ts_int(sums->cpu_time_ps), TS_MEASURED,
			"time of host threads");
	ts_result_field(result, "cuda_time_ms", sums->has_device ? ms(sums->device_time_ps) : none,
			TS_MEASURED, NULL);
	ts_result_field(result, "cuda_time_ps",
			sums->has_device ? ts_int(sums->device_time_ps) : none, TS_MEASURED,
			"time of device events");
	ts_result_field(result, "step_count", ts_int((int64_t)sums->nr_steps), TS_MEASURED,
			"steps counted");
}

static const struct ts_column rank_columns[] = {
	{ "rank", TS_MEASURED, "rank" },
	{ "host", TS_MEASURED, "host" },
	{ "total_time_ps", TS_MEASURED, "total" },
	{ "cpu_active_ps", TS_MEASURED, "CPU active" },
	{ "cpu_active_pct", TS_MEASURED, "%" },
	{ "gpu_active_ps", TS_MEASURED, "device active" },
	{ "gpu_active_pct", TS_MEASURED, "%" },
	{ "overlap_ps", TS_MEASURED, "both" },
	{ "overlap_pct", TS_MEASURED, "%" },
	{ "cpu_time_ps", TS_MEASURED, "threads" },
	{ "cuda_time_ps", TS_MEASURED, "device events" },
};

static bool put_rank(struct ts_result *result, struct ts_table *table, const struct ts_context *ctx,
		     const struct timeline_rank *rank)
{
	const struct ts_host *host = &ctx->profile->hosts[rank->host];
	bool device = has_device(ctx, rank->host);
	double whole_ps = (double)length(rank);
	struct ts_value *row = ts_table_row(result, table);

	if (!row)
		return false;
	row[0] = ts_int_or_null(host->rank);
	row[1] = ts_text_or_null(host->name);
	row[2] = ts_int(length(rank));
	row[3] = ts_int(rank->cpu_ps);
	row[4] = pct(rank->cpu_ps, whole_ps);
	row[9] = ts_int(rank->cpu_time_ps);
	if (!device)
		return true;
	row[5] = ts_int(rank->device_ps);
	row[6] = pct(rank->device_ps, whole_ps);
	row[7] = ts_int(rank->both_ps);
	row[8] = pct(rank->both_ps, whole_ps);
	row[10] = ts_int(rank->device_time_ps);
	return true;
}

static const struct ts_column step_columns[] = {
	{ "rank", TS_MEASURED, "rank" },
	{ "step", TS_MEASURED, "step" },
	{ "start_ps", TS_MEASURED, NULL },
	{ "duration_ps", TS_MEASURED, "duration" },
	{ "kernel_ps", TS_MEASURED, "Kernel" },
	{ "memcpy_ps", TS_MEASURED, "Memcpy" },
	{ "memset_ps", TS_MEASURED, "Memset" },
	{ "communication_ps", TS_MEASURED, "Communication" },
	{ "runtime_ps", TS_MEASURED, "Runtime" },
	{ "dataloader_ps", TS_MEASURED, "DataLoader" },
	{ "cpu_exec_ps", TS_MEASURED, "CPU Exec" },
	{ "other_ps", TS_MEASURED, "Other" },
	{ "kernels", TS_MEASURED, "kernels" },
	{ "counted", TS_DERIVED, NULL },
};
#define FIRST_CLASS 4

struct put_steps {
	struct ts_result *result;
	struct ts_table *table;
	struct sums *sums;
	struct ts_value rank;
};

static bool put_step(struct put_steps *put, const struct timeline_step *step, bool counted)
{
	struct ts_value *row = ts_table_row(put->result, put->table);

	if (!row)
		return false;
	row[0] = put->rank;
	row[1] = step->number == TS_NO_NUMBER ? ts_null() : ts_int((int64_t)step->number);
	row[2] = ts_int(step->start_ps);
	row[3] = ts_int(step->end_ps - step->start_ps);
	for (size_t c = 0; c < TS_NR_TRACE_CLASSES; c++) {
		row[FIRST_CLASS + c] = ts_int(step->own.ps[c]);
		if (counted)
			put->sums->class_ps[c] =
				ts_i64_add(put->sums->class_ps[c], step->own.ps[c]);
	}
	row[12] = ts_int((int64_t)step->nr_kernels);
	row[13] = ts_bool(counted);
	if (counted) {
		put->sums->nr_steps++;
		put->sums->steps_ps =
			ts_i64_add(put->sums->steps_ps, step->end_ps - step->start_ps);
	}
	return true;
}

/* A trace without steps is one. */
static bool put_whole(struct put_steps *put, const struct timeline_rank *rank)
{
	struct timeline_step whole = { .number = TS_NO_NUMBER,
				       .start_ps = rank->first_ps,
				       .end_ps = rank->last_ps,
				       .own = rank->steps.behind };

	return put_step(put, &whole, true);
}

static bool put_rank_steps(struct put_steps *put, const struct timeline_rank *rank)
{
	size_t nr_whole = timeline_steps_whole(&rank->steps);

	if (rank->steps.nr == 0)
		return put_whole(put, rank);
	for (size_t i = 0; i < rank->steps.nr; i++)
		if (!put_step(put, &rank->steps.items[i], i < nr_whole))
			return false;
	if (nr_whole < rank->steps.nr)
		ts_result_note(put->result,
			       "the last %zu of %zu steps are not counted: the profiler may have "
			       "missed kernels that they launched",
			       rank->steps.nr - nr_whole, rank->steps.nr);
	return true;
}

static const struct ts_column class_columns[] = {
	{ "class", TS_MEASURED, "class" },
	{ "total_ps", TS_MEASURED, "all steps" },
	{ "step_mean_ps", TS_MEASURED, "a step" },
	{ "share_pct", TS_MEASURED, "of the time" },
};

static bool put_classes(struct ts_result *result, const struct sums *sums)
{
	struct ts_table *table = ts_result_table(result, "classes", "Step time by class",
						 class_columns, TS_NELEM(class_columns));

	for (size_t c = 0; table && c < TS_NR_TRACE_CLASSES; c++) {
		struct ts_value *row = ts_table_row(result, table);

		if (!row)
			return false;
		row[0] = ts_text(ts_bytes_of(ts_trace_class_names[c]));
		row[1] = ts_int(sums->class_ps[c]);
		row[2] = sums->nr_steps ? ts_int((int64_t)llround((double)sums->class_ps[c] /
								  (double)sums->nr_steps))
					: ts_null();
		row[3] = pct(sums->class_ps[c], (double)sums->steps_ps);
	}
	return table != NULL;
}

static const struct ts_label *labels_of(struct ts_result *result)
{
	struct ts_label *labels =
		ts_arena_array(&result->owner->arena, TS_NR_TRACE_CLASSES, sizeof(*labels));

	for (size_t c = 0; labels && c < TS_NR_TRACE_CLASSES; c++)
		labels[c] = (struct ts_label){ ts_bytes_of(ts_trace_class_names[c]), NULL, 0 };
	return labels;
}

/* On the host's first device, which stands for all of them. */
static bool draw(struct ts_result *result, const struct ts_context *ctx, struct ts_slices *slices,
		 uint32_t host)
{
	struct ts_track *track;
	uint32_t device = 0;

	while (device < ctx->profile->nr_devices && ctx->profile->devices[device].host != host)
		device++;
	if (slices->nr == 0 || device == ctx->profile->nr_devices)
		return true;
	track = ts_result_track(result, TS_TRACK_SLICES, "Step classes", device, TRACK_ORDER);
	if (!track)
		return false;
	track->description = "What each moment counts as: kernels before copies before "
			     "communication before what the host does";
	track->labels = labels_of(result);
	track->nr_labels = TS_NR_TRACE_CLASSES;
	return track->labels && ts_slices_finish(slices, result, track);
}

static bool put_tables(struct timeline_state *sum, const struct ts_context *ctx,
		       struct ts_result *result, struct sums *sums)
{
	struct put_steps put = { .result = result, .sums = sums };

	put.table = ts_result_table(result, "steps", "Steps", step_columns, TS_NELEM(step_columns));
	for (size_t i = 0; put.table && i < sum->nr_ranks; i++) {
		if (is_empty(&sum->ranks[i]))
			continue;
		add_rank(sums, ctx, &sum->ranks[i]);
		put.rank = ts_int_or_null(ctx->profile->hosts[sum->ranks[i].host].rank);
		if (!put_rank_steps(&put, &sum->ranks[i]) ||
		    !draw(result, ctx, &sum->ranks[i].slices, sum->ranks[i].host))
			return false;
	}
	return put.table != NULL;
}

static bool put_ranks(const struct timeline_state *sum, const struct ts_context *ctx,
		      struct ts_result *result, const struct sums *sums)
{
	struct ts_table *table =
		ts_result_table(result, "ranks", sums->nr_ranks > 1 ? "Ranks" : NULL, rank_columns,
				TS_NELEM(rank_columns));

	for (size_t i = 0; table && i < sum->nr_ranks; i++)
		if (!is_empty(&sum->ranks[i]) && !put_rank(result, table, ctx, &sum->ranks[i]))
			return false;
	return table != NULL;
}

static const struct ts_column stream_columns[] = {
	{ "rank", TS_MEASURED, "rank" },     { "device", TS_MEASURED, "device" },
	{ "stream", TS_MEASURED, "stream" }, { "events", TS_MEASURED, "events" },
	{ "busy_ps", TS_MEASURED, "busy" },
};

static bool put_stream(struct ts_result *result, struct ts_table *table,
		       const struct ts_profile *profile, const struct timeline_stream *stream)
{
	const struct ts_line *line = &profile->lines[stream->line];
	const struct ts_plane *plane = &profile->planes[line->plane];
	struct ts_value *row = ts_table_row(result, table);

	if (!row)
		return false;
	row[0] = ts_int_or_null(profile->hosts[plane->host].rank);
	row[1] = ts_text_or_null(plane->name);
	row[2] = ts_text_or_null(line->name);
	row[3] = ts_int((int64_t)stream->nr_events);
	row[4] = ts_int(stream->busy_ps);
	return true;
}

static bool put_streams(const struct timeline_state *sum, const struct ts_context *ctx,
			struct ts_result *result)
{
	struct ts_table *table =
		ts_result_table(result, "streams", sum->nr_streams > 1 ? "Streams" : NULL,
				stream_columns, TS_NELEM(stream_columns));

	for (size_t i = 0; table && i < sum->nr_streams; i++)
		if (!put_stream(result, table, ctx->profile, &sum->streams[i]))
			return false;
	return table != NULL;
}

static bool says_something(const struct timeline_state *sum)
{
	for (size_t i = 0; i < sum->nr_ranks; i++)
		if (!is_empty(&sum->ranks[i]))
			return true;
	return false;
}

enum ts_status timeline_report(struct timeline_state *sum, const struct ts_context *ctx,
			       struct ts_result *result, struct ts_error *err)
{
	struct sums sums = { .first_ps = INT64_MAX, .last_ps = INT64_MIN };

	if (!says_something(sum))
		return TS_OK;
	if (!put_tables(sum, ctx, result, &sums) || !put_classes(result, &sums) ||
	    !put_ranks(sum, ctx, result, &sums) || !put_streams(sum, ctx, result))
		return ts_fail_nomem(err);
	put_totals(result, &sums);
	if (ctx->no_python)
		ts_result_note(result, "what Python's tracer saw is not counted as CPU activity");
	return TS_OK;
}
