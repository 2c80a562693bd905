/* SPDX-License-Identifier: MIT */
/*
 * Two looks at the lines of a trace: at the threads of hosts, for launches and the operators that hold them, and at
 * devices, for how long what was launched took.
 */
#include "run/launched.h"

#include <pthread.h>

#include "base/check.h"
#include "base/work.h"
#include "model/aten_known.h"
#include "model/launched.h"
#include "model/torch_event.h"
#include "model/trace_class.h"
#include "read/stream.h"

enum launched_role { ROLE_NONE, ROLE_LAUNCH, ROLE_OPERATOR, ROLE_AGAIN };

struct launched_op {
	uint8_t role;
	const struct ts_aten_formula *formula;
};

struct launched_pass {
	struct ts_profile *profile;
	struct launched_op *ops;	    /* one an op of the profile */
	struct ts_thread_launches *threads; /* one a line of the profile */
	uint32_t *jobs;
	size_t nr_jobs;
	enum ts_trace_side side; /* whose lines are looked at */
	struct ts_launched *launched;
	pthread_mutex_t lock; /* guards .launched */
};

/* A line, while it is streamed. */
struct launched_line {
	struct launched_pass *pass;
	struct ts_aten_known known;
	uint32_t index;
};

/* An event of a block. */
struct launched_event {
	const struct ts_block *block;
	size_t at;
};

/* ts_aten_ask */
static struct ts_bytes launched_text(const void *ctx, const char *name)
{
	const struct launched_event *event = ctx;
	const struct ts_block *block = event->block;
	struct ts_stat stat;

	if (!block->stat || !block->stat(block, event->at, name, &stat) ||
	    stat.type != TS_STAT_TEXT)
		return (struct ts_bytes){ NULL, 0 };
	return stat.text;
}

static enum ts_status launched_operator(struct launched_line *line, const struct ts_block *block,
					size_t i, struct ts_error *err)
{
	struct ts_thread_launches *thread = &line->pass->threads[line->index];
	struct launched_event event = { block, i };
	uint32_t op = block->op[i];
	struct ts_aten_call call = { .formula = line->pass->ops[op].formula };
	struct ts_aten_work work;
	enum ts_status st;

	if (!ts_thread_has_launched(thread, block->start_ps[i]))
		return TS_OK;
	call.dims = launched_text(&event, "Input Dims");
	st = ts_aten_known_work(&line->known, op, &call, launched_text, &event, &work, err);
	return st ? st : ts_thread_call(thread, block->start_ps[i], &work, err);
}

static enum ts_status launched_host_block(struct launched_line *line, const struct ts_block *block,
					  struct ts_error *err)
{
	struct launched_pass *pass = line->pass;
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < block->nr_events && st == TS_OK; i++) {
		enum launched_role role = (enum launched_role)pass->ops[block->op[i]].role;

		if (role == ROLE_LAUNCH && block->link[i] != TS_NO_LINK)
			st = ts_thread_launch(&pass->threads[line->index], block->start_ps[i],
					      block->link[i], err);
		else if (role == ROLE_OPERATOR)
			st = launched_operator(line, block, i, err);
		else if (role == ROLE_AGAIN)
			st = ts_thread_again(&pass->threads[line->index], block->start_ps[i], err);
	}
	return st;
}

static void launched_device_block(struct launched_pass *pass, const struct ts_block *block)
{
	uint32_t host = pass->profile->planes[block->line->plane].host;

	pthread_mutex_lock(&pass->lock);
	for (size_t i = 0; i < block->nr_events; i++)
		if (block->link[i] != TS_NO_LINK)
			ts_launched_time(pass->launched, host, block->link[i], block->dur_ps[i]);
	pthread_mutex_unlock(&pass->lock);
}

static enum ts_status launched_block(void *ctx, const struct ts_block *block, struct ts_error *err)
{
	struct launched_line *line = ctx;

	if (line->pass->side == TS_SIDE_HOST)
		return launched_host_block(line, block, err);
	launched_device_block(line->pass, block);
	return TS_OK;
}

static enum ts_status launched_line_stream(void *ctx, size_t job, size_t thread,
					   struct ts_error *err)
{
	struct launched_pass *pass = ctx;
	struct launched_line line = { .pass = pass, .index = pass->jobs[job] };
	struct ts_sink sink = { .ctx = &line, .columns = TS_COL_LINK, .block = launched_block };
	enum ts_status st;

	if (pass->side == TS_SIDE_HOST)
		sink.columns |= TS_COL_STATS;
	st = ts_stream_line(pass->profile, line.index, &sink, err);
	if (st == TS_UNSORTED) {
		ts_thread_launches_release(&pass->threads[line.index]);
		pass->profile->lines[line.index].unsorted = true;
		st = ts_stream_line(pass->profile, line.index, &sink, err);
	}
	ts_aten_known_release(&line.known);
	return st == TS_FORMAT ? TS_OK : st; /* what stands before the damage counts */
}

static struct launched_op launched_op_of(const struct ts_op *op)
{
	struct launched_op of = { .role = ROLE_NONE };

	if (op->category_id == TS_KINETO_CPU_OP)
		of.formula = ts_aten_formula_of(op->name);
	if (op->category_id == TS_KINETO_PYTHON_FUNCTION && ts_torch_computes_again(op->name))
		of.role = ROLE_AGAIN;
	else if (of.formula)
		of.role = ROLE_OPERATOR;
	else if (ts_trace_class_of_category(op->category_id) == TS_TRACE_RUNTIME)
		of.role = ROLE_LAUNCH;
	return of;
}

/* Only hosts that launched something are asked for their devices. */
static bool launched_is_asked(const struct launched_pass *pass, uint32_t line)
{
	const struct ts_profile *profile = pass->profile;
	uint32_t host = profile->planes[profile->lines[line].plane].host;

	return ts_trace_side_of(profile, &profile->lines[line]) == pass->side &&
	       (pass->side == TS_SIDE_HOST || ts_launched_has(pass->launched, host));
}

static enum ts_status launched_look(struct launched_pass *pass, enum ts_trace_side side,
				    uint32_t first_host, uint32_t nr_hosts, size_t nr_threads,
				    struct ts_error *err)
{
	const struct ts_profile *profile = pass->profile;

	pass->side = side;
	pass->nr_jobs = 0;
	for (uint32_t i = 0; i < profile->nr_lines; i++) {
		uint32_t host = profile->planes[profile->lines[i].plane].host;

		if (host >= first_host && host - first_host < nr_hosts &&
		    launched_is_asked(pass, i))
			pass->jobs[pass->nr_jobs++] = i;
	}
	return ts_work_run(nr_threads, pass->nr_jobs, launched_line_stream, pass, err);
}

static enum ts_status launched_join(struct launched_pass *pass, struct ts_error *err)
{
	const struct ts_profile *profile = pass->profile;
	enum ts_status st = TS_OK;

	for (uint32_t i = 0; i < profile->nr_lines && st == TS_OK; i++)
		st = ts_launched_add(pass->launched, profile->planes[profile->lines[i].plane].host,
				     &pass->threads[i], err);
	return st;
}

static enum ts_status launched_prepare(struct launched_pass *pass, struct ts_error *err)
{
	struct ts_profile *profile = pass->profile;

	pass->ops = calloc(profile->nr_ops + 1, sizeof(*pass->ops));
	pass->threads = calloc(profile->nr_lines + 1, sizeof(*pass->threads));
	pass->jobs = calloc(profile->nr_lines + 1, sizeof(*pass->jobs));
	pass->launched = ts_launched_new(profile->nr_hosts);
	if (!pass->ops || !pass->threads || !pass->jobs || !pass->launched)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < profile->nr_ops; i++)
		pass->ops[i] = launched_op_of(&profile->ops[i]);
	return TS_OK;
}

static void launched_release(struct launched_pass *pass)
{
	for (size_t i = 0; pass->threads && i < pass->profile->nr_lines; i++)
		ts_thread_launches_release(&pass->threads[i]);
	free(pass->threads);
	free(pass->jobs);
	free(pass->ops);
	ts_launched_free(pass->launched);
	pthread_mutex_destroy(&pass->lock);
}

enum ts_status ts_launched_make(struct ts_profile *profile, uint32_t first_host, uint32_t nr_hosts,
				size_t nr_threads, struct ts_error *err)
{
	struct launched_pass pass = { .profile = profile };
	enum ts_status st;

	TS_ASSERT(profile);
	ts_launched_free(profile->launched);
	profile->launched = NULL;
	if (profile->nr_devices == 0 || !ts_profile_is_torch(profile))
		return TS_OK;
	if (pthread_mutex_init(&pass.lock, NULL) != 0)
		return ts_fail_nomem(err);
	st = launched_prepare(&pass, err);
	if (st == TS_OK)
		st = launched_look(&pass, TS_SIDE_HOST, first_host, nr_hosts, nr_threads, err);
	if (st == TS_OK)
		st = launched_join(&pass, err);
	if (st == TS_OK)
		st = launched_look(&pass, TS_SIDE_DEVICE, first_host, nr_hosts, nr_threads, err);
	if (st == TS_OK) {
		profile->launched = pass.launched;
		pass.launched = NULL;
	}
	launched_release(&pass);
	return st;
}
