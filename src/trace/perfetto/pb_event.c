/* SPDX-License-Identifier: MIT */
/* Events: most of the file, so their lengths are worked out and the bytes put down at once. */
#include "trace/perfetto/pb.h"

#define PACKET_MAX 48 /* a packet without what a lane has, and without the event's own bytes */
#define OWN_MAX	   80 /* of an event: annotations and arrows */
#define ARROW_MAX  16

static uint8_t *pb_event_put_text(uint8_t *p, const struct ts_perfetto_text *text)
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

static struct moment pb_event_moment_of(const struct ts_perfetto_row *row, int64_t at_ns)
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
	struct moment moment = pb_event_moment_of(lane->row, at_ns);
	size_t event = 2 + lane->event.n + n;
	size_t packet = 1 + ts_pbw_size(moment.value) + (moment.is_absolute ? 3 : 0) +
			lane->packet.n + 1 + ts_pbw_size(event) + event;
	uint8_t *p;

	if (!ts_buf_room(out, PACKET_MAX + packet))
		return NULL;
	p = put_pair(out->p + out->n, TAG(TRACE_PACKET, 2), packet);
	p = put_moment(p, moment);
	p = pb_event_put_text(p, &lane->packet);
	p = put_pair(p, TAG(PACKET_TRACK_EVENT, 2), event);
	p = put_pair(p, TAG(EVENT_TYPE, 0), type);
	return pb_event_put_text(p, &lane->event);
}

static void pb_event_end_event(struct ts_buf *out, const uint8_t *p)
{
	out->n = (size_t)(p - out->p);
}

static uint8_t *pb_event_put_number(uint8_t *p, uint32_t iid, int64_t number)
{
	*p++ = TAG(EVENT_ANNOTATIONS, 2);
	*p++ = (uint8_t)(3 + ts_pbw_size((uint64_t)number));
	p = put_pair(p, TAG(ANNOTATION_NAME_IID, 0), iid);
	return put_pair(p, TAG(ANNOTATION_INT, 0), (uint64_t)number);
}

static uint8_t *pb_event_put_arrow(uint8_t *p, enum ts_perfetto_arrow arrow, uint64_t id)
{
	static const uint32_t fields[] = {
		[TS_ARROW_BEGINS] = EVENT_FLOW_IDS, [TS_ARROW_ENDS] = EVENT_TERMINATING_FLOW_IDS
	};

	if (arrow == TS_ARROW_NONE)
		return p;
	p = ts_pbw_store(p, (uint64_t)fields[arrow] << 3 | 1);
	memcpy(p, &id, 8); /* little-endian: configure sees to it */
	return p + 8;
}

/* It launched what has this number on a GPU. */
static uint8_t *put_submission(uint8_t *p, uint64_t stage_id)
{
	p = ts_pbw_store(p, (uint64_t)EVENT_GPU_CORRELATION << 3 | 2);
	*p++ = (uint8_t)(1 + ts_pbw_size(stage_id));
	return put_pair(p, TAG(CORRELATION_SUBMISSION, 0), stage_id);
}

static uint8_t *pb_event_put_bytes(uint8_t *p, struct ts_bytes bytes)
{
	if (bytes.n)
		memcpy(p, bytes.p, bytes.n);
	return p + bytes.n;
}

static void pb_event_put_slice(struct ts_buf *out, const struct ts_perfetto_lane *lane,
			       const struct ts_perfetto_slice *slice, struct ts_bytes own)
{
	struct ts_bytes stats = ts_perfetto_pb_stats(out, lane->row, slice);
	uint8_t *p = begin_event(out, lane, TYPE_SLICE_BEGIN, slice->start_ns,
				 slice->tail.n + stats.n + own.n);

	if (!p)
		return;
	p = pb_event_put_bytes(p, slice->tail);
	p = pb_event_put_bytes(p, stats);
	pb_event_end_event(out, pb_event_put_bytes(p, own));
}

/* Of the slice's call stack. */
static uint8_t *put_weight(uint8_t *p, double weight)
{
	p = ts_pbw_store(p, EVENT_CALLSTACK_WEIGHT << 3 | 1);
	memcpy(p, &weight, 8); /* little-endian: configure sees to it */
	return p + 8;
}

void ts_perfetto_pb_op_slice(struct ts_buf *out, const struct ts_perfetto_lane *lane,
			     const struct ts_perfetto_slice *slice)
{
	uint8_t own[OWN_MAX], *p = pb_event_put_number(own, IID_SELF, slice->own_ns);

	if (slice->has_stack && slice->own_ns > 0)
		p = put_weight(p, (double)slice->own_ns);
	p = pb_event_put_arrow(p, slice->arrow, slice->arrow_id);
	p = pb_event_put_arrow(p, slice->launch, slice->launch_id);
	if (slice->stage_id && !lane->row->gpu)
		p = put_submission(p, slice->stage_id);
	pb_event_put_slice(out, lane, slice, (struct ts_bytes){ own, (size_t)(p - own) });
}

void ts_perfetto_pb_label_slice(struct ts_buf *out, const struct ts_perfetto_lane *lane,
				const struct ts_perfetto_slice *slice)
{
	uint8_t own[OWN_MAX + TS_PERFETTO_ENDS_MAX * ARROW_MAX];
	uint8_t *p = pb_event_put_number(own, IID_OWN, slice->own_ns);

	p = pb_event_put_number(p, IID_EVENTS, slice->nr_events);
	for (size_t i = 0; i < slice->nr_ends; i++)
		p = pb_event_put_arrow(p, slice->ends[i].begins ? TS_ARROW_BEGINS : TS_ARROW_ENDS,
				       TS_PERFETTO_END_IDS | slice->ends[i].number);
	pb_event_put_slice(out, lane, slice, (struct ts_bytes){ own, (size_t)(p - own) });
}

void ts_perfetto_pb_end(struct ts_buf *out, const struct ts_perfetto_lane *lane, int64_t end_ns,
			bool is_apart)
{
	const uint8_t *p = begin_event(out, lane, TYPE_SLICE_END, end_ns, 0);

	if (p)
		pb_event_end_event(out, p);
}

/* The time of a packet that is put down field by field. */
void ts_perfetto_pb_time(struct ts_buf *out, const struct ts_perfetto_row *row, int64_t at_ns)
{
	struct moment moment = pb_event_moment_of(row, at_ns);

	ts_pbw_u64(out, PACKET_TIMESTAMP, moment.value);
	if (moment.is_absolute)
		ts_pbw_u64(out, PACKET_CLOCK_ID, CLOCK_OF_TRACE);
}

void ts_perfetto_pb_counter(struct ts_buf *out, const struct ts_perfetto_row *row, int64_t at_ns,
			    double value)
{
	size_t packet, event;

	if (!isfinite(value))
		return;
	packet = begin_row_packet(out, row);
	ts_pbw_u64(out, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
	ts_perfetto_pb_time(out, row, at_ns);
	event = ts_pbw_begin(out, PACKET_TRACK_EVENT);
	ts_pbw_u64(out, EVENT_TYPE, TYPE_COUNTER);
	ts_pbw_double(out, EVENT_DOUBLE_COUNTER, value);
	ts_pbw_end(out, event);
	ts_pbw_end(out, packet);
}
