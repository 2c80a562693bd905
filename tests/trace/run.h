/* SPDX-License-Identifier: MIT */
/*
 * A hand-made run for tests of the trace: events are rows of a table, handed out in blocks as a
 * reader would, by way of model/nest.h.
 */
#ifndef TS_TESTS_TRACE_RUN_H
#define TS_TESTS_TRACE_RUN_H

#include "read/stream.h"
#include "trace/trace.h"
#include "model/nest.h"

#define RUN_STATS 8

struct run_stat {
	const char *name; /* NULL: the last one stood before it */
	struct ts_stat stat;
};

struct run_event { /* of LINE, ordered by start within it */
	uint32_t line;
	uint32_t op;
	int64_t start_ps, dur_ps;
	uint64_t link; /* 0: it has none */
	struct run_stat stats[RUN_STATS];
};

#define RUN_INT(name, value) { name, { .type = TS_STAT_INT, .number = (value) } }
#define RUN_TEXT(name, value) { name, { .type = TS_STAT_TEXT, .text = { (const uint8_t *)(value), sizeof(value) - 1 } } }

struct run {
	struct ts_profile profile;
	const struct run_event *events;
	size_t nr_events;
};

enum run_op { OP_FUSION, OP_WHILE, OP_START, OP_DONE, OP_NASTY, OP_MODULE, NR_RUN_OPS };
enum run_line { LINE_MODULES, LINE_OPS, LINE_ASYNC, LINE_THREAD, NR_RUN_LINES };

static struct ts_op *add_op(struct run *run, const char *name, const char *category)
{
	struct ts_op draft;
	uint32_t index;

	ts_op_init(&draft);
	draft.name = ts_bytes_of(name);
	draft.category = ts_bytes_of(category);
	index = ts_profile_intern_op(&run->profile, &draft);
	return &run->profile.ops[index];
}

static void add_ops(struct run *run)
{
	struct ts_op *op = add_op(run, "fusion.1", "loop fusion");

	op->framework_op = ts_bytes_of("jit(f)/dot_general");
	op->source = ts_bytes_of("train.py:12");
	op->text = ts_bytes_of("%fusion.1 = f32[8] fusion()");
	op->flops = 1000;
	op->bytes_accessed = 64;
	op->program_id = UINT64_MAX;
	op->has_program = true;
	add_op(run, "while.1", "while");
	add_op(run, "copy-start.1", "copy-start");
	add_op(run, "copy-done.1", "copy-done");
	add_op(run, "</script>\"\\\n\x01\xff", "");
	add_op(run, "jit_f(1)", "");
	run->profile.ops[OP_START].async = TS_ASYNC_START;
	run->profile.ops[OP_START].partner = OP_DONE;
	run->profile.ops[OP_DONE].async = TS_ASYNC_DONE;
	run->profile.ops[OP_DONE].partner = OP_START;
}

static void add_line(struct run *run, uint32_t plane, const char *name, enum ts_line_kind kind)
{
	struct ts_line *line = ts_profile_add_line(&run->profile);

	line->plane = plane;
	line->name = ts_bytes_of(name);
	line->kind = kind;
}

static void add_plane(struct run *run, const char *name, enum ts_plane_kind kind, uint32_t first,
		      uint32_t nr, uint32_t device)
{
	struct ts_plane *plane = ts_profile_add_plane(&run->profile);

	plane->name = ts_bytes_of(name);
	plane->kind = kind;
	plane->first_line = first;
	plane->nr_lines = nr;
	plane->device = device;
}

/* One TPU with three lines, one host with a thread; the host's plane comes first in the file. */
static void run_init(struct run *run, const struct run_event *events, size_t nr_events)
{
	struct ts_device *device;

	*run = (struct run){ .events = events, .nr_events = nr_events };
	ts_profile_init(&run->profile);
	ts_profile_add_host(&run->profile)->name = ts_bytes_of("host0");
	add_plane(run, "/host:CPU", TS_PLANE_HOST, LINE_THREAD, 1, TS_NONE);
	add_plane(run, "/device:TPU:0", TS_PLANE_TPU, LINE_MODULES, 3, 0);
	add_line(run, 1, "XLA Modules", TS_LINE_MODULES);
	add_line(run, 1, "XLA Ops", TS_LINE_OPS);
	add_line(run, 1, "Async XLA Ops", TS_LINE_ASYNC);
	add_line(run, 0, "python", TS_LINE_THREAD);
	device = ts_profile_add_device(&run->profile);
	device->plane = 1;
	device->name = ts_bytes_of("/device:TPU:0");
	add_ops(run);
}

static void run_release(struct run *run)
{
	ts_profile_release(&run->profile);
}

/* ts_stat_find, likewise */
static bool find_run_stat(const struct ts_block *block, size_t at, const char *name,
			  struct ts_stat *stat)
{
	const struct run_event *event = (const void *)block->body[at].p;

	for (size_t i = 0; i < RUN_STATS && event->stats[i].name; i++)
		if (strcmp(event->stats[i].name, name) == 0) {
			*stat = event->stats[i].stat;
			return true;
		}
	return false;
}

/* ts_stats_each: a body is its row of the table. */
static void each_run_stat(const struct ts_profile *profile, const struct ts_line *line,
			  struct ts_bytes body, ts_stat_visit *visit, void *ctx)
{
	const struct run_event *event = (const void *)body.p;

	for (size_t i = 0; i < RUN_STATS && event->stats[i].name; i++)
		visit(ctx, ts_bytes_of(event->stats[i].name), &event->stats[i].stat);
}

/* A line that cannot be read to its end; TS_NONE: all can. */
static uint32_t broken_line = TS_NONE;

/*
 * Stands for the one of read/stream.c, which the linker then leaves out of this program: events come
 * from the table. PROFILE is the first member of struct run.
 */
enum ts_status ts_stream_line(const struct ts_profile *profile, uint32_t line,
			      const struct ts_sink *sink, struct ts_error *err)
{
	const struct run *run = (const struct run *)(const void *)profile;
	struct ts_nest *nest = ts_nest_new(profile, line, sink);
	enum ts_status st = nest ? TS_OK : TS_NOMEM;

	if (nest)
		ts_nest_stats(nest, find_run_stat, NULL, each_run_stat);
	for (size_t i = 0; i < run->nr_events && st == TS_OK; i++) {
		const struct run_event *e = &run->events[i];
		struct ts_event event = { .op = e->op,
					  .start_ps = e->start_ps,
					  .dur_ps = e->dur_ps,
					  .device_start_ps = e->start_ps,
					  .total_ps = e->dur_ps,
					  .flops = TS_UNKNOWN,
					  .bytes = TS_UNKNOWN,
					  .occurrences = 1,
					  .number = TS_NO_NUMBER,
					  .body = { (const uint8_t *)e, sizeof(*e) },
					  .link = e->link ? e->link : TS_NO_LINK };

		if (e->line == line)
			st = ts_nest_push(nest, &event, err);
	}
	if (st == TS_OK)
		st = ts_nest_finish(nest, err);
	ts_nest_free(nest);
	return st == TS_OK && line == broken_line ? ts_fail(err, TS_IO, "gone") : st;
}

static enum ts_status run_count(struct run *run, struct ts_trace_plan *plan, uint64_t max_events,
				struct ts_error *err)
{
	struct ts_sink sink = { .ctx = plan, .block = ts_trace_count };
	enum ts_status st = ts_trace_plan_init(plan, &run->profile, err);

	for (uint32_t i = 0; i < run->profile.nr_lines && st == TS_OK; i++)
		st = ts_stream_line(&run->profile, i, &sink, err);
	return st ? st : ts_trace_plan_close(plan, max_events, err);
}

#endif
