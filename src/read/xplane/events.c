/* SPDX-License-Identifier: MIT */
/*
 * Events of a line, decoded in place, one after the other. Nothing is kept of them; only a line
 * whose events are not in the order of their starts is sorted, by an index of 32 bytes an event.
 */
#include "read/xplane/xplane.h"

#include "base/check.h"
#include "base/order.h"

#include <math.h>

/* What decoding the events of a line needs, found once. */
/*
 * Of a GPU's line: the kernels of the op's execution that goes on. Kernels of one op that follow each other are one
 * execution until one of them comes again; the op stands for its first.
 */
#define MAX_KERNELS 16 /* an execution: what comes behind them belongs to it, too */
struct execution {
	uint32_t op, kernels[MAX_KERNELS];
	size_t nr;
};

enum naming { /* by what the op of an event is known */
	      BY_METADATA,
	      BY_STATS,	      /* or by its metadata: a GPU's */
	      BY_STATS_ALONE, /* what has none is not an event of the line: a CPU's */
};

struct decoder {
	const struct xplane_plane *plane;
	enum naming naming;
	uint64_t ordinal; /* BY_STATS_ALONE: of the line's device */
	const uint8_t
		*limit; /* the line's end: numbers of an event may be taken from bytes up to here */
	int64_t line_start_ps;
	int64_t lag_ps; /* of the line's host behind the earliest one: the device's clock has it too */
	bool is_timeless;	     /* its events are at no time: they are given the line's */
	bool wants_stats;	     /* this sink uses some stat of an event on this line */
	const bool *looks_at;	     /* as the sink; NULL as well where no event is passed over */
	struct execution *execution; /* NULL: an event is one */
};

/* Stats of one event that matter. */
struct event_stats {
	int64_t device_start_ps, device_dur_ps;
	int64_t flops, bytes;
	uint64_t number, link, program_id, ordinal;
	bool has_device_start, has_device_dur, has_program;
	struct xstat hlo_op;
};

static TS_INLINE void events_take_stat(uint32_t role, const struct xstat *stat,
				       struct event_stats *stats)
{
	switch (role) {
	case ROLE_DEVICE_OFFSET:
		stats->device_start_ps = xstat_int(stat);
		stats->has_device_start = true;
		break;
	case ROLE_DEVICE_DURATION:
		stats->device_dur_ps = xstat_int(stat);
		stats->has_device_dur = true;
		break;
	case ROLE_STEP_NUM:
	case ROLE_RUN_ID:	  stats->number = (uint64_t)xstat_int(stat); break;
	case ROLE_CORRELATION:	  stats->link = (uint64_t)xstat_int(stat); break;
	case ROLE_FLOPS:	  stats->flops = xstat_int(stat); break;
	case ROLE_BYTES_ACCESSED: stats->bytes = xstat_int(stat); break;
	case ROLE_HLO_OP:	  stats->hlo_op = *stat; break;
	case ROLE_DEVICE_ORDINAL: stats->ordinal = (uint64_t)xstat_int(stat); break;
	case ROLE_PROGRAM_ID:
		stats->program_id = (uint64_t)xstat_int(stat);
		stats->has_program = true;
		break;
	default: break;
	}
}

#define TAG(field, wire) ((field) << 3 | (wire))

/* Numbers of an event are read faster where some bytes follow it: of all events of a line but its last one. */
static TS_INLINE bool read_number(const uint8_t **p, const uint8_t *end, bool is_padded,
				  uint64_t *number)
{
	return is_padded ? ts_pb_varint_padded(p, end, number) : ts_pb_varint(p, end, number);
}

/*
 * Nearly all stats are an id and a whole number, in this order: those are read right here, and a
 * stat that means nothing is passed over as soon as its id is known.
 */
static TS_INLINE void read_stat(const struct decoder *decoder, struct ts_bytes bytes,
				bool is_padded, struct ts_pb_error *error,
				struct event_stats *stats)
{
	const struct xplane_plane *plane = decoder->plane;
	const uint8_t *p = bytes.p, *end = p ? p + bytes.n : p;
	struct xstat stat;
	uint32_t role;
	uint64_t id;

	if (bytes.n > 2 && *p++ == TAG(XSTAT_METADATA_ID, TS_PB_VARINT) &&
	    read_number(&p, end, is_padded, &id)) {
		role = id_table_find(&plane->roles, (int64_t)id);
		if (role == TS_NONE)
			return;
		if (p < end && (*p == TAG(XSTAT_UINT64, TS_PB_VARINT) ||
				*p == TAG(XSTAT_INT64, TS_PB_VARINT))) {
			stat.field = *p++ >> 3;
			if (read_number(&p, end, is_padded, &stat.number) && p == end) {
				events_take_stat(role, &stat, stats);
				return;
			}
		}
	}
	xstat_read(ts_pb_of(bytes, error), &stat);
	events_take_stat(id_table_find(&plane->roles, stat.id), &stat, stats);
}

static uint32_t op_by_stats(const struct decoder *decoder, const struct event_stats *stats)
{
	if (!stats->has_program || !stats->hlo_op.field)
		return TS_NONE;
	if (decoder->naming == BY_STATS_ALONE && stats->ordinal != decoder->ordinal)
		return TS_NONE;
	return ts_xplane_hlo_op(decoder->plane, &stats->hlo_op, stats->program_id, TS_OP_OTHER);
}

static TS_INLINE uint32_t events_op_of(const struct decoder *decoder, int64_t metadata_id,
				       const struct event_stats *stats)
{
	uint32_t op = decoder->naming == BY_METADATA ? TS_NONE : op_by_stats(decoder, stats);

	if (op != TS_NONE || decoder->naming == BY_STATS_ALONE)
		return op;
	op = id_table_find(&decoder->plane->ops, metadata_id);
	return op == TS_NONE ? decoder->plane->unknown_op : op;
}

/* A number with this field's tag at *P: read and stepped over when it is there. */
static TS_INLINE bool usual_number(const uint8_t **p, const uint8_t *end, bool is_padded,
				   unsigned field, int64_t *value)
{
	const uint8_t *q;
	uint64_t number;

	if (*p >= end || **p != TAG(field, TS_PB_VARINT))
		return false;
	q = *p + 1;
	if (!read_number(&q, end, is_padded, &number))
		return false;
	*value = (int64_t)number;
	*p = q;
	return true;
}

/* Bytes with this field's tag at *P, likewise. */
static TS_INLINE bool usual_bytes(const uint8_t **p, const uint8_t *end, unsigned field,
				  struct ts_bytes *bytes)
{
	const uint8_t *q;
	uint64_t n;

	if (*p >= end || **p != TAG(field, TS_PB_BYTES))
		return false;
	q = *p + 1;
	if (!ts_pb_varint(&q, end, &n) || n > (uint64_t)(end - q))
		return false;
	*bytes = (struct ts_bytes){ q, (size_t)n };
	*p = q + n;
	return true;
}

/* All else that may stand in an event: fields in another order, of a newer writer, or damage. */
static void decode_rest(const struct decoder *decoder, struct ts_pb pb, int64_t *metadata_id,
			struct ts_event *event, struct event_stats *stats)
{
	while (ts_pb_next(&pb)) {
		switch (pb.field) {
		case XEVENT_METADATA_ID:     *metadata_id = ts_pb_i64(&pb); break;
		case XEVENT_OFFSET_PS:	     event->start_ps = ts_pb_i64(&pb); break;
		case XEVENT_DURATION_PS:     event->dur_ps = ts_pb_i64(&pb); break;
		case XEVENT_NUM_OCCURRENCES: event->occurrences = ts_pb_i64(&pb); break;
		case XEVENT_STATS:
			if (decoder->wants_stats)
				read_stat(decoder, ts_pb_bytes(&pb), false, pb.err, stats);
			break;
		default: break;
		}
	}
}

static TS_INLINE bool has_padding(const struct decoder *decoder, const uint8_t *end)
{
	return decoder->limit - end >= TS_PB_PADDING;
}

/* The usual event is id, offset, duration, and then stats; what is otherwise goes the long way. */
static TS_INLINE void decode_fields(const struct decoder *decoder, struct ts_bytes bytes,
				    struct ts_pb_error *error, int64_t *metadata_id,
				    struct ts_event *event, struct event_stats *stats)
{
	const uint8_t *p = bytes.p, *end = p ? p + bytes.n : p;
	struct ts_bytes stat;

	if (has_padding(decoder, end)) {
		if (usual_number(&p, end, true, XEVENT_METADATA_ID, metadata_id) &&
		    usual_number(&p, end, true, XEVENT_OFFSET_PS, &event->start_ps))
			usual_number(&p, end, true, XEVENT_DURATION_PS, &event->dur_ps);
		while (usual_bytes(&p, end, XEVENT_STATS, &stat))
			if (decoder->wants_stats)
				read_stat(decoder, stat, true, error, stats);
	}
	if (p < end)
		decode_rest(decoder, ts_pb_of((struct ts_bytes){ p, (size_t)(end - p) }, error),
			    metadata_id, event, stats);
}

/* Nearly all times are days from every bound, and so are their sums: a quarter of TS_TIME_MAX, or half of it. */
static TS_INLINE bool events_is_near(int64_t base_ps, int64_t start_ps, int64_t dur_ps)
{
	uint64_t from = (uint64_t)base_ps + (uint64_t)start_ps + TS_TIME_MAX / 2;

	return ((uint64_t)start_ps | (uint64_t)dur_ps) < TS_TIME_MAX / 4 && from < TS_TIME_MAX;
}

/* From the offset that the event has to its start on the run's timeline. */
static TS_INLINE void events_place(const struct decoder *decoder, int64_t *start_ps,
				   int64_t *dur_ps)
{
	if (events_is_near(decoder->line_start_ps, *start_ps, *dur_ps)) {
		*start_ps += decoder->line_start_ps;
		return;
	}
	*start_ps = ts_time_bound(ts_i64_add(decoder->line_start_ps, *start_ps));
	*dur_ps = *dur_ps < 0 ? -1 : ts_time_bound(ts_i64_add(*start_ps, *dur_ps)) - *start_ps;
}

/* The same by the device's clock. */
static TS_INLINE void place_by_device(const struct decoder *decoder,
				      const struct event_stats *stats, struct ts_event *event)
{
	event->device_start_ps = stats->device_start_ps;
	event->total_ps = stats->device_dur_ps;
	if (events_is_near(decoder->lag_ps, event->device_start_ps, event->total_ps)) {
		event->device_start_ps += decoder->lag_ps;
		return;
	}
	event->device_start_ps = ts_time_bound(ts_i64_add(event->device_start_ps, decoder->lag_ps));
	event->total_ps = ts_time_bound(TS_MAX(event->total_ps, 0));
}

static bool events_goes_on(struct execution *execution, uint32_t op, uint32_t kernel)
{
	if (op != execution->op)
		*execution = (struct execution){ .op = op };
	for (size_t i = 0; i < execution->nr; i++)
		if (execution->kernels[i] == kernel)
			execution->nr = 0;
	if (execution->nr < MAX_KERNELS)
		execution->kernels[execution->nr++] = kernel;
	return execution->nr > 1;
}

static TS_INLINE void decode(const struct decoder *decoder, struct ts_bytes bytes,
			     struct ts_pb_error *error, struct ts_event *event)
{
	struct event_stats stats;
	int64_t metadata_id = 0;

	stats.has_device_start = stats.has_device_dur = stats.has_program = false;
	stats.flops = stats.bytes = TS_UNKNOWN;
	stats.number = TS_NO_NUMBER;
	stats.link = TS_NO_LINK;
	stats.hlo_op.field = 0;
	stats.ordinal = 0;
	event->start_ps = event->dur_ps = 0;
	event->occurrences = 1;
	decode_fields(decoder, bytes, error, &metadata_id, event, &stats);
	if (decoder->is_timeless)
		event->start_ps = event->dur_ps = 0;
	events_place(decoder, &event->start_ps, &event->dur_ps);
	event->occurrences = TS_MAX(event->occurrences, 1);
	event->device_start_ps = event->start_ps;
	event->total_ps = event->dur_ps;
	if (stats.has_device_start && stats.has_device_dur) /* both or none, as XProf */
		place_by_device(decoder, &stats, event);
	event->flops = stats.flops;
	event->bytes = stats.bytes;
	event->number = stats.number;
	event->link = stats.link;
	event->op = events_op_of(decoder, metadata_id, &stats);
	event->body = bytes;
	if (decoder->execution && events_goes_on(decoder->execution, event->op,
						 id_table_find(&decoder->plane->ops, metadata_id)))
		event->occurrences = 0;
}

/* The part of a line that a byte of it lies in; NULL: its first piece, the line's own body. */
static const struct xplane_part *events_part_at(const struct xplane_plane *plane, const uint8_t *p)
{
	size_t lo = 0, hi = plane->nr_parts;

	while (lo < hi) { /* parts stand in the order of the file */
		size_t mid = lo + (hi - lo) / 2;

		if (plane->parts[mid].body.p <= p)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo == 0 ? NULL : &plane->parts[lo - 1];
}

/* The plane whose ids an event has. */
static const struct xplane_plane *events_plane_of(const struct ts_profile *profile,
						  const struct ts_line *line, struct ts_bytes event)
{
	const struct xplane_plane *plane = profile->planes[line->plane].reader_data;
	const struct xplane_part *part = events_part_at(plane, event.p);

	return part ? part->plane : plane;
}

static struct decoder decoder_of_part(struct decoder whole, const struct xplane_part *part)
{
	whole.plane = part->plane;
	whole.limit = part->body.p + part->body.n;
	if (!whole.is_timeless)
		whole.line_start_ps = ts_i64_add(whole.line_start_ps, part->offset_ps);
	return whole;
}

/* Of counters that were read when the capture ended: whatever time they have, it is one of the capture. */
static struct decoder decoder_of_counters(const struct ts_profile *profile,
					  const struct ts_line *line, const uint8_t *limit)
{
	const struct ts_plane *plane = &profile->planes[line->plane];
	const struct ts_capture_time *time = &profile->hosts[plane->host].time;
	int64_t lag_ps = ts_i64_sub(line->start_ps, line->host_ps);
	int64_t host_ps = TS_MAX(TS_MIN(line->host_ps, time->last_ps), time->first_ps);

	return (struct decoder){
		.plane = plane->reader_data,
		.limit = limit,
		.line_start_ps = ts_i64_add(host_ps, lag_ps),
		.lag_ps = lag_ps,
		.is_timeless = true,
	};
}

static struct decoder decoder_of(const struct ts_profile *profile, uint32_t index,
				 const struct ts_sink *sink, const uint8_t *limit)
{
	const struct ts_line *line = &profile->lines[index];
	const struct ts_plane *plane = &profile->planes[line->plane];
	const struct xplane_plane *data = plane->reader_data;
	bool asked = sink->columns & (TS_COL_DEVICE_CLOCK | TS_COL_COSTS | TS_COL_NUMBER);
	bool has_links =
		data->has_links || sink->columns & TS_COL_NUMBER; /* a TPU's have run ids */
	bool linked = sink->columns & TS_COL_LINK && has_links &&
		      (plane->kind == TS_PLANE_HOST || plane->kind == TS_PLANE_GPU);
	const struct ts_device *device = ts_line_device(profile, line);
	bool is_cpu = device && device->is_cpu;
	bool wants_stats = linked || (plane->kind != TS_PLANE_HOST && line->kind != TS_LINE_ASYNC &&
				      (asked || is_cpu || data->ops_by_stats));

	if (line->kind == TS_LINE_COUNTERS)
		return decoder_of_counters(profile, line, limit);
	return (struct decoder){
		.plane = data,
		.naming = is_cpu	       ? BY_STATS_ALONE
			  : data->ops_by_stats ? BY_STATS
					       : BY_METADATA,
		.ordinal = is_cpu ? device->ordinal : 0,
		.limit = limit,
		.line_start_ps = line->start_ps,
		.lag_ps = ts_i64_sub(line->start_ps, line->host_ps),
		.wants_stats = wants_stats,
		/* What is passed over is not looked into: not for damage, nor for its own clock. */
		.looks_at = line->is_plain && !wants_stats ? sink->looks_at : NULL,
	};
}

static bool stat_is(const struct xplane_plane *plane, int64_t id, const char *name)
{
	uint32_t at = id_table_find(&plane->names, id);

	return at < plane->nr_stat_names && ts_bytes_is(plane->stat_names[at], name);
}

static void events_give_stat(const struct xplane_plane *plane, const struct xstat *from,
			     struct ts_stat *stat)
{
	bool is_text = from->field >= XSTAT_STR;

	*stat = (struct ts_stat){
		.type = is_text			      ? TS_STAT_TEXT
			: from->field == XSTAT_DOUBLE ? TS_STAT_REAL
						      : TS_STAT_INT,
		.number = is_text ? TS_UNKNOWN : xstat_int(from),
		.real = is_text ? NAN : xstat_real(from),
		.text = is_text ? ts_xstat_text(plane, from) : (struct ts_bytes){ NULL, 0 },
		.is_unsigned = from->field == XSTAT_UINT64,
	};
}

static int64_t events_metadata_of(struct ts_bytes event)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(event, &error);

	while (ts_pb_next(&pb))
		if (pb.field == XEVENT_METADATA_ID)
			return ts_pb_i64(&pb);
	return 0;
}

static bool find_kernel(const struct ts_block *block, const struct xplane_plane *plane, int64_t id,
			struct ts_stat *stat)
{
	uint32_t op = id_table_find(&plane->ops, id);

	if (op == TS_NONE)
		return false;
	*stat = (struct ts_stat){ TS_STAT_TEXT, op, NAN, block->profile->ops[op].name };
	return true;
}

/* The stat of this name (NULL: the first) among those that stand in FIELD of BODY. */
static bool find_among(const struct xplane_plane *plane, struct ts_bytes body, uint32_t field,
		       const char *name, struct ts_stat *stat)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(body, &error);
	struct xstat found;

	while (ts_pb_next(&pb)) {
		if (pb.field != field)
			continue;
		xstat_read(ts_pb_enter(&pb), &found);
		if (found.field && (!name || stat_is(plane, found.id, name))) {
			events_give_stat(plane, &found, stat);
			return true;
		}
	}
	return false;
}

/* ts_stat_find */
static bool events_find_stat(const struct ts_block *block, size_t at, const char *name,
			     struct ts_stat *stat)
{
	struct ts_bytes body = block->body[at];
	const struct xplane_plane *plane = events_plane_of(block->profile, block->line, body);

	if (strcmp(name, TS_STAT_KERNEL) == 0)
		return find_kernel(block, plane, events_metadata_of(body), stat);
	if (strcmp(name, TS_STAT_FIRST) == 0)
		return find_among(plane, body, XEVENT_STATS, NULL, stat);
	if (strcmp(name, TS_STAT_METADATA) == 0) {
		*stat = (struct ts_stat){ TS_STAT_INT, events_metadata_of(body), NAN, { NULL, 0 } };
		return true;
	}
	return find_among(plane, body, XEVENT_STATS, name, stat) ||
	       (block->line->kind == TS_LINE_COUNTERS &&
		find_among(plane, xplane_metadata(plane, events_metadata_of(body)),
			   XEVENTMETA_STATS, name, stat));
}

struct visitor {
	const struct xplane_plane *plane;
	ts_stat_visit *visit;
	void *ctx;
};

/* A stat whose name the plane does not have is left out, as in find_stat(). */
static void visit_stat(const struct visitor *visitor, const struct xstat *found)
{
	const struct xplane_plane *plane = visitor->plane;
	uint32_t at = id_table_find(&plane->names, found->id);
	struct ts_stat stat;

	if (!found->field || at >= plane->nr_stat_names)
		return;
	events_give_stat(plane, found, &stat);
	visitor->visit(visitor->ctx, plane->stat_names[at], &stat);
}

static bool is_of_variant(uint32_t role)
{
	return role == ROLE_TF_OP || role == ROLE_SOURCE || role == ROLE_SOURCE_STACK ||
	       role == ROLE_SHAPE || role == ROLE_FLOPS || role == ROLE_BYTES_ACCESSED ||
	       role == ROLE_MODEL_FLOPS || role == ROLE_CATEGORY;
}

static void visit_text(const struct visitor *visitor, struct ts_bytes text)
{
	struct ts_stat stat = {
		.type = TS_STAT_TEXT, .number = TS_UNKNOWN, .real = NAN, .text = text
	};

	visitor->visit(visitor->ctx, TS_LIT("long_name"), &stat);
}

/* What the metadata says of an event whose op has several. */
static void visit_variant(const struct visitor *visitor, const struct ts_profile *profile,
			  int64_t metadata_id)
{
	const struct xplane_plane *plane = visitor->plane;
	uint32_t op = plane->has_variants ? id_table_find(&plane->ops, metadata_id) : TS_NONE, at;
	struct ts_pb_error error = { NULL, NULL };
	struct xstat found;
	struct ts_pb pb;

	if (op == TS_NONE || !profile->ops[op].has_variants)
		return;
	at = id_table_find(&plane->metadata, metadata_id);
	if (at >= plane->nr_op_metadata)
		return;
	pb = ts_pb_of(plane->op_metadata[at], &error);
	while (ts_pb_next(&pb)) {
		if (pb.field == XEVENTMETA_NAME)
			visit_text(visitor, ts_pb_bytes(&pb));
		if (pb.field != XEVENTMETA_STATS)
			continue;
		xstat_read(ts_pb_enter(&pb), &found);
		if (is_of_variant(id_table_find(&plane->roles, found.id)))
			visit_stat(visitor, &found);
	}
}

/* What a core's ops have two of each, and block->total_ps has in another form. */
static bool is_of_clock(const struct xplane_plane *plane, int64_t id)
{
	uint32_t role = id_table_find(&plane->roles, id);

	return role == ROLE_DEVICE_OFFSET || role == ROLE_DEVICE_DURATION;
}

static void visit_bytes(const struct visitor *visitor, struct ts_bytes bytes)
{
	const uint8_t *p = bytes.p, *end = p ? p + bytes.n : p;
	struct ts_pb_error error = { NULL, NULL };
	struct xstat stat;

	if (usual_number(&p, end, false, XSTAT_METADATA_ID, &stat.id) &&
	    is_of_clock(visitor->plane, stat.id))
		return;
	xstat_read(ts_pb_of(bytes, &error), &stat);
	if (!is_of_clock(visitor->plane, stat.id))
		visit_stat(visitor, &stat);
}

/* ts_stats_each: the usual event as decode_fields() has it, and what is otherwise the long way. */
static void events_each_stat(const struct ts_profile *profile, const struct ts_line *line,
			     struct ts_bytes body, ts_stat_visit *visit, void *ctx)
{
	struct visitor visitor = { events_plane_of(profile, line, body), visit, ctx };
	const uint8_t *p = body.p, *end = p ? p + body.n : p;
	struct ts_pb_error error = { NULL, NULL };
	struct ts_bytes stat;
	int64_t number;
	struct ts_pb pb;

	if (usual_number(&p, end, false, XEVENT_METADATA_ID, &number))
		visit_variant(&visitor, profile, number);
	if (usual_number(&p, end, false, XEVENT_OFFSET_PS, &number))
		usual_number(&p, end, false, XEVENT_DURATION_PS, &number);
	while (usual_bytes(&p, end, XEVENT_STATS, &stat))
		visit_bytes(&visitor, stat);
	pb = ts_pb_of((struct ts_bytes){ p, (size_t)(end - p) }, &error);
	while (p < end && ts_pb_next(&pb)) {
		if (pb.field == XEVENT_METADATA_ID)
			visit_variant(&visitor, profile, ts_pb_i64(&pb));
		if (pb.field == XEVENT_STATS)
			visit_bytes(&visitor, ts_pb_bytes(&pb));
	}
}

/* The next event of a line: most often it stands right there. False at the end, or after damage. */
static inline bool events_next_event(struct ts_pb *pb, struct ts_bytes *event)
{
	if (usual_bytes(&pb->p, pb->end, XLINE_EVENTS, event))
		return true;
	while (ts_pb_next(pb))
		if (pb->field == XLINE_EVENTS && pb->wire == TS_PB_BYTES) {
			*event = ts_pb_bytes(pb);
			return true;
		}
	return false;
}

/* Whether the sink does not look at the event's op, as far as it has the usual form; *P is behind its id then. */
static TS_INLINE bool events_is_of_others(const struct decoder *decoder, const uint8_t **p,
					  const uint8_t *end)
{
	int64_t metadata_id;
	uint32_t op;

	if (!usual_number(p, end, has_padding(decoder, end), XEVENT_METADATA_ID, &metadata_id))
		return false;
	op = id_table_find(&decoder->plane->ops, metadata_id);
	return !decoder->looks_at[op == TS_NONE ? decoder->plane->unknown_op : op];
}

/* An event passed over, if it may be: *IS_PASSED. It ends those before it that it is not inside of. */
static TS_INLINE enum ts_status events_pass_over(const struct decoder *decoder,
						 struct ts_bytes bytes, struct ts_nest *nest,
						 bool *is_passed, struct ts_error *err)
{
	const uint8_t *p = bytes.p, *end = p ? p + bytes.n : p;
	int64_t start_ps, dur_ps;
	enum ts_status st;

	*is_passed = events_is_of_others(decoder, &p, end);
	if (!*is_passed || ts_nest_is_idle(nest))
		return TS_OK;
	*is_passed = false;
	if (!usual_number(&p, end, has_padding(decoder, end), XEVENT_OFFSET_PS, &start_ps) ||
	    !usual_number(&p, end, has_padding(decoder, end), XEVENT_DURATION_PS, &dur_ps))
		return TS_OK;
	events_place(decoder, &start_ps, &dur_ps);
	st = ts_nest_close(nest, start_ps, dur_ps, err);
	*is_passed = ts_nest_is_idle(nest);
	return st;
}

static enum ts_status in_order(const struct decoder *decoder, struct ts_pb pb, struct ts_nest *nest,
			       struct ts_error *err)
{
	enum ts_status st = TS_OK;
	struct ts_event event;
	struct ts_bytes bytes;

	while (st == TS_OK && events_next_event(&pb, &bytes)) {
		decode(decoder, bytes, pb.err, &event);
		if (pb.err->cause)
			break; /* half an event is not an event */
		st = ts_nest_push(nest, &event, err);
	}
	return st;
}

/* The same of a plain line, without those that nobody looks at. */
static enum ts_status looked_at(const struct decoder *decoder, struct ts_pb pb,
				struct ts_nest *nest, struct ts_error *err)
{
	enum ts_status st = TS_OK;
	struct ts_event event;
	struct ts_bytes bytes;

	while (st == TS_OK && events_next_event(&pb, &bytes)) {
		bool is_passed;

		st = events_pass_over(decoder, bytes, nest, &is_passed, err);
		if (st || is_passed)
			continue;
		decode(decoder, bytes, pb.err, &event);
		st = ts_nest_push(nest, &event, err);
	}
	return st;
}

/* Of a line that has some of another's events. */
static enum ts_status named_ones(const struct decoder *decoder, struct ts_pb pb,
				 struct ts_nest *nest, struct ts_error *err)
{
	enum ts_status st = TS_OK;
	struct ts_event event;
	struct ts_bytes bytes;

	while (st == TS_OK && events_next_event(&pb, &bytes)) {
		decode(decoder, bytes, pb.err, &event);
		if (pb.err->cause)
			break;
		if (event.op != TS_NONE)
			st = ts_nest_push(nest, &event, err);
	}
	return st;
}

struct indexed_event {
	int64_t start_ps, dur_ps;
	struct ts_bytes body;
};

/* A parent before its child. */
TS_ORDER(events_by_start, struct indexed_event, TS_UP(start_ps) TS_DOWN(dur_ps) TS_UP(body.p))

struct event_list {
	struct indexed_event *items;
	size_t nr, cap;
};

static enum ts_status collect(const struct decoder *whole, struct ts_pb pb, struct event_list *list,
			      struct ts_error *err)
{
	struct decoder decoder = *whole;
	struct ts_event event;
	struct ts_bytes bytes;

	decoder.execution = NULL; /* executions are in the order of time */
	while (events_next_event(&pb, &bytes)) {
		decode(&decoder, bytes, pb.err, &event);
		if (pb.err->cause)
			break;
		if (event.op == TS_NONE)
			continue;
		if (!ts_grow(&list->items, &list->cap, list->nr + 1, sizeof(*list->items)))
			return ts_fail_nomem(err);
		list->items[list->nr++] =
			(struct indexed_event){ event.device_start_ps, event.total_ps, bytes };
	}
	return TS_OK;
}

static enum ts_status push_sorted(const struct decoder *whole, const struct event_list *list,
				  struct ts_nest *nest, struct ts_error *err)
{
	enum ts_status st = TS_OK;
	struct ts_event event;

	if (list->nr)
		qsort(list->items, list->nr, sizeof(*list->items), events_by_start);
	for (size_t i = 0; i < list->nr && st == TS_OK; i++) {
		const struct xplane_part *part =
			events_part_at(whole->plane, list->items[i].body.p);
		struct decoder decoder = part ? decoder_of_part(*whole, part) : *whole;
		struct ts_pb_error again = { NULL, NULL };

		decode(&decoder, list->items[i].body, &again, &event);
		st = ts_nest_push(nest, &event, err);
	}
	return st;
}

/* With a LIST its events are collected, else they are handed over. */
static enum ts_status events_read_body(const struct decoder *decoder, struct ts_bytes body,
				       struct ts_nest *nest, struct event_list *list,
				       struct ts_pb_error *error, struct ts_error *err)
{
	struct ts_pb pb = ts_pb_of(body, error);

	if (list)
		return collect(decoder, pb, list, err);
	if (decoder->naming == BY_STATS_ALONE)
		return named_ones(decoder, pb, nest, err);
	return decoder->looks_at ? looked_at(decoder, pb, nest, err)
				 : in_order(decoder, pb, nest, err);
}

static enum ts_status events_read_parts(const struct decoder *whole, uint32_t line,
					struct ts_nest *nest, struct event_list *list,
					struct ts_pb_error *error, struct ts_error *err)
{
	const struct xplane_plane *plane = whole->plane;
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < plane->nr_parts && st == TS_OK && !error->cause; i++) {
		struct decoder decoder;

		if (plane->parts[i].line != line)
			continue;
		decoder = decoder_of_part(*whole, &plane->parts[i]);
		st = events_read_body(&decoder, plane->parts[i].body, nest, list, error, err);
	}
	return st;
}

static enum ts_status events_read_line(const struct decoder *decoder, uint32_t line,
				       struct ts_bytes body, struct ts_nest *nest,
				       struct event_list *list, struct ts_pb_error *error,
				       struct ts_error *err)
{
	enum ts_status st = events_read_body(decoder, body, nest, list, error, err);

	return st ? st : events_read_parts(decoder, line, nest, list, error, err);
}

enum ts_status ts_xplane_stream(const struct ts_profile *profile, uint32_t index, bool sort,
				const struct ts_sink *sink, struct ts_error *err)
{
	const struct ts_line *line = &profile->lines[index];
	struct ts_pb_error error = { NULL, NULL };
	struct decoder decoder = decoder_of(profile, index, sink, ts_pb_of(line->body, &error).end);
	struct event_list list = { NULL, 0, 0 }, *wanted = sort ? &list : NULL;
	struct execution execution = { .op = TS_NONE };
	struct ts_nest *nest = ts_nest_new(profile, index, sink);
	enum ts_status st;

	TS_ASSERT(profile && sink);
	if (!nest)
		return ts_fail_nomem(err);
	if (decoder.naming == BY_STATS)
		decoder.execution = &execution;
	ts_nest_stats(nest, events_find_stat, NULL, events_each_stat);
	if (ts_xplane_is_made(profile, line))
		st = ts_xplane_stream_made(profile, index, nest, err);
	else
		st = events_read_line(&decoder, line->at_reader, line->body, nest, wanted, &error,
				      err);
	if (st == TS_OK)
		st = push_sorted(&decoder, &list, nest, err);
	if (st == TS_OK)
		st = ts_nest_finish(nest, err);
	free(list.items);
	ts_nest_free(nest);
	if (st == TS_OK && error.cause)
		return ts_fail(err, TS_FORMAT, "%.*s: byte %llu: %s", TS_ARG(line->name),
			       (unsigned long long)(error.at - decoder.plane->file_base),
			       error.cause);
	return st;
}

uint64_t ts_xplane_place(const struct ts_profile *profile, const struct ts_line *line,
			 struct ts_bytes body)
{
	const struct xplane_plane *plane = events_plane_of(profile, line, body);

	TS_ASSERT(profile && line);
	return (uint64_t)(body.p - plane->file_base);
}

/* A GPU's events name their op by stats: the ops are collected before the blocks are asked for. */
enum ts_status ts_xplane_find_gpu_ops(struct ts_profile *profile, struct ts_bytes line,
				      struct xplane_plane *plane, struct ts_error *err)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(line, &error);
	struct decoder decoder = { .plane = plane, .limit = pb.end, .wants_stats = true };
	enum ts_status st = TS_OK;
	struct ts_bytes bytes;

	TS_ASSERT(profile && plane);
	while (st == TS_OK && events_next_event(&pb, &bytes)) {
		struct event_stats stats = { .has_program = false };
		struct ts_event event = { .occurrences = 1 };
		int64_t metadata_id = 0;

		decode_fields(&decoder, bytes, &error, &metadata_id, &event, &stats);
		if (stats.has_program && stats.hlo_op.field)
			st = ts_xplane_add_hlo_op(profile, plane, &stats.hlo_op, stats.program_id,
						  TS_OP_OTHER, err);
	}
	return st;
}
