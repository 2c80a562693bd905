/*
 * The outline pass. It keeps markers (events of step and module lines), which are as many as steps
 * (flow/outline_steps.h). Of host threads it keeps only the time in compilations and in the input
 * pipeline.
 */
#include "flow/outline.h"

#include "base/check.h"
#include "base/work.h"
#include "flow/outline_scopes.h"
#include "flow/outline_steps.h"
#include "flow/stream.h"
#include "model/torch_event.h"

/* What one line gave. */
struct line_outline {
	struct outline_marks marks;
	struct ts_spans compile, input;
	struct outline_scopes scopes;
	struct ts_error *damage; /* NULL: none */
};

struct outline_pass {
	struct ts_profile *profile;
	uint8_t *activity; /* of each op: enum ts_host_activity */
	struct outline_names names;
	struct line_outline *lines;
	uint32_t *jobs;
	size_t nr_jobs;
};

static void release_line(struct line_outline *line)
{
	ts_outline_marks_release(&line->marks);
	free(line->damage);
	ts_spans_release(&line->compile);
	ts_spans_release(&line->input);
	ts_outline_scopes_release(&line->scopes);
	memset(line, 0, sizeof(*line));
}

static bool add_activity(struct line_outline *line, const struct ts_block *block, size_t i,
			 enum ts_host_activity activity)
{
	int64_t end_ps = ts_i64_add(block->start_ps[i], block->dur_ps[i]);

	if (ts_host_compiles(activity))
		return ts_spans_add(&line->compile, block->start_ps[i], end_ps);
	return activity != TS_HOST_INPUT || ts_spans_add(&line->input, block->start_ps[i], end_ps);
}

static enum ts_status take_block(void *ctx, const struct ts_block *block, struct ts_error *err)
{
	struct outline_pass *pass = ctx;
	struct line_outline *line = &pass->lines[block->line_index];
	bool host = block->line->kind == TS_LINE_THREAD, good = true;

	if (!host)
		good = ts_outline_marks_block(&line->marks, block);
	for (size_t i = 0; host && i < block->nr_events && good; i++)
		good = add_activity(line, block, i, pass->activity[block->op[i]]);
	good = good && (!host || ts_outline_scopes_block(&line->scopes, block, &pass->names));
	return good ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status run_line(void *ctx, size_t job, size_t thread, struct ts_error *err)
{
	struct outline_pass *pass = ctx;
	uint32_t index = pass->jobs[job];
	struct ts_line *line = &pass->profile->lines[index];
	struct ts_sink sink = { .ctx = pass, .columns = TS_COL_NUMBER, .block = take_block };
	enum ts_status st;

	if (line->kind == TS_LINE_THREAD)
		sink.columns = TS_COL_STATS;
	st = ts_stream_line(pass->profile, index, &sink, err);
	if (st == TS_UNSORTED) {
		release_line(&pass->lines[index]);
		line->unsorted = true;
		st = ts_stream_line(pass->profile, index, &sink, err);
	}
	if (st != TS_FORMAT)
		return st;
	if (line->kind == TS_LINE_THREAD &&
	    err) { /* damage of device lines is noted in the analyses' pass */
		pass->lines[index].damage = malloc(sizeof(*err));
		if (!pass->lines[index].damage)
			return ts_fail_nomem(err);
		*pass->lines[index].damage = *err;
	}
	return TS_OK;
}

static bool is_marker_line(const struct ts_line *line)
{
	return line->kind == TS_LINE_STEPS || line->kind == TS_LINE_MODULES;
}

/* A GPU's profiler writes neither steps nor modules: they are read off its kernels. */
static bool has_markers(const struct ts_profile *profile, const struct ts_plane *plane)
{
	for (uint32_t i = 0; i < plane->nr_lines; i++) {
		const struct ts_line *line = &profile->lines[plane->first_line + i];

		if (is_marker_line(line) && line->nr_events > 0)
			return true;
	}
	return false;
}

static bool is_outline_line(const struct ts_plane *plane, const struct ts_line *line,
			    bool is_marked)
{
	if (plane->kind == TS_PLANE_GPU && line->kind == TS_LINE_OPS)
		return !is_marked;
	if (plane->kind == TS_PLANE_TPU || plane->kind == TS_PLANE_GPU)
		return is_marker_line(line);
	return line->kind == TS_LINE_THREAD;
}

/*
 * Of a trace the category says whether it is PyTorch that compiles: JAX has events of these names
 * too.
 */
static enum ts_host_activity activity_of(const struct ts_op *op)
{
	enum ts_torch_event event =
		op->is_event ? ts_torch_event_of(op->name, op->category) : TS_TORCH_OTHER;

	if (event == TS_TORCH_COMPILE || event == TS_TORCH_PHASE)
		return TS_HOST_TORCH;
	return event == TS_TORCH_ABOUT ? TS_HOST_OTHER : ts_host_activity_of(op->name);
}

static enum ts_status prepare(struct outline_pass *pass, struct ts_error *err)
{
	struct ts_profile *profile = pass->profile;
	bool is_marked = false;

	pass->activity = calloc(profile->nr_ops + 1, 1);
	pass->lines = calloc(profile->nr_lines + 1, sizeof(*pass->lines));
	pass->jobs = calloc(profile->nr_lines + 1, sizeof(*pass->jobs));
	if (!pass->activity || !pass->lines || !pass->jobs)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < profile->nr_ops; i++)
		pass->activity[i] = (uint8_t)activity_of(&profile->ops[i]);
	if (!ts_outline_names_init(&pass->names, profile, pass->activity))
		return ts_fail_nomem(err);
	for (uint32_t i = 0; i < profile->nr_lines; i++) {
		const struct ts_line *line = &profile->lines[i];
		const struct ts_plane *plane = &profile->planes[line->plane];

		if (i == 0 || line->plane != line[-1].plane)
			is_marked = has_markers(profile, plane);
		if (is_outline_line(plane, line, is_marked))
			pass->jobs[pass->nr_jobs++] = i;
	}
	return TS_OK;
}

static void release_pass(struct outline_pass *pass)
{
	for (size_t i = 0; pass->lines && i < pass->profile->nr_lines; i++)
		release_line(&pass->lines[i]);
	free(pass->lines);
	free(pass->activity);
	ts_outline_names_release(&pass->names);
	free(pass->jobs);
}

static enum ts_status find_steps(struct outline_pass *pass, struct ts_steps *steps,
				 struct ts_error *err)
{
	size_t nr_lines = pass->profile->nr_lines;
	struct outline_marks **marks = calloc(nr_lines + 1, sizeof(*marks));
	bool good = marks != NULL;

	for (size_t l = 0; good && l < nr_lines; l++)
		marks[l] = &pass->lines[l].marks;
	good = good && ts_outline_steps_find(pass->profile, marks, steps);
	free(marks);
	return good ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status find_scopes(struct outline_pass *pass, struct ts_outline *outline,
				  struct ts_error *err)
{
	size_t nr_lines = pass->profile->nr_lines;
	struct outline_scopes **scopes = calloc(nr_lines + 1, sizeof(*scopes));
	bool good = scopes != NULL;

	for (size_t l = 0; good && l < nr_lines; l++)
		scopes[l] = &pass->lines[l].scopes;
	good = good && ts_outline_scopes_find(pass->profile, scopes, outline);
	free(scopes);
	return good ? TS_OK : ts_fail_nomem(err);
}

static void note_damage(struct ts_profile *profile, size_t line, const struct ts_error *damage)
{
	const struct ts_plane *plane = &profile->planes[profile->lines[line].plane];

	ts_profile_add_damage(profile, profile->hosts[plane->host].file, 0, damage->text, false);
}

/* What the threads of one host did. */
static bool join_lines(struct outline_pass *pass, uint32_t host, struct ts_host_spans *spans)
{
	const struct ts_profile *profile = pass->profile;
	struct ts_spans_sum compile = { .nr = 0 }, input = { .nr = 0 };
	bool good = true;

	for (size_t l = 0; l < profile->nr_lines && good; l++)
		if (profile->planes[profile->lines[l].plane].host == host)
			good = ts_spans_sum_add(&compile, &pass->lines[l].compile) &&
			       ts_spans_sum_add(&input, &pass->lines[l].input);
	good = good && ts_spans_sum_finish(&compile, &spans->compile) &&
	       ts_spans_sum_finish(&input, &spans->input);
	ts_spans_sum_release(&compile);
	ts_spans_sum_release(&input);
	return good;
}

static bool has_devices(const struct ts_profile *profile, uint32_t host)
{
	for (size_t d = 0; d < profile->nr_devices; d++)
		if (profile->devices[d].host == host)
			return true;
	return false;
}

/* Adds what hosts without cores did to all that have some. */
static bool share_controllers(const struct ts_profile *profile, struct ts_host_spans *hosts)
{
	for (uint32_t from = 0; from < profile->nr_hosts; from++) {
		if (has_devices(profile, from) ||
		    hosts[from].compile.nr + hosts[from].input.nr == 0)
			continue;
		for (uint32_t to = 0; to < profile->nr_hosts; to++)
			if (has_devices(profile, to) &&
			    (!ts_spans_union(&hosts[to].compile, &hosts[from].compile) ||
			     !ts_spans_union(&hosts[to].input, &hosts[from].input)))
				return false;
	}
	return true;
}

static bool join_hosts(struct outline_pass *pass, struct ts_outline *outline)
{
	size_t nr = pass->profile->nr_hosts;

	outline->hosts = calloc(nr + 1, sizeof(*outline->hosts));
	outline->nr_hosts = outline->hosts ? nr : 0;
	for (uint32_t h = 0; h < outline->nr_hosts; h++)
		if (!join_lines(pass, h, &outline->hosts[h]) ||
		    !ts_spans_union(&outline->compile, &outline->hosts[h].compile))
			return false;
	if (!outline->hosts || !share_controllers(pass->profile, outline->hosts))
		return false;
	for (uint32_t h = 0; h < nr; h++)
		if (!ts_spans_subtract(&outline->hosts[h].input, &outline->hosts[h].compile) ||
		    !ts_spans_seal(&outline->hosts[h].input) ||
		    !ts_spans_seal(&outline->hosts[h].compile))
			return false;
	return ts_spans_seal(&outline->compile);
}

static enum ts_status merge_hosts(struct outline_pass *pass, struct ts_outline *outline,
				  struct ts_error *err)
{
	if (!join_hosts(pass, outline))
		return ts_fail_nomem(err);
	for (size_t l = 0; l < pass->profile->nr_lines; l++)
		if (pass->lines[l].damage)
			note_damage(pass->profile, l, pass->lines[l].damage);
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

	TS_ASSERT(profile && outline);
	memset(outline, 0, sizeof(*outline));
	st = prepare(&pass, err);
	if (st == TS_OK)
		st = ts_work_run(nr_threads, pass.nr_jobs, run_line, &pass, err);
	if (st == TS_OK)
		st = find_steps(&pass, &outline->steps, err);
	if (st == TS_OK)
		st = find_scopes(&pass, outline, err);
	if (st == TS_OK)
		st = merge_hosts(&pass, outline, err);
	release_pass(&pass);
	return st;
}
