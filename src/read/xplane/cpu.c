/* SPDX-License-Identifier: MIT */
/*
 * The CPU as a device, in a profile that has no other. XLA's runtime for CPUs leaves each op that it ran as an event of
 * the thread that ran it, with the stats hlo_op, program_id, run_id and device_ordinal (xla/backends/cpu/runtime/thunk.cc);
 * an op that holds others (while) encloses their events on its thread. Of each ordinal there is a plane, with
 *
 *	a line of ops	for each thread that ran some: the events of the host's line that have these stats;
 *	modules		hulls: what ran by one run_id of one program is an execution;
 *	steps		from one mark of the host's program (step_num) to the next, the last to the end of what ran.
 *
 * A thread's line is decoded with the ids of the host's plane (events.c), modules and steps are made anew each time they are
 * asked for. In a profile with devices nothing of this is done.
 */
#include "base/check.h"
#include "base/limits.h"
#include "base/order.h"
#include "model/plane_kind.h"
#include "model/scopes.h"
#include "read/xplane/xplane.h"

#define MAX_MARKS 256 /* names that mark steps, a thread each */
#define MAX_ORDINALS 256 /* each reads the threads anew; ops of further ones are the host's alone */

/* What an event says of the op that it is, or of the step that it marks. */
struct cpu_event {
	int64_t metadata_id, start_ps, dur_ps;
	struct xstat hlo_op, hlo_module;
	uint64_t program_id, run_id, ordinal, step;
	bool has_program, has_run, has_step;
};

static void cpu_take_stat(const struct xplane_plane *plane, struct ts_pb pb,
			  struct cpu_event *event)
{
	struct xstat stat;

	xstat_read(pb, &stat);
	switch (id_table_find(&plane->roles, stat.id)) {
	case ROLE_HLO_OP:	  event->hlo_op = stat; break;
	case ROLE_HLO_MODULE:	  event->hlo_module = stat; break;
	case ROLE_DEVICE_ORDINAL: event->ordinal = (uint64_t)xstat_int(&stat); break;
	case ROLE_PROGRAM_ID:
		event->program_id = (uint64_t)xstat_int(&stat);
		event->has_program = true;
		break;
	case ROLE_RUN_ID:
		event->run_id = (uint64_t)xstat_int(&stat);
		event->has_run = true;
		break;
	case ROLE_STEP_NUM:
		event->step = (uint64_t)xstat_int(&stat);
		event->has_step = true;
		break;
	default: break;
	}
}

/* False: it is damaged. */
static bool cpu_read_event(const struct xplane_plane *plane, struct ts_bytes body,
			   struct cpu_event *event)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(body, &error);

	*event = (struct cpu_event){ .start_ps = 0 };
	while (ts_pb_next(&pb)) {
		switch (pb.field) {
		case XEVENT_METADATA_ID: event->metadata_id = ts_pb_i64(&pb); break;
		case XEVENT_OFFSET_PS:	 event->start_ps = ts_pb_i64(&pb); break;
		case XEVENT_DURATION_PS: event->dur_ps = ts_pb_i64(&pb); break;
		case XEVENT_STATS:	 cpu_take_stat(plane, ts_pb_enter(&pb), event); break;
		default:		 break;
		}
	}
	return !error.cause;
}

static bool cpu_is_op(const struct cpu_event *event)
{
	return event->has_program && event->hlo_op.field && event->ordinal < MAX_ORDINALS;
}

static bool cpu_is_of_run(const struct cpu_event *event)
{
	return cpu_is_op(event) && event->has_run && event->hlo_module.field;
}

/* A visit of each event of a line, in the order of the file; BEGIN_PS: of its part of the line, on the run's clock. */
typedef enum ts_status cpu_visit(void *ctx, const struct xplane_plane *plane, int64_t begin_ps,
				 struct ts_bytes body, const struct cpu_event *event,
				 struct ts_error *err);

static enum ts_status cpu_each_of(const struct xplane_plane *plane, struct ts_bytes line,
				  int64_t begin_ps, cpu_visit *visit, void *ctx,
				  struct ts_error *err)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(line, &error);
	enum ts_status st = TS_OK;

	while (st == TS_OK && ts_pb_next(&pb)) {
		struct cpu_event event;
		struct ts_bytes body;

		if (pb.field != XLINE_EVENTS || pb.wire != TS_PB_BYTES)
			continue;
		body = ts_pb_bytes(&pb);
		if (cpu_read_event(plane, body, &event))
			st = visit(ctx, plane, begin_ps, body, &event, err);
	}
	return st;
}

static enum ts_status cpu_each(const struct ts_profile *profile, const struct ts_line *line,
			       cpu_visit *visit, void *ctx, struct ts_error *err)
{
	const struct xplane_plane *plane = profile->planes[line->plane].reader_data;
	enum ts_status st = cpu_each_of(plane, line->body, line->start_ps, visit, ctx, err);

	for (size_t i = 0; i < plane->nr_parts && st == TS_OK; i++)
		if (plane->parts[i].line == line->at_reader)
			st = cpu_each_of(plane->parts[i].plane, plane->parts[i].body,
					 ts_i64_add(line->start_ps, plane->parts[i].offset_ps),
					 visit, ctx, err);
	return st;
}

/* Each event of the lanes of a CPU's plane. */
static enum ts_status cpu_each_op(const struct ts_profile *profile, const struct ts_plane *plane,
				  cpu_visit *visit, void *ctx, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (uint32_t i = 0; i < plane->nr_lines && st == TS_OK; i++) {
		const struct ts_line *line = &profile->lines[plane->first_line + i];

		if (line->kind == TS_LINE_OPS)
			st = cpu_each(profile, line, visit, ctx, err);
	}
	return st;
}

static struct ts_span cpu_span_of(int64_t begin_ps, const struct cpu_event *event)
{
	int64_t start_ps = ts_time_bound(ts_i64_add(begin_ps, event->start_ps));

	return (struct ts_span){ start_ps,
				 ts_time_bound(ts_i64_add(start_ps, TS_MAX(event->dur_ps, 0))) };
}

/* Ops of one thread for one device. */
struct lane {
	uint32_t line; /* the host's */
	uint32_t ordinal;
	uint64_t nr_events;
};

/* Marks of one name on one thread. */
struct marks {
	uint32_t line, op;
	uint64_t nr;
};

struct marks_list {
	uint32_t line; /* that is read */
	struct marks *items;
	size_t nr, cap;
};

struct scan {
	struct ts_profile *profile;
	struct lane *lanes;
	size_t nr, cap;
	uint32_t of[MAX_ORDINALS]; /* by ordinal: its last lane */
	struct marks_list marks;
};

/* The lane of the line that is read. */
static struct lane *lane_of(struct scan *scan, uint32_t ordinal)
{
	uint32_t at = scan->of[ordinal];

	if (at < scan->nr && scan->lanes[at].ordinal == ordinal &&
	    scan->lanes[at].line == scan->marks.line)
		return &scan->lanes[at];
	scan->of[ordinal] = (uint32_t)scan->nr;
	if (!ts_grow(&scan->lanes, &scan->cap, scan->nr + 1, sizeof(*scan->lanes)))
		return NULL;
	scan->lanes[scan->nr] = (struct lane){ .line = scan->marks.line, .ordinal = ordinal };
	return &scan->lanes[scan->nr++];
}

/* Steps are what is marked most often; epochs are steps only where nothing else is marked. */
static bool cpu_marks_are_better(const struct ts_profile *profile, const struct marks *marks,
				 const struct marks *best)
{
	uint64_t number;
	bool is_epoch = ts_scope_is_epoch(profile->ops[marks->op].name, &number);
	bool best_is_epoch =
		best->nr > 0 && ts_scope_is_epoch(profile->ops[best->op].name, &number);

	if (best->nr == 0 || is_epoch != best_is_epoch)
		return best->nr == 0 || best_is_epoch;
	return marks->nr > best->nr;
}

/* cpu_visit */
static enum ts_status cpu_see_mark(void *ctx, const struct xplane_plane *plane, int64_t begin_ps,
				   struct ts_bytes body, const struct cpu_event *event,
				   struct ts_error *err)
{
	struct marks_list *marks = ctx;
	uint32_t op = event->has_step ? id_table_find(&plane->ops, event->metadata_id) : TS_NONE;

	(void)begin_ps;
	(void)body;
	for (size_t i = 0; i < marks->nr && op != TS_NONE; i++)
		if (marks->items[i].op == op && marks->items[i].line == marks->line) {
			marks->items[i].nr++;
			return TS_OK;
		}
	if (op == TS_NONE || marks->nr == MAX_MARKS)
		return TS_OK;
	if (!ts_grow(&marks->items, &marks->cap, marks->nr + 1, sizeof(*marks->items)))
		return ts_fail_nomem(err);
	marks->items[marks->nr++] = (struct marks){ .line = marks->line, .op = op, .nr = 1 };
	return TS_OK;
}

/* .nr 0: the program marked none. */
static struct marks cpu_best_marks(const struct ts_profile *profile, const struct marks_list *marks)
{
	struct marks best = { .nr = 0 };

	for (size_t i = 0; i < marks->nr; i++)
		if (cpu_marks_are_better(profile, &marks->items[i], &best))
			best = marks->items[i];
	return best;
}

/* The op, and what it is part of, for the streams of events to find. */
static enum ts_status cpu_add_ops(struct ts_profile *profile, struct xplane_plane *plane,
				  const struct cpu_event *event, struct ts_error *err)
{
	enum ts_status st = ts_xplane_add_hlo_op(profile, plane, &event->hlo_op, event->program_id,
						 TS_OP_OTHER, err);

	if (st == TS_OK && cpu_is_of_run(event))
		st = ts_xplane_add_hlo_op(profile, plane, &event->hlo_module, event->program_id,
					  TS_OP_MODULE, err);
	return st;
}

/* cpu_visit */
static enum ts_status cpu_see(void *ctx, const struct xplane_plane *plane, int64_t begin_ps,
			      struct ts_bytes body, const struct cpu_event *event,
			      struct ts_error *err)
{
	struct scan *scan = ctx;
	struct lane *lane;

	if (!cpu_is_op(event) || scan->nr == TS_LIMIT_LINES)
		return cpu_see_mark(&scan->marks, plane, begin_ps, body, event, err);
	lane = lane_of(scan, (uint32_t)event->ordinal);
	if (!lane)
		return ts_fail_nomem(err);
	lane->nr_events++;
	return cpu_add_ops(scan->profile, (struct xplane_plane *)(uintptr_t)plane, event, err);
}

static bool cpu_names_ops(const struct ts_profile *profile, const struct ts_line *line,
			  uint32_t host)
{
	const struct ts_plane *plane = &profile->planes[line->plane];
	const struct xplane_plane *data = plane->reader_data;

	return plane->host == host && data->names_ops;
}

static enum ts_status scan_host(struct scan *scan, uint32_t host, struct ts_error *err)
{
	const struct ts_profile *profile = scan->profile;
	enum ts_status st = TS_OK;

	for (uint32_t i = 0; i < profile->nr_lines && st == TS_OK; i++) {
		const struct ts_line *line = &profile->lines[i];

		if (line->kind != TS_LINE_THREAD || !cpu_names_ops(profile, line, host))
			continue;
		scan->marks.line = i;
		st = cpu_each(profile, line, cpu_see, scan, err);
	}
	return st;
}

/* An execution: from the first start of its ops to the last end. */
struct run {
	uint64_t id, program_id;
	int64_t start_ps, end_ps;
	uint32_t op;
	struct ts_bytes body; /* of its first op */
};

TS_ORDER(cpu_by_start, struct run, TS_UP(start_ps) TS_DOWN(end_ps) TS_UP(id))

struct runs {
	uint64_t ordinal;
	struct run *items;
	size_t nr, cap;
	struct ts_map by_id;
};

static struct run *run_of(struct runs *runs, const struct cpu_event *event)
{
	uint64_t key =
		ts_hash((struct ts_bytes){ (const uint8_t *)&event->run_id, sizeof(event->run_id) },
			event->program_id);
	uint32_t at = ts_map_find(&runs->by_id, key);

	if (at != TS_NONE)
		return &runs->items[at];
	if (runs->nr >= TS_NONE - 1 ||
	    !ts_grow(&runs->items, &runs->cap, runs->nr + 1, sizeof(*runs->items)) ||
	    !ts_map_set(&runs->by_id, key, (uint32_t)runs->nr))
		return NULL;
	runs->items[runs->nr] = (struct run){ .id = event->run_id,
					      .program_id = event->program_id,
					      .start_ps = INT64_MAX,
					      .end_ps = INT64_MIN };
	return &runs->items[runs->nr++];
}

/* cpu_visit */
static enum ts_status take_run(void *ctx, const struct xplane_plane *plane, int64_t begin_ps,
			       struct ts_bytes body, const struct cpu_event *event,
			       struct ts_error *err)
{
	struct runs *runs = ctx;
	struct ts_span span = cpu_span_of(begin_ps, event);
	struct run *run;

	if (event->ordinal != runs->ordinal || !cpu_is_of_run(event))
		return TS_OK;
	run = run_of(runs, event);
	if (!run)
		return ts_fail_nomem(err);
	if (span.start_ps < run->start_ps) {
		run->start_ps = span.start_ps;
		run->body = body;
		run->op = ts_xplane_hlo_op(plane, &event->hlo_module, event->program_id,
					   TS_OP_MODULE);
	}
	run->end_ps = TS_MAX(run->end_ps, span.end_ps);
	return TS_OK;
}

/* The executions of a device, by its lanes. The caller releases RUNS in any case. */
static enum ts_status find_runs(const struct ts_profile *profile, const struct ts_plane *plane,
				struct runs *runs, struct ts_error *err)
{
	enum ts_status st;

	*runs = (struct runs){ .ordinal = profile->devices[plane->device].ordinal };
	st = cpu_each_op(profile, plane, take_run, runs, err);
	if (st == TS_OK && runs->nr > 0)
		qsort(runs->items, runs->nr, sizeof(*runs->items), cpu_by_start);
	return st;
}

static void release_runs(struct runs *runs)
{
	free(runs->items);
	ts_map_release(&runs->by_id);
}

bool ts_xplane_is_made(const struct ts_profile *profile, const struct ts_line *line)
{
	const struct ts_device *device = ts_line_device(profile, line);

	TS_ASSERT(profile && line);
	return device && device->is_cpu && line->kind != TS_LINE_OPS;
}

static enum ts_status push_made(struct ts_nest *nest, uint32_t op, uint64_t number,
				struct ts_span span, struct ts_bytes body, struct ts_error *err)
{
	struct ts_event event = {
		.op = op,
		.start_ps = span.start_ps,
		.dur_ps = span.end_ps - span.start_ps,
		.device_start_ps = span.start_ps,
		.total_ps = span.end_ps - span.start_ps,
		.flops = TS_UNKNOWN,
		.bytes = TS_UNKNOWN,
		.occurrences = 1,
		.number = number,
		.link = TS_NO_LINK,
		.body = body,
	};

	return ts_nest_push(nest, &event, err);
}

static enum ts_status stream_runs(const struct ts_profile *profile, const struct ts_line *line,
				  struct ts_nest *nest, struct ts_error *err)
{
	struct runs runs;
	enum ts_status st = find_runs(profile, &profile->planes[line->plane], &runs, err);

	for (size_t i = 0; i < runs.nr && st == TS_OK; i++) {
		const struct run *run = &runs.items[i];

		st = push_made(nest, run->op, run->id,
			       (struct ts_span){ run->start_ps, run->end_ps }, run->body, err);
	}
	release_runs(&runs);
	return st;
}

/* A step goes on until the next one is marked. */
struct step {
	struct ts_span mark;
	uint64_t number;
	struct ts_bytes body;
};

TS_ORDER(steps_by_start, struct step, TS_UP(mark.start_ps) TS_DOWN(mark.end_ps))

struct stepping {
	uint32_t op;	/* of the marks on the host's thread */
	int64_t end_ps; /* of all that ran */
	uint64_t ordinal;
	struct step *items;
	size_t nr, cap;
};

/* cpu_visit */
static enum ts_status take_mark(void *ctx, const struct xplane_plane *plane, int64_t begin_ps,
				struct ts_bytes body, const struct cpu_event *event,
				struct ts_error *err)
{
	struct stepping *stepping = ctx;

	if (!event->has_step || id_table_find(&plane->ops, event->metadata_id) != stepping->op)
		return TS_OK;
	if (!ts_grow(&stepping->items, &stepping->cap, stepping->nr + 1, sizeof(*stepping->items)))
		return ts_fail_nomem(err);
	stepping->items[stepping->nr++] =
		(struct step){ cpu_span_of(begin_ps, event), event->step, body };
	return TS_OK;
}

/* cpu_visit */
static enum ts_status take_end(void *ctx, const struct xplane_plane *plane, int64_t begin_ps,
			       struct ts_bytes body, const struct cpu_event *event,
			       struct ts_error *err)
{
	struct stepping *stepping = ctx;

	(void)plane;
	(void)body;
	(void)err;
	if (cpu_is_op(event) && event->ordinal == stepping->ordinal)
		stepping->end_ps = TS_MAX(stepping->end_ps, cpu_span_of(begin_ps, event).end_ps);
	return TS_OK;
}

static enum ts_status push_steps(const struct ts_profile *profile, struct stepping *stepping,
				 struct ts_nest *nest, struct ts_error *err)
{
	uint32_t op = ts_profile_find_op(profile, TS_OP_STEP, profile->ops[stepping->op].name);
	enum ts_status st = TS_OK;

	if (stepping->nr > 0)
		qsort(stepping->items, stepping->nr, sizeof(*stepping->items), steps_by_start);
	for (size_t i = 0; i < stepping->nr && st == TS_OK; i++) {
		const struct step *at = &stepping->items[i];
		int64_t end_ps = i + 1 < stepping->nr ? at[1].mark.start_ps
						      : TS_MAX(at->mark.end_ps, stepping->end_ps);

		st = push_made(nest, op, at->number, (struct ts_span){ at->mark.start_ps, end_ps },
			       at->body, err);
	}
	return st;
}

static enum ts_status stream_steps(const struct ts_profile *profile, const struct ts_line *line,
				   struct ts_nest *nest, struct ts_error *err)
{
	const struct ts_plane *plane = &profile->planes[line->plane];
	struct stepping stepping = { .end_ps = INT64_MIN,
				     .ordinal = profile->devices[plane->device].ordinal };
	struct marks_list marks = { .nr = 0 };
	enum ts_status st = cpu_each(profile, line, cpu_see_mark, &marks, err);

	stepping.op = cpu_best_marks(profile, &marks).op;
	if (st == TS_OK)
		st = cpu_each_op(profile, plane, take_end, &stepping, err);
	if (st == TS_OK && marks.nr > 0)
		st = cpu_each(profile, line, take_mark, &stepping, err);
	if (st == TS_OK && marks.nr > 0)
		st = push_steps(profile, &stepping, nest, err);
	free(marks.items);
	free(stepping.items);
	return st;
}

enum ts_status ts_xplane_stream_made(const struct ts_profile *profile, uint32_t index,
				     struct ts_nest *nest, struct ts_error *err)
{
	const struct ts_line *line = &profile->lines[index];

	TS_ASSERT(profile && nest && ts_xplane_is_made(profile, line));
	return line->kind == TS_LINE_STEPS ? stream_steps(profile, line, nest, err)
					   : stream_runs(profile, line, nest, err);
}

/* A line of the newest plane. */
static struct ts_line *cpu_add_line(struct ts_profile *profile)
{
	struct ts_line *line = ts_profile_add_line(profile);

	if (line) {
		line->plane = (uint32_t)profile->nr_planes - 1;
		line->repeats = true;
		profile->planes[line->plane].nr_lines++;
	}
	return line;
}

/* One that has events of the host's line OF. */
static struct ts_line *cpu_copy_line(struct ts_profile *profile, uint32_t of, uint64_t nr_events)
{
	struct ts_line *line = cpu_add_line(profile);

	if (!line)
		return NULL;
	line->name = profile->lines[of].name;
	line->body = profile->lines[of].body;
	line->at_reader = profile->lines[of].at_reader;
	line->host_ps = line->start_ps = profile->lines[of].host_ps; /* of the first host, so far */
	line->timestamp_ns = profile->lines[of].timestamp_ns;
	line->usual = profile->lines[of].usual;
	line->nr_events = nr_events;
	return line;
}

static enum ts_status add_lane(struct ts_profile *profile, const struct lane *lane,
			       struct ts_error *err)
{
	struct ts_line *line = cpu_copy_line(profile, lane->line, lane->nr_events);

	if (!line)
		return ts_fail_nomem(err);
	line->id = profile->lines[lane->line].id;
	line->kind = TS_LINE_OPS;
	return TS_OK;
}

static enum ts_status cpu_add_steps(struct ts_profile *profile, const struct marks *marks,
				    struct ts_error *err)
{
	struct ts_line *line;
	struct ts_op step;

	if (marks->nr == 0)
		return TS_OK;
	line = cpu_copy_line(profile, marks->line, marks->nr);
	if (!line)
		return ts_fail_nomem(err);
	line->name = TS_LIT("Steps");
	line->kind = TS_LINE_STEPS;
	ts_op_init(&step);
	step.name = profile->ops[marks->op].name;
	step.kind = TS_OP_STEP;
	return ts_profile_intern_op(profile, &step) == TS_NONE ? ts_fail_nomem(err) : TS_OK;
}

/* Behind the lanes that it is made of; left out where events do not say of which execution they are. */
static enum ts_status add_runs(struct ts_profile *profile, struct ts_error *err)
{
	const struct ts_plane *plane = &profile->planes[profile->nr_planes - 1];
	const struct ts_line *first = &profile->lines[plane->first_line];
	int64_t host_ps = first->host_ps, timestamp_ns = first->timestamp_ns;
	struct ts_line *line;
	struct runs runs;
	enum ts_status st = find_runs(profile, plane, &runs, err);
	size_t nr = runs.nr;

	release_runs(&runs);
	if (st || nr == 0)
		return st;
	line = cpu_add_line(profile);
	if (!line)
		return ts_fail_nomem(err);
	line->name = TS_LIT("XLA Modules");
	line->kind = TS_LINE_MODULES;
	line->host_ps = host_ps;
	line->timestamp_ns = timestamp_ns;
	line->nr_events = nr;
	return TS_OK;
}

static enum ts_status cpu_add_plane(struct ts_profile *profile, uint32_t host, uint32_t ordinal,
				    const struct xplane_plane *data, struct ts_error *err)
{
	struct ts_plane *plane = ts_profile_add_plane(profile);
	struct ts_device *device;

	if (!plane)
		return ts_fail_nomem(err);
	plane->host = host;
	plane->id = (int64_t)profile->nr_planes - 1;
	plane->name = ts_arena_printf(&profile->arena, "/device:CPU:%u", (unsigned)ordinal);
	plane->kind = TS_PLANE_GPU;
	plane->first_line = (uint32_t)profile->nr_lines;
	plane->reader_data = data;
	profile->hosts[host].nr_planes++;
	device = ts_profile_add_plane_device(profile, (uint32_t)profile->nr_planes - 1);
	if (!plane->name.p || !device)
		return ts_fail_nomem(err);
	device->is_cpu = true;
	device->is_gpu = false;
	device->kind = TS_LIT("CPU");
	return TS_OK;
}

/* The CPU of this ordinal: the lanes that are LANES[0]'s, and those behind it. */
static enum ts_status cpu_add_device(struct scan *scan, uint32_t host, const struct lane *lanes,
				     size_t nr, struct ts_error *err)
{
	struct ts_profile *profile = scan->profile;
	const struct ts_plane *from = &profile->planes[profile->lines[lanes[0].line].plane];
	enum ts_status st = cpu_add_plane(profile, host, lanes[0].ordinal, from->reader_data, err);

	struct marks marks = cpu_best_marks(profile, &scan->marks);

	for (size_t i = 0; i < nr && st == TS_OK; i++)
		st = add_lane(profile, &lanes[i], err);
	if (st == TS_OK)
		st = add_runs(profile, err);
	return st ? st : cpu_add_steps(profile, &marks, err);
}

/* A plane has the ids of one plane of the host. */
TS_ORDER(by_device, struct lane, TS_UP(ordinal) TS_UP(line))

static bool cpu_is_same(const struct scan *scan, const struct lane *a, const struct lane *b)
{
	return a->ordinal == b->ordinal &&
	       scan->profile->lines[a->line].plane == scan->profile->lines[b->line].plane;
}

static bool cpu_has_device(const struct ts_profile *profile, uint32_t host)
{
	for (size_t i = 0; i < profile->nr_devices; i++)
		if (profile->devices[i].host == host)
			return true;
	return false;
}

enum ts_status ts_xplane_add_cpus(struct ts_profile *profile, uint32_t host, struct ts_error *err)
{
	struct scan scan = { .profile = profile };
	enum ts_status st = TS_OK;
	size_t end;

	TS_ASSERT(profile);
	if (cpu_has_device(profile, host))
		return TS_OK;
	st = scan_host(&scan, host, err);
	if (scan.nr > 0)
		qsort(scan.lanes, scan.nr, sizeof(*scan.lanes), by_device);
	for (size_t at = 0; at < scan.nr && st == TS_OK; at = end) {
		for (end = at + 1;
		     end < scan.nr && cpu_is_same(&scan, &scan.lanes[at], &scan.lanes[end]); end++)
			;
		if (ts_profile_takes_device(profile))
			st = cpu_add_device(&scan, host, scan.lanes + at, end - at, err);
	}
	free(scan.lanes);
	free(scan.marks.items);
	return st;
}
