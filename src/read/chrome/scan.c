/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the walk over the text (read/walk.h) meets -> records, names, and what the writer says of the
 * run.
 *
 * Left out: flows of launches (what they link stands in the events' args: correlation), asynchronous
 * events (b, n, e), samples and object snapshots.
 */
#include "read/chrome/chrome.h"

#include "base/check.h"

#define STEP_PREFIX "ProfilerStep#" /* torch.profiler.profile.step() */

struct scan {
	struct chrome_file *file;
	struct ts_walk walk;
	uint32_t no_category, step_category;
};

static void nomem(struct scan *scan)
{
	scan->walk.st = ts_fail_nomem(scan->walk.err);
}

static bool since_first(struct chrome_file *file, struct ts_bytes token, int64_t *ps)
{
	struct ts_micros time;

	if (!ts_jtok_micros(token, &time))
		return false;
	if (!file->has_time) {
		file->has_time = true;
		file->first_us = time.us;
	}
	*ps = chrome_since(file, time);
	return true;
}

static void put(struct scan *scan, struct chrome_record record)
{
	struct chrome_file *file = scan->file;
	struct chrome_track *track = &file->names.tracks[record.track];
	int64_t end_ps = ts_time_bound(ts_i64_add(record.start_ps, record.dur_ps));

	record.dur_ps = end_ps - record.start_ps;
	if (track->class != CHROME_INSTANT && track->class != CHROME_COUNTER) {
		file->min_ps = TS_MIN(file->min_ps, record.start_ps);
		file->max_ps = TS_MAX(file->max_ps, end_ps);
	}
	if (track->class == CHROME_MAIN) {
		track->slice_ps = record.start_ps;
		track->slice_at = record.at;
	}
	track->nr_events++;
	track->last_ps = TS_MAX(track->last_ps, end_ps);
	scan->walk.st = ts_sorter_put(&file->store, &record, scan->walk.err);
}

/* A step of the profiler's schedule: what its thread calls a range, the devices have as steps. */
static void put_step(struct scan *scan, struct ts_bytes name, struct chrome_record record)
{
	struct chrome_file *file = scan->file;
	struct chrome_names *names = &file->names;
	struct ts_bytes digits = ts_bytes_cut(name, strlen(STEP_PREFIX), name.n);

	if (file->step_source == TS_NONE)
		file->step_source = record.track;
	if (record.track != file->step_source)
		return;
	if (file->step_track == TS_NONE)
		file->step_track = ts_chrome_track_of(names, names->tracks[record.track].process,
						      TS_LIT("steps"), CHROME_HOST, CHROME_STEPS);
	record.op = ts_chrome_op_of(names, scan->step_category, TS_NONE, digits,
				    (struct ts_bytes){ NULL, 0 });
	if (file->step_track == TS_NONE || record.op == TS_NONE) {
		nomem(scan);
		return;
	}
	if (file->step_track == TS_LIMIT_TRACE_TRACKS)
		return;
	record.track = (uint16_t)file->step_track;
	ts_bytes_u64(digits, &names->ops[record.op].number);
	put(scan, record);
}

static struct ts_bytes member(struct ts_bytes object, const char *key)
{
	struct ts_jtok members = ts_jtok_enter(object);

	while (ts_jtok_member(&members))
		if (ts_bytes_is(members.key, key))
			return members.value;
	return (struct ts_bytes){ NULL, 0 };
}

/* Of a launch and of its kernel: the number that both have. */
static uint64_t link_of(struct ts_bytes args)
{
	struct ts_jtok members = ts_jtok_enter(args);
	uint64_t link;

	while (ts_jtok_member(&members))
		if (ts_bytes_is(members.key, "correlation") ||
		    ts_bytes_is(members.key, "correlation_id"))
			return ts_bytes_u64(ts_jtok_text(members.value), &link) ? link : TS_NO_LINK;
	return TS_NO_LINK;
}

/*
 * Of which category an event is. A torch that was built without Kineto (Debian's, for instance) writes events without
 * one, of a process that says what they are (torch/autograd/profiler_util.py): operators and ranges alike, so that only
 * steps are known to be ranges.
 */
static struct ts_bytes category_of(const struct chrome_event *event)
{
	struct ts_bytes category = ts_jtok_text(event->category);

	if (category.n == 0 && ts_bytes_is(ts_jtok_text(event->pid), "CPU functions"))
		return ts_bytes_starts(ts_jtok_text(event->name), STEP_PREFIX)
			       ? TS_LIT("user_annotation")
			       : TS_LIT("cpu_op");
	return category;
}

/* Where an event goes. CLASS: of the event's phase; its category may know better. */
static bool place(struct scan *scan, const struct chrome_event *event, uint8_t class,
		  struct chrome_record *record)
{
	struct chrome_names *names = &scan->file->names;
	uint32_t category = ts_chrome_category_of(names, category_of(event));
	uint32_t process = ts_chrome_process_of(names, ts_jtok_text(event->pid)), track;
	const struct chrome_category *known;
	uint8_t side = CHROME_HOST;

	if (category == TS_NONE || process == TS_NONE) {
		nomem(scan);
		return false;
	}
	known = &names->categories[category];
	record->link = known->linked && event->args.n > 2 ? link_of(event->args) : TS_NO_LINK;
	if (known->keeps && event->args.n > 2 &&
	    !(known->varies && scan->file->args.nr > CHROME_ARGS_MAX / 2) &&
	    !ts_chrome_args_keep(&scan->file->args, names->arena, event->args, &record->args)) {
		nomem(scan);
		return false;
	}
	if (event->phase == 'X') {
		side = known->side;
		class = class == CHROME_MAIN ? known->class : class;
	}
	track = ts_chrome_track_of(names, process, ts_jtok_text(event->tid), side, class);
	if (track == TS_LIMIT_TRACE_TRACKS) {
		scan->file->nr_over++;
		return false;
	}
	record->op = event->phase == 'E'
			     ? 0
			     : ts_chrome_op_of(names, category,
					       category == scan->no_category ? track : TS_NONE,
					       ts_jtok_text(event->name), event->args);
	if (track == TS_NONE || record->op == TS_NONE) {
		nomem(scan);
		return false;
	}
	record->track = (uint16_t)track;
	return true;
}

static void take_complete(struct scan *scan, const struct chrome_event *event, uint8_t class,
			  struct chrome_record record)
{
	struct ts_bytes name = ts_jtok_text(event->name);

	if (!place(scan, event, class, &record))
		return;
	record.dur_ps = class == CHROME_MAIN ? chrome_length(event->dur) : 0;
	put(scan, record);
	if (scan->walk.st == TS_OK && class == CHROME_MAIN && ts_bytes_starts(name, STEP_PREFIX) &&
	    scan->file->names.tracks[record.track].side == CHROME_HOST)
		put_step(scan, name, record);
}

static void take_begin(struct scan *scan, const struct chrome_event *event,
		       struct chrome_record record)
{
	struct chrome_track *track;

	if (!place(scan, event, CHROME_MAIN, &record))
		return;
	track = &scan->file->names.tracks[record.track];
	if (track->nr_open >= TS_LIMIT_TRACE_OPEN) {
		scan->file->nr_too_deep++;
		return;
	}
	if (!ts_grow(&track->open, &track->cap_open, track->nr_open + 1, sizeof(*track->open))) {
		nomem(scan);
		return;
	}
	track->open[track->nr_open++] =
		(struct chrome_open){ record.start_ps, record.at, record.link, record.op };
}

static void close_top(struct scan *scan, uint32_t index, int64_t end_ps)
{
	struct chrome_track *track = &scan->file->names.tracks[index];
	struct chrome_open open = track->open[--track->nr_open];

	put(scan, (struct chrome_record){ .start_ps = open.start_ps,
					  .dur_ps = TS_MAX(end_ps - open.start_ps, 0),
					  .at = open.at,
					  .link = open.link,
					  .op = open.op,
					  .track = (uint16_t)index });
}

static void take_end(struct scan *scan, const struct chrome_event *event,
		     struct chrome_record record)
{
	if (!place(scan, event, CHROME_MAIN, &record))
		return;
	if (scan->file->names.tracks[record.track].nr_open == 0)
		scan->file->nr_left_out++;
	else
		close_top(scan, record.track, record.start_ps);
}

/* What never ended lasts as long as its thread is known to. */
static void close_all(struct scan *scan)
{
	struct chrome_names *names = &scan->file->names;

	for (uint32_t t = 0; t < names->nr_tracks; t++)
		while (scan->walk.st == TS_OK && names->tracks[t].nr_open > 0)
			close_top(scan, t, names->tracks[t].last_ps);
}

static struct ts_bytes text_of(struct scan *scan, struct ts_bytes token)
{
	struct ts_bytes text = ts_jtok_unescape(scan->file->names.arena, ts_jtok_text(token));

	if (!text.p)
		nomem(scan);
	return ts_bytes_cut(text, 0, TS_LIMIT_NAME);
}

/*
 * A thread's name stands in the text once; only at the end is it known which of its tracks exist.
 */
static void name_thread(struct scan *scan, const struct chrome_event *event, uint32_t process,
			struct ts_bytes name)
{
	static const uint8_t sides[] = { CHROME_HOST, CHROME_DEVICE };

	for (size_t i = 0; i < TS_NELEM(sides); i++) {
		uint32_t track =
			ts_chrome_track_of(&scan->file->names, process, ts_jtok_text(event->tid),
					   sides[i], CHROME_MAIN);

		if (track == TS_NONE)
			nomem(scan);
		else if (track != TS_LIMIT_TRACE_TRACKS)
			scan->file->names.tracks[track].name = name;
	}
}

static void take_metadata(struct scan *scan, const struct chrome_event *event)
{
	struct chrome_names *names = &scan->file->names;
	struct ts_bytes what = ts_jtok_text(event->name), name = member(event->args, "name");
	struct ts_bytes labels = member(event->args, "labels");
	uint32_t process = ts_chrome_process_of(names, ts_jtok_text(event->pid));

	if (process == TS_NONE)
		nomem(scan);
	else if (ts_bytes_is(what, "process_name") && name.p)
		names->processes[process].name = text_of(scan, name);
	else if (ts_bytes_is(what, "process_labels") && labels.p)
		names->processes[process].labels = text_of(scan, labels);
	else if (ts_bytes_is(what, "thread_name") && name.p)
		name_thread(scan, event, process, text_of(scan, name));
}

static void take_flow(struct scan *scan, const struct chrome_event *event)
{
	int64_t at_ps;

	if (scan->file->has_time && since_first(scan->file, event->ts, &at_ps) &&
	    !ts_chrome_flow_take(scan->file, event, at_ps))
		nomem(scan);
}

static void take_event(struct scan *scan, const struct chrome_event *event, uint64_t at)
{
	struct chrome_record record = { .at = at };

	if (event->phase == 'M') {
		take_metadata(scan, event);
		return;
	}
	if (event->phase == 's' || event->phase == 'f')
		take_flow(scan, event);
	if (!event->phase || !strchr("XBEiIC", event->phase))
		return;
	if (!since_first(scan->file, event->ts, &record.start_ps)) {
		scan->file->nr_left_out++;
		return;
	}
	switch (event->phase) {
	case 'X': take_complete(scan, event, CHROME_MAIN, record); break;
	case 'B': take_begin(scan, event, record); break;
	case 'E': take_end(scan, event, record); break;
	case 'C': take_complete(scan, event, CHROME_COUNTER, record); break;
	default:  take_complete(scan, event, CHROME_INSTANT, record); break;
	}
}

/* The event at the cursor. */
static enum ts_status scan_event(void *ctx, struct ts_error *err)
{
	struct scan *scan = ctx;
	struct ts_walk *walk = &scan->walk;
	struct chrome_event event;
	enum chrome_found found;
	const uint8_t *p;

	do {
		p = walk->text.p;
		found = ts_chrome_event_read(&p, walk->text.end, &event);
	} while (found == CHROME_MORE && ts_walk_more(walk));
	if (found == CHROME_BAD) {
		ts_walk_damaged(walk, p, "no trace event stands here");
	} else if (found == CHROME_MORE && (walk->text.ended || !ts_walk_skip(walk))) {
		ts_walk_damaged(walk, walk->text.end, "the trace ends in the middle");
	} else if (found == CHROME_MORE) { /* longer than a window: programs do not write that */
		scan->file->nr_left_out++;
	} else {
		take_event(scan, &event, ts_walk_at(walk));
		walk->text.p = p;
		ts_window_forget(&walk->text);
	}
	return walk->st;
}

/* Where more events can be put: of several lists into the first. */
static void note_list(struct scan *scan, bool is_array)
{
	struct chrome_seams *seams = &scan->file->seams;
	const struct ts_walk *walk = &scan->walk;

	if (seams->events_at != TS_NO_SEAM)
		return;
	seams->events_at = walk->list_at;
	seams->needs_comma = walk->needs_comma;
	if (!walk->list_is_whole) {
		seams->end_at = walk->list_at;
		seams->closing = is_array ? "]" : "]}";
	}
}

static enum ts_status scan_begin(void *ctx, bool is_object, struct ts_error *err)
{
	struct scan *scan = ctx;

	scan->file->seams.is_array = !is_object;
	scan->file->seams.head_at = ts_walk_at(&scan->walk);
	return TS_OK;
}

static enum ts_status scan_list_end(void *ctx, struct ts_error *err)
{
	struct scan *scan = ctx;

	note_list(scan, scan->file->seams.is_array);
	return TS_OK;
}

static enum ts_status scan_end(void *ctx, bool is_object, struct ts_error *err)
{
	struct scan *scan = ctx;
	struct chrome_seams *seams = &scan->file->seams;

	if (is_object && !scan->walk.is_whole && seams->end_at == TS_NO_SEAM) {
		seams->end_at = scan->walk.good_at;
		seams->closing = "}";
	}
	return TS_OK;
}

static int64_t number_of(struct ts_bytes token)
{
	int64_t number;

	return ts_bytes_i64(ts_jtok_text(token), &number) ? number : TS_UNKNOWN;
}

static void take_device(struct scan *scan, struct ts_bytes object)
{
	struct chrome_file *file = scan->file;
	struct chrome_device device;

	if (file->nr_devices >= TS_LIMIT_TRACE_DEVICES)
		return;
	if (!ts_grow(&file->devices, &file->cap_devices, file->nr_devices + 1, sizeof(device))) {
		nomem(scan);
		return;
	}
	device = (struct chrome_device){
		.id = number_of(member(object, "id")),
		.memory_bytes = number_of(member(object, "totalGlobalMem")),
		.cc_major = number_of(member(object, "computeMajor")),
		.cc_minor = number_of(member(object, "computeMinor")),
		.core_count = number_of(member(object, "numSms")),
		.name = text_of(scan, member(object, "name")),
	};
	file->devices[file->nr_devices++] = device;
}

static enum ts_status take_member(void *ctx, struct ts_bytes key, struct ts_bytes value,
				  struct ts_error *err)
{
	struct scan *scan = ctx;
	struct chrome_file *file = scan->file;
	struct ts_jtok elements = ts_jtok_enter(value);

	if (ts_bytes_is(key, "baseTimeNanoseconds")) {
		file->base_unix_ns = number_of(value);
	} else if (ts_bytes_is(key, "distributedInfo")) {
		file->rank = number_of(member(value, "rank"));
		file->world_size = number_of(member(value, "world_size"));
	} else if (ts_bytes_is(key, "deviceProperties")) {
		while (scan->walk.st == TS_OK && ts_jtok_element(&elements))
			take_device(scan, elements.value);
	}
	return scan->walk.st;
}

/* Members that say something here: their values are taken whole. */
static bool is_wanted(struct ts_bytes key)
{
	return ts_bytes_is(key, "baseTimeNanoseconds") || ts_bytes_is(key, "distributedInfo") ||
	       ts_bytes_is(key, "deviceProperties");
}

static enum ts_status have_text(struct chrome_file *file, struct ts_error *err)
{
	if (file->packed)
		return ts_scratch_map(&file->unpacked, &file->text, err);
	file->text = file->bytes;
	return TS_OK;
}

/* Categories that are there before the first event. */
static bool begin(struct scan *scan)
{
	struct chrome_names *names = &scan->file->names;

	scan->no_category = ts_chrome_category_of(names, (struct ts_bytes){ NULL, 0 });
	scan->step_category = ts_chrome_category_of(names, TS_LIT("ProfilerStep"));
	return scan->no_category != TS_NONE && scan->step_category != TS_NONE;
}

static void note_damage(struct chrome_file *file, const struct ts_walk *walk)
{
	file->damage_at = walk->damage_at;
	memcpy(file->damage, walk->damage, sizeof(file->damage));
}

enum ts_status ts_chrome_scan(struct chrome_file *file, bool mapped, bool wants_stats,
			      struct ts_error *err)
{
	struct scan scan = { .file = file };
	const struct ts_walk_visitor visitor = { .ctx = &scan,
						 .begin = scan_begin,
						 .member = take_member,
						 .wants = is_wanted,
						 .at_event = scan_event,
						 .events_end = scan_list_end,
						 .end = scan_end };
	enum ts_status st = ts_walk_open(&scan.walk, file->bytes, mapped, &visitor, err);

	TS_ASSERT(file);
	scan.walk.text.copy = wants_stats ? &file->unpacked : NULL;
	file->min_ps = INT64_MAX;
	file->max_ps = INT64_MIN;
	file->seams = (struct chrome_seams){
		.mapped = mapped, .events_at = TS_NO_SEAM, .end_at = TS_NO_SEAM, .closing = ""
	};
	if (st == TS_OK && !begin(&scan))
		st = ts_fail_nomem(err);
	if (st == TS_OK)
		st = ts_walk_run(&scan.walk);
	note_damage(file, &scan.walk);
	if (st == TS_OK) {
		close_all(&scan);
		st = scan.walk.st;
	}
	if (st == TS_OK)
		st = ts_sorter_close(&file->store, err);
	if (st == TS_OK)
		st = have_text(file, err);
	file->text_lost = file->packed && wants_stats && !scan.walk.text.copy;
	ts_walk_release(&scan.walk);
	return st;
}
