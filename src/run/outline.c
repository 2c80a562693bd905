/* SPDX-License-Identifier: MIT */
/*
 * The outline pass. It keeps markers (events of step and module lines), which are as many as steps
 * (run/outline_steps.h). Of host threads it keeps only the time in compilations, in the input pipeline, in
 * transfers to devices, and, of those that launch, at other work.
 *
 * A device that has nothing to run waits for the next launch, and so for what the launching thread does until
 * then. So input is what that thread is in; what another thread reads ahead is input only while the launching
 * one is at no work that has a name: it may wait for just that. Transfers to the device are made by the
 * runtime behind the launch, on any thread.
 */
#include "run/outline.h"

#include "base/check.h"
#include "base/work.h"
#include "run/outline_lines.h"
#include "read/stream.h"
#include "model/torch_event.h"

#define SHARED_SPANS (4 << 20) /* of hosts without cores, in the copies of all that have some */
#define LEAST_SHARED 1024      /* in one of them */

struct outline_pass {
	struct ts_profile *profile;
	uint8_t *activity; /* of each op: enum ts_host_activity */
	struct outline_names names;
	struct ts_outline_line *lines;
	uint32_t *jobs;
	size_t nr_jobs;
	bool wants_ranges; /* no device shows steps of its own, or the user named what marks them */
};

static void run_outline_release_line(struct ts_outline_line *line)
{
	ts_outline_marks_release(&line->marks);
	free(line->own_damage);
	ts_spans_release(&line->compile);
	ts_spans_release(&line->input);
	ts_spans_release(&line->transfer);
	ts_spans_release(&line->launches);
	ts_spans_release(&line->work);
	ts_spans_release(&line->waits);
	ts_outline_scopes_release(&line->scopes);
	memset(line, 0, sizeof(*line));
}

static struct ts_spans *spans_of(struct ts_outline_line *line, enum ts_host_activity activity)
{
	if (ts_host_compiles(activity))
		return &line->compile;
	if (activity == TS_HOST_TRANSFER)
		return &line->transfer;
	return activity == TS_HOST_INPUT ? &line->input : NULL;
}

/*
 * Events come by their ends. What holds a launch is not what that waited for, but for what is left of it behind
 * the launch; and what holds work does not only wait.
 */
static bool add_work(struct ts_outline_line *line, int64_t start_ps, int64_t end_ps,
		     enum ts_host_activity activity)
{
	enum ts_host_launch launch = ts_host_launch_of(activity);

	if (activity == TS_HOST_WAIT)
		return (line->has_worked && line->worked_ps >= start_ps) ||
		       ts_spans_add(&line->waits, start_ps, end_ps);
	line->worked_ps = line->has_worked ? TS_MAX(line->worked_ps, start_ps) : start_ps;
	line->has_worked = true;
	if (!launch && line->has_launched)
		start_ps = TS_MAX(start_ps, line->launched_ps);
	if (launch > TS_LAUNCH_COPY && !ts_spans_add(&line->launches, start_ps, end_ps))
		return false;
	if (launch) {
		line->launched_ps =
			line->has_launched ? TS_MAX(line->launched_ps, start_ps) : start_ps;
		line->has_launched = true;
		line->launch = TS_MAX(line->launch, launch);
	}
	return ts_spans_add(&line->work, start_ps, end_ps);
}

/* Frames of a tracer and marks of steps say where a thread is, not what it does. */
static bool outline_is_work(const struct outline_pass *pass, const struct ts_block *block, size_t i,
			    enum ts_host_activity activity)
{
	enum ts_host_owner owner = (enum ts_host_owner)pass->names.owners[block->op[i]];

	if (activity == TS_HOST_WAIT)
		return true;
	if (owner == TS_HOST_OF_TRACER || ts_host_feeds(activity))
		return false;
	return owner != TS_HOST_OF_USER ||
	       ts_outline_step_number(block, i, &pass->names) == TS_NO_NUMBER;
}

static enum ts_status add_event(struct ts_outline_line *line, const struct outline_pass *pass,
				const struct ts_block *block, size_t i, struct ts_error *err)
{
	enum ts_host_activity activity = (enum ts_host_activity)pass->activity[block->op[i]];
	int64_t start_ps = block->start_ps[i], end_ps = ts_i64_add(start_ps, block->dur_ps[i]);
	struct ts_spans *spans = spans_of(line, activity);
	bool good = !spans || ts_spans_add(spans, start_ps, end_ps);

	if (good && outline_is_work(pass, block, i, activity))
		good = add_work(line, start_ps, end_ps, activity);
	return good ? TS_OK : ts_fail_nomem(err);
}

/* Of a thread that launches nothing its work does not count; copies alone are made by who reads ahead, too. */
static enum ts_status finish_work(struct ts_outline_line *line, struct ts_error *err)
{
	bool good = true;

	if (line->launch == TS_LAUNCH_COPY)
		line->launch = TS_LAUNCH_NONE;
	if (line->launch == TS_LAUNCH_CALL && line->scopes.steps.nr > 0)
		line->launch = TS_LAUNCH_STEPS;
	if (line->launch)
		good = ts_spans_subtract(&line->work, &line->waits);
	else {
		ts_spans_release(&line->work);
		ts_spans_release(&line->launches);
	}
	ts_spans_release(&line->waits);
	return good ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status run_outline_take_block(void *ctx, const struct ts_block *block,
					     struct ts_error *err)
{
	struct outline_pass *pass = ctx;
	struct ts_outline_line *line = &pass->lines[block->line_index];
	bool host = block->line->kind == TS_LINE_THREAD;
	enum ts_status st = TS_OK;

	if (!host)
		st = ts_outline_marks_block(&line->marks, block, err);
	for (size_t i = 0; host && i < block->nr_events && st == TS_OK; i++) {
		st = add_event(line, pass, block, i, err);
		if (st == TS_OK && pass->wants_ranges && pass->names.marks[block->op[i]])
			st = ts_outline_marks_range(&line->marks, block, i, err);
	}
	if (st == TS_OK && host)
		st = ts_outline_scopes_block(&line->scopes, block, &pass->names, err);
	return st;
}

static enum ts_status keep_damage(struct ts_outline_line *line, const char *text,
				  struct ts_error *err)
{
	line->own_damage = strdup(text);
	line->damage = ts_bytes_of(line->own_damage ? line->own_damage : "");
	return line->own_damage ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status run_outline_run_line(void *ctx, size_t job, size_t thread,
					   struct ts_error *err)
{
	struct outline_pass *pass = ctx;
	uint32_t index = pass->jobs[job];
	struct ts_line *line = &pass->profile->lines[index];
	struct ts_sink sink = { .ctx = pass,
				.columns = TS_COL_NUMBER,
				.block = run_outline_take_block };
	enum ts_status st, ended;

	if (line->kind == TS_LINE_THREAD)
		sink.columns = TS_COL_STATS;
	st = ts_stream_line(pass->profile, index, &sink, err);
	if (st == TS_UNSORTED) {
		run_outline_release_line(&pass->lines[index]);
		line->unsorted = true;
		st = ts_stream_line(pass->profile, index, &sink, err);
	}
	if (st && st != TS_FORMAT)
		return st;
	ended = ts_outline_scopes_end(&pass->lines[index].scopes, pass->profile, err);
	if (ended == TS_OK)
		ended = finish_work(&pass->lines[index], err);
	if (ended)
		return ended;
	/* Damage of device lines is noted in the analyses' pass. */
	if (st == TS_OK || line->kind != TS_LINE_THREAD || !err)
		return TS_OK;
	return keep_damage(&pass->lines[index], err->text, err);
}

/* What the lines of a plane show of steps, the best of them. */
enum markers { NO_MARKERS, MODULE_MARKERS, STEP_MARKERS };

/* A GPU's profiler writes neither steps nor modules: they are read off its kernels. */
static enum markers markers_of(const struct ts_profile *profile, const struct ts_plane *plane)
{
	enum markers best = NO_MARKERS;

	for (uint32_t i = 0; i < plane->nr_lines; i++) {
		const struct ts_line *line = &profile->lines[plane->first_line + i];

		if (line->nr_events > 0 && line->kind == TS_LINE_STEPS)
			best = STEP_MARKERS;
		else if (line->nr_events > 0 && line->kind == TS_LINE_MODULES)
			best = TS_MAX(best, MODULE_MARKERS);
	}
	return best;
}

/* Steps that are marked are not inferred from modules. */
static bool is_outline_line(const struct ts_plane *plane, const struct ts_line *line,
			    enum markers markers)
{
	if (plane->kind == TS_PLANE_GPU && line->kind == TS_LINE_OPS)
		return markers == NO_MARKERS;
	if (plane->kind == TS_PLANE_TPU || plane->kind == TS_PLANE_GPU)
		return line->kind == TS_LINE_STEPS ||
		       (line->kind == TS_LINE_MODULES && markers != STEP_MARKERS);
	return line->kind == TS_LINE_THREAD;
}

/*
 * Of a trace the category says whether it is PyTorch that compiles: JAX has events of these names
 * too.
 */
static enum ts_host_activity run_outline_activity_of(const struct ts_profile *profile,
						     const struct ts_op *op)
{
	enum ts_torch_event event =
		op->is_event ? ts_torch_event_of(op->name, op->category_id) : TS_TORCH_OTHER;
	enum ts_host_activity activity;

	if (ts_host_is_named(op->name, profile->input_names))
		return TS_HOST_INPUT;
	if (event == TS_TORCH_COMPILE || event == TS_TORCH_PHASE)
		return TS_HOST_TORCH;
	if (event == TS_TORCH_ABOUT)
		return TS_HOST_OTHER;
	activity = ts_host_activity_of(op->name);
	/* The file of a frame says where its thread is: dataloader.py(478): __iter__ */
	return activity == TS_HOST_INPUT && op->category_id == TS_KINETO_PYTHON_FUNCTION
		       ? TS_HOST_OTHER
		       : activity;
}

uint8_t *ts_outline_activity(const struct ts_profile *profile)
{
	uint8_t *activity = calloc(profile->nr_ops + 1, 1);

	for (size_t i = 0; activity && i < profile->nr_ops; i++)
		activity[i] = (uint8_t)run_outline_activity_of(profile, &profile->ops[i]);
	return activity;
}

static enum ts_status run_outline_prepare(struct outline_pass *pass, struct ts_error *err)
{
	struct ts_profile *profile = pass->profile;
	enum markers markers = NO_MARKERS;
	bool is_marked = false;
	enum ts_status st;

	pass->activity = ts_outline_activity(profile);
	pass->lines = calloc(profile->nr_lines + 1, sizeof(*pass->lines));
	pass->jobs = calloc(profile->nr_lines + 1, sizeof(*pass->jobs));
	if (!pass->activity || !pass->lines || !pass->jobs)
		return ts_fail_nomem(err);
	st = ts_outline_names_init(&pass->names, profile, pass->activity, err);
	if (st)
		return st;
	for (uint32_t i = 0; i < profile->nr_lines; i++) {
		const struct ts_line *line = &profile->lines[i];
		const struct ts_plane *plane = &profile->planes[line->plane];

		if (i == 0 || line->plane != line[-1].plane)
			markers = markers_of(profile, plane);
		is_marked |= plane->device != TS_NONE && markers == STEP_MARKERS;
		if (is_outline_line(plane, line, markers))
			pass->jobs[pass->nr_jobs++] = i;
	}
	pass->wants_ranges = !is_marked || profile->step_mark.n > 0;
	return TS_OK;
}

void ts_outline_lines_release(struct ts_outline_lines *lines)
{
	TS_ASSERT(lines);
	for (size_t i = 0; lines->items && i < lines->nr; i++)
		run_outline_release_line(&lines->items[i]);
	free(lines->items);
	memset(lines, 0, sizeof(*lines));
}

struct outline_marks **ts_outline_marks_of(const struct ts_outline_lines *lines)
{
	struct outline_marks **marks = calloc(lines->nr + 1, sizeof(*marks));

	TS_ASSERT(lines);
	for (size_t l = 0; marks && l < lines->nr; l++) {
		marks[l] = &lines->items[l].marks;
		marks[l]->launches = &lines->items[l].launches;
	}
	return marks;
}

static enum ts_status spare_marks(const struct ts_profile *profile,
				  const struct ts_outline_lines *lines, struct ts_error *err)
{
	struct outline_marks **marks = ts_outline_marks_of(lines);

	if (!marks)
		return ts_fail_nomem(err);
	ts_outline_marks_spare(profile, marks);
	free(marks);
	return TS_OK;
}

static enum ts_status find_scopes(const struct ts_profile *profile,
				  const struct ts_outline_lines *lines, struct ts_outline *outline,
				  struct ts_error *err)
{
	struct outline_scopes **scopes = calloc(lines->nr + 1, sizeof(*scopes));
	enum ts_status st = scopes ? TS_OK : ts_fail_nomem(err);

	for (size_t l = 0; st == TS_OK && l < lines->nr; l++)
		scopes[l] = &lines->items[l].scopes;
	if (st == TS_OK)
		st = ts_outline_scopes_find(profile, scopes, outline, err);
	free(scopes);
	return st;
}

/* What the threads of one host did. */
struct host_sums {
	struct ts_spans_sum compile, input, launch, ahead,
		work; /* ahead: input on threads that do not launch */
};

static void outline_release_sums(struct host_sums *sums)
{
	ts_spans_sum_release(&sums->compile);
	ts_spans_sum_release(&sums->input);
	ts_spans_sum_release(&sums->launch);
	ts_spans_sum_release(&sums->ahead);
	ts_spans_sum_release(&sums->work);
}

/* Of each host: how near to the user's program its devices' work is launched. NULL: no memory. */
static uint8_t *launches_of_hosts(const struct ts_profile *profile,
				  const struct ts_outline_lines *lines)
{
	uint8_t *launches = calloc(profile->nr_hosts + 1, sizeof(*launches));

	for (size_t l = 0; launches && l < profile->nr_lines; l++) {
		uint8_t *launch = &launches[profile->planes[profile->lines[l].plane].host];

		*launch = (uint8_t)TS_MAX(*launch, lines->items[l].launch);
	}
	return launches;
}

/* Of a line that launches. */
static bool join_launching(struct ts_outline *outline, uint32_t index, struct ts_outline_line *line,
			   struct host_sums *sums)
{
	outline->launching[outline->nr_launching++] = index;
	return ts_spans_sum_add(&sums->input, &line->input) &&
	       ts_spans_sum_add(&sums->launch, &line->launches) &&
	       ts_spans_sum_add(&sums->work, &line->work);
}

static bool join_line(struct ts_outline *outline, uint32_t index, struct ts_outline_line *line,
		      enum ts_host_launch launch, struct host_sums *sums)
{
	if (!ts_spans_sum_add(&sums->compile, &line->compile) ||
	    !ts_spans_sum_add(&sums->input, &line->transfer))
		return false;
	return launch && line->launch == launch ? join_launching(outline, index, line, sums)
						: ts_spans_sum_add(&sums->ahead, &line->input);
}

static bool finish_sums(struct host_sums *sums, struct ts_host_spans *spans)
{
	struct ts_spans ahead = { .nr = 0 }, work = { .nr = 0 };
	bool good = ts_spans_sum_finish(&sums->compile, &spans->compile) &&
		    ts_spans_sum_finish(&sums->input, &spans->input) &&
		    ts_spans_sum_finish(&sums->launch, &spans->launch) &&
		    ts_spans_sum_finish(&sums->ahead, &ahead) &&
		    ts_spans_sum_finish(&sums->work, &work) && ts_spans_subtract(&ahead, &work) &&
		    ts_spans_union(&spans->input, &ahead);

	ts_spans_release(&ahead);
	ts_spans_release(&work);
	return good;
}

static enum ts_status run_outline_join_lines(const struct ts_profile *profile,
					     const struct ts_outline_lines *lines, uint32_t host,
					     enum ts_host_launch launch, struct ts_outline *outline,
					     struct ts_error *err)
{
	struct host_sums sums = { .work = { .nr = 0 } };
	bool good = true;

	for (uint32_t l = TS_NONE; good && ts_host_next_line(profile, host, &l);)
		good = join_line(outline, l, &lines->items[l], launch, &sums);
	good = good && finish_sums(&sums, &outline->hosts[host]);
	outline_release_sums(&sums);
	return good ? TS_OK : ts_fail_nomem(err);
}

/* Adds a copy of the list. */
static bool sum_copy(struct ts_spans_sum *sum, const struct ts_spans *list)
{
	struct ts_spans copy = { .max = list->max };
	bool good = ts_spans_union(&copy, list);

	if (!good)
		ts_spans_release(&copy);
	return good && ts_spans_sum_add(sum, &copy);
}

/* Adds what hosts without cores did to one that has some. */
static bool add_shared(struct ts_host_spans *to, const struct ts_host_spans *shared)
{
	return ts_spans_union(&to->compile, &shared->compile) &&
	       ts_spans_union(&to->input, &shared->input) &&
	       ts_spans_union(&to->launch, &shared->launch);
}

/* What they all did, once: each of the hosts gets a copy, so that it has the fewer spans the more they are. */
static bool sum_controllers(const bool *has_devices, const struct ts_host_spans *hosts, size_t nr,
			    struct ts_host_spans *shared)
{
	struct host_sums sums = { .work = { .nr = 0 } };
	size_t nr_to = 0;
	bool good = true;

	for (size_t i = 0; i < nr; i++)
		nr_to += has_devices[i];
	shared->compile.max = shared->input.max = shared->launch.max =
		TS_MIN(TS_MAX(SHARED_SPANS / TS_MAX(nr_to, 1), LEAST_SHARED), TS_SPANS_MAX);
	for (size_t i = 0; i < nr && good && nr_to > 0; i++)
		good = has_devices[i] || (sum_copy(&sums.compile, &hosts[i].compile) &&
					  sum_copy(&sums.input, &hosts[i].input) &&
					  sum_copy(&sums.launch, &hosts[i].launch));
	good = good && ts_spans_sum_finish(&sums.compile, &shared->compile) &&
	       ts_spans_sum_finish(&sums.input, &shared->input) &&
	       ts_spans_sum_finish(&sums.launch, &shared->launch);
	outline_release_sums(&sums);
	return good;
}

static enum ts_status share_controllers(const struct ts_profile *profile,
					struct ts_host_spans *hosts, struct ts_error *err)
{
	bool *has_devices = calloc(profile->nr_hosts + 1, sizeof(*has_devices)), good;
	struct ts_host_spans shared = { .compile = { .nr = 0 } };

	for (size_t d = 0; has_devices && d < profile->nr_devices; d++)
		has_devices[profile->devices[d].host] = true;
	good = has_devices && sum_controllers(has_devices, hosts, profile->nr_hosts, &shared);
	for (size_t i = 0; i < profile->nr_hosts && good; i++)
		good = !has_devices[i] || add_shared(&hosts[i], &shared);
	ts_spans_release(&shared.compile);
	ts_spans_release(&shared.input);
	ts_spans_release(&shared.launch);
	free(has_devices);
	return good ? TS_OK : ts_fail_nomem(err);
}

/* Each moment counts once: compilation first, then input, then launches. */
static enum ts_status outline_part_spans(struct ts_host_spans *spans, struct ts_error *err)
{
	bool good = ts_spans_subtract(&spans->input, &spans->compile) &&
		    ts_spans_subtract(&spans->launch, &spans->compile) &&
		    ts_spans_subtract(&spans->launch, &spans->input);

	return good ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status join_hosts(const struct ts_profile *profile,
				 const struct ts_outline_lines *lines, struct ts_outline *outline,
				 struct ts_error *err)
{
	uint8_t *launches = launches_of_hosts(profile, lines);
	struct ts_spans_sum compile = { .nr = 0 };
	enum ts_status st = TS_OK;

	outline->hosts = calloc(profile->nr_hosts + 1, sizeof(*outline->hosts));
	outline->launching = calloc(profile->nr_lines + 1, sizeof(*outline->launching));
	if (!launches || !outline->hosts || !outline->launching)
		st = ts_fail_nomem(err);
	outline->nr_hosts = st == TS_OK ? profile->nr_hosts : 0;
	for (uint32_t h = 0; h < outline->nr_hosts && st == TS_OK; h++) {
		st = run_outline_join_lines(profile, lines, h, (enum ts_host_launch)launches[h],
					    outline, err);
		if (st == TS_OK && !sum_copy(&compile, &outline->hosts[h].compile))
			st = ts_fail_nomem(err);
	}
	if (st == TS_OK && !ts_spans_sum_finish(&compile, &outline->compile))
		st = ts_fail_nomem(err);
	ts_spans_sum_release(&compile);
	free(launches);
	if (st == TS_OK)
		st = share_controllers(profile, outline->hosts, err);
	for (uint32_t h = 0; h < outline->nr_hosts && st == TS_OK; h++)
		st = outline_part_spans(&outline->hosts[h], err);
	return st ? st : ts_outline_seal(outline, err);
}

enum ts_status ts_outline_seal(struct ts_outline *outline, struct ts_error *err)
{
	TS_ASSERT(outline);
	for (uint32_t h = 0; h < outline->nr_hosts; h++)
		if (!ts_spans_seal(&outline->hosts[h].input) ||
		    !ts_spans_seal(&outline->hosts[h].launch) ||
		    !ts_spans_seal(&outline->hosts[h].compile))
			return ts_fail_nomem(err);
	return ts_spans_seal(&outline->compile) ? TS_OK : ts_fail_nomem(err);
}

enum ts_status ts_outline_lines_make(struct ts_profile *profile, size_t nr_threads,
				     struct ts_outline_lines *lines, uint8_t **activity,
				     struct ts_error *err)
{
	struct outline_pass pass = { .profile = profile };
	enum ts_status st;

	TS_ASSERT(profile && lines && activity);
	st = run_outline_prepare(&pass, err);
	if (st == TS_OK)
		st = ts_work_run(nr_threads, pass.nr_jobs, run_outline_run_line, &pass, err);
	*lines = (struct ts_outline_lines){ pass.lines, pass.lines ? profile->nr_lines : 0 };
	*activity = pass.activity;
	ts_outline_names_release(&pass.names);
	free(pass.jobs);
	return st == TS_OK ? spare_marks(profile, lines, err) : st;
}

static void outline_note_damage(struct ts_profile *profile, uint32_t line, struct ts_bytes damage)
{
	const struct ts_plane *plane = &profile->planes[profile->lines[line].plane];

	ts_profile_add_damage(profile, profile->hosts[plane->host].file, 0, (const char *)damage.p,
			      false);
}

enum ts_status ts_outline_join_threads(struct ts_profile *profile, struct ts_outline_lines *lines,
				       struct ts_outline *outline, struct ts_error *err)
{
	enum ts_status st = find_scopes(profile, lines, outline, err);

	TS_ASSERT(profile && lines && outline && lines->nr == profile->nr_lines);
	if (st == TS_OK)
		st = join_hosts(profile, lines, outline, err);
	if (st)
		return st;
	for (uint32_t l = 0; l < lines->nr; l++)
		if (lines->items[l].damage.n > 0)
			outline_note_damage(profile, l, lines->items[l].damage);
	outline->nr_compiles = (int64_t)outline->compile.nr;
	outline->compile_ps = ts_spans_total(&outline->compile);
	return TS_OK;
}

enum ts_status ts_outline_join(struct ts_profile *profile, struct ts_outline_lines *lines,
			       struct ts_outline *outline, struct ts_error *err)
{
	struct outline_marks **marks;
	enum ts_status st;

	TS_ASSERT(profile && lines && outline);
	marks = ts_outline_marks_of(lines);
	st = marks ? ts_outline_steps_find(profile, marks, &outline->steps, err)
		   : ts_fail_nomem(err);
	free(marks);
	return st ? st : ts_outline_join_threads(profile, lines, outline, err);
}

enum ts_status ts_outline_make(struct ts_profile *profile, size_t nr_threads,
			       struct ts_outline *outline, struct ts_error *err)
{
	struct ts_outline_lines lines = { .nr = 0 };
	enum ts_status st;

	TS_ASSERT(profile && outline);
	memset(outline, 0, sizeof(*outline));
	st = ts_outline_lines_make(profile, nr_threads, &lines, &outline->host_activity, err);
	if (st == TS_OK)
		st = ts_outline_join(profile, &lines, outline, err);
	ts_outline_lines_release(&lines);
	return st;
}
