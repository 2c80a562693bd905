/*
 * The text from one end to the other, an event at a time: an array of events, or an object with
 * "traceEvents" and what the writer says of the run, in any order.
 *
 * Left out: flows (what they link stands in the events' args: correlation), asynchronous events
 * (b, n, e), samples and object snapshots.
 */
#include "read/chrome/chrome.h"

#define STEP_PREFIX "ProfilerStep#" /* torch.profiler.profile.step() */
#define OPEN_MAX    4096	    /* Bs without an E on one thread */

struct scan {
	struct chrome_file *file;
	struct ts_window text;
	enum ts_status st; /* only what is our own affair: no memory, no disk */
	struct ts_error *err;
	uint32_t no_category, step_category;
};

static void nomem(struct scan *scan)
{
	scan->st = ts_fail_nomem(scan->err);
}

/* The text makes no sense from P on. */
static void damaged(struct scan *scan, const uint8_t *p, const char *cause)
{
	struct chrome_file *file = scan->file;

	if (file->damage[0])
		return;
	file->damage_at = ts_window_at(&scan->text, p);
	snprintf(file->damage, sizeof(file->damage), "%s",
		 scan->text.damage.text[0] ? scan->text.damage.text : cause);
}

static void truncated(struct scan *scan)
{
	damaged(scan, scan->text.end, "the trace ends in the middle");
}

static bool more(struct scan *scan)
{
	bool got = ts_window_more(&scan->text, &scan->st);

	if (scan->st == TS_NOMEM)
		nomem(scan);
	return got;
}

/* The next byte that is no space; false at the end. */
static bool peek(struct scan *scan, uint8_t *c)
{
	do {
		scan->text.p = ts_jtok_space(scan->text.p, scan->text.end);
		if (scan->text.p < scan->text.end) {
			*c = *scan->text.p;
			return true;
		}
	} while (more(scan));
	return false;
}

/* The whole token at the cursor; false: it does not end, or is longer than a window. */
static bool token(struct scan *scan, struct ts_bytes *token)
{
	const uint8_t *behind;

	do {
		behind = ts_jtok_value_end(scan->text.p, scan->text.end);
	} while (!behind && more(scan));
	if (!behind)
		return false;
	*token = (struct ts_bytes){ scan->text.p, (size_t)(behind - scan->text.p) };
	return true;
}

/* Over a value of any length; false at the end of the text. */
static bool pass_over(struct scan *scan)
{
	struct ts_jtok_skip skip = { .in_string = false };
	struct ts_bytes scalar;

	if (*scan->text.p != '{' && *scan->text.p != '[') {
		if (!token(scan, &scalar) || scalar.n == 0)
			return false;
		scan->text.p += scalar.n;
		return true;
	}
	while (!ts_jtok_skip_some(&skip, &scan->text.p, scan->text.end)) {
		ts_window_forget(&scan->text);
		if (!more(scan))
			return false;
	}
	return true;
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
	track->nr_events++;
	track->last_ps = TS_MAX(track->last_ps, end_ps);
	scan->st =
		chrome_store_put(&file->store, &record, (uint32_t)file->names.nr_tracks, scan->err);
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
		file->step_track = chrome_track_of(names, names->tracks[record.track].process,
						   TS_LIT("steps"), CHROME_HOST, CHROME_STEPS);
	record.op = chrome_op_of(names, scan->step_category, TS_NONE, digits,
				 (struct ts_bytes){ NULL, 0 });
	if (file->step_track == TS_NONE || record.op == TS_NONE) {
		nomem(scan);
		return;
	}
	if (file->step_track == CHROME_TRACKS_MAX)
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

/* Where an event goes. CLASS: of the event's phase; its category may know better. */
static bool place(struct scan *scan, const struct chrome_event *event, uint8_t class,
		  struct chrome_record *record)
{
	struct chrome_names *names = &scan->file->names;
	uint32_t category = chrome_category_of(names, ts_jtok_text(event->category));
	uint32_t process = chrome_process_of(names, ts_jtok_text(event->pid)), track;
	const struct chrome_category *known;
	uint8_t side = CHROME_HOST;

	if (category == TS_NONE || process == TS_NONE) {
		nomem(scan);
		return false;
	}
	known = &names->categories[category];
	record->link = known->linked && event->args.n > 2 ? link_of(event->args) : TS_NO_LINK;
	if (known->kernel && event->args.n > 2 &&
	    !chrome_args_keep(&scan->file->args, names->arena, event->args, &record->args)) {
		nomem(scan);
		return false;
	}
	if (event->phase == 'X') {
		side = known->side;
		class = class == CHROME_MAIN ? known->class : class;
	}
	track = chrome_track_of(names, process, ts_jtok_text(event->tid), side, class);
	if (track == CHROME_TRACKS_MAX) {
		scan->file->nr_left_out++;
		return false;
	}
	record->op = event->phase == 'E'
			     ? 0
			     : chrome_op_of(names, category,
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
	if (scan->st == TS_OK && class == CHROME_MAIN && ts_bytes_starts(name, STEP_PREFIX) &&
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
	if (track->nr_open >= OPEN_MAX) {
		scan->file->nr_left_out++;
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
		while (scan->st == TS_OK && names->tracks[t].nr_open > 0)
			close_top(scan, t, names->tracks[t].last_ps);
}

static struct ts_bytes text_of(struct scan *scan, struct ts_bytes token)
{
	struct ts_bytes text = ts_jtok_unescape(scan->file->names.arena, ts_jtok_text(token));

	if (!text.p)
		nomem(scan);
	return text;
}

/* A thread's name is told once; which of its tracks exist is known at the end. */
static void name_thread(struct scan *scan, const struct chrome_event *event, uint32_t process,
			struct ts_bytes name)
{
	static const uint8_t sides[] = { CHROME_HOST, CHROME_DEVICE };

	for (size_t i = 0; i < TS_NELEM(sides); i++) {
		uint32_t track = chrome_track_of(&scan->file->names, process,
						 ts_jtok_text(event->tid), sides[i], CHROME_MAIN);

		if (track == TS_NONE)
			nomem(scan);
		else if (track != CHROME_TRACKS_MAX)
			scan->file->names.tracks[track].name = name;
	}
}

static void take_metadata(struct scan *scan, const struct chrome_event *event)
{
	struct chrome_names *names = &scan->file->names;
	struct ts_bytes what = ts_jtok_text(event->name), name = member(event->args, "name");
	struct ts_bytes labels = member(event->args, "labels");
	uint32_t process = chrome_process_of(names, ts_jtok_text(event->pid));

	if (process == TS_NONE)
		nomem(scan);
	else if (ts_bytes_is(what, "process_name") && name.p)
		names->processes[process].name = text_of(scan, name);
	else if (ts_bytes_is(what, "process_labels") && labels.p)
		names->processes[process].labels = text_of(scan, labels);
	else if (ts_bytes_is(what, "thread_name") && name.p)
		name_thread(scan, event, process, text_of(scan, name));
}

static void take_event(struct scan *scan, const struct chrome_event *event, uint64_t at)
{
	struct chrome_record record = { .at = at };

	if (event->phase == 'M') {
		take_metadata(scan, event);
		return;
	}
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

/* The event at the cursor; false: no more of them can be read. */
static bool scan_event(struct scan *scan)
{
	struct chrome_event event;
	enum chrome_found found;
	const uint8_t *p;

	do {
		p = scan->text.p;
		found = chrome_event_read(&p, scan->text.end, &event);
	} while (found == CHROME_MORE && more(scan));
	if (found == CHROME_BAD) {
		damaged(scan, p, "no trace event stands here");
		return false;
	}
	if (found == CHROME_MORE) { /* longer than a window: no writer's */
		if (scan->text.ended || !pass_over(scan)) {
			truncated(scan);
			return false;
		}
		scan->file->nr_left_out++;
		return true;
	}
	take_event(scan, &event, ts_window_at(&scan->text, scan->text.p));
	scan->text.p = p;
	ts_window_forget(&scan->text);
	return scan->st == TS_OK;
}

static uint64_t cursor_at(const struct scan *scan)
{
	return ts_window_at(&scan->text, scan->text.p);
}

/* Behind the '['. False: the text ends in it, or makes no sense from *AT on. */
static bool scan_list(struct scan *scan, bool may_be_open, uint64_t *at, bool *needs_comma)
{
	uint8_t c;

	while (peek(scan, &c)) {
		*at = cursor_at(scan);
		if (c == ']' || c == ',') {
			scan->text.p++;
			if (c == ']')
				return true;
			*needs_comma = false;
		} else if (c != '{') {
			damaged(scan, scan->text.p, "no trace event stands here");
			return false;
		} else if (!scan_event(scan)) {
			return false;
		} else {
			*needs_comma = true;
		}
	}
	*at = cursor_at(scan);
	/* "Trace Event Format": the array's closing bracket may be missing. */
	if (!may_be_open || scan->text.damage.text[0])
		truncated(scan);
	return false;
}

/* The same, and where more events can be put: of several lists into the first. */
static bool scan_events(struct scan *scan, bool may_be_open)
{
	struct chrome_seams *seams = &scan->file->seams;
	bool is_first = seams->events_at == TS_NO_SEAM, needs_comma = false, whole;
	uint64_t at = cursor_at(scan);

	whole = scan_list(scan, may_be_open, &at, &needs_comma);
	if (!is_first)
		return whole;
	seams->events_at = at;
	seams->needs_comma = needs_comma;
	if (!whole) {
		seams->end_at = at;
		seams->closing = may_be_open ? "]" : "]}";
	}
	return whole;
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

	if (file->nr_devices >= CHROME_DEVICES_MAX)
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

static void take_member(struct scan *scan, struct ts_bytes key, struct ts_bytes value)
{
	struct chrome_file *file = scan->file;
	struct ts_jtok elements = ts_jtok_enter(value);

	if (ts_bytes_is(key, "baseTimeNanoseconds")) {
		file->base_unix_ns = number_of(value);
	} else if (ts_bytes_is(key, "distributedInfo")) {
		file->rank = number_of(member(value, "rank"));
		file->world_size = number_of(member(value, "world_size"));
	} else if (ts_bytes_is(key, "deviceProperties")) {
		while (scan->st == TS_OK && ts_jtok_element(&elements))
			take_device(scan, elements.value);
	}
}

/* Members that say something here: their values are taken whole. */
static bool is_wanted(struct ts_bytes key)
{
	return ts_bytes_is(key, "baseTimeNanoseconds") || ts_bytes_is(key, "distributedInfo") ||
	       ts_bytes_is(key, "deviceProperties");
}

/* The value behind "KEY":, which is no list of events. */
static bool scan_value(struct scan *scan, const char *key, bool wanted)
{
	struct ts_bytes value;

	if (!wanted)
		return pass_over(scan);
	if (!token(scan, &value) || value.n == 0)
		return scan->text.ended ? false : pass_over(scan);
	take_member(scan, ts_bytes_of(key), value);
	scan->text.p += value.n;
	return scan->st == TS_OK;
}

static bool expect(struct scan *scan, uint8_t wanted)
{
	uint8_t c;

	if (!peek(scan, &c)) {
		truncated(scan);
		return false;
	}
	if (c != wanted) {
		damaged(scan, scan->text.p, "this is no JSON");
		return false;
	}
	return true;
}

/* One member of the outermost object. */
static bool scan_member(struct scan *scan)
{
	struct ts_bytes token_of_key, key;
	char copy[32] = "";
	uint8_t c;

	if (!expect(scan, '"'))
		return false;
	if (!token(scan, &token_of_key)) {
		truncated(scan);
		return false;
	}
	key = ts_jtok_text(token_of_key);
	if (key.n < sizeof(copy))
		memcpy(copy, key.p, key.n); /* the window may move */
	scan->text.p += token_of_key.n;
	if (!expect(scan, ':'))
		return false;
	scan->text.p++;
	if (!peek(scan, &c)) {
		truncated(scan);
		return false;
	}
	if (c == '[' && strcmp(copy, "traceEvents") == 0) {
		scan->text.p++;
		return scan_events(scan, false);
	}
	if (scan_value(scan, copy, is_wanted(ts_bytes_of(copy))))
		return true;
	if (scan->text.ended && scan->text.p >= scan->text.end)
		truncated(scan);
	else if (scan->st == TS_OK)
		damaged(scan, scan->text.p, "this is no JSON");
	return false;
}

/* False: it does not end, or makes no sense. */
static bool scan_members(struct scan *scan)
{
	uint8_t c;

	while (scan->st == TS_OK && peek(scan, &c)) {
		if (c == '}')
			return true;
		if (c == ',')
			scan->text.p++;
		else if (!scan_member(scan))
			return false;
		else
			scan->file->seams.good_at = cursor_at(scan);
	}
	if (scan->st == TS_OK)
		truncated(scan);
	return false;
}

static void scan_object(struct scan *scan)
{
	struct chrome_seams *seams = &scan->file->seams;

	if (scan_members(scan) || seams->end_at != TS_NO_SEAM)
		return;
	seams->end_at = seams->good_at;
	seams->closing = "}";
}

static bool begin(struct scan *scan)
{
	static const uint8_t mark[] = { 0xef, 0xbb, 0xbf };
	struct chrome_names *names = &scan->file->names;
	uint8_t c;

	scan->no_category = chrome_category_of(names, (struct ts_bytes){ NULL, 0 });
	scan->step_category = chrome_category_of(names, TS_LIT("ProfilerStep"));
	if (scan->no_category == TS_NONE || scan->step_category == TS_NONE)
		nomem(scan);
	if (scan->st || !peek(scan, &c))
		return false;
	while (scan->text.end - scan->text.p < 3 && more(scan))
		;
	if (scan->text.end - scan->text.p >= 3 && memcmp(scan->text.p, mark, 3) == 0)
		scan->text.p += 3;
	return scan->st == TS_OK;
}

static enum ts_status have_text(struct chrome_file *file, struct ts_error *err)
{
	if (file->packed)
		return ts_scratch_map(&file->unpacked, &file->text, err);
	file->text = file->bytes;
	return TS_OK;
}

enum ts_status chrome_scan(struct chrome_file *file, bool mapped, bool wants_stats,
			   struct ts_error *err)
{
	struct scan scan = { .file = file, .err = err };
	uint8_t c;

	scan.st = ts_window_open(&scan.text, file->bytes, mapped, err);
	scan.text.copy = wants_stats ? &file->unpacked : NULL;
	file->min_ps = INT64_MAX;
	file->max_ps = INT64_MIN;
	file->seams = (struct chrome_seams){
		.mapped = mapped, .events_at = TS_NO_SEAM, .end_at = TS_NO_SEAM, .closing = ""
	};
	if (scan.st == TS_OK && begin(&scan) && peek(&scan, &c)) {
		scan.text.p += c == '{' || c == '[';
		file->seams.is_array = c == '[';
		file->seams.head_at = cursor_at(&scan);
		if (c == '[')
			scan_events(&scan, true);
		else if (c == '{')
			scan_object(&scan);
		else
			damaged(&scan, scan.text.p, "this is no JSON");
	} else if (scan.st == TS_OK) {
		truncated(&scan);
	}
	if (scan.st == TS_OK)
		close_all(&scan);
	if (scan.st == TS_OK)
		scan.st = chrome_store_close(&file->store, (uint32_t)file->names.nr_tracks, err);
	if (scan.st == TS_OK)
		scan.st = have_text(file, err);
	file->text_lost = file->packed && wants_stats && !scan.text.copy;
	ts_window_release(&scan.text);
	return scan.st;
}
