/*
 * The outline pass. Markers (events of step and module lines) are kept, they are as many as steps;
 * of host threads only the time in compilations and in the input pipeline is.
 */
#include "flow/outline.h"

#include "base/work.h"
#include "flow/stream.h"

struct marker {
	int64_t start_ps, end_ps;
	uint64_t number;
	uint32_t op;
};

/* What one line gave. */
struct line_outline {
	struct marker *markers;
	size_t nr, cap;
	struct ts_spans compile, input;
	struct ts_error *damage; /* NULL: none */
};

struct outline_pass {
	struct ts_profile *profile;
	uint8_t *activity; /* of each op: enum ts_host_activity */
	struct line_outline *lines;
	uint32_t *jobs;
	size_t nr_jobs;
};

static void release_line(struct line_outline *line)
{
	free(line->markers);
	free(line->damage);
	ts_spans_release(&line->compile);
	ts_spans_release(&line->input);
	memset(line, 0, sizeof(*line));
}

static bool add_marker(struct line_outline *line, const struct ts_block *block, size_t i)
{
	if (block->depth[i] > 0) /* steps do not nest; a marker inside another says nothing new */
		return true;
	if (!ts_grow(&line->markers, &line->cap, line->nr + 1, sizeof(*line->markers)))
		return false;
	line->markers[line->nr++] = (struct marker){
		.start_ps = block->start_ps[i],
		.end_ps = ts_i64_add(block->start_ps[i], block->dur_ps[i]),
		.number = block->number ? block->number[i] : TS_NO_NUMBER,
		.op = block->op[i],
	};
	return true;
}

static bool add_activity(struct line_outline *line, const struct ts_block *block, size_t i,
			 enum ts_host_activity activity)
{
	int64_t end_ps = ts_i64_add(block->start_ps[i], block->dur_ps[i]);

	if (ts_host_compiles(activity))
		return ts_spans_add(&line->compile, block->start_ps[i], end_ps);
	return activity != TS_HOST_INPUT ||
	       ts_spans_add(&line->input, block->start_ps[i], end_ps);
}

static enum ts_status take_block(void *ctx, const struct ts_block *block, struct ts_error *err)
{
	struct outline_pass *pass = ctx;
	struct line_outline *line = &pass->lines[block->line_index];
	bool host = block->line->kind == TS_LINE_THREAD, good = true;

	for (size_t i = 0; i < block->nr_events && good; i++)
		good = host ? add_activity(line, block, i, pass->activity[block->op[i]]) :
			      add_marker(line, block, i);
	return good ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status run_line(void *ctx, size_t job, size_t thread, struct ts_error *err)
{
	struct outline_pass *pass = ctx;
	uint32_t index = pass->jobs[job];
	struct ts_line *line = &pass->profile->lines[index];
	struct ts_sink sink = { .ctx = pass, .columns = TS_COL_NUMBER, .block = take_block };
	enum ts_status st = ts_stream_line(pass->profile, index, &sink, err);

	(void)thread;
	if (st == TS_UNSORTED) {
		release_line(&pass->lines[index]);
		line->unsorted = true;
		st = ts_stream_line(pass->profile, index, &sink, err);
	}
	if (st != TS_FORMAT)
		return st;
	if (line->kind == TS_LINE_THREAD && err) { /* of device lines the analyses' pass tells */
		pass->lines[index].damage = malloc(sizeof(*err));
		if (!pass->lines[index].damage)
			return ts_fail_nomem(err);
		*pass->lines[index].damage = *err;
	}
	return TS_OK;
}

static bool is_outline_line(const struct ts_profile *profile, const struct ts_line *line)
{
	enum ts_plane_kind plane = profile->planes[line->plane].kind;

	if (plane == TS_PLANE_TPU || plane == TS_PLANE_GPU)
		return line->kind == TS_LINE_STEPS || line->kind == TS_LINE_MODULES;
	return line->kind == TS_LINE_THREAD;
}

static enum ts_status prepare(struct outline_pass *pass, struct ts_error *err)
{
	struct ts_profile *profile = pass->profile;

	pass->activity = calloc(profile->nr_ops + 1, 1);
	pass->lines = calloc(profile->nr_lines + 1, sizeof(*pass->lines));
	pass->jobs = calloc(profile->nr_lines + 1, sizeof(*pass->jobs));
	if (!pass->activity || !pass->lines || !pass->jobs)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < profile->nr_ops; i++)
		pass->activity[i] = (uint8_t)ts_host_activity_of(profile->ops[i].name);
	for (uint32_t i = 0; i < profile->nr_lines; i++)
		if (is_outline_line(profile, &profile->lines[i]))
			pass->jobs[pass->nr_jobs++] = i;
	return TS_OK;
}

static void release_pass(struct outline_pass *pass)
{
	for (size_t i = 0; pass->lines && i < pass->profile->nr_lines; i++)
		release_line(&pass->lines[i]);
	free(pass->lines);
	free(pass->activity);
	free(pass->jobs);
}

static uint64_t step_number(const struct ts_profile *profile, const struct marker *marker,
			    size_t at)
{
	uint64_t number;

	if (marker->number != TS_NO_NUMBER)
		return marker->number;
	return ts_bytes_u64(profile->ops[marker->op].name, &number) ? number : at;
}

static bool add_step(struct ts_device_steps *steps, int64_t start_ps, int64_t end_ps,
		     uint64_t number)
{
	if (steps->nr > 0) /* of two that overlap the later one begins a new step */
		steps->items[steps->nr - 1].end_ps =
			TS_MIN(steps->items[steps->nr - 1].end_ps, start_ps);
	if (!ts_grow(&steps->items, &steps->cap, steps->nr + 1, sizeof(*steps->items)))
		return false;
	steps->items[steps->nr++] = (struct ts_step){ start_ps, end_ps, number, 0 };
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct marker *x = a, *y = b;

	if (x->start_ps != y->start_ps)
		return x->start_ps < y->start_ps ? -1 : 1;
	if (x->end_ps != y->end_ps)
		return x->end_ps < y->end_ps ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->op > y->op) - (x->op < y->op);
}

static bool marked_steps(const struct outline_pass *pass, const struct line_outline *found,
			 struct ts_device_steps *steps)
{
	for (size_t i = 0; i < found->nr; i++)
		if (!add_step(steps, found->markers[i].start_ps, found->markers[i].end_ps,
			      step_number(pass->profile, &found->markers[i], i)))
			return false;
	return true;
}

/* How often and how long a module ran. */
struct repeat {
	int64_t time_ps;     /* of all devices */
	uint32_t nr, line;   /* executions on the line it was seen on last */
	bool repeats;	     /* on some device */
};

static void count_executions(const struct outline_pass *pass, uint32_t line, struct repeat *repeats)
{
	for (size_t i = 0; i < pass->lines[line].nr; i++) {
		const struct marker *marker = &pass->lines[line].markers[i];
		struct repeat *repeat = &repeats[marker->op];

		if (repeat->nr == 0 || repeat->line != line)
			*repeat = (struct repeat){ repeat->time_ps, 0, line, repeat->repeats };
		repeat->repeats |= ++repeat->nr >= 2;
		repeat->time_ps =
			ts_i64_add(repeat->time_ps, ts_i64_sub(marker->end_ps, marker->start_ps));
	}
}

/* The module that runs again and again on some device, and takes the most time of all that do. */
static uint32_t repeating_module(const struct outline_pass *pass, struct repeat *repeats)
{
	uint32_t best = TS_NONE;

	for (uint32_t l = 0; l < pass->profile->nr_lines; l++)
		if (pass->profile->lines[l].kind == TS_LINE_MODULES)
			count_executions(pass, l, repeats);
	for (uint32_t op = 0; op < pass->profile->nr_ops; op++)
		if (repeats[op].repeats &&
		    (best == TS_NONE || repeats[op].time_ps > repeats[best].time_ps))
			best = op;
	return best;
}

/* Each execution starts a step, which lasts until the next one starts. */
static bool inferred_steps(const struct line_outline *found, uint32_t module,
			   struct ts_device_steps *steps)
{
	const struct marker *open = NULL;

	for (size_t i = 0; i < found->nr; i++) {
		const struct marker *marker = &found->markers[i];

		if (marker->op != module)
			continue;
		if (open && !add_step(steps, open->start_ps, marker->start_ps, steps->nr))
			return false;
		open = marker;
	}
	return !open || add_step(steps, open->start_ps, open->end_ps, steps->nr);
}

/* A device's steps are those of the first of its lines that has any. */
static bool add_device_steps(struct outline_pass *pass, struct ts_steps *steps,
			     enum ts_line_kind kind, bool *found_any)
{
	for (size_t l = 0; l < pass->profile->nr_lines; l++) {
		const struct ts_line *line = &pass->profile->lines[l];
		uint32_t device = pass->profile->planes[line->plane].device;
		struct line_outline *found = &pass->lines[l];
		bool good;

		if (line->kind != kind || device == TS_NONE || found->nr == 0 ||
		    steps->devices[device].nr > 0)
			continue;
		qsort(found->markers, found->nr, sizeof(*found->markers), by_start);
		good = kind == TS_LINE_STEPS ?
			       marked_steps(pass, found, &steps->devices[device]) :
			       inferred_steps(found, steps->module_op, &steps->devices[device]);
		if (!good)
			return false;
		*found_any |= steps->devices[device].nr > 0;
	}
	return true;
}

static enum ts_status find_steps(struct outline_pass *pass, struct ts_steps *steps,
				 struct ts_error *err)
{
	struct repeat *repeats = calloc(pass->profile->nr_ops + 1, sizeof(*repeats));
	bool good, any = false;

	steps->module_op = TS_NONE;
	steps->devices = calloc(pass->profile->nr_devices + 1, sizeof(*steps->devices));
	steps->nr_devices = steps->devices ? pass->profile->nr_devices : 0;
	good = steps->devices && repeats && add_device_steps(pass, steps, TS_LINE_STEPS, &any);
	steps->source = any ? TS_STEPS_MARKED : TS_STEPS_NONE;
	if (good && steps->source == TS_STEPS_NONE) {
		steps->module_op = repeating_module(pass, repeats);
		if (steps->module_op != TS_NONE)
			good = add_device_steps(pass, steps, TS_LINE_MODULES, &any);
		steps->source = any ? TS_STEPS_INFERRED : TS_STEPS_NONE;
	}
	good = good && ts_steps_pair(steps);
	free(repeats);
	return good ? TS_OK : ts_fail_nomem(err);
}

static void note_damage(struct ts_profile *profile, size_t line, const struct ts_error *damage)
{
	const struct ts_plane *plane = &profile->planes[profile->lines[line].plane];

	ts_profile_add_damage(profile, profile->hosts[plane->host].file, 0, damage->text, false);
}

static bool join_lines(struct outline_pass *pass, struct ts_outline *outline)
{
	struct ts_spans_sum compile = { .nr = 0 }, input = { .nr = 0 };
	bool good = true;

	for (size_t l = 0; l < pass->profile->nr_lines && good; l++)
		good = ts_spans_sum_add(&compile, &pass->lines[l].compile) &&
		       ts_spans_sum_add(&input, &pass->lines[l].input);
	good = good && ts_spans_sum_finish(&compile, &outline->compile) &&
	       ts_spans_sum_finish(&input, &outline->input);
	ts_spans_sum_release(&compile);
	ts_spans_sum_release(&input);
	return good;
}

static enum ts_status merge_hosts(struct outline_pass *pass, struct ts_outline *outline,
				  struct ts_error *err)
{
	if (!join_lines(pass, outline))
		return ts_fail_nomem(err);
	for (size_t l = 0; l < pass->profile->nr_lines; l++)
		if (pass->lines[l].damage)
			note_damage(pass->profile, l, pass->lines[l].damage);
	if (!ts_spans_subtract(&outline->input, &outline->compile) ||
	    !ts_spans_seal(&outline->input) || !ts_spans_seal(&outline->compile))
		return ts_fail_nomem(err);
	outline->nr_compiles = (int64_t)outline->compile.nr;
	outline->compile_ps = ts_spans_total(&outline->compile);
	outline->host_activity = pass->activity;
	pass->activity = NULL;
	return TS_OK;
}

enum ts_status ts_outline_make(struct ts_profile *profile, size_t nr_threads,
			       struct ts_outline *outline, struct ts_error *err)
{
	struct outline_pass pass = { .profile = profile };
	enum ts_status st;

	memset(outline, 0, sizeof(*outline));
	st = prepare(&pass, err);
	if (st == TS_OK)
		st = ts_work_run(nr_threads, pass.nr_jobs, run_line, &pass, err);
	if (st == TS_OK)
		st = find_steps(&pass, &outline->steps, err);
	if (st == TS_OK)
		st = merge_hosts(&pass, outline, err);
	release_pass(&pass);
	return st;
}
