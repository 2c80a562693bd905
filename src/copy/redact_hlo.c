/* SPDX-License-Identifier: MIT */
/*
 * Compiled modules: HloProto (openxla/xla: xla/service/hlo.proto, xla/xla_data.proto), rewritten on
 * the wire by a table of its messages. A number stays if its message has it; a field with a length
 * is a list of numbers, is hashed or entered only if a row says so. Of constants the single signed whole numbers stay, as
 * sizes do: by them it is known how often a loop runs. Fields without a row (all other constants' values, values' origins, profiles' fingerprints, fields of a newer XLA) is left out.
 */
#include "codec/jtok.h"

#include "base/check.h"
#include "base/limits.h"
#include "codec/pb.h"
#include "codec/pbw.h"
#include "copy/redact.h"

enum act { LEAVE_OUT, PACKED, NAME, SECRET, CONFIG, ENTER, COUNT };

#define COUNT_BYTES 64 /* of a literal that may be a counter's */

struct message;
struct field {
	uint32_t field;
	enum act act;
	const struct message *below;
};

struct message {
	uint64_t numbers
		[2]; /* fields that hold one number, a bit each; of PACKED ones that need none */
	const struct field *fields; /* field 0 at the end */
};

/* clang-format off */
#define N(field) (UINT64_C(1) << ((field) & 63))
#define LAST { 0, LEAVE_OUT, NULL }
#define NUMBERS(mask) { { (mask), 0 }, (const struct field[]){ LAST } }
#define UP_TO(field) (N((field) + 1) - 2) /* 1 to FIELD */

static const struct message numbers = NUMBERS(UP_TO(14));
static const struct message access_breakdown = { { 0 }, (const struct field[]){ { 1, ENTER, &numbers }, LAST } };

/* messages with nothing but lists of numbers */
static const struct message list = { { 0 }, (const struct field[]){ { 1, PACKED, NULL }, LAST } };
static const struct message lists = { { N(1) | N(2) | N(3) | N(4) }, (const struct field[]){
	{ 1, PACKED, NULL }, { 2, PACKED, NULL }, { 3, PACKED, NULL }, { 4, PACKED, NULL }, { 5, PACKED, NULL },
	{ 6, PACKED, NULL }, LAST } };
static const struct message list_of_numbers = { { 0 }, (const struct field[]){ { 1, ENTER, &numbers }, LAST } };
static const struct message list_of_lists = { { 0 }, (const struct field[]){ { 1, ENTER, &lists }, LAST } };

static const struct message shape;
static const struct message layout = { { N(7) | N(8) | N(11) | N(12) | N(15) | N(16) }, (const struct field[]){
	{ 1, PACKED, NULL }, /* minor_to_major */
	{ 6, ENTER, &list }, /* tiles */
	{ 9, PACKED, NULL }, { 10, ENTER, &shape }, { 13, PACKED, NULL }, { 14, PACKED, NULL },
	{ 17, ENTER, &lists }, /* split_configs */
	LAST } };
static const struct message shape = { { N(2) }, (const struct field[]){
	{ 3, PACKED, NULL }, { 4, ENTER, &shape }, { 5, ENTER, &layout }, { 6, PACKED, NULL }, LAST } };

static const struct message op_metadata = { { N(4) | N(8) | N(13) | N(15) | N(17) | N(18) | N(19) }, (const struct field[]){
	{ 1, NAME, NULL },  /* op_type */
	{ 2, NAME, NULL },  /* op_name */
	{ 3, NAME, NULL },  /* source_file */
	{ 12, NAME, NULL }, /* deduplicated_name */
	{ 16, NAME, NULL }, /* scheduling_name */
	LAST } };

static const struct message sharding;
static const struct message sharding = { { N(1) | N(6) | N(11) | N(12) | N(13) }, (const struct field[]){
	{ 2, ENTER, &shape }, /* tile_shape */
	{ 3, PACKED, NULL }, { 4, PACKED, NULL }, /* tile_assignment_dimensions, _devices */
	{ 5, ENTER, &sharding }, { 7, ENTER, &op_metadata },
	{ 8, PACKED, NULL }, { 9, PACKED, NULL }, { 10, PACKED, NULL }, /* more numbers of tiles */
	LAST } };

static const struct message attribute = { { 0 }, (const struct field[]){
	{ 1, NAME, NULL }, { 2, SECRET, NULL }, LAST } };
static const struct message attributes = { { 0 }, (const struct field[]){ { 1, ENTER, &attribute }, LAST } };

static const struct message mesh_axis = { { N(2) }, (const struct field[]){ { 1, NAME, NULL }, LAST } };
static const struct message mesh = { { 0 }, (const struct field[]){
	{ 1, ENTER, &mesh_axis }, { 2, PACKED, NULL }, LAST } };
static const struct message axis_ref = { { N(1) }, (const struct field[]){ { 2, ENTER, &numbers }, LAST } };
static const struct message mesh_groups = { { 0 }, (const struct field[]){
	{ 1, ENTER, &mesh }, { 2, ENTER, &axis_ref }, LAST } };
static const struct message device_list = { { 0 }, (const struct field[]){
	{ 1, ENTER, &list }, { 2, ENTER, &lists }, { 3, ENTER, &mesh_groups }, LAST } };

static const struct message ragged_dot = { { 0 }, (const struct field[]){
	{ 1, ENTER, &lists }, { 2, PACKED, NULL }, { 3, PACKED, NULL }, LAST } };
static const struct message convolution = { { N(3) | N(4) | N(7) | N(8) | N(9) | N(10) }, (const struct field[]){
	{ 5, PACKED, NULL }, { 6, PACKED, NULL }, { 11, PACKED, NULL }, { 12, PACKED, NULL }, LAST } };
static const struct message accuracy = { { N(1) }, (const struct field[]){ { 2, ENTER, &numbers }, LAST } };

static const struct message program_shape = { { 0 }, (const struct field[]){
	{ 1, ENTER, &shape }, { 2, ENTER, &shape }, { 3, NAME, NULL }, /* parameter_names */ LAST } };

static const struct message literal = { { 0 }, (const struct field[]){
	{ 1, ENTER, &shape }, { 4, PACKED, NULL }, { 5, PACKED, NULL }, LAST } };

static const struct message instruction = { {
	N(9) | N(13) | N(18) | N(19) | N(23) | N(24) | N(25) | N(26) | N(31) | N(35) | N(45) | N(47) | N(50) | N(56) |
	N(58) | N(60),
	N(65) | N(66) | N(67) | N(69) | N(70) | N(71) | N(73) | N(75) | N(76) | N(77) | N(80) | N(81) | N(83) | N(85) |
	N(89) },
	(const struct field[]){
	{ 1, NAME, NULL }, { 2, NAME, NULL }, /* name, opcode */
	{ 3, ENTER, &shape },
	{ 7, ENTER, &op_metadata },
	{ 8, COUNT, &literal },
	{ 11, NAME, NULL }, /* fusion_kind */
	{ 14, PACKED, NULL }, { 15, ENTER, &list_of_numbers }, /* dimensions, window */
	{ 16, ENTER, &convolution }, { 17, ENTER, &numbers }, /* slice_dimensions */
	{ 20, PACKED, NULL }, { 21, ENTER, &list_of_numbers }, /* dynamic_slice_sizes, padding_config */
	{ 22, SECRET, NULL }, { 27, SECRET, NULL }, /* outfeed_config, infeed_config */
	{ 28, NAME, NULL }, /* custom_call_target */
	{ 29, ENTER, &shape }, { 30, ENTER, &lists }, { 32, PACKED, NULL }, /* outfeed_shape, dot_dimension_numbers, fft_length */
	{ 33, ENTER, &lists }, { 34, PACKED, NULL }, /* gather */
	{ 36, PACKED, NULL }, { 37, PACKED, NULL }, { 38, PACKED, NULL }, /* ids of others */
	{ 40, ENTER, &sharding },
	{ 43, CONFIG, NULL }, /* backend_config */
	{ 48, ENTER, &lists }, { 49, ENTER, &list }, { 51, ENTER, &lists }, { 52, ENTER, &numbers }, /* scatter, replica_groups, precision, pairs */
	{ 54, ENTER, &sharding }, { 55, ENTER, &sharding },
	{ 57, ENTER, &shape }, { 59, ENTER, &numbers }, { 61, ENTER, &lists }, { 62, ENTER, &numbers }, /* operand shapes, options */
	{ 63, NAME, NULL }, /* comparison_direction */
	{ 68, ENTER, &attributes },
	{ 72, NAME, NULL }, /* comparison_type */
	{ 74, ENTER, &lists }, /* output_operand_aliasing */
	{ 79, NAME, NULL }, /* async_execution_thread */
	{ 86, ENTER, &numbers }, /* dot_sparsity */
	{ 87, ENTER, &device_list },
	{ 90, ENTER, &ragged_dot }, { 91, ENTER, &accuracy }, { 92, ENTER, &lists },
	{ 93, ENTER, &mesh_groups },
	LAST } };

static const struct message computation = { { N(5) | N(6) | N(7) }, (const struct field[]){
	{ 1, NAME, NULL }, { 2, ENTER, &instruction }, { 4, ENTER, &program_shape },
	{ 8, NAME, NULL }, /* execution_thread */
	LAST } };

static const struct message stack_frames = { { 0 }, (const struct field[]){
	{ 1, NAME, NULL }, { 2, NAME, NULL }, /* file_names, function_names */
	{ 3, ENTER, &numbers }, { 4, ENTER, &numbers }, /* file_locations, stack_frames: ids and lines */
	LAST } };

static const struct message sequence = { { N(1) }, (const struct field[]){ { 2, ENTER, &list }, LAST } };
static const struct message schedule = { { 0 }, (const struct field[]){ { 1, ENTER, &sequence }, LAST } };
static const struct message devices = { { N(1) | N(2) }, (const struct field[]){ { 3, ENTER, &list }, LAST } };

static const struct message module = { { N(5) | N(6) | N(9) | N(11) | N(13) | N(16) }, (const struct field[]){
	{ 1, NAME, NULL }, { 2, NAME, NULL }, /* name, entry_computation_name */
	{ 3, ENTER, &computation }, { 4, ENTER, &program_shape },
	{ 7, ENTER, &schedule }, { 8, ENTER, &list_of_lists }, /* schedule, input_output_alias */
	{ 10, ENTER, &lists }, /* cross_program_prefetches */
	{ 12, ENTER, &sharding }, { 14, ENTER, &sharding },
	{ 15, ENTER, &devices }, /* device_assignment */
	{ 17, ENTER, &stack_frames }, { 18, ENTER, &list_of_lists }, /* buffer_donor */
	{ 19, ENTER, &attributes },
	LAST } };

static const struct message location = { { N(4) | N(5) }, (const struct field[]){
	{ 1, NAME, NULL }, { 2, NAME, NULL }, /* computation_name, instruction_name */
	{ 3, PACKED, NULL }, /* shape_index */
	LAST } };
static const struct message buffer = { { N(1) | N(2) | N(4) }, (const struct field[]){ { 3, ENTER, &location }, LAST } };
static const struct message alias = { { N(1) }, (const struct field[]){ { 2, ENTER, &location }, LAST } };
static const struct message allocation = { { UP_TO(14) & ~N(9) & ~N(10) }, (const struct field[]){
	{ 9, ENTER, &numbers }, { 10, PACKED, NULL }, /* assigned, parameter_shape_index */
	LAST } };
static const struct message heap_event = { { N(1) | N(2) | N(5) }, (const struct field[]){
	{ 3, NAME, NULL }, { 4, NAME, NULL }, /* computation_name, instruction_name */
	LAST } };
static const struct message heap = { { N(2) | N(3) }, (const struct field[]){ { 1, ENTER, &heap_event }, LAST } };
static const struct message assignment = { { 0 }, (const struct field[]){
	{ 1, ENTER, &buffer }, { 2, ENTER, &alias }, { 3, ENTER, &allocation }, { 4, ENTER, &heap }, LAST } };

static const struct message proto = { { 0 }, (const struct field[]){
	{ 1, ENTER, &module }, { 3, ENTER, &assignment }, LAST } };
/* clang-format on */

static const struct field *field_of(const struct message *message, uint32_t number)
{
	const struct field *field = message->fields;

	while (field->field != 0 && field->field != number)
		field++;
	return field;
}

/* Does a message have a field with a number? One that may be packed is there unpacked, too. */
static bool has_number(const struct message *message, uint32_t number)
{
	return (number < 128 && (message->numbers[number / 64] >> number % 64 & 1)) ||
	       field_of(message, number)->act == PACKED;
}

/* Numbers to the end, and none cut. */
static bool is_packed(struct ts_bytes bytes)
{
	return bytes.n == 0 || bytes.p[bytes.n - 1] < 0x80;
}

/* A compiler's text for itself: JSON with names in it, or bytes of its own. */
static void put_config(const struct ts_names *names, struct ts_bytes bytes, struct ts_buf *out)
{
	if (bytes.n > 0 && bytes.p[0] == '{')
		ts_redact_json(names, bytes, TS_KEY_UNKNOWN, out);
	else
		ts_names_secret(names, bytes, out);
}

/* One packed number? */
static bool is_one(struct ts_bytes bytes)
{
	size_t n = 0;

	while (n < bytes.n && bytes.p[n] >= 0x80)
		n++;
	return bytes.n > 0 && n + 1 == bytes.n;
}

/* A LiteralProto of one s32 or s64: a shape without dimensions, and a number in the field of its type. */
static bool is_count(struct ts_bytes bytes)
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
	struct ts_pb pb = ts_pb_of(bytes, &error), of;
	bool is_whole = false;

	if (bytes.n > COUNT_BYTES)
		return false;
	while (ts_pb_next(&pb)) {
		if (pb.field != LITERAL_SHAPE) {
			if ((pb.field != LITERAL_S32S && pb.field != LITERAL_S64S) ||
			    (pb.wire == TS_PB_BYTES && !is_one(ts_pb_bytes(&pb))))
				return false;
			continue;
		}
		of = ts_pb_enter(&pb);
		while (ts_pb_next(&of)) {
			if (of.field == SHAPE_DIMS)
				return false;
			if (of.field == SHAPE_TYPE)
				is_whole = ts_pb_u64(&of) == TYPE_S32 || ts_pb_u64(&of) == TYPE_S64;
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
	    (field->act == COUNT && !is_count(ts_pb_bytes(pb))) ||
	    (field->act == PACKED && !is_packed(ts_pb_bytes(pb))))
		return;
	mark = ts_pbw_begin(out, pb->field);
	switch (field->act) {
	case PACKED: ts_buf_put(out, ts_pb_bytes(pb)); break;
	case NAME:   ts_names_put(names, ts_pb_bytes(pb), out); break;
	case SECRET: ts_names_secret(names, ts_pb_bytes(pb), out); break;
	case CONFIG: put_config(names, ts_pb_bytes(pb), out); break;
	case COUNT:
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
		if (pb.wire == TS_PB_BYTES)
			redact_hlo_put_field(names, &pb, field_of(message, pb.field), out, depth);
		else if (has_number(message, pb.field))
			ts_buf_put(out, (struct ts_bytes){ at, (size_t)(pb.p - at) });
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
