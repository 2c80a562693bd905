/* SPDX-License-Identifier: MIT */
/*
 * What the walk over the text (read/walk.h) meets -> records, names, and what the writer says of the
 * run.
 *
 * Left out: flows of launches (what they link stands in the events' args: correlation), asynchronous
 * events (b, n, e), samples and object snapshots.
 */
#include "read/chrome/chrome.h"

#include "base/check.h"
#include "base/order.h"
#include "model/plane_kind.h"

#define STEP_PREFIX	"ProfilerStep#" /* torch.profiler.profile.step() */
#define PROFILER_PREFIX "PyTorch Profiler" /* Kineto's span of its own, from start to stop */

struct scan {
	struct chrome_file *file;
	struct ts_walk walk;
	uint32_t step_category;
};

#define LOOKED_AT 15    /* times of the text's beginning: one of them in the middle stands near the most */
#define LOOK_AHEAD 65536 /* bytes */

/* The next "ts" of the text; false: there is none. */
static bool chrome_scan_next_us(struct ts_bytes *text, int64_t *us)
{
	struct ts_micros time;
	const uint8_t *found;

	while ((found = memmem(text->p, text->n, "\"ts\"", 4))) {
		size_t at = (size_t)(found + 4 - text->p);
		const uint8_t *p, *end = text->p + text->n, *behind;

		*text = ts_bytes_cut(*text, at, text->n);
		p = ts_jtok_space(text->p, end);
		p = p < end && *p == ':' ? ts_jtok_space(p + 1, end) : end;
		behind = ts_jtok_value_end(p, end);
		if (!behind || !ts_jtok_micros((struct ts_bytes){ p, (size_t)(behind - p) }, &time))
			continue;
		*us = time.us;
		return true;
	}
	return false;
}

/* Where times are counted from, so that the most are near it: not from one that stands for none. */
static int64_t chrome_scan_near_us(const struct ts_walk *walk, int64_t first_us)
{
	struct ts_bytes text = { walk->text.p, (size_t)(walk->text.end - walk->text.p) };
	int64_t us[LOOKED_AT] = { first_us };
	size_t nr = 1;

	text = ts_bytes_cut(text, 0, LOOK_AHEAD);
	while (nr < LOOKED_AT && chrome_scan_next_us(&text, &us[nr]))
		nr++;
	TS_SORT(us, nr, ts_i64_order);
	return us[nr / 2];
}

static bool since_first(struct scan *scan, struct ts_bytes token, int64_t *ps)
{
	struct chrome_file *file = scan->file;
	struct ts_micros time;

	if (!ts_jtok_micros(token, &time))
		return false;
	if (!file->has_time) {
		file->has_time = true;
		file->first_us = chrome_scan_near_us(&scan->walk, time.us);
	}
	*ps = chrome_since(file, time);
	return true;
}

/*
 * Where a capture begins and ends, an event adds its start, and its end where that can be: within what a capture may pause, and
 * of what runs on a stream only where nothing begins there later.
 */
static void chrome_scan_note_time(struct chrome_file *file, struct chrome_track *track,
				  int64_t start_ps, int64_t end_ps)
{
	uint32_t at = ts_time_groups_add(&file->times, start_ps, 1);
	struct ts_time_group *group = &file->times.items[at];

	ts_time_samples_add(&file->samples, start_ps);
	if (at == TS_TIME_GROUPS || ts_i64_sub(end_ps, start_ps) > TS_CAPTURE_GAP_PS)
		return;
	if (track->side != CHROME_DEVICE || track->class != CHROME_MAIN) {
		group->end = TS_MAX(group->end, end_ps);
		return;
	}
	if (track->nr_events > 0 && at == track->group && start_ps < track->first_ps)
		return;
	if (track->nr_events > 0 && at != track->group &&
	    group->nr <= file->times.items[track->group].nr)
		return;
	track->group = at;
	track->first_ps = start_ps;
	track->end_ps = end_ps;
}

static enum ts_status chrome_scan_put(struct scan *scan, struct chrome_record record,
				      struct ts_error *err)
{
	struct chrome_file *file = scan->file;
	struct chrome_track *track = &file->names.tracks[record.track];
	int64_t end_ps = ts_time_bound(ts_i64_add(record.start_ps, record.dur_ps));

	record.dur_ps = end_ps - record.start_ps;
	if (track->class != CHROME_INSTANT && track->class != CHROME_COUNTER)
		chrome_scan_note_time(file, track, record.start_ps, end_ps);
	if (track->class == CHROME_MAIN) {
		track->slice_ps = record.start_ps;
		track->slice_at = record.at;
	}
	track->nr_events++;
	track->last_ps = TS_MAX(track->last_ps, end_ps);
	return ts_sorter_put(&file->store, &record, err);
}

/* A step of the profiler's schedule: what its thread calls a range, the devices have as steps. */
static enum ts_status chrome_scan_put_step(struct scan *scan, struct ts_bytes name,
					   struct chrome_record record, struct ts_error *err)
{
	struct chrome_file *file = scan->file;
	struct chrome_names *names = &file->names;
	struct ts_bytes digits = ts_bytes_cut(name, strlen(STEP_PREFIX), name.n);

	if (file->step_source == TS_NONE)
		file->step_source = record.track;
	if (record.track != file->step_source)
		return TS_OK;
	if (file->step_track == TS_NONE)
		file->step_track = ts_chrome_track_of(names, names->tracks[record.track].process,
						      TS_LIT("steps"), CHROME_HOST, CHROME_STEPS);
	record.op = ts_chrome_op_of(names, scan->step_category, TS_NONE, digits,
				    (struct ts_bytes){ NULL, 0 });
	if (file->step_track == TS_NONE || record.op == TS_NONE)
		return ts_fail_nomem(err);
	if (file->step_track == TS_LIMIT_TRACE_TRACKS)
		return TS_OK;
	record.track = (uint16_t)file->step_track;
	ts_bytes_u64(digits, &names->ops[record.op].number);
	return chrome_scan_put(scan, record, err);
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

/* Which device a track of kernels is of: its first event says it for all. */
static void note_device(struct chrome_track *track, struct ts_bytes args)
{
	track->has_device = true;
	if (!ts_bytes_i64(ts_jtok_text(member(args, "device")), &track->device))
		track->device = TS_UNKNOWN;
}

/*
 * Of which category an event is. A torch that was built without Kineto (Debian's, for instance) writes events without
 * one, of a process that says what they are (torch/autograd/profiler_util.py): operators and ranges alike, so that only
 * steps are known to be ranges.
 */
static struct ts_bytes chrome_scan_category_of(const struct chrome_event *event)
{
	struct ts_bytes category = ts_jtok_text(event->category);

	if (category.n > 0)
		return category;
	if (ts_bytes_is(ts_jtok_text(event->pid), "CUDA functions")) /* until torch 1.8 */
		return TS_LIT("kernel");
	if (ts_bytes_is(ts_jtok_text(event->pid), "CPU functions"))
		return ts_bytes_starts(ts_jtok_text(event->name), STEP_PREFIX)
			       ? TS_LIT("user_annotation")
			       : TS_LIT("cpu_op");
	return category;
}

/* What a device only waits for is none of its work; waits of a host are its own. */
static uint8_t chrome_scan_class_of(const struct chrome_process *process,
				    const struct chrome_category *known,
				    const struct chrome_event *event)
{
	bool may_wait = known->device || (known->seen == CHROME_SEEN_OPEN &&
					  ts_plane_kind_of(process->name) != TS_PLANE_HOST);

	return may_wait && ts_chrome_is_wait(ts_jtok_text(event->name)) ? CHROME_OTHER
									: known->class;
}

static void chrome_scan_note_seen(struct chrome_names *names, uint32_t process, uint32_t track,
				  uint32_t category)
{
	const struct chrome_category *known = &names->categories[category];

	names->processes[process].seen |= known->seen;
	if (known->device)
		names->processes[process].by_category = known->device;
	if (names->tracks[track].category == TS_NONE)
		names->tracks[track].category = category;
}

/*
 * Where an event goes. CLASS: of the event's phase; its category may know better. *IS_PLACED false:
 * there are too many threads for it.
 */
static enum ts_status chrome_scan_place(struct scan *scan, const struct chrome_event *event,
					uint8_t class, struct chrome_record *record,
					bool *is_placed, struct ts_error *err)
{
	struct chrome_names *names = &scan->file->names;
	uint32_t category = ts_chrome_category_of(names, chrome_scan_category_of(event));
	uint32_t process = ts_chrome_process_of(names, ts_jtok_text(event->pid)), track;
	const struct chrome_category *known;
	uint8_t side = CHROME_HOST;
	enum ts_status st = TS_OK;

	*is_placed = false;
	if (category == TS_NONE || process == TS_NONE)
		return ts_fail_nomem(err);
	known = &names->categories[category];
	record->link = known->linked && event->args.n > 2 ? link_of(event->args) : TS_NO_LINK;
	if (known->keeps && event->args.n > 2 &&
	    !(known->varies && scan->file->args.nr > CHROME_ARGS_MAX / 2))
		st = ts_chrome_args_keep(&scan->file->args, names->arena, event->args,
					 &record->args, err);
	if (st)
		return st;
	if (event->phase == 'X') {
		side = known->side;
		class = class == CHROME_MAIN
				? chrome_scan_class_of(&names->processes[process], known, event)
				: class;
	}
	track = ts_chrome_track_of(names, process, ts_jtok_text(event->tid), side, class);
	if (track == TS_LIMIT_TRACE_TRACKS) {
		scan->file->nr_over++;
		return TS_OK;
	}
	record->op = event->phase == 'E'
			     ? 0
			     : ts_chrome_op_of(names, category,
					       known->seen == CHROME_SEEN_OPEN ? track : TS_NONE,
					       ts_jtok_text(event->name), event->args);
	if (track == TS_NONE || record->op == TS_NONE)
		return ts_fail_nomem(err);
	chrome_scan_note_seen(names, process, track, category);
	record->track = (uint16_t)track;
	if (side == CHROME_DEVICE && !names->tracks[track].has_device)
		note_device(&names->tracks[track], event->args);
	*is_placed = true;
	return TS_OK;
}

static enum ts_status take_complete(struct scan *scan, const struct chrome_event *event,
				    uint8_t class, struct chrome_record record,
				    struct ts_error *err)
{
	struct ts_bytes name = ts_jtok_text(event->name);
	bool is_placed;
	enum ts_status st = chrome_scan_place(scan, event, class, &record, &is_placed, err);

	if (st || !is_placed)
		return st;
	record.dur_ps = class == CHROME_MAIN ? chrome_length(event->dur) : 0;
	if (class == CHROME_MAIN && ts_bytes_starts(name, PROFILER_PREFIX) &&
	    scan->file->names.tracks[record.track].class == CHROME_OTHER) {
		int64_t stop_ps = ts_i64_add(record.start_ps, TS_MAX(record.dur_ps, 0));

		scan->file->profiler_ps[0] = TS_MIN(scan->file->profiler_ps[0], record.start_ps);
		scan->file->profiler_ps[1] = TS_MAX(scan->file->profiler_ps[1], stop_ps);
	}
	st = chrome_scan_put(scan, record, err);
	if (st == TS_OK && class == CHROME_MAIN && ts_bytes_starts(name, STEP_PREFIX) &&
	    scan->file->names.tracks[record.track].side == CHROME_HOST)
		st = chrome_scan_put_step(scan, name, record, err);
	return st;
}

static enum ts_status chrome_scan_take_begin(struct scan *scan, const struct chrome_event *event,
					     struct chrome_record record, struct ts_error *err)
{
	struct chrome_track *track;
	bool is_placed;
	enum ts_status st = chrome_scan_place(scan, event, CHROME_MAIN, &record, &is_placed, err);

	if (st || !is_placed)
		return st;
	track = &scan->file->names.tracks[record.track];
	if (track->nr_open >= TS_LIMIT_TRACE_OPEN) {
		scan->file->nr_too_deep++;
		return TS_OK;
	}
	if (!ts_grow(&track->open, &track->cap_open, track->nr_open + 1, sizeof(*track->open)))
		return ts_fail_nomem(err);
	track->open[track->nr_open++] =
		(struct chrome_open){ record.start_ps, record.at, record.link, record.op };
	return TS_OK;
}

static enum ts_status close_top(struct scan *scan, uint32_t index, int64_t end_ps,
				struct ts_error *err)
{
	struct chrome_track *track = &scan->file->names.tracks[index];
	struct chrome_open open = track->open[--track->nr_open];
	struct chrome_record record = {
		.start_ps = open.start_ps,
		.dur_ps = TS_MAX(end_ps - open.start_ps, 0),
		.at = open.at,
		.link = open.link,
		.op = open.op,
		.track = (uint16_t)index,
	};

	return chrome_scan_put(scan, record, err);
}

static enum ts_status chrome_scan_take_end(struct scan *scan, const struct chrome_event *event,
					   struct chrome_record record, struct ts_error *err)
{
	bool is_placed;
	enum ts_status st = chrome_scan_place(scan, event, CHROME_MAIN, &record, &is_placed, err);

	if (st || !is_placed)
		return st;
	if (scan->file->names.tracks[record.track].nr_open > 0)
		return close_top(scan, record.track, record.start_ps, err);
	scan->file->nr_left_out++;
	return TS_OK;
}

/* What never ended lasts as long as its thread is known to. */
static enum ts_status chrome_scan_close_all(struct scan *scan, struct ts_error *err)
{
	struct chrome_names *names = &scan->file->names;
	enum ts_status st = TS_OK;

	for (uint32_t t = 0; t < names->nr_tracks; t++)
		while (st == TS_OK && names->tracks[t].nr_open > 0)
			st = close_top(scan, t, names->tracks[t].last_ps, err);
	return st;
}

/* The times that the bulk of the file proves, once all of it is known. */
static void chrome_scan_bound(struct chrome_file *file)
{
	const struct ts_time_group *most = ts_time_groups_most(&file->times);

	if (!most)
		return;
	file->min_ps = most->first;
	file->max_ps = TS_MAX(most->last, most->end);
	for (size_t t = 0; t < file->names.nr_tracks; t++) {
		const struct chrome_track *track = &file->names.tracks[t];

		if (track->nr_events > 0 && track->side == CHROME_DEVICE &&
		    track->class == CHROME_MAIN && track->first_ps >= most->first &&
		    track->first_ps <= most->last)
			file->max_ps = TS_MAX(file->max_ps, track->end_ps);
	}
}

static enum ts_status chrome_scan_take_text(struct scan *scan, struct ts_bytes token,
					    struct ts_bytes *text, struct ts_error *err)
{
	*text = ts_jtok_unescape(scan->file->names.arena, ts_jtok_text(token));
	if (!text->p)
		return ts_fail_nomem(err);
	*text = ts_bytes_cut(*text, 0, TS_LIMIT_NAME);
	return TS_OK;
}

/*
 * A thread's name stands in the text once; only at the end is it known which of its tracks exist.
 */
static enum ts_status name_thread(struct scan *scan, const struct chrome_event *event,
				  uint32_t process, struct ts_bytes token, struct ts_error *err)
{
	static const uint8_t sides[] = { CHROME_HOST, CHROME_DEVICE };
	struct ts_bytes name;
	enum ts_status st = chrome_scan_take_text(scan, token, &name, err);

	if (st)
		return st;
	for (size_t i = 0; i < TS_NELEM(sides); i++) {
		uint32_t track =
			ts_chrome_track_of(&scan->file->names, process, ts_jtok_text(event->tid),
					   sides[i], CHROME_MAIN);

		if (track == TS_NONE)
			return ts_fail_nomem(err);
		if (track != TS_LIMIT_TRACE_TRACKS)
			scan->file->names.tracks[track].name = name;
	}
	return TS_OK;
}

static enum ts_status take_metadata(struct scan *scan, const struct chrome_event *event,
				    struct ts_error *err)
{
	struct chrome_names *names = &scan->file->names;
	struct ts_bytes what = ts_jtok_text(event->name), name = member(event->args, "name");
	struct ts_bytes labels = member(event->args, "labels");
	uint32_t process = ts_chrome_process_of(names, ts_jtok_text(event->pid));

	if (process == TS_NONE)
		return ts_fail_nomem(err);
	if (ts_bytes_is(what, "process_name") && name.p)
		return chrome_scan_take_text(scan, name, &names->processes[process].name, err);
	if (ts_bytes_is(what, "process_labels") && labels.p)
		return chrome_scan_take_text(scan, labels, &names->processes[process].labels, err);
	if (ts_bytes_is(what, "thread_name") && name.p)
		return name_thread(scan, event, process, name, err);
	return TS_OK;
}

static enum ts_status chrome_scan_take_event(struct scan *scan, const struct chrome_event *event,
					     uint64_t at, struct ts_error *err)
{
	struct chrome_record record = { .at = at };

	if (event->phase == 'M')
		return take_metadata(scan, event, err);
	if (event->phase == 's' || event->phase == 'f') {
		int64_t at_ps;

		if (!scan->file->has_time || !since_first(scan, event->ts, &at_ps))
			return TS_OK;
		return ts_chrome_flow_take(scan->file, event, at_ps, err);
	}
	if (!event->phase || !strchr("XBEiIC", event->phase))
		return TS_OK;
	if (!since_first(scan, event->ts, &record.start_ps)) {
		scan->file->nr_left_out++;
		return TS_OK;
	}
	switch (event->phase) {
	case 'X': return take_complete(scan, event, CHROME_MAIN, record, err);
	case 'B': return chrome_scan_take_begin(scan, event, record, err);
	case 'E': return chrome_scan_take_end(scan, event, record, err);
	case 'C': return take_complete(scan, event, CHROME_COUNTER, record, err);
	default:  return take_complete(scan, event, CHROME_INSTANT, record, err);
	}
}

/* The event at the cursor. */
static enum ts_status scan_event(void *ctx, struct ts_error *err)
{
	struct scan *scan = ctx;
	struct ts_walk *walk = &scan->walk;
	struct chrome_event event;
	enum ts_status st = TS_OK;
	enum chrome_found found;
	bool more = true;
	const uint8_t *p;

	do {
		p = walk->text.p;
		found = ts_chrome_event_read(&p, walk->text.end, &event);
		if (found == CHROME_MORE)
			st = ts_window_more(&walk->text, &more, err);
	} while (st == TS_OK && found == CHROME_MORE && more);
	if (st)
		return st;
	if (found == CHROME_BAD) {
		ts_walk_damaged(walk, p, "no trace event stands here");
	} else if (found == CHROME_MORE && walk->text.ended) {
		ts_walk_damaged(walk, walk->text.end, "the trace ends in the middle");
	} else if (found == CHROME_MORE) { /* longer than a window: programs do not write that */
		st = ts_walk_skip(walk, err);
		scan->file->nr_left_out += !walk->over;
	} else {
		st = chrome_scan_take_event(scan, &event, ts_walk_at(walk), err);
		walk->text.p = p;
		ts_window_forget(&walk->text);
	}
	return st;
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
	seams->has_items = walk->has_items;
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

static int64_t chrome_scan_number_of(struct ts_bytes token)
{
	int64_t number;

	return ts_bytes_i64(ts_jtok_text(token), &number) ? number : TS_UNKNOWN;
}

/* Under its name of today, or the one of the first years of Kineto. */
static int64_t number_under(struct ts_bytes object, const char *key, const char *old_key)
{
	int64_t number = chrome_scan_number_of(member(object, key));

	return number == TS_UNKNOWN ? chrome_scan_number_of(member(object, old_key)) : number;
}

static enum ts_status take_device(struct scan *scan, struct ts_bytes object, struct ts_error *err)
{
	struct chrome_file *file = scan->file;
	struct chrome_device *device;

	if (file->nr_devices >= TS_LIMIT_TRACE_DEVICES)
		return TS_OK;
	if (!ts_grow(&file->devices, &file->cap_devices, file->nr_devices + 1, sizeof(*device)))
		return ts_fail_nomem(err);
	device = &file->devices[file->nr_devices++];
	*device = (struct chrome_device){
		.id = chrome_scan_number_of(member(object, "id")),
		.memory_bytes = chrome_scan_number_of(member(object, "totalGlobalMem")),
		.cc_major = number_under(object, "computeMajor", "major"),
		.cc_minor = number_under(object, "computeMinor", "minor"),
		.core_count = chrome_scan_number_of(member(object, "numSms")),
	};
	return chrome_scan_take_text(scan, member(object, "name"), &device->name, err);
}

/* computeProperties: of PyTorch 1.7 and 1.8. */
static bool lists_devices(struct ts_bytes key)
{
	return ts_bytes_is(key, "deviceProperties") || ts_bytes_is(key, "computeProperties");
}

static enum ts_status chrome_scan_take_member(void *ctx, struct ts_bytes key, struct ts_bytes value,
					      struct ts_error *err)
{
	struct scan *scan = ctx;
	struct chrome_file *file = scan->file;
	struct ts_jtok elements = ts_jtok_enter(value);
	enum ts_status st = TS_OK;

	if (ts_bytes_is(key, "baseTimeNanoseconds")) {
		file->base_unix_ns = chrome_scan_number_of(value);
	} else if (ts_bytes_is(key, "distributedInfo")) {
		file->rank = chrome_scan_number_of(member(value, "rank"));
		file->world_size = chrome_scan_number_of(member(value, "world_size"));
	} else if (lists_devices(key)) {
		while (st == TS_OK && ts_jtok_element(&elements))
			st = take_device(scan, elements.value, err);
	}
	return st;
}

/* Members that say something here: their values are taken whole. */
static bool chrome_scan_is_wanted(struct ts_bytes key)
{
	return ts_bytes_is(key, "baseTimeNanoseconds") || ts_bytes_is(key, "distributedInfo") ||
	       lists_devices(key);
}

static enum ts_status have_text(struct chrome_file *file, struct ts_error *err)
{
	if (file->packed)
		return ts_scratch_map(&file->unpacked, &file->text, err);
	file->text = file->bytes;
	return TS_OK;
}

/* Categories that are there before the first event. */
static enum ts_status chrome_scan_begin(struct scan *scan, struct ts_error *err)
{
	struct chrome_names *names = &scan->file->names;

	scan->step_category = ts_chrome_category_of(names, TS_LIT("ProfilerStep"));
	return scan->step_category == TS_NONE ? ts_fail_nomem(err) : TS_OK;
}

enum ts_status ts_chrome_scan(struct chrome_file *file, bool mapped, bool wants_stats,
			      struct ts_strict *strict, struct ts_error *err)
{
	struct scan scan = { .file = file };
	const struct ts_walk_visitor visitor = { .ctx = &scan,
						 .begin = scan_begin,
						 .member = chrome_scan_take_member,
						 .wants = chrome_scan_is_wanted,
						 .at_event = scan_event,
						 .events_end = scan_list_end,
						 .end = scan_end };
	enum ts_status st = ts_walk_open(&scan.walk, file->bytes, mapped, &visitor, err);

	TS_ASSERT(file);
	scan.walk.text.copy = wants_stats ? &file->unpacked : NULL;
	scan.walk.text.see = strict ? ts_chrome_strict_see : NULL;
	scan.walk.text.see_ctx = strict;
	file->min_ps = INT64_MAX;
	file->max_ps = INT64_MIN;
	file->times.gap = TS_CAPTURE_GAP_PS;
	file->profiler_ps[0] = INT64_MAX;
	file->profiler_ps[1] = INT64_MIN;
	file->seams = (struct chrome_seams){
		.mapped = mapped, .events_at = TS_NO_SEAM, .end_at = TS_NO_SEAM, .closing = ""
	};
	if (st == TS_OK)
		st = chrome_scan_begin(&scan, err);
	if (st == TS_OK)
		st = ts_walk_run(&scan.walk, err);
	file->damage_at = scan.walk.damage_at;
	memcpy(file->damage, scan.walk.damage, sizeof(file->damage));
	if (st == TS_OK)
		st = chrome_scan_close_all(&scan, err);
	chrome_scan_bound(file);
	if (st == TS_OK)
		st = ts_sorter_close(&file->store, err);
	if (st == TS_OK)
		st = have_text(file, err);
	file->text_lost = file->packed && wants_stats && !scan.walk.text.copy;
	ts_walk_release(&scan.walk);
	return st;
}
