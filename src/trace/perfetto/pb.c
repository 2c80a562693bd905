/* SPDX-License-Identifier: MIT */
/*
 * Perfetto's own format: a Trace of TracePackets with TrackEvents (protos/perfetto/trace/ in
 * google/perfetto: trace_packet, interned_data, track_event/). Field numbers are theirs.
 *
 * Each row is a packet sequence of its own, with its own interned names, so rows can be made apart.
 * Viewers order the tracks right below a process by name alone; so a process has two groups, one of
 * our tracks and one of the profile's lines, whose children stand in our order. No track has an
 * invented thread: a line is one where the profile says which. Lanes of a row are siblings with one
 * merge key, which viewers draw as one row; lane 0 is by default the track of the sequence's
 * events. A slice is two packets, begin and end.
 * Times are on the trace's clock, which begins where the run does (with the head's shift); most are
 * written as the difference to the one before, on a clock of the sequence's own that counts so.
 *
 * Interned ids follow from what they stand for, so nothing has to be looked up: an op's name and
 * category have its index + 1, its framework op and source two numbers in a row.
 */
#include "trace/perfetto/pb.h"

#include "base/check.h"

/* The first packet: sequence 1, its state cleared, trace attribute generator = tpusight; then comes the
 * machine's id, of five bytes. Without a machine it ends there, as it did in earlier releases. */
#define SAYS_WHO                                           \
	"\x50\x01\x68\x01\xf2\x07\x17\x0a\x15\x0a\x09" \
	"generator"                                        \
	"\x1a\x08"                                         \
	"tpusight"
#define MARK	   "\x0a\x25" SAYS_WHO
#define OLDER_MARK "\x0a\x1e" SAYS_WHO
#define MAX_LANES 1000 /* each slice looks for room in all of them */

static void perfetto_pb_put_attribute(struct ts_buf *out, const char *key, const char *text,
				      int64_t number)
{
	size_t attribute = ts_pbw_begin(out, ATTRIBUTES_ATTRIBUTE);

	ts_pbw_text(out, ATTRIBUTE_KEY, ts_bytes_of(key));
	if (text)
		ts_pbw_text(out, ATTRIBUTE_STRING, ts_bytes_of(text));
	else
		ts_pbw_i64(out, ATTRIBUTE_LONG, number);
	ts_pbw_end(out, attribute);
}

static void perfetto_pb_put_fact(struct ts_buf *out, const struct ts_perfetto_fact *fact)
{
	size_t attribute = ts_pbw_begin(out, ATTRIBUTES_ATTRIBUTE);
	size_t key = ts_pbw_begin(out, ATTRIBUTE_KEY);

	ts_buf_printf(out, "tpusight.%s", fact->key);
	ts_pbw_end(out, key);
	if (fact->text.n > 0)
		ts_pbw_text(out, ATTRIBUTE_STRING, ts_perfetto_cut(fact->text));
	else
		ts_pbw_i64(out, ATTRIBUTE_LONG, fact->number);
	ts_pbw_end(out, attribute);
}

static void perfetto_pb_put_attributes(struct ts_buf *out, const struct ts_perfetto_head *head,
				       uint32_t machine)
{
	uint64_t left_out = head->events_total - TS_MIN(head->events_written, head->events_total);
	size_t packet = begin_packet(out, HEAD_SEQUENCE, machine);
	size_t attributes = ts_pbw_begin(out, PACKET_ATTRIBUTES);

	perfetto_pb_put_attribute(out, "tpusight.version", head->version ? head->version : "", 0);
	if (head->source)
		perfetto_pb_put_attribute(out, "tpusight.source", head->source, 0);
	if (head->native_file)
		perfetto_pb_put_attribute(out, "tpusight.native_file", head->native_file, 0);
	if (head->start_unix_ns != TS_UNKNOWN)
		perfetto_pb_put_attribute(out, "tpusight.start_unix_ns", NULL, head->start_unix_ns);
	perfetto_pb_put_attribute(out, "tpusight.shift_ns", NULL, head->shift_ns);
	perfetto_pb_put_attribute(out, "tpusight.events_total", NULL, (int64_t)head->events_total);
	perfetto_pb_put_attribute(out, "tpusight.events_written", NULL,
				  (int64_t)head->events_written);
	perfetto_pb_put_attribute(out, "tpusight.events_left_out", NULL, (int64_t)left_out);
	perfetto_pb_put_attribute(out, "tpusight.own_events", NULL, (int64_t)head->own_events);
	for (size_t i = 0; i < head->nr_facts; i++)
		perfetto_pb_put_fact(out, &head->facts[i]);
	perfetto_pb_put_attribute(out, "tpusight.note", ts_perfetto_note, 0);
	ts_pbw_end(out, attributes);
	ts_pbw_end(out, packet);
}

static bool knows_time_of_day(const struct ts_perfetto_head *head)
{
	return head->start_unix_ns != TS_UNKNOWN && head->start_unix_ns >= 0;
}

/* What time of day the run began, so that viewers can show it. */
static void put_clocks(struct ts_buf *out, const struct ts_perfetto_head *head, uint32_t machine)
{
	size_t packet = begin_packet(out, HEAD_SEQUENCE, machine);
	size_t snapshot = ts_pbw_begin(out, PACKET_CLOCK_SNAPSHOT);

	put_clock(out, CLOCK_OF_TRACE, head->shift_ns);
	put_clock(out, CLOCK_OF_DAY, head->start_unix_ns);
	ts_pbw_u64(out, SNAPSHOT_PRIMARY, CLOCK_OF_TRACE);
	ts_pbw_end(out, snapshot);
	ts_pbw_end(out, packet);
}

static void perfetto_pb_put_root(struct ts_buf *out, uint32_t machine)
{
	size_t packet = begin_packet(out, HEAD_SEQUENCE, machine);
	size_t track = ts_pbw_begin(out, PACKET_TRACK_DESCRIPTOR);

	ts_pbw_u64(out, DESCRIPTOR_UUID, ROOT_UUID);
	ts_pbw_u64(out, DESCRIPTOR_PROCESS_ORDERING, ORDERING_EXPLICIT);
	ts_pbw_u64(out, DESCRIPTOR_THREAD_ORDERING, ORDERING_EXPLICIT);
	ts_pbw_end(out, track);
	ts_pbw_end(out, packet);
}

/* The clocks at one moment; not 0, which readers take for unknown. */
static void put_reading(struct ts_buf *out, uint32_t of, const struct ts_perfetto_head *head)
{
	size_t clocks = ts_pbw_begin(out, of);

	put_clock(out, CLOCK_OF_TRACE, head->shift_ns + 1);
	if (knows_time_of_day(head))
		put_clock(out, CLOCK_OF_DAY, head->start_unix_ns + 1);
	ts_pbw_end(out, clocks);
}

/*
 * Readers keep the clocks of machines apart. Ours are one clock, on which the lines of all hosts stand
 * already; so both sides read the same, and twice, for one question and its answer.
 */
static void put_sync(struct ts_buf *out, const struct ts_perfetto_head *head, uint32_t machine)
{
	size_t packet = begin_packet(out, HEAD_SEQUENCE, machine);
	size_t sync = ts_pbw_begin(out, PACKET_REMOTE_SYNC), synced;

	for (unsigned i = 0; i < 2; i++) {
		synced = ts_pbw_begin(out, SYNC_CLOCKS);
		put_reading(out, SYNCED_OF_MACHINE, head);
		put_reading(out, SYNCED_OF_FIRST, head);
		ts_pbw_end(out, synced);
	}
	ts_pbw_end(out, sync);
	ts_pbw_end(out, packet);
}

static void put_machine(struct ts_buf *out, const struct ts_perfetto_head *head,
			const struct ts_perfetto_machine *machine, bool is_first)
{
	if (!is_first)
		put_sync(out, head, machine->id);
	else if (knows_time_of_day(head))
		put_clocks(out, head, machine->id);
	if (machine->id) {
		size_t packet = begin_packet(out, HEAD_SEQUENCE, machine->id);
		size_t info = ts_pbw_begin(out, PACKET_SYSTEM_INFO);

		ts_pbw_text(out, SYSTEM_MACHINE_NAME, machine->name);
		ts_pbw_end(out, info);
		ts_pbw_end(out, packet);
	}
	perfetto_pb_put_root(out, machine->id);
	ts_perfetto_pb_gpus(out, head, machine->id);
}

static void perfetto_pb_open_file(struct ts_buf *out, const struct ts_perfetto_head *head)
{
	static const struct ts_perfetto_machine unknown = { 0 };
	const struct ts_perfetto_machine *machines = head->nr_machines ? head->machines : &unknown;

	TS_ASSERT(machines[0].id == 0 || machines[0].id >= TS_MACHINE_MIN);
	ts_buf_put(out, machines[0].id ? TS_LIT(MARK) : TS_LIT(OLDER_MARK));
	if (machines[0].id)
		ts_pbw_u64(out, PACKET_MACHINE_ID, machines[0].id);
	perfetto_pb_put_attributes(out, head, machines[0].id);
	for (size_t i = 0; i < TS_MAX(head->nr_machines, 1); i++)
		put_machine(out, head, &machines[i], i == 0);
}

static void perfetto_pb_close_file(struct ts_buf *out)
{
}

static void perfetto_pb_put_op_slice(struct ts_buf *out, const struct ts_perfetto_lane *lane,
				     const struct ts_perfetto_slice *slice)
{
	ts_perfetto_pb_op_slice(out, lane, slice);
	if (slice->kernel.n > 0)
		ts_perfetto_pb_render_stage(out, lane, slice);
}

const struct ts_perfetto_form ts_perfetto_pb = {
	.name = "pftrace",
	.mark = MARK,
	.older_mark = OLDER_MARK,
	.names_machines = true,
	.max_lanes = MAX_LANES,
	.separator = "",
	.open = perfetto_pb_open_file,
	.close = perfetto_pb_close_file,
	.process = ts_perfetto_pb_process,
	.row = ts_perfetto_pb_row,
	.lane = ts_perfetto_pb_lane,
	.op_tail = ts_perfetto_pb_op_tail,
	.op_slice = perfetto_pb_put_op_slice,
	.kernel_tail = ts_perfetto_pb_kernel_tail,
	.label_tail = ts_perfetto_pb_label_tail,
	.label_slice = ts_perfetto_pb_label_slice,
	.end = ts_perfetto_pb_end,
	.counter = ts_perfetto_pb_counter,
};
