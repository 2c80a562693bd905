/* SPDX-License-Identifier: MIT */
/*
 * The stack of open events of a line.
 *
 * An event is a child of the top when the top's time by the device's clock includes it (XProf: tsl
 * AncestorStack and Timespan::Includes); else the top is closed first. Segments are cut on the
 * timeline's clock: up to CUT every moment has been given to an event.
 */
#include "model/nest.h"

#include "base/check.h"
#include "model/launched.h"
#include "model/part.h"

#define BLOCK_EVENTS   2048
#define BLOCK_SEGMENTS (2 * BLOCK_EVENTS) /* an event begins one of its parent and ends its own */

struct open_event {
	struct ts_event event;
	int64_t device_end_ps, end_ps, children_ps;
};

struct ts_nest {
	struct ts_sink sink;
	const struct ts_span *part;  /* the profile's */
	struct ts_capture_time time; /* on the run's timeline */
	bool is_stream;		     /* its events follow one another */
	const struct ts_launched
		*launched; /* what they have to do; NULL: it is not asked for, or unknown */
	uint32_t host;
	int64_t over_ps; /* the end that the first event which was cut had */
	struct ts_block block;
	size_t depth, nr_looked_at; /* open events; of them those that the sink looks at */
	int64_t last_start_ps, cut_ps;
	int64_t last_place_ps; /* the start on the timeline of the event pushed last */
	struct open_event stack[TS_LIMIT_NEST_DEPTH + 1];
	uint32_t op[BLOCK_EVENTS], segment_op[BLOCK_SEGMENTS];
	int64_t start_ps[BLOCK_EVENTS], dur_ps[BLOCK_EVENTS];
	int64_t total_ps[BLOCK_EVENTS], self_ps[BLOCK_EVENTS];
	int64_t flops[BLOCK_EVENTS], bytes[BLOCK_EVENTS], occurrences[BLOCK_EVENTS];
	uint8_t how[BLOCK_EVENTS], segment_how[BLOCK_SEGMENTS];
	int64_t segment_flops[BLOCK_SEGMENTS], segment_bytes[BLOCK_SEGMENTS];
	uint64_t number[BLOCK_EVENTS], link[BLOCK_EVENTS];
	uint16_t depths[BLOCK_EVENTS];
	struct ts_bytes body[BLOCK_EVENTS];
	int64_t segment_start_ps[BLOCK_SEGMENTS], segment_end_ps[BLOCK_SEGMENTS];
};

static void nest_bound(struct ts_nest *nest, const struct ts_profile *profile,
		       const struct ts_line *line)
{
	const struct ts_plane *plane = &profile->planes[line->plane];
	const struct ts_device *device = ts_line_device(profile, line);
	struct ts_capture_time time = profile->hosts[plane->host].time;
	int64_t lag_ps = ts_i64_sub(line->start_ps, line->host_ps);

	nest->time = (struct ts_capture_time){ ts_i64_add(time.first_ps, lag_ps),
					       ts_i64_add(time.last_ps, lag_ps),
					       ts_i64_add(time.end_ps, lag_ps) };
	nest->is_stream = plane->kind == TS_PLANE_GPU && line->kind == TS_LINE_OPS &&
			  !(device && device->is_cpu); /* a thread's ops hold one another */
	nest->over_ps = INT64_MIN;
	nest->host = plane->host;
	nest->launched =
		nest->is_stream && nest->sink.columns & TS_COL_COSTS ? profile->launched : NULL;
}

struct ts_nest *ts_nest_new(const struct ts_profile *profile, uint32_t line,
			    const struct ts_sink *sink)
{
	struct ts_nest *nest = malloc(sizeof(*nest));

	TS_ASSERT(profile && sink);
	TS_ASSERT(line < profile->nr_lines);
	if (!nest)
		return NULL;
	nest->sink = *sink;
	nest->part = profile->part;
	nest_bound(nest, profile, &profile->lines[line]);
	nest->depth = nest->nr_looked_at = 0;
	nest->last_start_ps = INT64_MIN;
	nest->cut_ps = nest->last_place_ps = INT64_MIN;
	nest->block = (struct ts_block){
		.profile = profile,
		.line = &profile->lines[line],
		.line_index = line,
		.op = nest->op,
		.start_ps = nest->start_ps,
		.dur_ps = nest->dur_ps,
		.total_ps = nest->total_ps,
		.self_ps = nest->self_ps,
		.depth = nest->depths,
		.number = sink->columns & TS_COL_NUMBER ? nest->number : NULL,
		.link = sink->columns & TS_COL_LINK ? nest->link : NULL,
		.device_first_ps = INT64_MAX,
		.device_last_ps = INT64_MIN,
		.is_in_order = true,
		.segment_op = nest->segment_op,
		.segment_start_ps = nest->segment_start_ps,
		.segment_end_ps = nest->segment_end_ps,
	};
	return nest;
}

void ts_nest_stats(struct ts_nest *nest, ts_stat_find *find, ts_stats_find *find_all,
		   ts_stats_each *each)
{
	TS_ASSERT(nest && nest->block.nr_events == 0 && nest->depth == 0);
	if (!(nest->sink.columns & TS_COL_STATS))
		return;
	nest->block.body = nest->body;
	nest->block.stat = find;
	nest->block.stats = find_all;
	nest->block.each = each;
}

void ts_nest_free(struct ts_nest *nest)
{
	free(nest);
}

static enum ts_status nest_hand_over(struct ts_nest *nest, struct ts_error *err)
{
	enum ts_status st;

	if (nest->block.nr_events == 0 && nest->block.nr_segments == 0)
		return TS_OK;
	st = nest->sink.block(nest->sink.ctx, &nest->block, err);
	nest->block.nr_events = 0;
	nest->block.nr_segments = 0;
	nest->block.occurrences = nest->block.flops = nest->block.bytes = NULL;
	nest->block.segment_flops = nest->block.segment_bytes = NULL;
	nest->block.how = nest->block.segment_how = NULL;
	return st;
}

static void nest_cut_costs(struct ts_nest *nest, size_t at, const struct ts_event *event)
{
	struct ts_block *block = &nest->block;

	for (size_t i = 0; i < at && !block->segment_how; i++) {
		nest->segment_flops[i] = nest->segment_bytes[i] = TS_UNKNOWN;
		nest->segment_how[i] = 0;
	}
	nest->segment_flops[at] = event->flops;
	nest->segment_bytes[at] = event->bytes;
	nest->segment_how[at] = event->how;
	block->segment_flops = nest->segment_flops;
	block->segment_bytes = nest->segment_bytes;
	block->segment_how = nest->segment_how;
}

/* Gives the moments from the cut up to END to an event. */
static TS_INLINE void nest_cut(struct ts_nest *nest, const struct ts_event *event, int64_t end_ps)
{
	struct ts_block *block = &nest->block;
	size_t at = block->nr_segments;

	TS_ASSERT_HOT(at < BLOCK_SEGMENTS);
	if (end_ps <= nest->cut_ps)
		return;
	if (nest->sink.columns & TS_COL_SEGMENTS) {
		nest->segment_op[at] = event->op;
		nest->segment_start_ps[at] = nest->cut_ps;
		nest->segment_end_ps[at] = end_ps;
		if (nest->launched && (event->how || block->segment_how))
			nest_cut_costs(nest, at, event);
		block->nr_segments++;
	}
	nest->cut_ps = end_ps;
}

/* The usual event stands for one and has no costs of its own: a block of those lacks these columns. */
static void put_occurrences(struct ts_nest *nest, size_t at, int64_t nr)
{
	if (!nest->block.occurrences) {
		for (size_t i = 0; i < at; i++)
			nest->occurrences[i] = 1;
		nest->block.occurrences = nest->occurrences;
	}
	nest->occurrences[at] = nr;
}

static void nest_put_costs(struct ts_nest *nest, size_t at, const struct ts_event *event)
{
	if (!nest->block.flops) {
		for (size_t i = 0; i < at; i++) {
			nest->flops[i] = nest->bytes[i] = TS_UNKNOWN;
			nest->how[i] = 0;
		}
		nest->block.how = nest->launched ? nest->how : NULL;
		nest->block.flops = nest->flops;
		nest->block.bytes = nest->bytes;
	}
	nest->flops[at] = event->flops;
	nest->bytes[at] = event->bytes;
	nest->how[at] = event->how;
}

static TS_INLINE void nest_put_event(struct ts_nest *nest, const struct open_event *open,
				     size_t depth)
{
	const struct ts_event *event = &open->event;
	size_t at = nest->block.nr_events++;

	TS_ASSERT_HOT(at < BLOCK_EVENTS && depth <= TS_LIMIT_NEST_DEPTH);
	nest->op[at] = event->op;
	nest->start_ps[at] = event->start_ps;
	nest->dur_ps[at] = event->dur_ps;
	nest->total_ps[at] = event->total_ps;
	nest->self_ps[at] = event->total_ps - open->children_ps;
	nest->depths[at] = (uint16_t)depth;
	if (event->occurrences != 1 || nest->block.occurrences)
		put_occurrences(nest, at, event->occurrences);
	if (nest->sink.columns & TS_COL_COSTS && (nest->block.flops || event->flops != TS_UNKNOWN ||
						  event->bytes != TS_UNKNOWN || event->how))
		nest_put_costs(nest, at, event);
	if (nest->sink.columns & TS_COL_NUMBER)
		nest->number[at] = event->number;
	if (nest->sink.columns & TS_COL_LINK)
		nest->link[at] = event->link;
	if (nest->sink.columns & TS_COL_STATS)
		nest->body[at] = event->body;
}

static TS_INLINE enum ts_status nest_room(struct ts_nest *nest, struct ts_error *err)
{
	if (nest->block.nr_events < BLOCK_EVENTS && nest->block.nr_segments + 2 <= BLOCK_SEGMENTS)
		return TS_OK;
	return nest_hand_over(nest, err);
}

static TS_INLINE size_t is_looked_at(const struct ts_nest *nest, uint32_t op)
{
	return nest->sink.looks_at && nest->sink.looks_at[op];
}

/* Closes the top. The next event, if there is one, starts at NEXT_START. */
static TS_INLINE enum ts_status pop(struct ts_nest *nest, int64_t next_start_ps,
				    struct ts_error *err)
{
	struct open_event *top = &nest->stack[nest->depth - 1];
	enum ts_status st = nest_room(nest, err);

	TS_ASSERT_HOT(nest->depth > 0);
	if (st)
		return st;
	nest_cut(nest, &top->event, TS_MIN(top->end_ps, next_start_ps));
	nest_put_event(nest, top, --nest->depth);
	nest->nr_looked_at -= is_looked_at(nest, top->event.op);
	return TS_OK;
}

static bool includes(const struct open_event *open, int64_t device_start_ps, int64_t device_end_ps)
{
	return open->event.device_start_ps <= device_start_ps &&
	       device_end_ps <= open->device_end_ps;
}

/* Only events that are in no other can widen it. */
static void nest_widen(struct ts_block *block, int64_t device_start_ps, int64_t device_end_ps)
{
	block->device_first_ps = TS_MIN(block->device_first_ps, device_start_ps);
	block->device_last_ps = TS_MAX(block->device_last_ps, device_end_ps);
}

/* Closes all that the next event is not inside of. */
static TS_INLINE enum ts_status close_until(struct ts_nest *nest, const struct ts_event *event,
					    int64_t device_end_ps, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	while (st == TS_OK && nest->depth > 0 &&
	       !includes(&nest->stack[nest->depth - 1], event->device_start_ps, device_end_ps))
		st = pop(nest, event->start_ps, err);
	return st;
}

bool ts_nest_is_idle(const struct ts_nest *nest)
{
	TS_ASSERT_HOT(nest && nest->sink.looks_at);
	return nest->nr_looked_at == 0;
}

enum ts_status ts_nest_close(struct ts_nest *nest, int64_t start_ps, int64_t dur_ps,
			     struct ts_error *err)
{
	int64_t end_ps = ts_i64_add(start_ps, dur_ps);
	enum ts_status st = TS_OK;

	TS_ASSERT_HOT(nest && nest->sink.looks_at);
	while (st == TS_OK && nest->nr_looked_at > 0 &&
	       !includes(&nest->stack[nest->depth - 1], start_ps, end_ps))
		st = pop(nest, start_ps, err);
	return st;
}

static bool nest_is_of_part(const struct ts_nest *nest, const struct ts_event *event)
{
	if (nest->block.line->kind == TS_LINE_STEPS)
		return ts_part_has_step(nest->part, event->start_ps, event->dur_ps);
	return ts_part_has(nest->part, event->start_ps, event->dur_ps);
}

static void nest_fault(const struct ts_nest *nest, enum ts_fault fault,
		       const struct ts_event *event, int64_t ps)
{
	struct ts_faults *faults = nest->sink.faults;

	if (!faults || faults->of[fault].nr++ > 0)
		return;
	faults->of[fault].op = event->op;
	faults->of[fault].body = event->body;
	faults->of[fault].ps = ps;
}

/* An event whose time cannot be as it is, made what it can be; false: it cannot be at all. */
static bool nest_mend(const struct ts_nest *nest, struct ts_event *event)
{
	const struct ts_capture_time *time = &nest->time;
	int64_t end_ps;

	if (event->start_ps < time->first_ps || event->start_ps > time->last_ps) {
		nest_fault(nest, TS_FAULT_OUTSIDE, event,
			   event->start_ps < time->first_ps
				   ? ts_i64_sub(event->start_ps, time->first_ps)
				   : ts_i64_sub(event->start_ps, time->last_ps));
		return false;
	}
	if (event->dur_ps < 0 || event->total_ps < 0) {
		nest_fault(nest, TS_FAULT_NEGATIVE, event, event->dur_ps);
		event->dur_ps = TS_MAX(event->dur_ps, 0);
		event->total_ps = TS_MAX(event->total_ps, 0);
	}
	end_ps = ts_i64_add(event->start_ps, event->dur_ps);
	if (end_ps > time->last_ps) {
		nest_fault(nest, TS_FAULT_ENDLESS, event, ts_i64_sub(end_ps, time->end_ps));
		event->dur_ps = TS_MAX(ts_i64_sub(time->end_ps, event->start_ps), 0);
		event->total_ps = TS_MIN(event->total_ps, event->dur_ps);
	}
	return true;
}

static TS_INLINE bool nest_can_be(const struct ts_nest *nest, const struct ts_event *event)
{
	const struct ts_capture_time *time = &nest->time;

	return event->start_ps >= time->first_ps && event->dur_ps >= 0 && event->total_ps >= 0 &&
	       ts_i64_add(event->start_ps, event->dur_ps) <= time->last_ps;
}

#define OVERLAP_PS (100 * TS_PS_PER_US) /* a kernel may begin before the one that it follows ends, but not end before it */

/*
 * What a stream runs does not go on while what follows it there runs: an event that does so was not seen to end, and is cut where
 * the next one begins. A kernel that begins while the one before it drains (programmatic launches) overlaps with it for
 * microseconds, and ends later.
 */
static void nest_cut_over(struct ts_nest *nest, const struct ts_event *event)
{
	struct ts_faults *faults = nest->sink.faults;
	struct open_event *open = &nest->stack[nest->depth - 1];
	int64_t over_ps = ts_i64_sub(open->end_ps, event->start_ps);
	bool is_inside =
		ts_i64_sub(open->end_ps, ts_i64_add(event->start_ps, event->dur_ps)) > TS_PS_PER_US;

	if (over_ps <= 0 || (over_ps <= OVERLAP_PS && !is_inside))
		return;
	nest_fault(nest, TS_FAULT_OVER, &open->event, over_ps);
	if (faults && faults->of[TS_FAULT_OVER].nr == 1)
		nest->over_ps = open->end_ps;
	open->event.dur_ps -= over_ps;
	open->event.total_ps = TS_MAX(open->event.total_ps - over_ps, 0);
	open->end_ps = event->start_ps;
	open->device_end_ps = ts_i64_add(open->event.device_start_ps, open->event.total_ps);
}

static void nest_follow(struct ts_nest *nest, const struct ts_event *event)
{
	if (nest->depth > 0)
		nest_cut_over(nest, event);
	if (event->start_ps < nest->over_ps)
		nest->sink.faults->of[TS_FAULT_OVER].nr_over++;
}

static int64_t nest_amount(double amount)
{
	return amount >= 0 && amount < 9e18 ? (int64_t)(amount + 0.5) : TS_UNKNOWN;
}

/* What the operator that launched it makes it do. */
static void nest_take_work(const struct ts_nest *nest, struct ts_event *event)
{
	struct ts_kernel_work work;

	if (event->link == TS_NO_LINK || event->flops != TS_UNKNOWN || event->bytes != TS_UNKNOWN)
		return;
	work = ts_launched_find(nest->launched, nest->host, event->link, event->dur_ps);
	event->how = work.how;
	event->flops = nest_amount(work.flops);
	event->bytes = nest_amount(work.bytes);
}

enum ts_status ts_nest_push(struct ts_nest *nest, const struct ts_event *pushed,
			    struct ts_error *err)
{
	const struct ts_event *event = pushed;
	struct ts_event mended;
	int64_t device_end_ps;
	struct open_event *open;
	enum ts_status st;

	TS_ASSERT_HOT(nest && event && nest->depth <= TS_LIMIT_NEST_DEPTH);
	if (!nest_can_be(nest, event)) {
		mended = *event;
		if (!nest_mend(nest, &mended))
			return TS_OK;
		event = &mended;
	}
	device_end_ps = ts_i64_add(event->device_start_ps, event->total_ps);
	if (nest->part && !nest_is_of_part(nest, event))
		return TS_OK;
	if (event->device_start_ps < nest->last_start_ps)
		return ts_fail(err, TS_UNSORTED, "events are not in the order of their starts");
	nest->last_start_ps = event->device_start_ps;
	nest->block.is_in_order &= event->start_ps >= nest->last_place_ps;
	nest->last_place_ps = event->start_ps;
	if (nest->is_stream)
		nest_follow(nest, event);
	st = close_until(nest, event, device_end_ps, err);
	if (st == TS_OK)
		st = nest_room(nest, err);
	if (st)
		return st;
	if (nest->depth > 0) {
		struct open_event *parent = &nest->stack[nest->depth - 1];

		parent->children_ps = ts_i64_add(parent->children_ps, event->total_ps);
		nest_cut(nest, &parent->event, TS_MIN(parent->end_ps, event->start_ps));
	} else {
		nest_widen(&nest->block, event->device_start_ps, device_end_ps);
	}
	nest->cut_ps = TS_MAX(nest->cut_ps, event->start_ps);
	open = &nest->stack
			[nest->depth]; /* one more than may be open, for the leaf that is too deep */
	open->event = *event;
	if (nest->launched)
		nest_take_work(nest, &open->event);
	open->device_end_ps = device_end_ps;
	open->end_ps = ts_i64_add(event->start_ps, event->dur_ps);
	open->children_ps = 0;
	if (nest->depth < TS_LIMIT_NEST_DEPTH) {
		nest->depth++;
		nest->nr_looked_at += is_looked_at(nest, event->op);
		return TS_OK;
	}
	nest_cut(nest, &open->event, open->end_ps);
	nest_put_event(nest, open, nest->depth);
	return TS_OK;
}

enum ts_status ts_nest_finish(struct ts_nest *nest, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	TS_ASSERT(nest);
	while (nest->depth > 0 && st == TS_OK)
		st = pop(nest, INT64_MAX, err);
	return st ? st : nest_hand_over(nest, err);
}
