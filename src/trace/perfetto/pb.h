/* SPDX-License-Identifier: MIT */
/*
 * What the files of Perfetto's own form share: the numbers of its fields (protos/perfetto/trace/ in
 * google/perfetto), the ids of tracks and sequences, and the parts that more than one file writes.
 * For trace/perfetto/pb*.c alone.
 */
#ifndef TS_TRACE_PERFETTO_PB_H
#define TS_TRACE_PERFETTO_PB_H

#include "codec/pbw.h"
#include "trace/perfetto/perfetto.h"

enum { TRACE_PACKET = 1 };
enum packet_field {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_SYSTEM_INFO = 45,
	PACKET_RENDER_STAGE = 53,
	PACKET_CLOCK_ID = 58,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_FIRST_ON_SEQUENCE = 87,
	PACKET_MACHINE_ID = 98,
	PACKET_REMOTE_SYNC = 107,
	PACKET_ATTRIBUTES = 126,
	PACKET_GPU_INFO = 128,
};
enum sequence_flags { STATE_CLEARED = 1, NEEDS_STATE = 2 };
enum { HEAD_SEQUENCE = 1, FIRST_ROW_SEQUENCE = 2 };
enum { SYSTEM_MACHINE_NAME = 17 };
enum { ATTRIBUTES_ATTRIBUTE = 1, ATTRIBUTE_KEY = 1, ATTRIBUTE_LONG = 2, ATTRIBUTE_STRING = 3 };
enum {
	SNAPSHOT_CLOCKS = 1,
	SNAPSHOT_PRIMARY = 2,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,
	CLOCK_INCREMENTAL = 3
};
enum { CLOCK_OF_DAY = 1, CLOCK_OF_TRACE = 6, CLOCK_OF_SEQUENCE = 64 }; /* from 64 on its own */
enum { SYNC_CLOCKS = 1, SYNCED_OF_MACHINE = 2, SYNCED_OF_FIRST = 3 };
enum { DEFAULTS_TRACK_EVENT = 11, DEFAULTS_CLOCK_ID = 58 };
enum descriptor_field {
	DESCRIPTOR_UUID = 1,
	DESCRIPTOR_NAME = 2,
	DESCRIPTOR_PROCESS = 3,
	DESCRIPTOR_THREAD = 4,
	DESCRIPTOR_PARENT = 5,
	DESCRIPTOR_COUNTER = 8,
	DESCRIPTOR_CHILD_ORDERING = 11,
	DESCRIPTOR_RANK = 12,
	DESCRIPTOR_DESCRIPTION = 14,
	DESCRIPTOR_MERGE_BEHAVIOR = 15,
	DESCRIPTOR_MERGE_KEY_INT = 17,
	DESCRIPTOR_PROCESS_ORDERING = 19,
	DESCRIPTOR_THREAD_ORDERING = 20,
};
enum { PROCESS_PID = 1, PROCESS_SORT_INDEX = 3, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_SORT_INDEX = 3, THREAD_NAME = 5 };
enum { COUNTER_UNIT_NAME = 6, COUNTER_AXIS_KEY = 7 };
enum { ORDERING_EXPLICIT = 1, CHILD_ORDERING_EXPLICIT = 3 };
enum { MERGE_BY_KEY = 3 };
enum { ROOT_UUID = 0 };
enum interned_field {
	INTERNED_CATEGORIES = 1,
	INTERNED_EVENT_NAMES = 2,
	INTERNED_ANNOTATION_NAMES = 3,
	INTERNED_FUNCTION_NAMES = 5,
	INTERNED_FRAMES = 6,
	INTERNED_CALLSTACKS = 7,
	INTERNED_CONTEXTS = 23,
	INTERNED_GPU_SPECIFICATIONS = 24,
	INTERNED_STRINGS = 29,
	INTERNED_CORRELATIONS = 43,
	INTERNED_KERNELS = 1000, /* an extension, GpuInternedData */
	INTERNED_KERNEL_ARGS = 1001,
};
enum { ENTRY_IID = 1, ENTRY_TEXT = 2 };
enum { FRAME_IID = 1, FRAME_FUNCTION = 2 };
enum { CALLSTACK_IID = 1, CALLSTACK_FRAMES = 2 };
enum event_field {
	EVENT_CATEGORY_IIDS = 3,
	EVENT_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,
	EVENT_CATEGORIES = 22,
	EVENT_DOUBLE_COUNTER = 44,
	EVENT_FLOW_IDS = 47,
	EVENT_TERMINATING_FLOW_IDS = 48,
	EVENT_CORRELATION_IID = 54,
	EVENT_CALLSTACK_IID = 56,
	EVENT_CALLSTACK_WEIGHT = 57,
	EVENT_GPU_CORRELATION = 3000, /* an extension, GpuTrackEvent */
};
enum { CORRELATION_SUBMISSION = 1 };
enum event_type { TYPE_SLICE_BEGIN = 1, TYPE_SLICE_END = 2, TYPE_COUNTER = 4 };
enum annotation_field {
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_INT = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_STRING = 6,
	ANNOTATION_NAME = 10,
	ANNOTATION_STRING_IID = 17,
};

/* Ids of annotation names: those of ts_perfetto_keys from 1 on, ours, then those of stats or labels. */
enum { IID_KEYS = 1, IID_SELF = IID_KEYS + TS_NR_KEYS, IID_OWN, IID_EVENTS, IID_STATS };
enum { IID_LABEL_ARGS = 1 << 8 }; /* + label x 256 + arg */
enum { LABEL_CATEGORY = 1 };

#define TAG(field, wire) ((uint8_t)((field) << 3 | (wire)))

/* Tracks are known by numbers that no other trace is likely to use. */
#define UUID_BASE   UINT64_C(0x5450000000000000)
#define UUID_TRACK  (UINT64_C(1) << 47)
#define UUID_OURS   (UINT64_C(1) << 32)
#define UUID_LINES  (UINT64_C(2) << 32)
#define THREAD_LANE 0xffff /* no lane: the thread that a row's lanes belong to */

static inline uint64_t process_uuid(uint32_t pid)
{
	return UUID_BASE | pid;
}

/* Of a process: our tracks (UUID_OURS), or the profile's lines (UUID_LINES). */
static inline uint64_t group_uuid(uint32_t pid, uint64_t group)
{
	return UUID_BASE | group | pid;
}

static inline uint64_t track_uuid(const struct ts_perfetto_row *row, uint32_t lane)
{
	return UUID_BASE | UUID_TRACK | (uint64_t)row->number << 16 | lane;
}

static inline uint32_t sequence_of(const struct ts_perfetto_row *row)
{
	return row->number + FIRST_ROW_SEQUENCE;
}

/* MACHINE 0: the first machine's, as a reader takes it. */
static inline size_t begin_packet(struct ts_buf *out, uint32_t sequence, uint32_t machine)
{
	size_t packet = ts_pbw_begin(out, TRACE_PACKET);

	ts_pbw_u64(out, PACKET_SEQUENCE_ID, sequence);
	if (machine)
		ts_pbw_u64(out, PACKET_MACHINE_ID, machine);
	return packet;
}

static inline size_t begin_row_packet(struct ts_buf *out, const struct ts_perfetto_row *row)
{
	return begin_packet(out, sequence_of(row), row->machine);
}

static inline uint8_t *put_pair(uint8_t *p, uint8_t tag, uint64_t value)
{
	*p++ = tag;
	return ts_pbw_store(p, value);
}

static inline void put_clock(struct ts_buf *out, uint32_t id, int64_t now_ns)
{
	size_t clock = ts_pbw_begin(out, SNAPSHOT_CLOCKS);

	ts_pbw_u64(out, CLOCK_ID, id);
	ts_pbw_i64(out, CLOCK_TIMESTAMP, now_ns);
	if (id == CLOCK_OF_SEQUENCE)
		ts_pbw_u64(out, CLOCK_INCREMENTAL, 1);
	ts_pbw_end(out, clock);
}

static inline void intern(struct ts_buf *out, enum interned_field kind, uint64_t iid,
			  struct ts_bytes text)
{
	size_t entry = ts_pbw_begin(out, kind);

	ts_pbw_u64(out, ENTRY_IID, iid);
	ts_pbw_text(out, ENTRY_TEXT, text);
	ts_pbw_end(out, entry);
}

/* pb_track.c: processes, rows and their lanes. */
void ts_perfetto_pb_process(struct ts_buf *out, const struct ts_perfetto_process *process);
void ts_perfetto_pb_row(struct ts_buf *out, const struct ts_perfetto_row *row);
void ts_perfetto_pb_lane(struct ts_buf *out, struct ts_perfetto_lane *lane);

/* pb_tail.c: what a slice says each time its op or label is drawn. */
void ts_perfetto_pb_op_tail(struct ts_buf *out, struct ts_buf *tail,
			    const struct ts_perfetto_lane *lane, const struct ts_perfetto_op *op);
void ts_perfetto_pb_label_tail(struct ts_buf *out, struct ts_buf *tail,
			       const struct ts_perfetto_lane *lane, uint32_t number);

/*
 * pb_intern.c: texts that slices refer to, in a packet before them, which is begun with the first new one. Of one
 * text in a row each is written once, up to MAX_INTERNED; then it stands where it is used.
 */
#define MAX_INTERNED (1u << 18)
struct ts_perfetto_interning {
	struct ts_buf *out;
	const struct ts_perfetto_row *row;
	size_t packet, data;
	bool is_open;
};

void ts_perfetto_pb_intern(struct ts_perfetto_interning *interning, enum interned_field kind,
			   uint64_t iid, struct ts_bytes text);
void ts_perfetto_pb_interned(struct ts_perfetto_interning *interning); /* that was all */
/* The buffer, for entries that are more than a text. */
struct ts_buf *ts_perfetto_pb_interning(struct ts_perfetto_interning *interning);
/* The next id of a row's map for TEXT, from FIRST on; *IS_NEW: it was not there. 0: the map is full. */
uint64_t ts_perfetto_pb_iid(struct ts_perfetto_interning *in, struct ts_strmap *map,
			    struct ts_bytes text, uint64_t first, bool *is_new);
/* An annotation's value, or its name, into ANNOTATION. */
void ts_perfetto_pb_text(struct ts_perfetto_interning *interning, struct ts_buf *annotation,
			 struct ts_bytes text);
void ts_perfetto_pb_id(struct ts_perfetto_interning *interning, struct ts_buf *annotation,
		       const struct ts_stat *stat);
void ts_perfetto_pb_name(struct ts_perfetto_interning *interning, struct ts_buf *annotation,
			 struct ts_bytes name);

/* pb_tail.c: a category into a slice, and what slices of it have in common: viewers give those one colour, and
 * show all when one is pointed at. */
void ts_perfetto_pb_category(struct ts_perfetto_interning *interning, struct ts_buf *tail,
			     struct ts_bytes category);

/* pb_stack.c: the call stack of an op's slices; 0: there are too many in the row. */
uint64_t ts_perfetto_pb_stack(struct ts_perfetto_interning *interning, const struct ts_op *op);

/* pb_stat.c: a slice's stats as annotations. What they refer to goes to OUT; they themselves are good until the
 * row's next slice. */
struct ts_bytes ts_perfetto_pb_stats(struct ts_buf *out, const struct ts_perfetto_row *row,
				     const struct ts_perfetto_slice *slice);

/* pb_gpu.c: GPUs, and what ran on them as render stages beside its slices. */
void ts_perfetto_pb_gpus(struct ts_buf *out, const struct ts_perfetto_head *head, uint32_t machine);
void ts_perfetto_pb_gpu_row(struct ts_buf *out, const struct ts_perfetto_row *row);
void ts_perfetto_pb_kernel_tail(struct ts_buf *out, struct ts_buf *tail,
				const struct ts_perfetto_lane *lane,
				const struct ts_perfetto_kernel *kernel, uint32_t number);
/* After its slice has begun, at the same time. */
void ts_perfetto_pb_render_stage(struct ts_buf *out, const struct ts_perfetto_lane *lane,
				 const struct ts_perfetto_slice *slice);

/* pb_event.c: slices, their ends, points of counters. */
void ts_perfetto_pb_time(struct ts_buf *out, const struct ts_perfetto_row *row, int64_t at_ns);
void ts_perfetto_pb_op_slice(struct ts_buf *out, const struct ts_perfetto_lane *lane,
			     const struct ts_perfetto_slice *slice);
void ts_perfetto_pb_label_slice(struct ts_buf *out, const struct ts_perfetto_lane *lane,
				const struct ts_perfetto_slice *slice);
void ts_perfetto_pb_end(struct ts_buf *out, const struct ts_perfetto_lane *lane, int64_t end_ns,
			bool is_apart);
void ts_perfetto_pb_counter(struct ts_buf *out, const struct ts_perfetto_row *row, int64_t at_ns,
			    double value);

#endif
