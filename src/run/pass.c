/* SPDX-License-Identifier: MIT */
/* Lines on threads, states merged in order, analyses closed by need. */
#include "run/pass.h"

#include <pthread.h>

#include "base/check.h"
#include "base/work.h"
#include "run/faults.h"
#include "run/interleave.h"
#include "run/state.h"
#include "read/stream.h"
#include "base/order.h"

#define LARGE_A_THREAD 2 /* lines that are begun first */

struct line_states {
	void *state[TS_MAX_ANALYSES]; /* NULL: the analysis does not want the line */
	bool observed, done, is_in_order;
	char *damage; /* what of the line could not be read; NULL: nothing */
	struct ts_faults faults;
};

struct pass {
	struct ts_profile *profile;
	const struct ts_context *ctx;
	const struct ts_duration_counter *counter;
	struct ts_passes *shared;
	const struct ts_pass_part *part; /* NULL: the whole run */
	const struct ts_analysis *analyses[TS_MAX_ANALYSES];
	bool sees_events[TS_MAX_ANALYSES];
	void *sums[TS_MAX_ANALYSES];
	size_t nr_analyses;
	uint32_t *jobs; /* lines, in the order of order_jobs() */
	size_t nr_jobs;
	struct line_states *lines; /* one a line of the profile */
	bool *looks_at;		   /* by op, as struct ts_sink has it */
	uint32_t next_merge;
	bool is_first;	      /* a line that is read again does not note its damage again */
	pthread_mutex_t lock; /* guards sums, next_merge, .done and the profile's damage */
};

static void pass_release_line(struct pass *pass, uint32_t line)
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

/* Makes a state for each analysis that wants this line and has no state yet. */
static enum ts_status pass_open_states(struct pass *pass, struct line_states *states,
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

	states->is_in_order = block->is_in_order;
	for (size_t a = 0; a < pass->nr_analyses && st == TS_OK; a++)
		if (states->state[a])
			st = pass->analyses[a]->block(states->state[a], pass->ctx, block, err);
	if (st == TS_OK && states->observed)
		st = pass->counter->block(pass->counter->ctx, block, err);
	if (!pass->looks_at)
		ts_meter_add(pass->shared->meter, block->nr_events);
	if (st == TS_OK && ts_is_halted(pass->shared->halt))
		return ts_fail(err, TS_HALTED, "the request was cancelled");
	return st;
}

static enum ts_status stream(struct pass *pass, uint32_t line, struct ts_error *err)
{
	struct ts_sink sink = { .ctx = pass,
				.looks_at = pass->looks_at,
				.faults = pass->is_first ? &pass->lines[line].faults : NULL,
				.block = show_block };
	enum ts_status st =
		pass_open_states(pass, &pass->lines[line], &pass->profile->lines[line], err);

	if (st)
		return st;
	memset(&pass->lines[line].faults, 0, sizeof(pass->lines[line].faults));
	for (size_t a = 0; a < pass->nr_analyses; a++)
		if (pass->lines[line].state[a])
			sink.columns |= pass->analyses[a]->columns;
	st = ts_stream_line(pass->profile, line, &sink, err);
	if (st == TS_OK && pass->looks_at)
		ts_meter_add(pass->shared->meter, pass->profile->lines[line].nr_events);
	return st;
}

static enum ts_status pass_take_damage(struct pass *pass, uint32_t line,
				       const struct ts_damage *damage, struct ts_error *err)
{
	if (pass->part)
		return pass->part->take_damage(pass->part->ctx, line, damage, err);
	ts_profile_note_damage(pass->profile, damage);
	return TS_OK;
}

/* In the order of the lines, however the threads went. */
static enum ts_status pass_note_damage(struct pass *pass, uint32_t line, struct ts_error *err)
{
	const struct ts_plane *plane = &pass->profile->planes[pass->profile->lines[line].plane];
	const struct line_states *states = &pass->lines[line];
	struct ts_damage damage = { .file = pass->profile->hosts[plane->host].file };
	struct ts_buf text = TS_BUF_INIT;
	enum ts_status st = TS_OK;

	if (!pass->is_first || (pass->part && pass->part->closes))
		return TS_OK;
	if (states->damage) {
		damage.cause = ts_bytes_of(states->damage);
		st = pass_take_damage(pass, line, &damage, err);
	}
	for (int fault = 0; fault < TS_NR_FAULTS && st == TS_OK; fault++)
		if (ts_fault_tell(pass->profile, line, &states->faults, (enum ts_fault)fault, &text,
				  &damage))
			st = text.failed ? ts_fail_nomem(err)
					 : pass_take_damage(pass, line, &damage, err);
	ts_buf_release(&text);
	return st;
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
	const struct ts_pass_part *part = pass->part;
	enum ts_status st = TS_OK;

	if (!part)
		st = pass_on(pass, a, state, err);
	else if (part->take)
		st = part->take(part->ctx, pass->analyses[a], state, err);
	/* Of a part of a run: what is closed where it is. */
	if (st || (part && !part->closes && !pass->analyses[a]->serves_part))
		return st;
	return ts_state_merge(pass->analyses[a], pass->sums[a], state, pass->ctx, err);
}

static bool pass_is_of_part(const struct ts_pass_part *part, uint32_t host)
{
	return !part || (host >= part->first_host && host - part->first_host < part->nr_hosts);
}

static uint32_t pass_host_of(const struct pass *pass, uint32_t line)
{
	return pass->profile->planes[pass->profile->lines[line].plane].host;
}

/* All lines of a host are done with this one, if it is the host's last. */
static void rest_behind(const struct pass *pass, uint32_t line)
{
	uint32_t host = pass_host_of(pass, line);

	if (!pass_is_of_part(pass->part, host))
		return; /* it was not read */
	if (line + 1 == pass->profile->nr_lines || pass_host_of(pass, line + 1) != host)
		ts_stream_rest(pass->profile, host);
}

/* Merges the lines that are done and whose turn it is. Called with the lock held. */
static enum ts_status merge_ready(struct pass *pass, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	while (st == TS_OK && pass->next_merge < pass->profile->nr_lines &&
	       pass->lines[pass->next_merge].done) {
		struct line_states *states = &pass->lines[pass->next_merge];

		st = pass_note_damage(pass, pass->next_merge, err);
		for (size_t a = 0; a < pass->nr_analyses && st == TS_OK; a++)
			if (states->state[a])
				st = merge_state(pass, a, states->state[a], err);
		pass_release_line(pass, pass->next_merge);
		rest_behind(pass, pass->next_merge++);
	}
	return st;
}

static bool pass_has_faults(const struct ts_faults *faults)
{
	for (int i = 0; i < TS_NR_FAULTS; i++)
		if (faults->of[i].nr > 0)
			return true;
	return false;
}

static enum ts_status pass_run_line(void *ctx, size_t job, size_t thread, struct ts_error *err)
{
	struct pass *pass = ctx;
	uint32_t line = pass->jobs[job];
	enum ts_status st = stream(pass, line, err);

	if (st == TS_UNSORTED) {
		pass_release_line(pass, line);
		if (pass->lines[line].observed)
			pass->counter->restart(pass->counter->ctx, line);
		pass->profile->lines[line].unsorted = true;
		st = stream(pass, line, err);
	}
	if (pass->is_first)
		pass->profile->lines[line].is_plain = st == TS_OK &&
						      pass->lines[line].is_in_order &&
						      !pass_has_faults(&pass->lines[line].faults);
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

/* LINES of a host, up to PAST. */
static enum ts_status interleave_host(struct pass *pass, uint32_t lines, uint32_t past,
				      bool *wanted, size_t nr_threads, struct ts_error *err)
{
	struct showing showing = { pass, NULL };
	struct ts_interleaved_sink sink = { &showing, show_interleaved };
	enum ts_status st = TS_OK;

	for (uint32_t i = lines; i < past && st == TS_OK; i++) {
		wanted[i] = !pass->lines[i].done;
		if (!wanted[i])
			continue;
		if (!showing.states)
			showing.states = &pass->lines[i];
		st = pass_open_states(pass, showing.states, &pass->profile->lines[i], err);
	}
	if (st == TS_OK && showing.states)
		st = ts_interleave_host(pass->profile, pass_host_of(pass, lines), wanted,
					nr_threads, &sink, err);
	for (uint32_t i = lines; i < past; i++) {
		pass->lines[i].done = true;
		wanted[i] = false;
	}
	return st;
}

static enum ts_status interleave_hosts(struct pass *pass, size_t nr_threads, struct ts_error *err)
{
	uint32_t nr_lines = (uint32_t)pass->profile->nr_lines;
	bool *wanted = calloc(nr_lines + 1, sizeof(*wanted));
	enum ts_status st = wanted ? TS_OK : ts_fail_nomem(err);

	for (uint32_t line = 0, past; line < nr_lines && st == TS_OK; line = past) {
		past = line + 1;
		while (past < nr_lines && pass_host_of(pass, past) == pass_host_of(pass, line))
			past++;
		st = interleave_host(pass, line, past, wanted, nr_threads, err);
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

TS_ORDER(pass_by_size, struct sized_line, TS_DOWN(n) TS_UP(line))

TS_ORDER(pass_by_line, struct sized_line, TS_UP(line))

/*
 * The few largest lines first, so that in the end all threads do not wait for one of them. The
 * others in the order in which they are merged: the states of a line that is done go as soon as it
 * is.
 */
static void order_jobs(struct sized_line *sized, size_t nr, size_t nr_threads)
{
	size_t nr_large = TS_MIN(nr, LARGE_A_THREAD * TS_MAX(nr_threads, 1));

	qsort(sized, nr, sizeof(*sized), pass_by_size);
	qsort(sized + nr_large, nr - nr_large, sizeof(*sized), pass_by_line);
}

static bool pass_is_wanted(struct pass *pass, uint32_t index)
{
	const struct ts_line *line = &pass->profile->lines[index];
	const struct ts_plane *plane = &pass->profile->planes[line->plane];
	bool wanted = false;

	if (plane->kind == TS_PLANE_OURS || !pass_is_of_part(pass->part, plane->host))
		return false;
	for (size_t a = 0; a < pass->nr_analyses; a++)
		wanted |= pass->sees_events[a] && pass->analyses[a]->wants(pass->ctx, line);
	if (pass->counter && pass->counter->block)
		pass->lines[index].observed =
			pass->counter->wants(pass->counter->ctx, pass->profile, index);
	return wanted || pass->lines[index].observed;
}

static enum ts_status pass_choose_lines(struct pass *pass, size_t nr_threads, struct ts_error *err)
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
		pass->lines[i].done = !pass_is_wanted(pass, i);
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

static bool all_closed(const size_t *const *needs, const bool *closed)
{
	for (; needs && *needs; needs++)
		if (!closed[**needs])
			return false;
	return true;
}

static bool can_close(const struct ts_analysis *analysis, const bool *closed)
{
	for (size_t id = 0; analysis->runs_rules && ts_analyses[id]; id++)
		if (ts_analyses[id]->rules && !closed[id])
			return false;
	return all_closed(analysis->needs, closed);
}

static enum ts_status close_one(struct pass *pass, struct ts_context *ctx, size_t at, size_t id,
				struct ts_error *err)
{
	const struct ts_analysis *analysis = pass->analyses[at];
	struct ts_results *results = pass->shared->results;
	struct ts_result *result = ts_results_of(results, analysis->schema);
	void *facts = result ? ts_arena_zalloc(&results->arena, analysis->facts_size + 1) : NULL;
	enum ts_status st;

	if (!facts)
		return ts_fail_nomem(err);
	st = pass_on(pass, at, pass->sums[at], err);
	if (st)
		return st;
	st = analysis->close(pass->sums[at], ctx, facts, result, err);
	if (st == TS_OK && results->failed)
		st = ts_fail_nomem(err);
	ctx->facts[id] = facts;
	if (st == TS_OK && analysis->report) {
		/* an analysis with a report keeps both until what it shows is closed */
		pass->shared->sums[id] = pass->sums[at];
		pass->shared->waiting[id] = result;
		pass->sums[at] = NULL;
	}
	ts_state_free(analysis, &pass->sums[at]);
	return st ? ts_fail_at(err, st, "%s", analysis->schema->name) : TS_OK;
}

/* Writes the reports of analyses whose facts are all made now. */
static enum ts_status write_reports(struct ts_passes *shared, struct ts_context *ctx,
				    const bool *closed, struct ts_error *err)
{
	for (size_t id = 0; ts_analyses[id]; id++) {
		const struct ts_analysis *analysis = ts_analyses[id];
		enum ts_status st;

		if (!shared->waiting[id] || !all_closed(analysis->shows, closed))
			continue;
		st = analysis->report(shared->sums[id], ctx, shared->waiting[id], err);
		if (st == TS_OK && shared->results->failed)
			st = ts_fail_nomem(err);
		if (st)
			return ts_fail_at(err, st, "%s", analysis->schema->name);
		ts_state_free(analysis, &shared->sums[id]);
		shared->waiting[id] = NULL;
	}
	return TS_OK;
}

static size_t pass_id_of(const struct ts_analysis *analysis)
{
	size_t id = 0;

	while (ts_analyses[id] != analysis)
		id++;
	return id;
}

/*
 * Closes the analyses whose needs are closed, again and again. tests/analysis/needs_test.c checks
 * that needs make no circle, and that each is of an earlier pass or the same.
 */
static enum ts_status pass_close_all(struct pass *pass, struct ts_context *ctx,
				     struct ts_error *err)
{
	bool closed[TS_MAX_ANALYSES] = { false };
	size_t nr_closed = 0, before;

	for (size_t id = 0; ts_analyses[id]; id++)
		closed[id] = ctx->facts[id] != NULL;
	do {
		before = nr_closed;
		for (size_t a = 0; a < pass->nr_analyses; a++) {
			size_t id = pass_id_of(pass->analyses[a]);
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

/* Of a part of the run: those that a later pass of the part asks. */
static enum ts_status close_serving(struct pass *pass, struct ts_context *ctx, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t a = 0; a < pass->nr_analyses && st == TS_OK; a++)
		if (pass->analyses[a]->serves_part)
			st = close_one(pass, ctx, a, pass_id_of(pass->analyses[a]), err);
	return st;
}

static void pass_release(struct pass *pass)
{
	for (size_t i = 0; pass->lines && i < pass->profile->nr_lines; i++)
		pass_release_line(pass, (uint32_t)i);
	for (size_t a = 0; a < pass->nr_analyses; a++)
		ts_state_free(pass->analyses[a], &pass->sums[a]);
	free(pass->lines);
	free(pass->jobs);
	free(pass->looks_at);
	pthread_mutex_destroy(&pass->lock);
}

static enum ts_status open_pass(struct pass *pass, enum ts_pass number, struct ts_error *err)
{
	TS_ASSERT(pass->profile && pass->ctx && pass->shared && pass->shared->results);
	for (size_t i = 0; ts_analyses[i]; i++)
		if (ts_analyses[i]->pass == number) {
			pass->sees_events[pass->nr_analyses] =
				sees_events(pass->ctx, ts_analyses[i]);
			pass->analyses[pass->nr_analyses++] = ts_analyses[i];
		}
	if (pthread_mutex_init(&pass->lock, NULL) != 0)
		return ts_fail_nomem(err);
	for (size_t a = 0; a < pass->nr_analyses; a++) {
		pass->sums[a] = ts_state_new(pass->analyses[a]);
		if (!pass->sums[a])
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

/* What of the events this pass looks at, where each of its analyses says so. */
static enum ts_status choose_ops(struct pass *pass, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	if (pass->counter)
		return TS_OK; /* it looks at all */
	for (size_t a = 0; a < pass->nr_analyses; a++)
		if (pass->sees_events[a] && !pass->analyses[a]->looks_at)
			return TS_OK;
	pass->looks_at = calloc(pass->profile->nr_ops + 1, sizeof(*pass->looks_at));
	if (!pass->looks_at)
		return ts_fail_nomem(err);
	for (size_t a = 0; a < pass->nr_analyses && st == TS_OK; a++)
		if (pass->sees_events[a])
			st = pass->analyses[a]->looks_at(pass->ctx, pass->looks_at, err);
	return st;
}

static enum ts_status pass_read_lines(struct pass *pass, enum ts_pass number, size_t nr_threads,
				      struct ts_error *err)
{
	enum ts_status st = pass_choose_lines(pass, nr_threads, err);

	if (st == TS_OK)
		st = choose_ops(pass, err);
	if (st)
		return st;
	begin_stage(pass, number);
	st = number == TS_PASS_INTERLEAVED
		     ? interleave_hosts(pass, nr_threads, err)
		     : ts_work_run(nr_threads, pass->nr_jobs, pass_run_line, pass, err);
	return st ? st : merge_ready(pass, err); /* lines that are not wanted may stand last */
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
	enum ts_status st = open_pass(&pass, number, err);

	if (st == TS_OK)
		st = pass_read_lines(&pass, number, nr_threads, err);
	if (st == TS_OK)
		st = pass_close_all(&pass, ctx, err);
	pass_release(&pass);
	return st;
}

enum ts_status ts_pass_run_part(struct ts_profile *profile, struct ts_context *ctx,
				enum ts_pass number, const struct ts_pass_part *part,
				struct ts_passes *shared, size_t nr_threads, struct ts_error *err)
{
	struct pass pass = { .profile = profile,
			     .ctx = ctx,
			     .part = part,
			     .counter = number == TS_PASS_FIRST ? part->counter : NULL,
			     .shared = shared,
			     .is_first = number == TS_PASS_FIRST };
	enum ts_status st = open_pass(&pass, number, err);

	TS_ASSERT(part && (part->closes || (part->take && part->take_damage)));
	if (st == TS_OK)
		st = pass_read_lines(&pass, number, nr_threads, err);
	if (st == TS_OK)
		st = part->closes ? pass_close_all(&pass, ctx, err)
				  : close_serving(&pass, ctx, err);
	pass_release(&pass);
	return st;
}

struct ts_pass_sums {
	struct pass pass;
};

enum ts_status ts_pass_add(struct ts_pass_sums *sums, const struct ts_analysis *analysis,
			   struct ts_bytes saved, struct ts_error *err)
{
	struct pass *pass = &sums->pass;
	enum ts_status st;
	void *state;
	size_t a = 0;

	TS_ASSERT(analysis);
	while (a < pass->nr_analyses && pass->analyses[a] != analysis)
		a++;
	if (a == pass->nr_analyses || !analysis->state)
		return ts_fail(err, TS_FORMAT, "a state of %s stands where it has none",
			       analysis->schema->name);
	state = ts_state_new(analysis);
	if (!state)
		return ts_fail_nomem(err);
	st = ts_state_load(analysis, state, saved, pass->profile, &pass->shared->results->arena,
			   err);
	if (st == TS_OK)
		st = ts_state_merge(analysis, pass->sums[a], state, pass->ctx, err);
	ts_state_free(analysis, &state);
	return st;
}

enum ts_status ts_pass_run_saved(struct ts_profile *profile, struct ts_context *ctx,
				 enum ts_pass number, ts_pass_feed *feed, void *feed_ctx,
				 struct ts_passes *shared, struct ts_error *err)
{
	struct ts_pass_sums sums = { { .profile = profile, .ctx = ctx, .shared = shared } };
	enum ts_status st = open_pass(&sums.pass, number, err);

	TS_ASSERT(feed);
	if (st == TS_OK)
		st = feed(feed_ctx, number, &sums, err);
	if (st == TS_OK)
		st = pass_close_all(&sums.pass, ctx, err);
	pass_release(&sums.pass);
	return st;
}

void ts_passes_release(struct ts_passes *shared)
{
	for (size_t id = 0; ts_analyses[id]; id++)
		ts_state_free(ts_analyses[id], &shared->sums[id]);
}
