/* SPDX-License-Identifier: MIT */
/*
 * A first look over an HloProto or HloModuleProto (openxla/xla, xla/service/hlo.proto) with the
 * cursor: finds its parts, counts, and refuses what protobuf-c must not be given. protobuf-c
 * unpacks by recursion and has no limit; a ShapeProto holds ShapeProtos.
 */
#include "read/hlo/parts.h"

#include "base/check.h"

#define MIN_INSTR_BYTES 4 /* an opcode alone takes as much */
#define MIN_SHAPE_BYTES 2

enum { PROTO_MODULE = 1, PROTO_BUFFERS = 3 };
enum {
	MODULE_NAME = 1,
	MODULE_ENTRY_NAME = 2,
	MODULE_COMPUTATIONS = 3,
	MODULE_ID = 5,
	MODULE_ENTRY_ID = 6,
	MODULE_SCHEDULE = 7,
	MODULE_ALIASES = 8,
	MODULE_STACK_FRAMES = 17,
};
enum { COMPUTATION_INSTRUCTIONS = 2 };
enum { INSTRUCTION_SHAPE = 3 };
enum { SHAPE_TUPLE_SHAPES = 4 };
enum { SCHEDULE_SEQUENCES = 1 };
enum { ENTRY_KEY = 1, ENTRY_VALUE = 2 }; /* of a protobuf map */

void ts_hlo_scan_release(struct ts_hlo_scan *scan)
{
	TS_ASSERT(scan);
	free(scan->comps);
	free(scan->sequences);
	ts_map_release(&scan->sequence_ids);
	*scan = (struct ts_hlo_scan){ .entry_id = 0 };
}

static enum ts_status hlo_scan_keep(struct ts_hlo_reader *reader, struct ts_bytes **items,
				    size_t *nr, size_t *cap, struct ts_bytes bytes)
{
	if (!ts_grow(items, cap, *nr + 1, sizeof(**items)))
		return ts_fail_nomem(reader->err);
	(*items)[(*nr)++] = bytes;
	return TS_OK;
}

/* An HloModuleProto has a name and an id of its entry computation; the fields of these numbers
 * have another wire type in an HloProto, or do not exist. */
static bool hlo_scan_is_bare_module(struct ts_bytes proto)
{
	struct ts_pb_error err = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(proto, &err);

	while (ts_pb_next(&pb)) {
		if (pb.field == MODULE_ENTRY_NAME && pb.wire == TS_PB_BYTES)
			return true;
		if ((pb.field == MODULE_ID || pb.field == MODULE_ENTRY_ID) &&
		    pb.wire == TS_PB_VARINT)
			return true;
	}
	return false;
}

static void scan_shape(struct ts_hlo_scan *scan, struct ts_pb pb, unsigned depth)
{
	if (++scan->nr_shapes > TS_LIMIT_HLO_SHAPES)
		ts_pb_fail(&pb, pb.p,
			   "more shapes than can be right " TS_OVER(TS_LIMIT_HLO_SHAPES));
	if (depth > TS_LIMIT_HLO_SHAPE_DEPTH)
		ts_pb_fail(&pb, pb.p, "shapes nested too deep " TS_OVER(TS_LIMIT_HLO_SHAPE_DEPTH));
	while (ts_pb_next(&pb)) {
		if (pb.field != SHAPE_TUPLE_SHAPES || pb.wire != TS_PB_BYTES)
			continue;
		if (pb.len < MIN_SHAPE_BYTES)
			ts_pb_fail(&pb, pb.data, "a part of a shape that says nothing");
		else
			scan_shape(scan, ts_pb_enter(&pb), depth + 1);
	}
}

static void scan_instr(struct ts_hlo_scan *scan, struct ts_pb pb)
{
	while (ts_pb_next(&pb))
		if (pb.field == INSTRUCTION_SHAPE && pb.wire == TS_PB_BYTES)
			scan_shape(scan, ts_pb_enter(&pb), 1);
}

static void scan_comp(struct ts_hlo_scan *scan, struct ts_pb pb)
{
	while (ts_pb_next(&pb)) {
		if (pb.field != COMPUTATION_INSTRUCTIONS || pb.wire != TS_PB_BYTES)
			continue;
		if (pb.len < MIN_INSTR_BYTES)
			ts_pb_fail(&pb, pb.data, "an instruction that says nothing");
		else if (++scan->nr_instrs > TS_LIMIT_HLO_INSTRS)
			ts_pb_fail(&pb, pb.data,
				   "more instructions than can be right " TS_OVER(
					   TS_LIMIT_HLO_INSTRS));
		else
			scan_instr(scan, ts_pb_enter(&pb));
	}
}

static enum ts_status scan_sequence(struct ts_hlo_reader *reader, struct ts_pb pb)
{
	struct ts_hlo_scan *scan = &reader->scan;
	struct ts_bytes value = { NULL, 0 };
	uint64_t id = 0;

	while (ts_pb_next(&pb)) {
		if (pb.field == ENTRY_KEY)
			id = ts_pb_u64(&pb);
		else if (pb.field == ENTRY_VALUE)
			value = ts_pb_bytes(&pb);
	}
	if (!ts_map_set(&scan->sequence_ids, id, (uint32_t)scan->nr_sequences))
		return ts_fail_nomem(reader->err);
	return hlo_scan_keep(reader, &scan->sequences, &scan->nr_sequences, &scan->cap_sequences,
			     value);
}

static enum ts_status scan_schedule(struct ts_hlo_reader *reader, struct ts_pb pb)
{
	enum ts_status st = TS_OK;

	while (st == TS_OK && ts_pb_next(&pb))
		if (pb.field == SCHEDULE_SEQUENCES)
			st = scan_sequence(reader, ts_pb_enter(&pb));
	return st;
}

static enum ts_status scan_module_field(struct ts_hlo_reader *reader, const struct ts_pb *pb)
{
	struct ts_hlo_scan *scan = &reader->scan;

	switch (pb->field) {
	case MODULE_NAME:	  scan->name = ts_pb_bytes(pb); return TS_OK;
	case MODULE_ENTRY_NAME:	  scan->entry_name = ts_pb_bytes(pb); return TS_OK;
	case MODULE_ENTRY_ID:	  scan->entry_id = ts_pb_i64(pb); return TS_OK;
	case MODULE_STACK_FRAMES: scan->frames = ts_pb_bytes(pb); return TS_OK;
	case MODULE_ALIASES:	  scan->aliases = ts_pb_bytes(pb); return TS_OK;
	case MODULE_SCHEDULE:	  return scan_schedule(reader, ts_pb_enter(pb));
	case MODULE_COMPUTATIONS:
		scan_comp(scan, ts_pb_enter(pb));
		return hlo_scan_keep(reader, &scan->comps, &scan->nr_comps, &scan->cap_comps,
				     ts_pb_bytes(pb));
	default: return TS_OK; /* it is not used here */
	}
}

/* The parts of an HloProto. */
static void scan_proto(struct ts_hlo_scan *scan, struct ts_pb pb)
{
	while (ts_pb_next(&pb)) {
		if (pb.field == PROTO_MODULE)
			scan->module = ts_pb_bytes(&pb);
		else if (pb.field == PROTO_BUFFERS)
			scan->buffers = ts_pb_bytes(&pb);
	}
}

static enum ts_status story(struct ts_hlo_reader *reader, struct ts_bytes proto,
			    const struct ts_pb_error *bad)
{
	enum ts_status st = strstr(bad->cause, "TS_LIMIT_") ? TS_LIMIT : TS_FORMAT;

	return ts_fail(reader->err, st, "%.*s: compiled module damaged at byte %zu: %s",
		       TS_ARG(reader->file), (size_t)(bad->at - proto.p), bad->cause);
}

enum ts_status ts_hlo_scan(struct ts_hlo_reader *reader, struct ts_bytes proto)
{
	struct ts_hlo_scan *scan = &reader->scan;
	struct ts_pb_error bad = { NULL, NULL };
	enum ts_status st = TS_OK;
	struct ts_pb pb;

	TS_ASSERT(reader);
	TS_ASSERT(proto.p || proto.n == 0);
	scan->module = proto;
	reader->module->is_bare = hlo_scan_is_bare_module(proto);
	if (!reader->module->is_bare) {
		scan->module = (struct ts_bytes){ NULL, 0 };
		scan_proto(scan, ts_pb_of(proto, &bad));
	}
	pb = ts_pb_of(scan->module, &bad);
	while (st == TS_OK && !bad.cause && ts_pb_next(&pb))
		st = scan_module_field(reader, &pb);
	if (st)
		return st;
	if (bad.cause)
		return story(reader, proto, &bad);
	if (scan->nr_instrs > TS_LIMIT_HLO_INSTR_FLOOR &&
	    scan->nr_instrs * TS_LIMIT_HLO_INSTR_BYTES > scan->module.n)
		return ts_fail(reader->err, TS_LIMIT,
			       "%.*s: more instructions than its bytes can describe " TS_OVER(
				       TS_LIMIT_HLO_INSTR_BYTES),
			       TS_ARG(reader->file));
	if (scan->nr_comps == 0)
		return ts_fail(reader->err, TS_FORMAT, "%.*s: holds no compiled module",
			       TS_ARG(reader->file));
	return TS_OK;
}
