/*
 * Perfetto's own format: a Trace of TracePackets with TrackEvents (protos/perfetto/trace/ in
 * google/perfetto: trace_packet, interned_data, track_event/). Field numbers are theirs.
 *
 * Each row is a packet sequence of its own, with its own interned names, so rows can be made apart.
 * Lane 0 is a thread's track, by default that of the sequence's events; the others are its
 * children of the same name, which viewers draw as one. A slice is two packets, begin and end.
 * Times are on the trace's clock, which begins where the run does (with the head's shift); most are
 * written as the difference to the one before, on a clock of the sequence's own that counts so.
 *
 * Interned ids follow from what they stand for, so nothing has to be looked up: an op's name and
 * category have its index + 1, its framework op and source two numbers in a row.
 */
#include "write/perfetto.h"

#include "codec/pbw.h"

/* The first packet: sequence 1, its state cleared, trace attribute generator = tpusight. */
#define MARK                                                   \
	"\x0a\x1e\x50\x01\x68\x01\xf2\x07\x17\x0a\x15\x0a\x09" \
	"generator"                                            \
	"\x1a\x08"                                             \
	"tpusight"
#define MAX_LANES 1000 /* each slice looks for room in all of them */

enum { TRACE_PACKET = 1 };
enum packet_field {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_CLOCK_ID = 58,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_FIRST_ON_SEQUENCE = 87,
	PACKET_ATTRIBUTES = 126,
};
enum sequence_flags { STATE_CLEARED = 1, NEEDS_STATE = 2 };
enum { HEAD_SEQUENCE = 1, FIRST_ROW_SEQUENCE = 2 };
enum { ATTRIBUTES_ATTRIBUTE = 1, ATTRIBUTE_KEY = 1, ATTRIBUTE_LONG = 2, ATTRIBUTE_STRING = 3 };
enum {
	SNAPSHOT_CLOCKS = 1,
	SNAPSHOT_PRIMARY = 2,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,
	CLOCK_INCREMENTAL = 3
};
enum { CLOCK_OF_DAY = 1, CLOCK_OF_TRACE = 6, CLOCK_OF_SEQUENCE = 64 }; /* from 64 on its own */
enum { DEFAULTS_TRACK_EVENT = 11, DEFAULTS_CLOCK_ID = 58 };
enum descriptor_field {
	DESCRIPTOR_UUID = 1,
	DESCRIPTOR_NAME = 2,
	DESCRIPTOR_PROCESS = 3,
	DESCRIPTOR_THREAD = 4,
	DESCRIPTOR_PARENT = 5,
	DESCRIPTOR_COUNTER = 8,
	DESCRIPTOR_RANK = 12,
	DESCRIPTOR_DESCRIPTION = 14,
	DESCRIPTOR_PROCESS_ORDERING = 19,
	DESCRIPTOR_THREAD_ORDERING = 20,
};
enum { PROCESS_PID = 1, PROCESS_SORT_INDEX = 3, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_SORT_INDEX = 3, THREAD_NAME = 5 };
enum { COUNTER_UNIT_NAME = 6 };
enum { ORDERING_EXPLICIT = 1 };
enum { ROOT_UUID = 0 };
enum interned_field {
	INTERNED_CATEGORIES = 1,
	INTERNED_EVENT_NAMES = 2,
	INTERNED_ANNOTATION_NAMES = 3,
	INTERNED_STRINGS = 29,
};
enum { ENTRY_IID = 1, ENTRY_TEXT = 2 };
enum event_field {
	EVENT_CATEGORY_IIDS = 3,
	EVENT_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,
	EVENT_DOUBLE_COUNTER = 44,
	EVENT_FLOW_IDS = 47,
	EVENT_TERMINATING_FLOW_IDS = 48,
};
enum event_type { TYPE_SLICE_BEGIN = 1, TYPE_SLICE_END = 2, TYPE_COUNTER = 4 };
enum annotation_field {
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_STRING = 6,
	ANNOTATION_STRING_IID = 17,
};

/* Ids of annotation names: those of ts_perfetto_keys from 1 on, ours, then those of labels. */
enum { IID_KEYS = 1, IID_SELF = IID_KEYS + TS_NR_KEYS, IID_OWN, IID_EVENTS };
static const char *const own_keys[] = { "self_ns", "own_ns", "events" };
enum { IID_LABEL_ARGS = 1 << 8 }; /* + label x 256 + arg */
enum { LABEL_CATEGORY = 1 };

#define TAG(field, wire) ((uint8_t)((field) << 3 | (wire)))

/* Tracks are known by numbers that no other trace is likely to use. */
#define UUID_BASE  UINT64_C(0x5450000000000000)
#define UUID_TRACK (UINT64_C(1) << 47)

static uint64_t process_uuid(uint32_t pid)
{
	return UUID_BASE | pid;
}

static uint64_t track_uuid(const struct ts_perfetto_row *row, uint32_t lane)
{
	return UUID_BASE | UUID_TRACK | (uint64_t)row->number << 16 | lane;
}

/* Packets without a time */

static size_t begin_packet(struct ts_buf *out, uint32_t sequence)
{
	size_t packet = ts_pbw_begin(out, TRACE_PACKET);

	ts_pbw_u64(out, PACKET_SEQUENCE_ID, sequence);
	return packet;
}

static uint32_t sequence_of(const struct ts_perfetto_row *row)
{
	return row->number + FIRST_ROW_SEQUENCE;
}

static void put_attribute(struct ts_buf *out, const char *key, const char *text, int64_t number)
{
	size_t attribute = ts_pbw_begin(out, ATTRIBUTES_ATTRIBUTE);

	ts_pbw_text(out, ATTRIBUTE_KEY, ts_bytes_of(key));
	if (text)
		ts_pbw_text(out, ATTRIBUTE_STRING, ts_bytes_of(text));
	else
		ts_pbw_i64(out, ATTRIBUTE_LONG, number);
	ts_pbw_end(out, attribute);
}

static void put_attributes(struct ts_buf *out, const struct ts_perfetto_head *head)
{
	uint64_t left_out = head->events_total - TS_MIN(head->events_written, head->events_total);
	size_t packet = begin_packet(out, HEAD_SEQUENCE);
	size_t attributes = ts_pbw_begin(out, PACKET_ATTRIBUTES);

	put_attribute(out, "tpusight.version", head->version ? head->version : "", 0);
	if (head->native_file)
		put_attribute(out, "tpusight.native_file", head->native_file, 0);
	if (head->start_unix_ns != TS_UNKNOWN)
		put_attribute(out, "tpusight.start_unix_ns", NULL, head->start_unix_ns);
	put_attribute(out, "tpusight.shift_ns", NULL, head->shift_ns);
	put_attribute(out, "tpusight.events_total", NULL, (int64_t)head->events_total);
	put_attribute(out, "tpusight.events_written", NULL, (int64_t)head->events_written);
	put_attribute(out, "tpusight.events_left_out", NULL, (int64_t)left_out);
	put_attribute(out, "tpusight.own_events", NULL, (int64_t)head->own_events);
	put_attribute(out, "tpusight.note", ts_perfetto_note, 0);
	ts_pbw_end(out, attributes);
	ts_pbw_end(out, packet);
}

static void put_clock(struct ts_buf *out, uint32_t id, int64_t now_ns)
{
	size_t clock = ts_pbw_begin(out, SNAPSHOT_CLOCKS);

	ts_pbw_u64(out, CLOCK_ID, id);
	ts_pbw_i64(out, CLOCK_TIMESTAMP, now_ns);
	if (id == CLOCK_OF_SEQUENCE)
		ts_pbw_u64(out, CLOCK_INCREMENTAL, 1);
	ts_pbw_end(out, clock);
}

/* What time of day the run began, so that viewers can show it. */
static void put_clocks(struct ts_buf *out, const struct ts_perfetto_head *head)
{
	size_t packet = begin_packet(out, HEAD_SEQUENCE);
	size_t snapshot = ts_pbw_begin(out, PACKET_CLOCK_SNAPSHOT);

	put_clock(out, CLOCK_OF_TRACE, head->shift_ns);
	put_clock(out, CLOCK_OF_DAY, head->start_unix_ns);
	ts_pbw_u64(out, SNAPSHOT_PRIMARY, CLOCK_OF_TRACE);
	ts_pbw_end(out, snapshot);
	ts_pbw_end(out, packet);
}

static void put_root(struct ts_buf *out)
{
	size_t packet = begin_packet(out, HEAD_SEQUENCE);
	size_t track = ts_pbw_begin(out, PACKET_TRACK_DESCRIPTOR);

	ts_pbw_u64(out, DESCRIPTOR_UUID, ROOT_UUID);
	ts_pbw_u64(out, DESCRIPTOR_PROCESS_ORDERING, ORDERING_EXPLICIT);
	ts_pbw_u64(out, DESCRIPTOR_THREAD_ORDERING, ORDERING_EXPLICIT);
	ts_pbw_end(out, track);
	ts_pbw_end(out, packet);
}

static void open_file(struct ts_buf *out, const struct ts_perfetto_head *head)
{
	ts_buf_put(out, TS_LIT(MARK));
	put_attributes(out, head);
	if (head->start_unix_ns != TS_UNKNOWN && head->start_unix_ns >= 0)
		put_clocks(out, head);
	put_root(out);
}

static void close_file(struct ts_buf *out)
{
}

/* The rank is what viewers go by now, the sort index what they went by before. */
static void put_process(struct ts_buf *out, const struct ts_perfetto_process *process)
{
	size_t packet = begin_packet(out, HEAD_SEQUENCE);
	size_t track = ts_pbw_begin(out, PACKET_TRACK_DESCRIPTOR), inner;

	ts_pbw_u64(out, DESCRIPTOR_UUID, process_uuid(process->pid));
	inner = ts_pbw_begin(out, DESCRIPTOR_PROCESS);
	ts_pbw_u64(out, PROCESS_PID, process->pid);
	ts_pbw_u64(out, PROCESS_SORT_INDEX, process->order);
	ts_pbw_text(out, PROCESS_NAME, process->name);
	ts_pbw_end(out, inner);
	ts_pbw_u64(out, DESCRIPTOR_RANK, process->order);
	ts_pbw_end(out, track);
	ts_pbw_end(out, packet);
}

static void put_thread(struct ts_buf *out, const struct ts_perfetto_row *row)
{
	size_t thread = ts_pbw_begin(out, DESCRIPTOR_THREAD);

	ts_pbw_u64(out, THREAD_PID, row->pid);
	ts_pbw_u64(out, THREAD_TID, row->tid);
	ts_pbw_u64(out, THREAD_SORT_INDEX, row->order);
	ts_pbw_text(out, THREAD_NAME, row->name);
	ts_pbw_end(out, thread);
}

/* "%" of "(%)", where the track does not say. */
static struct ts_bytes unit_of(const struct ts_track *track)
{
	struct ts_bytes name, unit;

	if (track->unit)
		return ts_bytes_of(track->unit);
	ts_perfetto_unit(track, &name, &unit);
	return unit.n > 2 ? ts_bytes_cut(unit, 1, unit.n - 2) : unit;
}

/* Named as the importer names it in the JSON form, unit and all. */
static void put_counter_track(struct ts_buf *out, const struct ts_perfetto_row *row)
{
	size_t counter;

	ts_pbw_u64(out, DESCRIPTOR_PARENT, process_uuid(row->pid));
	ts_pbw_text(out, DESCRIPTOR_NAME, ts_bytes_of(row->track->name));
	counter = ts_pbw_begin(out, DESCRIPTOR_COUNTER);
	ts_pbw_text(out, COUNTER_UNIT_NAME, unit_of(row->track));
	ts_pbw_end(out, counter);
}

static void put_lane_track(struct ts_buf *out, const struct ts_perfetto_row *row, uint32_t lane)
{
	ts_pbw_u64(out, DESCRIPTOR_PARENT, lane == 0 ? process_uuid(row->pid) : track_uuid(row, 0));
	ts_pbw_text(out, DESCRIPTOR_NAME, row->name);
	if (lane == 0)
		put_thread(out, row);
}

static void put_track(struct ts_buf *out, const struct ts_perfetto_row *row, uint32_t lane)
{
	size_t packet = begin_packet(out, sequence_of(row));
	size_t track = ts_pbw_begin(out, PACKET_TRACK_DESCRIPTOR);

	ts_pbw_u64(out, DESCRIPTOR_UUID, track_uuid(row, lane));
	if (row->track && row->track->kind == TS_TRACK_COUNTER)
		put_counter_track(out, row);
	else
		put_lane_track(out, row, lane);
	ts_pbw_u64(out, DESCRIPTOR_RANK, lane == 0 ? row->order : lane);
	if (row->track && row->track->description)
		ts_pbw_text(out, DESCRIPTOR_DESCRIPTION, ts_bytes_of(row->track->description));
	ts_pbw_end(out, track);
	ts_pbw_end(out, packet);
}

/* Interned data */

static void intern(struct ts_buf *out, enum interned_field kind, uint64_t iid, struct ts_bytes text)
{
	size_t entry = ts_pbw_begin(out, kind);

	ts_pbw_u64(out, ENTRY_IID, iid);
	ts_pbw_text(out, ENTRY_TEXT, text);
	ts_pbw_end(out, entry);
}

static void intern_keys(struct ts_buf *out)
{
	for (uint32_t i = 0; i < TS_NR_KEYS; i++)
		intern(out, INTERNED_ANNOTATION_NAMES, IID_KEYS + i,
		       ts_bytes_of(ts_perfetto_keys[i]));
	for (uint32_t i = 0; i < TS_NELEM(own_keys); i++)
		intern(out, INTERNED_ANNOTATION_NAMES, IID_SELF + i, ts_bytes_of(own_keys[i]));
}

static void put_defaults(struct ts_buf *out, const struct ts_perfetto_row *row)
{
	size_t defaults = ts_pbw_begin(out, PACKET_DEFAULTS);
	size_t event = ts_pbw_begin(out, DEFAULTS_TRACK_EVENT);

	ts_pbw_u64(out, EVENT_TRACK_UUID, track_uuid(row, 0));
	ts_pbw_end(out, event);
	ts_pbw_u64(out, DEFAULTS_CLOCK_ID, CLOCK_OF_SEQUENCE);
	ts_pbw_end(out, defaults);
}

/* The row's sequence begins: nothing is known of it from before, events are its track's, and its
 * clock and the trace's are both 0. */
static void put_row(struct ts_buf *out, const struct ts_perfetto_row *row)
{
	size_t packet = begin_packet(out, sequence_of(row)), inner;

	ts_pbw_u64(out, PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
	inner = ts_pbw_begin(out, PACKET_INTERNED_DATA);
	intern_keys(out);
	if (row->track)
		intern(out, INTERNED_CATEGORIES, LABEL_CATEGORY, TS_LIT("tpusight"));
	ts_pbw_end(out, inner);
	put_defaults(out, row);
	inner = ts_pbw_begin(out, PACKET_CLOCK_SNAPSHOT);
	put_clock(out, CLOCK_OF_TRACE, 0);
	put_clock(out, CLOCK_OF_SEQUENCE, 0);
	ts_pbw_u64(out, SNAPSHOT_PRIMARY, CLOCK_OF_TRACE);
	ts_pbw_end(out, inner);
	ts_pbw_u64(out, PACKET_FIRST_ON_SEQUENCE, 1);
	ts_pbw_end(out, packet);
	if (row->track && row->track->kind == TS_TRACK_COUNTER)
		put_track(out, row, 0);
}

static uint8_t *put_pair(uint8_t *p, uint8_t tag, uint64_t value)
{
	*p++ = tag;
	return ts_pbw_store(p, value);
}

static void put_lane(struct ts_buf *out, struct ts_perfetto_lane *lane)
{
	uint8_t *packet = (uint8_t *)lane->packet.p, *event = (uint8_t *)lane->event.p, *p;

	p = put_pair(packet, TAG(PACKET_SEQUENCE_ID, 0), sequence_of(lane->row));
	p = put_pair(p, TAG(PACKET_SEQUENCE_FLAGS, 0), NEEDS_STATE);
	lane->packet.n = (uint8_t)(p - packet);
	p = event;
	if (lane->number > 0)
		p = put_pair(p, TAG(EVENT_TRACK_UUID, 0), track_uuid(lane->row, lane->number));
	lane->event.n = (uint8_t)(p - event);
	put_track(out, lane->row, lane->number);
}

static uint64_t string_iid(uint32_t op, enum ts_perfetto_key key)
{
	return 1 + 2 * (uint64_t)op + (key == TS_KEY_SOURCE);
}

static bool is_interned(const struct ts_perfetto_arg *arg)
{
	return arg->key == TS_KEY_TF_OP || arg->key == TS_KEY_SOURCE;
}

static void intern_op(struct ts_buf *out, const struct ts_perfetto_row *row, const struct ts_op *op,
		      uint32_t index, const struct ts_perfetto_arg *args, size_t nr_args)
{
	size_t packet = begin_packet(out, sequence_of(row)), data;

	ts_pbw_u64(out, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
	data = ts_pbw_begin(out, PACKET_INTERNED_DATA);
	if (op->category.n)
		intern(out, INTERNED_CATEGORIES, (uint64_t)index + 1,
		       ts_perfetto_cut(op->category));
	if (op->name.n)
		intern(out, INTERNED_EVENT_NAMES, (uint64_t)index + 1, ts_perfetto_cut(op->name));
	for (size_t i = 0; i < nr_args; i++)
		if (is_interned(&args[i]))
			intern(out, INTERNED_STRINGS, string_iid(index, args[i].key), args[i].text);
	ts_pbw_end(out, data);
	ts_pbw_end(out, packet);
}

static void put_annotation(struct ts_buf *out, uint32_t op, const struct ts_perfetto_arg *arg)
{
	size_t annotation = ts_pbw_begin(out, EVENT_ANNOTATIONS);

	ts_pbw_u64(out, ANNOTATION_NAME_IID, IID_KEYS + (uint64_t)arg->key);
	if (arg->type == TS_ARG_COUNT)
		ts_pbw_u64(out, ANNOTATION_INT, arg->number);
	else if (arg->type == TS_ARG_ID)
		ts_pbw_u64(out, ANNOTATION_UINT, arg->number);
	else if (is_interned(arg))
		ts_pbw_u64(out, ANNOTATION_STRING_IID, string_iid(op, arg->key));
	else
		ts_pbw_text(out, ANNOTATION_STRING, arg->text);
	ts_pbw_end(out, annotation);
}

/* What an op's slices refer to is said before the first of them. */
static void put_op_tail(struct ts_buf *out, struct ts_buf *tail,
			const struct ts_perfetto_lane *lane, const struct ts_profile *profile,
			uint32_t index, bool full)
{
	const struct ts_op *op = &profile->ops[index];
	struct ts_perfetto_arg args[TS_NR_KEYS];
	size_t nr = ts_perfetto_args(profile, index, full, args);

	if (full)
		intern_op(out, lane->row, op, index, args, nr);
	if (op->category.n)
		ts_pbw_u64(tail, EVENT_CATEGORY_IIDS, (uint64_t)index + 1);
	if (op->name.n)
		ts_pbw_u64(tail, EVENT_NAME_IID, (uint64_t)index + 1);
	for (size_t i = 0; i < nr; i++)
		put_annotation(tail, index, &args[i]);
}

static uint64_t label_iid(uint32_t label, size_t arg)
{
	return IID_LABEL_ARGS + ((uint64_t)label << 8) + TS_MIN(arg, 255);
}

static void intern_label(struct ts_buf *out, const struct ts_perfetto_row *row, uint32_t number)
{
	const struct ts_label *label = &row->track->labels[number];
	size_t packet = begin_packet(out, sequence_of(row)), data;

	ts_pbw_u64(out, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
	data = ts_pbw_begin(out, PACKET_INTERNED_DATA);
	intern(out, INTERNED_EVENT_NAMES, (uint64_t)number + 1, ts_perfetto_cut(label->name));
	for (size_t i = 0; i < TS_MIN(label->nr_args, 256); i++) {
		intern(out, INTERNED_ANNOTATION_NAMES, label_iid(number, i),
		       ts_bytes_of(label->args[i].key));
		intern(out, INTERNED_STRINGS, label_iid(number, i),
		       ts_perfetto_cut(label->args[i].value));
	}
	ts_pbw_end(out, data);
	ts_pbw_end(out, packet);
}

static void put_label_tail(struct ts_buf *out, struct ts_buf *tail,
			   const struct ts_perfetto_lane *lane, uint32_t number)
{
	const struct ts_label *label = &lane->row->track->labels[number];

	intern_label(out, lane->row, number);
	ts_pbw_u64(tail, EVENT_CATEGORY_IIDS, LABEL_CATEGORY);
	ts_pbw_u64(tail, EVENT_NAME_IID, (uint64_t)number + 1);
	for (size_t i = 0; i < TS_MIN(label->nr_args, 256); i++) {
		size_t annotation;

		if (label->args[i].value.n == 0)
			continue;
		annotation = ts_pbw_begin(tail, EVENT_ANNOTATIONS);
		ts_pbw_u64(tail, ANNOTATION_NAME_IID, label_iid(number, i));
		ts_pbw_u64(tail, ANNOTATION_STRING_IID, label_iid(number, i));
		ts_pbw_end(tail, annotation);
	}
}

/* Events: most of the file, so their lengths are worked out and the bytes put down at once. */

#define PACKET_MAX 48 /* a packet without what a lane has, and without the event's own bytes */
#define OWN_MAX	   64 /* of an event: annotations and arrow */

static uint8_t *put_text(uint8_t *p, const struct ts_perfetto_text *text)
{
	memcpy(p, text->p, text->n);
	return p + text->n;
}

/* The packet's time: past the last one of the sequence by so much, or, where lanes make it go back,
 * as it is. */
struct moment {
	uint64_t value;
	bool is_absolute;
};

static struct moment moment_of(const struct ts_perfetto_row *row, int64_t at_ns)
{
	int64_t last_ns = *row->last_ns;

	if (at_ns < last_ns)
		return (struct moment){ (uint64_t)at_ns, true };
	*row->last_ns = at_ns;
	return (struct moment){ (uint64_t)(at_ns - last_ns), false };
}

static uint8_t *put_moment(uint8_t *p, struct moment moment)
{
	p = put_pair(p, TAG(PACKET_TIMESTAMP, 0), moment.value);
	if (!moment.is_absolute)
		return p;
	p = ts_pbw_store(p, PACKET_CLOCK_ID << 3);
	return ts_pbw_store(p, CLOCK_OF_TRACE);
}

/* A packet up to its event's own bytes, of which there will be N. NULL: no memory. */
static uint8_t *begin_event(struct ts_buf *out, const struct ts_perfetto_lane *lane,
			    enum event_type type, int64_t at_ns, size_t n)
{
	struct moment moment = moment_of(lane->row, at_ns);
	size_t event = 2 + lane->event.n + n;
	size_t packet = 1 + ts_pbw_size(moment.value) + (moment.is_absolute ? 3 : 0) +
			lane->packet.n + 1 + ts_pbw_size(event) + event;
	uint8_t *p;

	if (!ts_buf_room(out, PACKET_MAX + packet))
		return NULL;
	p = put_pair(out->p + out->n, TAG(TRACE_PACKET, 2), packet);
	p = put_moment(p, moment);
	p = put_text(p, &lane->packet);
	p = put_pair(p, TAG(PACKET_TRACK_EVENT, 2), event);
	p = put_pair(p, TAG(EVENT_TYPE, 0), type);
	return put_text(p, &lane->event);
}

static void end_event(struct ts_buf *out, const uint8_t *p)
{
	out->n = (size_t)(p - out->p);
}

static uint8_t *put_number(uint8_t *p, uint32_t iid, int64_t number)
{
	*p++ = TAG(EVENT_ANNOTATIONS, 2);
	*p++ = (uint8_t)(3 + ts_pbw_size((uint64_t)number));
	p = put_pair(p, TAG(ANNOTATION_NAME_IID, 0), iid);
	return put_pair(p, TAG(ANNOTATION_INT, 0), (uint64_t)number);
}

static uint8_t *put_arrow(uint8_t *p, const struct ts_perfetto_slice *slice)
{
	static const uint32_t fields[] = {
		[TS_ARROW_BEGINS] = EVENT_FLOW_IDS, [TS_ARROW_ENDS] = EVENT_TERMINATING_FLOW_IDS
	};

	if (slice->arrow == TS_ARROW_NONE)
		return p;
	p = ts_pbw_store(p, (uint64_t)fields[slice->arrow] << 3 | 1);
	memcpy(p, &slice->arrow_id, 8); /* little-endian: configure sees to it */
	return p + 8;
}

static void put_slice(struct ts_buf *out, const struct ts_perfetto_lane *lane,
		      const struct ts_perfetto_slice *slice, const uint8_t *own, size_t nr_own)
{
	uint8_t *p =
		begin_event(out, lane, TYPE_SLICE_BEGIN, slice->start_ns, slice->tail.n + nr_own);

	if (!p)
		return;
	if (slice->tail.n) /* an op may have nothing to say, not even a name */
		memcpy(p, slice->tail.p, slice->tail.n);
	memcpy(p + slice->tail.n, own, nr_own);
	end_event(out, p + slice->tail.n + nr_own);
}

static void put_op_slice(struct ts_buf *out, const struct ts_perfetto_lane *lane,
			 const struct ts_perfetto_slice *slice)
{
	uint8_t own[OWN_MAX], *p = put_number(own, IID_SELF, slice->own_ns);

	p = put_arrow(p, slice);
	put_slice(out, lane, slice, own, (size_t)(p - own));
}

static void put_label_slice(struct ts_buf *out, const struct ts_perfetto_lane *lane,
			    const struct ts_perfetto_slice *slice)
{
	uint8_t own[OWN_MAX], *p = put_number(own, IID_OWN, slice->own_ns);

	p = put_number(p, IID_EVENTS, slice->nr_events);
	put_slice(out, lane, slice, own, (size_t)(p - own));
}

static void put_end(struct ts_buf *out, const struct ts_perfetto_lane *lane, int64_t end_ns)
{
	const uint8_t *p = begin_event(out, lane, TYPE_SLICE_END, end_ns, 0);

	if (p)
		end_event(out, p);
}

static void put_time(struct ts_buf *out, struct moment moment)
{
	ts_pbw_u64(out, PACKET_TIMESTAMP, moment.value);
	if (moment.is_absolute)
		ts_pbw_u64(out, PACKET_CLOCK_ID, CLOCK_OF_TRACE);
}

static void put_counter(struct ts_buf *out, const struct ts_perfetto_row *row, int64_t at_ns,
			double value)
{
	size_t packet, event;

	if (!isfinite(value))
		return;
	packet = begin_packet(out, sequence_of(row));
	ts_pbw_u64(out, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
	put_time(out, moment_of(row, at_ns));
	event = ts_pbw_begin(out, PACKET_TRACK_EVENT);
	ts_pbw_u64(out, EVENT_TYPE, TYPE_COUNTER);
	ts_pbw_double(out, EVENT_DOUBLE_COUNTER, value);
	ts_pbw_end(out, event);
	ts_pbw_end(out, packet);
}

const struct ts_perfetto_form ts_perfetto_pb = {
	.name = "pftrace",
	.mark = MARK,
	.max_lanes = MAX_LANES,
	.open = open_file,
	.close = close_file,
	.process = put_process,
	.row = put_row,
	.lane = put_lane,
	.op_tail = put_op_tail,
	.op_slice = put_op_slice,
	.label_tail = put_label_tail,
	.label_slice = put_label_slice,
	.end = put_end,
	.counter = put_counter,
};
