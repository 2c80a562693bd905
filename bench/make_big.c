/* SPDX-License-Identifier: MIT */
/*
 * Writes a large profile for benchmarks: make_big TEMPLATE OUT STEPS DEVICES [SEED]
 *
 * TEMPLATE is the bundled sample (tests/data/sample/.../simulated-host.xplane.pb). Its second step
 * on its first device is repeated STEPS times on each of DEVICES devices; each time all of it runs
 * a little slower or faster (by up to 3 %, from SEED), so no two steps have equal bytes. Modules,
 * metadata and the host plane are the template's. 9100 steps on 4 devices are 10 million events.
 *
 * Left out: what happened once in the sample (the recompilation, waits for input). Metadata ids are
 * small here, not the 64-bit hashes of real profiles: some programs to compare with refuse those.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "codec/pb.h"
#include "codec/pbw.h"

enum {
	SPACE_PLANE = 1,
	PLANE_ID = 1,
	PLANE_NAME = 2,
	PLANE_LINE = 3,
	PLANE_METADATA = 4,
	PLANE_STAT_METADATA = 5,
	PLANE_STAT = 6
};
enum { LINE_ID = 1, LINE_NAME = 2, LINE_NS = 3, LINE_EVENT = 4 };
enum { EVENT_METADATA = 1, EVENT_OFFSET = 2, EVENT_DURATION = 3, EVENT_STAT = 4 };
enum { STAT_ID = 1, STAT_UINT = 3, STAT_INT = 4, STAT_STR = 5 };
enum { MAP_KEY = 1, MAP_VALUE = 2, META_ID = 1, META_NAME = 2 };
enum { MAX_LINES = 16, MAX_STATS = 12 };

#define START_NS 1767225600000000000u

/* Stats that follow the step; the others are copied. */
enum follow { COPIED, CLOCK, CLOCK_DURATION, STEP_NUM, RUN_ID, NR_FOLLOW };
static const char *const follow_names[NR_FOLLOW] = {
	[COPIED] = "",
	[CLOCK] = "device_offset_ps",
	[CLOCK_DURATION] = "device_duration_ps",
	[STEP_NUM] = "step_num",
	[RUN_ID] = "run_id",
};

struct stat {
	enum follow follow;
	uint64_t id;
	struct ts_bytes raw;
};

struct event {
	uint64_t metadata;
	int64_t start, dur, clock;
	struct stat stats[MAX_STATS];
	size_t nr_stats;
};

struct line {
	struct ts_bytes name;
	uint64_t id;
	struct event *events;
	size_t nr, cap;
};

struct template
{
	struct ts_bytes space, plane;
	uint64_t follow_ids[NR_FOLLOW];
	struct line lines[MAX_LINES];
	size_t nr_lines;
	int64_t from, to;	/* the step that is repeated */
	uint64_t first_step_id; /* metadata of the new steps: behind the template's own */
	struct ts_pb_error err;
};

static void die(const char *what)
{
	fprintf(stderr, "make_big: %s\n", what);
	exit(1);
}

static struct ts_buf slurp(const char *path)
{
	struct ts_buf buf = TS_BUF_INIT;
	FILE *f = fopen(path, "rb");

	if (!f)
		die("the template cannot be opened");
	while (ts_buf_room(&buf, 1 << 20)) {
		size_t n = fread(buf.p + buf.n, 1, 1 << 20, f);

		buf.n += n;
		if (n == 0)
			break;
	}
	fclose(f);
	if (buf.failed)
		die("out of memory");
	return buf;
}

static struct ts_bytes field_of(struct template *t, struct ts_bytes message, uint32_t field)
{
	struct ts_pb pb = ts_pb_of(message, &t->err);

	while (ts_pb_next(&pb))
		if (pb.field == field)
			return ts_pb_bytes(&pb);
	return (struct ts_bytes){ NULL, 0 };
}

static uint64_t number_of(struct template *t, struct ts_bytes message, uint32_t field)
{
	struct ts_pb pb = ts_pb_of(message, &t->err);

	while (ts_pb_next(&pb))
		if (pb.field == field)
			return ts_pb_u64(&pb);
	return 0;
}

static void find_plane(struct template *t)
{
	struct ts_pb pb = ts_pb_of(t->space, &t->err);

	while (ts_pb_next(&pb)) {
		if (pb.field != SPACE_PLANE)
			continue;
		if (ts_bytes_is(field_of(t, ts_pb_bytes(&pb), PLANE_NAME), "/device:TPU:0"))
			t->plane = ts_pb_bytes(&pb);
	}
	if (!t->plane.p)
		die("the template has no /device:TPU:0");
}

static void find_follow_ids(struct template *t)
{
	struct ts_pb pb = ts_pb_of(t->plane, &t->err);

	while (ts_pb_next(&pb)) {
		if (pb.field != PLANE_STAT_METADATA)
			continue;
		struct ts_bytes value = field_of(t, ts_pb_bytes(&pb), MAP_VALUE);

		for (int i = COPIED + 1; i < NR_FOLLOW; i++)
			if (ts_bytes_is(field_of(t, value, META_NAME), follow_names[i]))
				t->follow_ids[i] = number_of(t, value, META_ID);
	}
}

static void find_step_ids(struct template *t)
{
	struct ts_pb pb = ts_pb_of(t->plane, &t->err);

	while (ts_pb_next(&pb)) {
		if (pb.field != PLANE_METADATA)
			continue;
		uint64_t id = number_of(t, ts_pb_bytes(&pb), MAP_KEY);

		t->first_step_id = TS_MAX(t->first_step_id, id + 1);
	}
}

static void read_stat(struct template *t, struct event *event, struct ts_bytes raw)
{
	struct stat stat = { COPIED, number_of(t, raw, STAT_ID), raw };

	for (int i = COPIED + 1; i < NR_FOLLOW; i++)
		if (stat.id == t->follow_ids[i])
			stat.follow = (enum follow)i;
	if (stat.follow == CLOCK)
		event->clock = (int64_t)number_of(t, raw, STAT_UINT);
	if (event->nr_stats < MAX_STATS)
		event->stats[event->nr_stats++] = stat;
}

static struct event read_event(struct template *t, struct ts_bytes raw)
{
	struct event event = { 0 };
	struct ts_pb pb = ts_pb_of(raw, &t->err);

	while (ts_pb_next(&pb)) {
		switch (pb.field) {
		case EVENT_METADATA: event.metadata = ts_pb_u64(&pb); break;
		case EVENT_OFFSET:   event.start = ts_pb_i64(&pb); break;
		case EVENT_DURATION: event.dur = ts_pb_i64(&pb); break;
		case EVENT_STAT:     read_stat(t, &event, ts_pb_bytes(&pb)); break;
		default:	     break;
		}
	}
	return event;
}

static void keep(struct line *line, const struct event *event)
{
	if (line->nr == line->cap) {
		line->cap = line->cap ? 2 * line->cap : 64;
		line->events = realloc(line->events, line->cap * sizeof(*line->events));
		if (!line->events)
			die("out of memory");
	}
	line->events[line->nr++] = *event;
}

/* The line Steps comes first and says which span is repeated: that of its second event. */
static void read_line(struct template *t, struct ts_bytes raw)
{
	struct line *line = &t->lines[t->nr_lines];
	struct ts_pb pb = ts_pb_of(raw, &t->err);
	size_t nr = 0;

	if (t->nr_lines == MAX_LINES)
		return;
	line->name = field_of(t, raw, LINE_NAME);
	line->id = number_of(t, raw, LINE_ID);
	while (ts_pb_next(&pb)) {
		if (pb.field != LINE_EVENT)
			continue;
		struct event event = read_event(t, ts_pb_bytes(&pb));

		if (ts_bytes_is(line->name, "Steps") && nr++ == 1) {
			t->from = event.start;
			t->to = event.start + event.dur;
		}
		if (event.start >= t->from && event.start + event.dur <= t->to)
			keep(line, &event);
	}
	t->nr_lines++;
}

static void read_template(struct template *t)
{
	struct ts_pb pb;

	find_plane(t);
	find_follow_ids(t);
	find_step_ids(t);
	pb = ts_pb_of(t->plane, &t->err);
	while (ts_pb_next(&pb))
		if (pb.field == PLANE_LINE)
			read_line(t, ts_pb_bytes(&pb));
	if (t->err.cause || t->to == 0)
		die("the template is no sample run with marked steps");
}

struct step {
	uint64_t number;
	int64_t at, scale; /* the step's start; its slowness in 1/65536 */
};

static int64_t scaled(const struct template *t, const struct step *step, int64_t when)
{
	return step->at + (when - t->from) * step->scale / 65536;
}

static void put_stat(struct ts_buf *out, const struct stat *stat, const struct event *event,
		     const struct step *step, int64_t start, int64_t dur)
{
	size_t mark;

	if (stat->follow == COPIED) {
		ts_pbw_bytes(out, EVENT_STAT, stat->raw);
		return;
	}
	mark = ts_pbw_begin(out, EVENT_STAT);
	ts_pbw_u64(out, STAT_ID, stat->id);
	switch (stat->follow) {
	case CLOCK:	     ts_pbw_i64(out, STAT_UINT, start + event->clock - event->start); break;
	case CLOCK_DURATION: ts_pbw_i64(out, STAT_UINT, dur); break;
	case STEP_NUM:	     ts_pbw_u64(out, STAT_INT, step->number); break;
	default:	     ts_pbw_u64(out, STAT_UINT, step->number + 1); break;
	}
	ts_pbw_end(out, mark);
}

static void put_event(struct ts_buf *out, const struct template *t, const struct line *line,
		      const struct event *event, const struct step *step)
{
	int64_t start = scaled(t, step, event->start);
	int64_t dur = scaled(t, step, event->start + event->dur) - start;
	size_t mark = ts_pbw_begin(out, LINE_EVENT);
	bool is_step = ts_bytes_is(line->name, "Steps");

	ts_pbw_u64(out, EVENT_METADATA,
		   is_step ? t->first_step_id + step->number : event->metadata);
	ts_pbw_i64(out, EVENT_OFFSET, start);
	ts_pbw_i64(out, EVENT_DURATION, dur);
	for (size_t i = 0; i < event->nr_stats; i++)
		put_stat(out, &event->stats[i], event, step, start, dur);
	ts_pbw_end(out, mark);
}

static uint64_t put_line(struct ts_buf *out, const struct template *t, const struct line *line,
			 const struct step *steps, size_t nr_steps)
{
	size_t mark = ts_pbw_begin(out, PLANE_LINE);

	ts_pbw_u64(out, LINE_ID, line->id);
	ts_pbw_text(out, LINE_NAME, line->name);
	for (size_t n = 0; n < nr_steps; n++)
		for (size_t i = 0; i < line->nr; i++)
			put_event(out, t, line, &line->events[i], &steps[n]);
	ts_pbw_end(out, mark);
	return line->nr * nr_steps;
}

static void put_step_names(struct ts_buf *out, const struct template *t, size_t nr_steps)
{
	for (uint64_t n = 0; n < nr_steps; n++) {
		char name[24];
		size_t entry = ts_pbw_begin(out, PLANE_METADATA), value;

		snprintf(name, sizeof(name), "%" PRIu64, n);
		ts_pbw_u64(out, MAP_KEY, t->first_step_id + n);
		value = ts_pbw_begin(out, MAP_VALUE);
		ts_pbw_u64(out, META_ID, t->first_step_id + n);
		ts_pbw_text(out, META_NAME, ts_bytes_of(name));
		ts_pbw_end(out, value);
		ts_pbw_end(out, entry);
	}
}

static uint64_t put_device(struct ts_buf *out, struct template *t, unsigned device,
			   const struct step *steps, size_t nr_steps)
{
	size_t mark = ts_pbw_begin(out, SPACE_PLANE);
	struct ts_pb pb = ts_pb_of(t->plane, &t->err);
	uint64_t events = 0;
	char name[32];

	snprintf(name, sizeof(name), "/device:TPU:%u", device);
	ts_pbw_u64(out, PLANE_ID, 2 + 8 * (uint64_t)device);
	ts_pbw_text(out, PLANE_NAME, ts_bytes_of(name));
	for (size_t i = 0; i < t->nr_lines; i++)
		events += put_line(out, t, &t->lines[i], steps, nr_steps);
	while (ts_pb_next(&pb))
		if (pb.field == PLANE_METADATA || pb.field == PLANE_STAT_METADATA ||
		    pb.field == PLANE_STAT)
			ts_pbw_bytes(out, pb.field, ts_pb_bytes(&pb));
	put_step_names(out, t, nr_steps);
	ts_pbw_end(out, mark);
	return events;
}

static void put_task_stat(struct ts_buf *out, uint64_t id, const char *name, uint64_t value)
{
	size_t entry = ts_pbw_begin(out, PLANE_STAT_METADATA), inner;

	ts_pbw_u64(out, MAP_KEY, id);
	inner = ts_pbw_begin(out, MAP_VALUE);
	ts_pbw_u64(out, META_ID, id);
	ts_pbw_text(out, META_NAME, ts_bytes_of(name));
	ts_pbw_end(out, inner);
	ts_pbw_end(out, entry);
	inner = ts_pbw_begin(out, PLANE_STAT);
	ts_pbw_u64(out, STAT_ID, id);
	ts_pbw_u64(out, STAT_UINT, value);
	ts_pbw_end(out, inner);
}

/* A metadata entry with its id, key and value, replaced. */
static void put_entry(struct ts_buf *out, struct template *t, struct ts_bytes entry, uint64_t id)
{
	struct ts_pb pb = ts_pb_of(field_of(t, entry, MAP_VALUE), &t->err);
	size_t mark = ts_pbw_begin(out, PLANE_METADATA), value;

	ts_pbw_u64(out, MAP_KEY, id);
	value = ts_pbw_begin(out, MAP_VALUE);
	ts_pbw_u64(out, META_ID, id);
	while (ts_pb_next(&pb))
		if (pb.field != META_ID && pb.wire == TS_PB_BYTES)
			ts_pbw_bytes(out, pb.field, ts_pb_bytes(&pb));
	ts_pbw_end(out, value);
	ts_pbw_end(out, mark);
}

static void put_modules(struct ts_buf *out, struct template *t, struct ts_bytes plane)
{
	struct ts_pb pb = ts_pb_of(plane, &t->err);
	size_t mark = ts_pbw_begin(out, SPACE_PLANE);
	uint64_t id = 0;

	while (ts_pb_next(&pb)) {
		if (pb.field == PLANE_METADATA)
			put_entry(out, t, ts_pb_bytes(&pb), ++id);
		else if (pb.wire == TS_PB_BYTES)
			ts_pbw_bytes(out, pb.field, ts_pb_bytes(&pb));
	}
	ts_pbw_end(out, mark);
}

/* The template's other planes as they are, but for the end of the profile. */
static void put_rest(struct ts_buf *out, struct template *t, int64_t end_ps)
{
	struct ts_pb pb = ts_pb_of(t->space, &t->err);
	size_t mark;

	while (ts_pb_next(&pb)) {
		struct ts_bytes name = field_of(t, ts_pb_bytes(&pb), PLANE_NAME);

		if (ts_bytes_is(name, "/host:metadata"))
			put_modules(out, t, ts_pb_bytes(&pb));
		else if (pb.field == SPACE_PLANE && ts_bytes_starts(name, "/host:"))
			ts_pbw_bytes(out, SPACE_PLANE, ts_pb_bytes(&pb));
	}
	mark = ts_pbw_begin(out, SPACE_PLANE);
	ts_pbw_text(out, PLANE_NAME, TS_LIT("Task Environment"));
	put_task_stat(out, 1, "profile_start_time", START_NS);
	put_task_stat(out, 2, "profile_stop_time", START_NS + (uint64_t)end_ps / 1000);
	ts_pbw_end(out, mark);
	ts_pbw_text(out, 4, TS_LIT("simulated-host"));
}

static void flush(struct ts_buf *out, FILE *f)
{
	if (out->failed)
		die("out of memory");
	if (fwrite(out->p, 1, out->n, f) != out->n)
		die("the output cannot be written");
	ts_buf_clear(out);
}

/* One walk of steps for all devices: they run in lockstep, as in the sample. */
static int64_t plan(const struct template *t, struct step *steps, size_t nr_steps, uint64_t seed)
{
	int64_t at = t->from;

	for (size_t n = 0; n < nr_steps; n++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		steps[n] = (struct step){ n, at, 65536 - 1966 + (int64_t)(seed >> 33) % 3932 };
		at = scaled(t, &steps[n], t->to);
	}
	return at;
}

int main(int argc, char **argv)
{
	struct template t = { 0 };
	struct ts_buf input, out = TS_BUF_INIT;
	uint64_t nr_steps = 0, nr_devices = 0, seed = 1, events = 0;
	struct step *steps;
	int64_t end;
	FILE *f;

	if (argc < 5 || argc > 6 || !ts_bytes_u64(ts_bytes_of(argv[3]), &nr_steps) ||
	    !ts_bytes_u64(ts_bytes_of(argv[4]), &nr_devices) || nr_steps < 1 ||
	    nr_steps > 1000000 || nr_devices < 1 || nr_devices > 1024 ||
	    (argc == 6 && !ts_bytes_u64(ts_bytes_of(argv[5]), &seed)))
		die("usage: make_big TEMPLATE OUT STEPS DEVICES [SEED]");
	input = slurp(argv[1]);
	t.space = ts_buf_bytes(&input);
	read_template(&t);
	steps = calloc(nr_steps, sizeof(*steps));
	f = fopen(argv[2], "wb");
	if (!steps || !f)
		die("the output cannot be written");
	end = plan(&t, steps, nr_steps, seed);
	for (unsigned d = 0; d < nr_devices; d++) {
		events += put_device(&out, &t, d, steps, nr_steps);
		flush(&out, f);
	}
	put_rest(&out, &t, end);
	flush(&out, f);
	if (fclose(f))
		die("the output cannot be written");
	printf("%" PRIu64 " events, %zu of a step, %.1f s on %" PRIu64 " devices\n", events,
	       (size_t)(events / nr_steps / nr_devices), (double)end * 1e-12, nr_devices);
	for (size_t i = 0; i < t.nr_lines; i++)
		free(t.lines[i].events);
	free(steps);
	ts_buf_release(&out);
	ts_buf_release(&input);
	return 0;
}
