/* SPDX-License-Identifier: MIT */
/*
 * Compiled modules: HloProto (openxla/xla: xla/service/hlo.proto, xla/xla_data.proto), rewritten on
 * the wire by a table of its messages. A number stays whatever its field; a field with a length
 * stays, is hashed or entered only if a row says so. Of constants the single signed whole numbers stay, as
 * sizes do: by them it is known how often a loop runs. Fields without a row (all other constants' values, values' origins, profiles' fingerprints, fields of a newer XLA) is left out.
 */
#include "codec/jtok.h"

#include "base/check.h"
#include "base/limits.h"
#include "codec/pb.h"
#include "codec/pbw.h"
#include "copy/redact.h"

enum act { LEAVE_OUT, COPY, NAME, SECRET, CONFIG, ENTER, COUNT };

#define COUNT_BYTES 64 /* of a literal that may be a counter's */

struct message;
struct field {
	uint32_t field;
	enum act act;
	const struct message *below;
};

struct message {
	const struct field *fields; /* field 0 at the end */
};

/* clang-format off */
static const struct message numbers = { (const struct field[]){ { 0, LEAVE_OUT, NULL } } };

static const struct message access_breakdown = { (const struct field[]){
	{ 1, ENTER, &numbers }, { 0, LEAVE_OUT, NULL } } };

static const struct message op_metadata = { (const struct field[]){
	{ 1, NAME, NULL },  /* op_type */
	{ 2, NAME, NULL },  /* op_name */
	{ 3, NAME, NULL },  /* source_file */
	{ 12, NAME, NULL }, /* deduplicated_name */
	{ 16, NAME, NULL }, /* scheduling_name */
	{ 0, LEAVE_OUT, NULL } } };

static const struct message sharding;
static const struct message sharding = { (const struct field[]){
	{ 2, COPY, NULL }, /* tile_shape */
	{ 3, COPY, NULL }, { 4, COPY, NULL }, /* tile_assignment_dimensions, _devices */
	{ 5, ENTER, &sharding }, { 7, ENTER, &op_metadata },
	{ 8, COPY, NULL }, { 9, COPY, NULL }, { 10, COPY, NULL }, /* more numbers of tiles */
	{ 0, LEAVE_OUT, NULL } } };

static const struct message attribute = { (const struct field[]){
	{ 1, NAME, NULL }, { 2, SECRET, NULL }, { 0, LEAVE_OUT, NULL } } };
static const struct message attributes = { (const struct field[]){
	{ 1, ENTER, &attribute }, { 0, LEAVE_OUT, NULL } } };

static const struct message mesh_axis = { (const struct field[]){
	{ 1, NAME, NULL }, { 0, LEAVE_OUT, NULL } } };
static const struct message mesh = { (const struct field[]){
	{ 1, ENTER, &mesh_axis }, { 2, COPY, NULL }, { 0, LEAVE_OUT, NULL } } };
static const struct message mesh_groups = { (const struct field[]){
	{ 1, ENTER, &mesh }, { 2, COPY, NULL }, { 0, LEAVE_OUT, NULL } } };
static const struct message device_list = { (const struct field[]){
	{ 1, COPY, NULL }, { 2, COPY, NULL }, { 3, ENTER, &mesh_groups }, { 0, LEAVE_OUT, NULL } } };

static const struct message program_shape = { (const struct field[]){
	{ 1, COPY, NULL }, { 2, COPY, NULL }, /* shapes */
	{ 3, NAME, NULL }, /* parameter_names */
	{ 0, LEAVE_OUT, NULL } } };

static const struct message instruction = { (const struct field[]){
	{ 1, NAME, NULL }, { 2, NAME, NULL }, /* name, opcode */
	{ 3, COPY, NULL }, /* shape */
	{ 7, ENTER, &op_metadata },
	{ 8, COUNT, NULL }, /* literal */
	{ 11, NAME, NULL }, /* fusion_kind */
	{ 14, COPY, NULL }, { 15, COPY, NULL }, { 16, COPY, NULL }, { 17, COPY, NULL }, /* dimensions, window, ... */
	{ 20, COPY, NULL }, { 21, COPY, NULL }, /* dynamic_slice_sizes, padding_config */
	{ 22, SECRET, NULL }, { 27, SECRET, NULL }, /* outfeed_config, infeed_config */
	{ 28, NAME, NULL }, /* custom_call_target */
	{ 29, COPY, NULL }, { 30, COPY, NULL }, { 32, COPY, NULL }, /* outfeed_shape, dot_dimension_numbers, fft_length */
	{ 33, COPY, NULL }, { 34, COPY, NULL }, /* gather */
	{ 36, COPY, NULL }, { 37, COPY, NULL }, { 38, COPY, NULL }, /* ids of others */
	{ 40, ENTER, &sharding },
	{ 43, CONFIG, NULL }, /* backend_config */
	{ 48, COPY, NULL }, { 49, COPY, NULL }, { 51, COPY, NULL }, { 52, COPY, NULL }, /* scatter, replica_groups, precision, pairs */
	{ 54, ENTER, &sharding }, { 55, ENTER, &sharding },
	{ 57, COPY, NULL }, { 59, COPY, NULL }, { 61, COPY, NULL }, { 62, COPY, NULL }, /* operand shapes, options */
	{ 63, NAME, NULL }, /* comparison_direction */
	{ 68, ENTER, &attributes },
	{ 72, NAME, NULL }, /* comparison_type */
	{ 74, COPY, NULL }, /* output_operand_aliasing */
	{ 79, NAME, NULL }, /* async_execution_thread */
	{ 86, COPY, NULL }, /* dot_sparsity */
	{ 87, ENTER, &device_list },
	{ 90, COPY, NULL }, { 91, COPY, NULL }, { 92, COPY, NULL },
	{ 93, ENTER, &mesh_groups },
	{ 0, LEAVE_OUT, NULL } } };

static const struct message computation = { (const struct field[]){
	{ 1, NAME, NULL }, { 2, ENTER, &instruction }, { 4, ENTER, &program_shape },
	{ 8, NAME, NULL }, /* execution_thread */
	{ 0, LEAVE_OUT, NULL } } };

static const struct message stack_frames = { (const struct field[]){
	{ 1, NAME, NULL }, { 2, NAME, NULL }, /* file_names, function_names */
	{ 3, COPY, NULL }, { 4, COPY, NULL }, /* file_locations, stack_frames: ids and lines */
	{ 0, LEAVE_OUT, NULL } } };

static const struct message module = { (const struct field[]){
	{ 1, NAME, NULL }, { 2, NAME, NULL }, /* name, entry_computation_name */
	{ 3, ENTER, &computation }, { 4, ENTER, &program_shape },
	{ 7, COPY, NULL }, { 8, COPY, NULL }, /* schedule, input_output_alias */
	{ 10, COPY, NULL }, /* cross_program_prefetches */
	{ 12, ENTER, &sharding }, { 14, ENTER, &sharding },
	{ 15, COPY, NULL }, /* device_assignment */
	{ 17, ENTER, &stack_frames }, { 18, COPY, NULL }, /* buffer_donor */
	{ 19, ENTER, &attributes },
	{ 0, LEAVE_OUT, NULL } } };

static const struct message location = { (const struct field[]){
	{ 1, NAME, NULL }, { 2, NAME, NULL }, /* computation_name, instruction_name */
	{ 3, COPY, NULL }, /* shape_index */
	{ 0, LEAVE_OUT, NULL } } };
static const struct message buffer = { (const struct field[]){
	{ 3, ENTER, &location }, { 0, LEAVE_OUT, NULL } } };
static const struct message alias = { (const struct field[]){
	{ 2, ENTER, &location }, { 0, LEAVE_OUT, NULL } } };
static const struct message allocation = { (const struct field[]){
	{ 9, COPY, NULL }, { 10, COPY, NULL }, /* assigned, parameter_shape_index */
	{ 0, LEAVE_OUT, NULL } } };
static const struct message heap_event = { (const struct field[]){
	{ 3, NAME, NULL }, { 4, NAME, NULL }, /* computation_name, instruction_name */
	{ 0, LEAVE_OUT, NULL } } };
static const struct message heap = { (const struct field[]){
	{ 1, ENTER, &heap_event }, { 0, LEAVE_OUT, NULL } } };
static const struct message assignment = { (const struct field[]){
	{ 1, ENTER, &buffer }, { 2, ENTER, &alias }, { 3, ENTER, &allocation }, { 4, ENTER, &heap },
	{ 0, LEAVE_OUT, NULL } } };

static const struct message proto = { (const struct field[]){
	{ 1, ENTER, &module }, { 3, ENTER, &assignment }, { 0, LEAVE_OUT, NULL } } };
/* clang-format on */

static const struct field *field_of(const struct message *message, uint32_t number)
{
	const struct field *field = message->fields;

	while (field->field != 0 && field->field != number)
		field++;
	return field;
}

/* A compiler's text for itself: JSON with names in it, or bytes of its own. */
static void put_config(const struct ts_names *names, struct ts_bytes bytes, struct ts_buf *out)
{
	if (bytes.n > 0 && bytes.p[0] == '{')
		ts_redact_json(names, bytes, TS_KEY_UNKNOWN, out);
	else
		ts_names_secret(names, bytes, out);
}

/* A LiteralProto of one s32 or s64: a shape without dimensions, and a number in the field of its type. */
static bool is_count(struct ts_bytes literal)
{
	enum {
		LITERAL_SHAPE = 1,
		LITERAL_S32S = 4,
		LITERAL_S64S = 5,
		SHAPE_TYPE = 2,
		SHAPE_DIMS = 3
	};
	enum { TYPE_S32 = 4, TYPE_S64 = 5 };
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(literal, &error), shape;
	bool is_whole = false;

	if (literal.n > COUNT_BYTES)
		return false;
	while (ts_pb_next(&pb)) {
		if (pb.field != LITERAL_SHAPE) {
			if (pb.field != LITERAL_S32S && pb.field != LITERAL_S64S)
				return false;
			continue;
		}
		shape = ts_pb_enter(&pb);
		while (ts_pb_next(&shape)) {
			if (shape.field == SHAPE_DIMS)
				return false;
			if (shape.field == SHAPE_TYPE)
				is_whole = ts_pb_u64(&shape) == TYPE_S32 ||
					   ts_pb_u64(&shape) == TYPE_S64;
		}
	}
	return is_whole && !error.cause;
}

static void redact_hlo_put_message(const struct ts_names *names, struct ts_pb pb,
				   const struct message *message, struct ts_buf *out,
				   unsigned depth);

static void redact_hlo_put_field(const struct ts_names *names, const struct ts_pb *pb,
				 const struct field *field, struct ts_buf *out, unsigned depth)
{
	size_t mark;

	if (field->act == LEAVE_OUT || depth >= TS_LIMIT_REDACT_DEPTH ||
	    (field->act == COUNT && !is_count(ts_pb_bytes(pb))))
		return;
	mark = ts_pbw_begin(out, pb->field);
	switch (field->act) {
	case COUNT:
	case COPY:   ts_buf_put(out, ts_pb_bytes(pb)); break;
	case NAME:   ts_names_put(names, ts_pb_bytes(pb), out); break;
	case SECRET: ts_names_secret(names, ts_pb_bytes(pb), out); break;
	case CONFIG: put_config(names, ts_pb_bytes(pb), out); break;
	case ENTER:
		redact_hlo_put_message(names, ts_pb_enter(pb), field->below, out, depth + 1);
		break;
	default: break;
	}
	ts_pbw_end(out, mark);
}

static void redact_hlo_put_message(const struct ts_names *names, struct ts_pb pb,
				   const struct message *message, struct ts_buf *out,
				   unsigned depth)
{
	for (const uint8_t *at = pb.p; ts_pb_next(&pb) && !out->failed; at = pb.p)
		if (pb.wire != TS_PB_BYTES)
			ts_buf_put(out, (struct ts_bytes){ at, (size_t)(pb.p - at) });
		else
			redact_hlo_put_field(names, &pb, field_of(message, pb.field), out, depth);
}

/* An HloModuleProto by itself has a name and an id of its entry computation, where an HloProto has
 * nothing or a field of another type. */
static bool redact_hlo_is_bare_module(struct ts_bytes bytes)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(bytes, &error);

	while (ts_pb_next(&pb))
		if ((pb.field == 2 && pb.wire == TS_PB_BYTES) ||
		    ((pb.field == 5 || pb.field == 6) && pb.wire == TS_PB_VARINT))
			return true;
	return false;
}

void ts_redact_hlo(const struct ts_names *names, struct ts_bytes bytes, struct ts_buf *out)
{
	struct ts_pb_error error = { NULL, NULL };

	TS_ASSERT(names && out);
	TS_ASSERT(bytes.p || bytes.n == 0);
	redact_hlo_put_message(names, ts_pb_of(bytes, &error),
			       redact_hlo_is_bare_module(bytes) ? &module : &proto, out, 0);
}

void ts_redact_numbers(const struct ts_names *names, struct ts_bytes message, enum ts_key_kind kind,
		       struct ts_buf *out)
{
	struct ts_pb_error error = { NULL, NULL };

	TS_ASSERT_HOT(names && out);
	TS_ASSERT_HOT(message.p || message.n == 0);
	redact_hlo_put_message(names, ts_pb_of(message, &error),
			       kind == TS_KEY_ACCESS ? &access_breakdown : &numbers, out, 0);
}
