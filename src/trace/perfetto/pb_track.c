/* SPDX-License-Identifier: MIT */
/* Processes, rows and their lanes as tracks of Perfetto's own form. */
#include "trace/perfetto/pb.h"

#include <inttypes.h>

static const char *const own_keys[] = { "self_ns", "own_ns", "events" };

/* The rank is what viewers go by now, the sort index what they went by before. */
static void pb_track_put_process(struct ts_buf *out, const struct ts_perfetto_process *process)
{
	size_t packet = begin_packet(out, HEAD_SEQUENCE, process->machine);
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

static size_t begin_group(struct ts_buf *out, uint32_t pid, uint64_t group, const char *name)
{
	size_t track = ts_pbw_begin(out, PACKET_TRACK_DESCRIPTOR);

	ts_pbw_u64(out, DESCRIPTOR_UUID, group_uuid(pid, group));
	ts_pbw_u64(out, DESCRIPTOR_PARENT, process_uuid(pid));
	ts_pbw_text(out, DESCRIPTOR_NAME, ts_bytes_of(name));
	ts_pbw_u64(out, DESCRIPTOR_CHILD_ORDERING, CHILD_ORDERING_EXPLICIT);
	return track;
}

static void put_our_group(struct ts_buf *out, const struct ts_perfetto_process *process)
{
	size_t packet = begin_packet(out, HEAD_SEQUENCE, process->machine);
	size_t track = begin_group(out, process->pid, UUID_OURS, "TPUsight");

	ts_pbw_text(out, DESCRIPTOR_DESCRIPTION,
		    TS_LIT("what TPUsight found out: findings, classes of time, counters"));
	ts_pbw_end(out, track);
	ts_pbw_end(out, packet);
}

/* What is not drawn is said where it would stand. */
static void put_lines_group(struct ts_buf *out, const struct ts_perfetto_process *process)
{
	size_t packet = begin_packet(out, HEAD_SEQUENCE, process->machine);
	size_t track = begin_group(out, process->pid, UUID_LINES, "lines of the profile");
	size_t text = ts_pbw_begin(out, DESCRIPTOR_DESCRIPTION);

	ts_buf_puts(out, "what the profiler recorded, in the order of its profile");
	if (process->events_left_out > 0)
		ts_buf_printf(out,
			      "; %" PRIu64 " of %" PRIu64 " events are left out of this file "
			      "(--max-trace-events=0 writes all)",
			      process->events_left_out, process->events_total);
	ts_pbw_end(out, text);
	ts_pbw_end(out, track);
	ts_pbw_end(out, packet);
}

/* Viewers put the two in the order of their names: a capital letter comes first. */
void ts_perfetto_pb_process(struct ts_buf *out, const struct ts_perfetto_process *process)
{
	pb_track_put_process(out, process);
	if (process->has_tracks)
		put_our_group(out, process);
	if (process->has_lines)
		put_lines_group(out, process);
}

/* "%" of "(%)", where the track does not say. */
static struct ts_bytes pb_track_unit_of(const struct ts_track *track)
{
	struct ts_bytes name, unit;

	if (track->unit)
		return ts_bytes_of(track->unit);
	ts_perfetto_unit(track, &name, &unit);
	return unit.n > 2 ? ts_bytes_cut(unit, 1, unit.n - 2) : unit;
}

/* Counters of one key below one parent are drawn to one scale. */
static void put_axis(struct ts_buf *out, const struct ts_track *track)
{
	size_t key = ts_pbw_begin(out, COUNTER_AXIS_KEY);

	ts_buf_puts(out, track->axis ? track->axis : "");
	ts_buf_put(out, pb_track_unit_of(track));
	ts_pbw_end(out, key);
}

/* Named as the importer names it in the JSON form, unit and all. */
static void pb_track_put_counter(struct ts_buf *out, const struct ts_track *track)
{
	size_t counter;

	ts_pbw_text(out, DESCRIPTOR_NAME, ts_bytes_of(track->name));
	counter = ts_pbw_begin(out, DESCRIPTOR_COUNTER);
	ts_pbw_text(out, COUNTER_UNIT_NAME, pb_track_unit_of(track));
	put_axis(out, track);
	ts_pbw_end(out, counter);
}

/* Where a row's tracks stand: in a group of its process, or with their thread. */
static uint64_t parent_of(const struct ts_perfetto_row *row)
{
	if (row->track && !row->is_native)
		return group_uuid(row->pid, UUID_OURS);
	return row->thread ? track_uuid(row, THREAD_LANE) : group_uuid(row->pid, UUID_LINES);
}

static void pb_track_put_track(struct ts_buf *out, const struct ts_perfetto_row *row, uint32_t lane)
{
	const char *about = row->track ? row->track->description : row->about;
	size_t packet = begin_row_packet(out, row);
	size_t track = ts_pbw_begin(out, PACKET_TRACK_DESCRIPTOR);

	ts_pbw_u64(out, DESCRIPTOR_UUID, track_uuid(row, lane));
	ts_pbw_u64(out, DESCRIPTOR_PARENT, parent_of(row));
	if (row->track && row->track->kind == TS_TRACK_COUNTER) {
		pb_track_put_counter(out, row->track);
	} else {
		ts_pbw_text(out, DESCRIPTOR_NAME, row->name);
		ts_pbw_u64(out, DESCRIPTOR_MERGE_BEHAVIOR, MERGE_BY_KEY);
		ts_pbw_u64(out, DESCRIPTOR_MERGE_KEY_INT, row->number);
	}
	ts_pbw_u64(out, DESCRIPTOR_RANK, row->order);
	if (about)
		ts_pbw_text(out, DESCRIPTOR_DESCRIPTION, ts_bytes_of(about));
	ts_pbw_end(out, track);
	ts_pbw_end(out, packet);
}

/* Without slices of its own: those are its lanes', which are then one row and have a name in SQL. */
static void put_thread(struct ts_buf *out, const struct ts_perfetto_row *row)
{
	size_t packet = begin_row_packet(out, row);
	size_t track = ts_pbw_begin(out, PACKET_TRACK_DESCRIPTOR), thread;

	ts_pbw_u64(out, DESCRIPTOR_UUID, track_uuid(row, THREAD_LANE));
	ts_pbw_u64(out, DESCRIPTOR_PARENT, process_uuid(row->pid));
	thread = ts_pbw_begin(out, DESCRIPTOR_THREAD);
	ts_pbw_u64(out, THREAD_PID, row->pid);
	ts_pbw_i64(out, THREAD_TID, row->thread);
	ts_pbw_u64(out, THREAD_SORT_INDEX, row->order);
	ts_pbw_text(out, THREAD_NAME, row->name);
	ts_pbw_end(out, thread);
	ts_pbw_u64(out, DESCRIPTOR_RANK, row->order);
	ts_pbw_end(out, track);
	ts_pbw_end(out, packet);
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
void ts_perfetto_pb_row(struct ts_buf *out, const struct ts_perfetto_row *row)
{
	size_t packet = begin_row_packet(out, row), inner;

	ts_pbw_u64(out, PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
	inner = ts_pbw_begin(out, PACKET_INTERNED_DATA);
	for (uint32_t i = 0; i < TS_NR_KEYS; i++)
		intern(out, INTERNED_ANNOTATION_NAMES, IID_KEYS + i,
		       ts_bytes_of(ts_perfetto_keys[i]));
	for (uint32_t i = 0; i < TS_NELEM(own_keys); i++)
		intern(out, INTERNED_ANNOTATION_NAMES, IID_SELF + i, ts_bytes_of(own_keys[i]));
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
	ts_perfetto_pb_gpu_row(out, row);
	if (row->track && row->track->kind == TS_TRACK_COUNTER)
		pb_track_put_track(out, row, 0);
	else if (row->thread)
		put_thread(out, row);
}

void ts_perfetto_pb_lane(struct ts_buf *out, struct ts_perfetto_lane *lane)
{
	uint8_t *packet = (uint8_t *)lane->packet.p, *event = (uint8_t *)lane->event.p, *p;

	p = put_pair(packet, TAG(PACKET_SEQUENCE_ID, 0), sequence_of(lane->row));
	p = put_pair(p, TAG(PACKET_SEQUENCE_FLAGS, 0), NEEDS_STATE);
	if (lane->row->machine) {
		p = ts_pbw_store(p, PACKET_MACHINE_ID << 3);
		p = ts_pbw_store(p, lane->row->machine);
	}
	lane->packet.n = (uint8_t)(p - packet);
	p = event;
	if (lane->number > 0)
		p = put_pair(p, TAG(EVENT_TRACK_UUID, 0), track_uuid(lane->row, lane->number));
	lane->event.n = (uint8_t)(p - event);
	pb_track_put_track(out, lane->row, lane->number);
}
