/* Lines on threads, states merged in order, analyses closed by need. */
#include "flow/pass.h"

#include <pthread.h>

#include "base/check.h"
#include "base/work.h"
#include "flow/interleave.h"
#include "flow/state.h"
#include "flow/stream.h"

#define LARGE_A_THREAD 2 /* lines that are begun first */

struct line_states {
	void *state[TS_NR_ANALYSES]; /* NULL: the analysis does not want the line */
	bool observed, done;
	char *damage; /* what of the line could not be read; NULL: nothing */
};

struct pass {
	struct ts_profile *profile;
	const struct ts_context *ctx;
	const struct ts_duration_counter *counter;
	struct ts_passes *shared;
	const struct ts_analysis *analyses[TS_NR_ANALYSES];
	bool sees_events[TS_NR_ANALYSES];
	void *sums[TS_NR_ANALYSES];
	size_t nr_analyses;
	uint32_t *jobs; /* lines, in the order of order_jobs() */
	size_t nr_jobs;
	struct line_states *lines; /* one a line of the profile */
	uint32_t next_merge;
	bool is_first;	      /* a line that is read again does not note its damage again */
	pthread_mutex_t lock; /* guards sums, next_merge, .done and the profile's damage */
};

static void release_line(struct pass *pass, uint32_t line)
{
	for (size_t a = 0; a < pass->nr_analyses; a++)
		ts_state_free(pass->analyses[a], &pass->lines[line].state[a]);
	free(pass->lines[line].damage);
	pass->lines[line].damage = NULL;
}

static bool sees_events(const struct ts_context *ctx, const struct ts_analysis *analysis)
{
	return (analysis->block || (ctx->has_interleaved && analysis->interleaved)) &&
	       (!analysis->applies || analysis->applies(ctx));
}

static void add_analysis(struct pass *pass, const struct ts_analysis *analysis)
{
	pass->sees_events[pass->nr_analyses] = sees_events(pass->ctx, analysis);
	pass->analyses[pass->nr_analyses++] = analysis;
}

/* Makes a state for each analysis that wants this line and has no state yet. */
static enum ts_status open_states(struct pass *pass, struct line_states *states,
				  const struct ts_line *line, struct ts_error *err)
{
	for (size_t a = 0; a < pass->nr_analyses; a++) {
		const struct ts_analysis *analysis = pass->analyses[a];
		enum ts_status st = TS_OK;

		if (states->state[a] || !pass->sees_events[a] || !analysis->wants(pass->ctx, line))
			continue;
		states->state[a] = ts_state_new(analysis);
		if (!states->state[a])
			return ts_fail_nomem(err);
		if (analysis->open)
			st = analysis->open(states->state[a], pass->ctx, line, err);
		if (st)
			return st;
	}
	return TS_OK;
}

static enum ts_status show_block(void *ctx, const struct ts_block *block, struct ts_error *err)
{
	struct pass *pass = ctx;
	struct line_states *states = &pass->lines[block->line_index];
	enum ts_status st = TS_OK;

	for (size_t a = 0; a < pass->nr_analyses && st == TS_OK; a++)
		if (states->state[a])
			st = pass->analyses[a]->block(states->state[a], pass->ctx, block, err);
	if (st == TS_OK && states->observed)
		st = pass->counter->block(pass->counter->ctx, block, err);
	ts_meter_add(pass->shared->meter, block->nr_events);
	return st;
}

static unsigned wanted_columns(const struct pass *pass, uint32_t line)
{
	unsigned columns = 0;

	for (size_t a = 0; a < pass->nr_analyses; a++)
		if (pass->lines[line].state[a])
			columns |= pass->analyses[a]->columns;
	return columns;
}

static enum ts_status stream(struct pass *pass, uint32_t line, struct ts_error *err)
{
	struct ts_sink sink = { .ctx = pass, .block = show_block };
	enum ts_status st = open_states(pass, &pass->lines[line], &pass->profile->lines[line], err);

	if (st)
		return st;
	sink.columns = wanted_columns(pass, line);
	return ts_stream_line(pass->profile, line, &sink, err);
}

/* In the order of the lines, however the threads went. */
static void note_damage(struct pass *pass, uint32_t line)
{
	const struct ts_plane *plane = &pass->profile->planes[pass->profile->lines[line].plane];
	const char *damage = pass->lines[line].damage;

	if (damage && pass->is_first)
		ts_profile_add_damage(pass->profile, pass->profile->hosts[plane->host].file, 0,
				      damage, false);
}

/* A state goes through its saved form, as if it came from another machine. */
static enum ts_status pass_on(const struct pass *pass, size_t a, void *state, struct ts_error *err)
{
	if (!pass->shared->states || !pass->analyses[a]->state)
		return TS_OK;
	return ts_state_pass_on(pass->analyses[a], state, pass->shared->states, pass->profile,
				&pass->shared->results->arena, err);
}

static enum ts_status merge_state(struct pass *pass, size_t a, void *state, struct ts_error *err)
{
	enum ts_status st = pass_on(pass, a, state, err);

	return st ? st : ts_state_merge(pass->analyses[a], pass->sums[a], state, pass->ctx, err);
}

/* Merges the lines that are done and whose turn it is. Called with the lock held. */
static enum ts_status merge_ready(struct pass *pass, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	while (st == TS_OK && pass->next_merge < pass->profile->nr_lines &&
	       pass->lines[pass->next_merge].done) {
		struct line_states *states = &pass->lines[pass->next_merge];

		note_damage(pass, pass->next_merge);
		for (size_t a = 0; a < pass->nr_analyses && st == TS_OK; a++)
			if (states->state[a])
				st = merge_state(pass, a, states->state[a], err);
		release_line(pass, pass->next_merge++);
	}
	return st;
}

static enum ts_status run_line(void *ctx, size_t job, size_t thread, struct ts_error *err)
{
	struct pass *pass = ctx;
	uint32_t line = pass->jobs[job];
	enum ts_status st = stream(pass, line, err);

	if (st == TS_UNSORTED) {
		release_line(pass, line);
		if (pass->lines[line].observed)
			pass->counter->restart(pass->counter->ctx, line);
		pass->profile->lines[line].unsorted = true;
		st = stream(pass, line, err);
	}
	if (st == TS_FORMAT) {
		pass->lines[line].damage = strdup(err->text);
		st = pass->lines[line].damage ? TS_OK : ts_fail_nomem(err);
	}
	if (st)
		return st;
	pthread_mutex_lock(&pass->lock);
	pass->lines[line].done = true;
	st = merge_ready(pass, err);
	pthread_mutex_unlock(&pass->lock);
	return st;
}

/*
 * A host's states stand at its first wanted line. An analysis is shown the lines of all hosts, and
 * passes over those that it does not use.
 */
struct showing {
	struct pass *pass;
	struct line_states *states;
};

static enum ts_status show_interleaved(void *ctx, const struct ts_interleaved *interleaved,
				       struct ts_error *err)
{
	const struct showing *showing = ctx;
	const struct pass *pass = showing->pass;
	enum ts_status st = TS_OK;

	for (size_t a = 0; a < pass->nr_analyses && st == TS_OK; a++)
		if (showing->states->state[a])
			st = pass->analyses[a]->interleaved(showing->states->state[a], pass->ctx,
							    interleaved, err);
	return st;
}

static enum ts_status interleave_host(struct pass *pass, uint32_t host, bool *wanted,
				      size_t nr_threads, struct ts_error *err)
{
	struct showing showing = { pass, NULL };
	struct ts_interleaved_sink sink = { &showing, show_interleaved };
	enum ts_status st = TS_OK;

	memset(wanted, 0, pass->profile->nr_lines * sizeof(*wanted));
	for (uint32_t i = 0; i < pass->profile->nr_lines && st == TS_OK; i++) {
		if (pass->lines[i].done ||
		    pass->profile->planes[pass->profile->lines[i].plane].host != host)
			continue;
		wanted[i] = true;
		if (!showing.states)
			showing.states = &pass->lines[i];
		st = open_states(pass, showing.states, &pass->profile->lines[i], err);
	}
	if (st == TS_OK && showing.states)
		st = ts_interleave_host(pass->profile, host, wanted, nr_threads, &sink, err);
	return st;
}

static enum ts_status interleave_hosts(struct pass *pass, size_t nr_threads, struct ts_error *err)
{
	bool *wanted = calloc(pass->profile->nr_lines + 1, sizeof(*wanted));
	enum ts_status st = wanted ? TS_OK : ts_fail_nomem(err);

	for (uint32_t h = 0; h < pass->profile->nr_hosts && st == TS_OK; h++) {
		st = interleave_host(pass, h, wanted, nr_threads, err);
		for (uint32_t i = 0; i < pass->profile->nr_lines; i++)
			pass->lines[i].done |= wanted[i];
		if (st == TS_OK)
			st = merge_ready(pass, err);
	}
	free(wanted);
	return st;
}

struct sized_line {
	size_t n;
	uint32_t line;
};

static int by_size(const void *a, const void *b)
{
	const struct sized_line *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static int by_line(const void *a, const void *b)
{
	const struct sized_line *x = a, *y = b;

	return (x->line > y->line) - (x->line < y->line);
}

/*
 * The few largest lines first, so that in the end all threads do not wait for one of them. The
 * others in the order in which they are merged: the states of a line that is done go as soon as it
 * is.
 */
static void order_jobs(struct sized_line *sized, size_t nr, size_t nr_threads)
{
	size_t nr_large = TS_MIN(nr, LARGE_A_THREAD * TS_MAX(nr_threads, 1));

	qsort(sized, nr, sizeof(*sized), by_size);
	qsort(sized + nr_large, nr - nr_large, sizeof(*sized), by_line);
}

static bool is_wanted(struct pass *pass, uint32_t index)
{
	const struct ts_line *line = &pass->profile->lines[index];
	bool wanted = false;

	if (pass->profile->planes[line->plane].kind == TS_PLANE_OURS)
		return false;
	for (size_t a = 0; a < pass->nr_analyses; a++)
		wanted |= pass->sees_events[a] && pass->analyses[a]->wants(pass->ctx, line);
	if (pass->counter && pass->counter->block)
		pass->lines[index].observed =
			pass->counter->wants(pass->counter->ctx, pass->profile, index);
	return wanted || pass->lines[index].observed;
}

static enum ts_status choose_lines(struct pass *pass, size_t nr_threads, struct ts_error *err)
{
	size_t nr_lines = pass->profile->nr_lines;
	struct sized_line *sized = calloc(nr_lines + 1, sizeof(*sized));

	pass->jobs = calloc(nr_lines + 1, sizeof(*pass->jobs));
	pass->lines = calloc(nr_lines + 1, sizeof(*pass->lines));
	if (!sized || !pass->jobs || !pass->lines) {
		free(sized);
		return ts_fail_nomem(err);
	}
	for (uint32_t i = 0; i < nr_lines; i++) {
		pass->lines[i].done = !is_wanted(pass, i);
		if (!pass->lines[i].done)
			sized[pass->nr_jobs++] =
				(struct sized_line){ pass->profile->lines[i].body.n, i };
	}
	order_jobs(sized, pass->nr_jobs, nr_threads);
	for (size_t i = 0; i < pass->nr_jobs; i++)
		pass->jobs[i] = sized[i].line;
	free(sized);
	return TS_OK;
}

/* Where in the whole work each pass is: the outline before them takes a tenth. */
static void begin_stage(const struct pass *pass, enum ts_pass number)
{
	static const unsigned percents[] = { [TS_PASS_FIRST] = 10,
					     [TS_PASS_INTERLEAVED] = 55,
					     [TS_PASS_SECOND] = 75,
					     [TS_PASS_OVERLAY] = 90,
					     [TS_PASS_OVERLAY + 1] = 100 };
	uint64_t nr_events = 0;

	for (size_t i = 0; i < pass->nr_jobs; i++)
		nr_events += pass->profile->lines[pass->jobs[i]].nr_events;
	ts_meter_begin(pass->shared->meter, percents[number], percents[number + 1], nr_events);
}

static enum ts_status make_sums(struct pass *pass, struct ts_error *err)
{
	for (size_t a = 0; a < pass->nr_analyses; a++) {
		pass->sums[a] = ts_state_new(pass->analyses[a]);
		if (!pass->sums[a])
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

static bool all_closed(const enum ts_analysis_id *needs, const bool *closed)
{
	for (; needs && *needs != TS_NR_ANALYSES; needs++)
		if (!closed[*needs])
			return false;
	return true;
}

static bool can_close(const struct ts_analysis *analysis, const bool *closed)
{
	for (size_t id = 0; analysis->runs_rules && id < TS_NR_ANALYSES; id++)
		if (ts_analyses[id]->rules && !closed[id])
			return false;
	return all_closed(analysis->needs, closed);
}

/* An analysis with a report keeps its sum and its empty result until what it shows is closed. */
static void keep(struct pass *pass, size_t at, enum ts_analysis_id id, struct ts_result *result)
{
	pass->shared->sums[id] = pass->sums[at];
	pass->shared->waiting[id] = result;
	pass->sums[at] = NULL;
}

static enum ts_status close_one(struct pass *pass, struct ts_context *ctx, size_t at,
				enum ts_analysis_id id, struct ts_error *err)
{
	const struct ts_analysis *analysis = pass->analyses[at];
	struct ts_results *results = pass->shared->results;
	struct ts_result *result = ts_results_add(results, analysis->name, analysis->title);
	void *facts = result ? ts_arena_zalloc(&results->arena, analysis->facts_size + 1) : NULL;
	enum ts_status st;

	if (!facts)
		return ts_fail_nomem(err);
	result->top_level = analysis->top_level;
	st = pass_on(pass, at, pass->sums[at], err);
	if (st)
		return st;
	st = analysis->close(pass->sums[at], ctx, facts, result, err);
	if (st == TS_OK && results->failed)
		st = ts_fail_nomem(err);
	ctx->facts[id] = facts;
	if (st == TS_OK && analysis->report)
		keep(pass, at, id, result);
	ts_state_free(analysis, &pass->sums[at]);
	return st ? ts_fail_at(err, st, "%s", analysis->name) : TS_OK;
}

/* Writes the reports of analyses whose facts are all made now. */
static enum ts_status write_reports(struct ts_passes *shared, struct ts_context *ctx,
				    const bool *closed, struct ts_error *err)
{
	for (size_t id = 0; id < TS_NR_ANALYSES; id++) {
		const struct ts_analysis *analysis = ts_analyses[id];
		enum ts_status st;

		if (!shared->waiting[id] || !all_closed(analysis->shows, closed))
			continue;
		st = analysis->report(shared->sums[id], ctx, shared->waiting[id], err);
		if (st == TS_OK && shared->results->failed)
			st = ts_fail_nomem(err);
		if (st)
			return ts_fail_at(err, st, "%s", analysis->name);
		ts_state_free(analysis, &shared->sums[id]);
		shared->waiting[id] = NULL;
	}
	return TS_OK;
}

static enum ts_analysis_id id_of(const struct ts_analysis *analysis)
{
	enum ts_analysis_id id = 0;

	while (ts_analyses[id] != analysis)
		id++;
	return id;
}

/*
 * Closes the analyses whose needs are closed, again and again. tests/analysis/needs_test.c checks
 * that needs make no circle, and that each is of an earlier pass or the same.
 */
static enum ts_status close_all(struct pass *pass, struct ts_context *ctx, struct ts_error *err)
{
	bool closed[TS_NR_ANALYSES] = { false };
	size_t nr_closed = 0, before;

	for (size_t id = 0; id < TS_NR_ANALYSES; id++)
		closed[id] = ctx->facts[id] != NULL;
	do {
		before = nr_closed;
		for (size_t a = 0; a < pass->nr_analyses; a++) {
			enum ts_analysis_id id = id_of(pass->analyses[a]);
			enum ts_status st;

			if (closed[id] || !can_close(pass->analyses[a], closed))
				continue;
			st = close_one(pass, ctx, a, id, err);
			closed[id] = true;
			if (st == TS_OK)
				st = write_reports(pass->shared, ctx, closed, err);
			if (st)
				return st;
			nr_closed++;
		}
	} while (nr_closed > before);
	TS_ASSERT(nr_closed == pass->nr_analyses);
	return TS_OK;
}

static void release(struct pass *pass)
{
	for (size_t i = 0; pass->lines && i < pass->profile->nr_lines; i++)
		release_line(pass, (uint32_t)i);
	for (size_t a = 0; a < pass->nr_analyses; a++)
		ts_state_free(pass->analyses[a], &pass->sums[a]);
	free(pass->lines);
	free(pass->jobs);
	pthread_mutex_destroy(&pass->lock);
}

enum ts_status ts_pass_run(struct ts_profile *profile, struct ts_context *ctx, enum ts_pass number,
			   const struct ts_duration_counter *counter, struct ts_passes *shared,
			   size_t nr_threads, struct ts_error *err)
{
	struct pass pass = { .profile = profile,
			     .ctx = ctx,
			     .counter = counter,
			     .shared = shared,
			     .is_first = number == TS_PASS_FIRST };
	enum ts_status st;

	TS_ASSERT(profile && ctx && shared && shared->results);
	for (size_t i = 0; ts_analyses[i]; i++)
		if (ts_analyses[i]->pass == number)
			add_analysis(&pass, ts_analyses[i]);
	if (pthread_mutex_init(&pass.lock, NULL) != 0)
		return ts_fail_nomem(err);
	st = choose_lines(&pass, nr_threads, err);
	if (st == TS_OK)
		begin_stage(&pass, number);
	if (st == TS_OK)
		st = make_sums(&pass, err);
	if (st == TS_OK)
		st = number == TS_PASS_INTERLEAVED
			     ? interleave_hosts(&pass, nr_threads, err)
			     : ts_work_run(nr_threads, pass.nr_jobs, run_line, &pass, err);
	if (st == TS_OK)
		st = merge_ready(&pass, err); /* lines that are not wanted may stand last */
	if (st == TS_OK)
		st = close_all(&pass, ctx, err);
	release(&pass);
	return st;
}

void ts_passes_release(struct ts_passes *shared)
{
	for (size_t id = 0; id < TS_NR_ANALYSES; id++)
		ts_state_free(ts_analyses[id], &shared->sums[id]);
}
