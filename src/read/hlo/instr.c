/* SPDX-License-Identifier: MIT */
/*
 * One instruction: from protobuf-c's message to the model. Field meanings: openxla/xla,
 * xla/service/hlo.proto, xla/xla_data.proto; layouts: xla/layout.cc.
 */
#include "read/hlo/parts.h"

#include "base/check.h"

enum { PRECISION_HIGHEST = 2 };

#define MAX_LITERAL 64 /* bytes: a scalar and its shape */

/* Every dimension once; the rank is small, so that one word holds which were seen. */
static bool is_permutation(const int64_t *numbers, size_t n)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < n; i++) {
		if (numbers[i] < 0 || (uint64_t)numbers[i] >= n || seen >> numbers[i] & 1)
			return false;
		seen |= UINT64_C(1) << numbers[i];
	}
	return true;
}

static void convert_tiles(struct ts_hlo_reader *reader, const Tpusight__Layout *from,
			  struct ts_shape *to)
{
	struct ts_tile *tiles = ts_hlo_array(reader, from->n_tiles, sizeof(*tiles));

	if (!tiles)
		return;
	for (size_t i = 0; i < from->n_tiles; i++) {
		tiles[i].nr_dims = (uint32_t)from->tiles[i]->n_dimensions;
		tiles[i].dims =
			ts_hlo_numbers(reader, from->tiles[i]->dimensions, tiles[i].nr_dims);
	}
	to->tiles = tiles;
	to->nr_tiles = (uint32_t)from->n_tiles;
}

/* XLA splits a dimension at indices; the largest piece is what each memory must have room for. */
static void convert_split(const Tpusight__Layout *from, struct ts_shape *to)
{
	const Tpusight__SplitConfig *split = from->n_split_configs ? from->split_configs[0] : NULL;
	int64_t last = 0;

	if (!split || split->dimension < 0 || split->dimension >= to->rank)
		return;
	to->split_dim = (uint32_t)split->dimension;
	for (size_t i = 0; i <= split->n_split_indices; i++) {
		int64_t end = to->dims[split->dimension];

		if (i < split->n_split_indices)
			end = TS_MIN(end, split->split_indices[i]);
		to->split_size = TS_MAX(to->split_size, ts_i64_sub(end, last));
		last = end;
	}
}

static void convert_layout(struct ts_hlo_reader *reader, const Tpusight__Layout *from,
			   struct ts_shape *to)
{
	uint32_t *order;

	to->memory_space = from->memory_space;
	if (from->n_minor_to_major != to->rank || to->rank > TS_LIMIT_HLO_RANK ||
	    !is_permutation(from->minor_to_major, to->rank))
		return;
	order = ts_hlo_array(reader, to->rank, sizeof(*order));
	if (!order)
		return;
	for (uint32_t i = 0; i < to->rank; i++)
		order[i] = (uint32_t)from->minor_to_major[i];
	to->minor_to_major = order;
	to->element_bits = TS_MAX(from->element_size_in_bits, 0);
	to->tail_alignment = TS_MAX(from->tail_padding_alignment_in_elements, 1);
	to->has_layout = true;
	convert_tiles(reader, from, to);
	convert_split(from, to);
}

/* The depth was checked by ts_hlo_scan(). */
static void hlo_convert_shape(struct ts_hlo_reader *reader, const Tpusight__Shape *from,
			      struct ts_shape *to)
{
	struct ts_shape *parts;

	TS_ASSERT(reader && to);
	*to = (struct ts_shape){ .tail_alignment = 1 };
	if (!from)
		return;
	if (from->element_type > 0 && from->element_type < TS_NR_DTYPES)
		to->dtype = (enum ts_dtype)from->element_type;
	to->dims = ts_hlo_numbers(reader, from->dimensions, from->n_dimensions);
	to->rank = to->dims ? (uint32_t)from->n_dimensions : 0;
	for (size_t i = 0; i < from->n_is_dynamic_dimension; i++)
		to->is_dynamic |= from->is_dynamic_dimension[i];
	if (from->layout)
		convert_layout(reader, from->layout, to);
	parts = from->n_tuple_shapes ? ts_hlo_array(reader, from->n_tuple_shapes, sizeof(*parts))
				     : NULL;
	if (!parts)
		return;
	for (size_t i = 0; i < from->n_tuple_shapes; i++)
		hlo_convert_shape(reader, from->tuple_shapes[i], &parts[i]);
	ts_shape_set_parts(to, parts, (uint32_t)from->n_tuple_shapes);
}

static void convert_window(struct ts_hlo_reader *reader, const Tpusight__Window *from,
			   struct ts_hlo_instr *to)
{
	struct ts_window_dim *dims;

	if (!from || from->n_dimensions == 0)
		return;
	dims = ts_hlo_array(reader, from->n_dimensions, sizeof(*dims));
	if (!dims)
		return;
	for (size_t i = 0; i < from->n_dimensions; i++) {
		const Tpusight__WindowDimension *dim = from->dimensions[i];

		dims[i] = (struct ts_window_dim){
			.size = dim->size,
			.stride = TS_MAX(dim->stride, 1),
			.pad_low = dim->padding_low,
			.pad_high = dim->padding_high,
			.window_dilation = TS_MAX(dim->window_dilation, 1),
			.base_dilation = TS_MAX(dim->base_dilation, 1),
			.reversed = dim->window_reversal,
		};
	}
	to->window = dims;
	to->nr_window = (uint32_t)from->n_dimensions;
}

static void convert_conv(struct ts_hlo_reader *reader,
			 const Tpusight__ConvolutionDimensionNumbers *from, struct ts_hlo_instr *to)
{
	size_t n = from ? from->n_input_spatial_dimensions : 0;
	struct ts_conv_dims *dims;

	if (!from || from->n_kernel_spatial_dimensions != n ||
	    from->n_output_spatial_dimensions != n)
		return;
	dims = ts_hlo_array(reader, 1, sizeof(*dims));
	if (!dims)
		return;
	*dims = (struct ts_conv_dims){
		.in_batch = from->input_batch_dimension,
		.in_feature = from->input_feature_dimension,
		.kernel_in_feature = from->kernel_input_feature_dimension,
		.kernel_out_feature = from->kernel_output_feature_dimension,
		.out_batch = from->output_batch_dimension,
		.out_feature = from->output_feature_dimension,
		.nr_spatial = (uint32_t)n,
		.in_spatial = ts_hlo_numbers(reader, from->input_spatial_dimensions, n),
		.kernel_spatial = ts_hlo_numbers(reader, from->kernel_spatial_dimensions, n),
		.out_spatial = ts_hlo_numbers(reader, from->output_spatial_dimensions, n),
	};
	to->conv = dims;
}

static void convert_dot(struct ts_hlo_reader *reader, const Tpusight__DotDimensionNumbers *from,
			struct ts_hlo_instr *to)
{
	struct ts_dot_dims *dims = from ? ts_hlo_array(reader, 1, sizeof(*dims)) : NULL;

	if (!dims)
		return;
	*dims = (struct ts_dot_dims){
		.nr_lhs_contracting = (uint32_t)from->n_lhs_contracting_dimensions,
		.nr_rhs_contracting = (uint32_t)from->n_rhs_contracting_dimensions,
		.nr_lhs_batch = (uint32_t)from->n_lhs_batch_dimensions,
		.nr_rhs_batch = (uint32_t)from->n_rhs_batch_dimensions,
		.lhs_contracting = ts_hlo_numbers(reader, from->lhs_contracting_dimensions,
						  from->n_lhs_contracting_dimensions),
		.rhs_contracting = ts_hlo_numbers(reader, from->rhs_contracting_dimensions,
						  from->n_rhs_contracting_dimensions),
		.lhs_batch = ts_hlo_numbers(reader, from->lhs_batch_dimensions,
					    from->n_lhs_batch_dimensions),
		.rhs_batch = ts_hlo_numbers(reader, from->rhs_batch_dimensions,
					    from->n_rhs_batch_dimensions),
	};
	to->dot = dims;
}

/* A scatter's batch dimensions are like those that are put in: one position each. */
static const int64_t *inserted_dims(struct ts_hlo_reader *reader,
				    const Tpusight__ScatterDimensionNumbers *from)
{
	size_t n = from->n_inserted_window_dims;
	int64_t *dims = ts_hlo_array(reader, n + from->n_input_batching_dims, sizeof(*dims));

	for (size_t i = 0; dims && i < n; i++)
		dims[i] = from->inserted_window_dims[i];
	for (size_t i = 0; dims && i < from->n_input_batching_dims; i++)
		dims[n + i] = from->input_batching_dims[i];
	return dims;
}

static void convert_slices(struct ts_hlo_reader *reader, const Tpusight__HloInstruction *from,
			   struct ts_hlo_instr *to)
{
	const Tpusight__GatherDimensionNumbers *gather = from->gather_dimension_numbers;
	const Tpusight__ScatterDimensionNumbers *scatter = from->scatter_dimension_numbers;
	struct ts_slice_dims *dims;

	dims = gather || scatter ? ts_hlo_array(reader, 1, sizeof(*dims)) : NULL;
	if (!dims)
		return;
	*dims = (struct ts_slice_dims){ .nr_window = 0 };
	if (gather) {
		dims->nr_window = (uint32_t)gather->n_offset_dims;
		dims->window = ts_hlo_numbers(reader, gather->offset_dims, gather->n_offset_dims);
	} else {
		dims->nr_window = (uint32_t)scatter->n_update_window_dims;
		dims->window = ts_hlo_numbers(reader, scatter->update_window_dims,
					      scatter->n_update_window_dims);
		dims->nr_inserted = (uint32_t)(scatter->n_inserted_window_dims +
					       scatter->n_input_batching_dims);
		dims->inserted = inserted_dims(reader, scatter);
	}
	to->slices = dims;
}

static enum ts_fusion_kind fusion_kind(struct ts_bytes name)
{
	static const struct {
		const char *name;
		enum ts_fusion_kind kind;
	} kinds[] = {
		{ "kLoop", TS_FUSION_LOOP },
		{ "kInput", TS_FUSION_INPUT },
		{ "kOutput", TS_FUSION_OUTPUT },
		{ "kCustom", TS_FUSION_CUSTOM },
	};

	for (size_t i = 0; i < TS_NELEM(kinds); i++)
		if (ts_bytes_is(name, kinds[i].name))
			return kinds[i].kind;
	return TS_FUSION_NONE;
}

/* Opcodes that act on something besides their result (xla, HloInstruction::HasSideEffect). */
static bool acts_outside(enum ts_opcode opcode)
{
	return TS_OPCODE_IN(opcode, TS_OPCODE_INFEED, TS_OPCODE_OUTFEED, TS_OPCODE_SEND,
			    TS_OPCODE_SEND_DONE, TS_OPCODE_RECV, TS_OPCODE_RECV_DONE, TS_OPCODE_RNG,
			    TS_OPCODE_RNG_GET_AND_UPDATE_STATE, TS_OPCODE_ALL_REDUCE_START,
			    TS_OPCODE_ALL_GATHER_START, TS_OPCODE_COLLECTIVE_PERMUTE_START);
}

static void convert_metadata(struct ts_hlo_reader *reader, const Tpusight__OpMetadata *from,
			     struct ts_hlo_instr *to)
{
	if (!from)
		return;
	to->op_name = ts_hlo_text(reader, from->op_name);
	to->deduplicated_name = ts_hlo_text(reader, from->deduplicated_name);
	ts_hlo_set_frames(reader, from->stack_frame_id, to);
	if (from->source_file[0]) {
		to->source_file = ts_hlo_text(reader, from->source_file);
		to->source_line = from->source_line;
	}
}

static void convert_slice_sizes(struct ts_hlo_reader *reader, const Tpusight__HloInstruction *from,
				struct ts_hlo_instr *to)
{
	const int64_t *sizes = from->dynamic_slice_sizes;
	size_t n = from->n_dynamic_slice_sizes;

	if (n == 0) {
		sizes = from->gather_slice_sizes;
		n = from->n_gather_slice_sizes;
	}
	to->slice_sizes = ts_hlo_numbers(reader, sizes, n);
	to->nr_slice_sizes = to->slice_sizes ? (uint32_t)n : 0;
}

/* Operands are checked where they are used: here they are not known yet. */
static void convert_aliases(struct ts_hlo_reader *reader, const Tpusight__HloInstruction *from,
			    struct ts_hlo_instr *to)
{
	struct ts_hlo_alias *aliases =
		ts_hlo_array(reader, from->n_output_operand_aliasing, sizeof(*aliases));

	for (size_t i = 0; aliases && i < from->n_output_operand_aliasing; i++) {
		const Tpusight__OutputOperandAliasing *alias = from->output_operand_aliasing[i];
		uint32_t leaf = ts_shape_leaf_at(&to->shape, alias->output_shape_index,
						 alias->n_output_shape_index);

		if (leaf == TS_NONE || alias->operand_index < 0 ||
		    alias->operand_index >= UINT32_MAX || alias->n_operand_shape_index > 0)
			continue; /* a part of an operand that is a tuple: not seen yet */
		aliases[to->nr_aliases++] =
			(struct ts_hlo_alias){ leaf, (uint32_t)alias->operand_index, 0 };
	}
	to->aliases = aliases;
}

static bool says_spmd(const Tpusight__FrontendAttributes *attributes)
{
	for (size_t i = 0; attributes && i < attributes->n_map; i++)
		if (strcmp(attributes->map[i]->key, "is_spmd_generated") == 0)
			return strcmp(attributes->map[i]->value, "true") == 0;
	return false;
}

static void convert_numbers(struct ts_hlo_reader *reader, const Tpusight__HloInstruction *from,
			    struct ts_hlo_instr *to)
{
	struct ts_hlo_groups groups = ts_hlo_groups_of(reader, from);
	bool is_fft = from->n_fft_length > 0;

	to->id = from->id;
	to->parameter_number = from->parameter_number;
	to->tuple_index = from->tuple_index;
	to->channel_id = from->channel_id > 0 ? from->channel_id : TS_HLO_UNKNOWN;
	to->group_size = (int32_t)TS_MIN(groups.size, INT32_MAX);
	to->nr_devices = (int32_t)TS_MIN(groups.all, INT32_MAX);
	to->group = groups.first;
	to->is_spmd_generated = says_spmd(from->frontend_attributes);
	to->feature_group_count = TS_MAX(from->feature_group_count, 1);
	to->batch_group_count = TS_MAX(from->batch_group_count, 1);
	to->dimensions = is_fft ? ts_hlo_numbers(reader, from->fft_length, from->n_fft_length)
				: ts_hlo_numbers(reader, from->dimensions, from->n_dimensions);
	to->nr_dimensions = (uint32_t)(is_fft ? from->n_fft_length : from->n_dimensions);
	convert_slice_sizes(reader, from, to);
	if (from->precision_config)
		for (size_t i = 0; i < from->precision_config->n_operand_precision; i++)
			to->highest_precision |=
				from->precision_config->operand_precision[i] == PRECISION_HIGHEST;
}

/* LiteralProto, xla/xla_data.proto: whole numbers stand packed in the field of their type. */
static void convert_literal(struct ts_bytes bytes, struct ts_hlo_instr *to)
{
	enum { LITERAL_S32S = 4, LITERAL_S64S = 5, LITERAL_U32S = 6, LITERAL_U64S = 7 };
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(bytes, &error);
	uint64_t value = 0;

	if (bytes.n == 0 || bytes.n > MAX_LITERAL || to->shape.rank > 0)
		return;
	while (ts_pb_next(&pb)) {
		if (pb.field < LITERAL_S32S || pb.field > LITERAL_U64S)
			continue;
		if (pb.wire == TS_PB_BYTES) {
			const uint8_t *p = pb.data;

			to->has_literal = ts_pb_varint(&p, pb.data + pb.len, &value);
		} else {
			value = ts_pb_u64(&pb);
			to->has_literal = true;
		}
		to->literal = (int64_t)value;
	}
}

void ts_hlo_convert_instr(struct ts_hlo_reader *reader, const Tpusight__HloInstruction *from,
			  struct ts_hlo_instr *to)
{
	struct ts_bytes backend = { from->backend_config.data, from->backend_config.len };

	TS_ASSERT(reader && to);
	to->name = ts_hlo_text(reader, from->name);
	to->opcode_text = ts_hlo_text(reader, from->opcode);
	to->opcode = ts_opcode_of(to->opcode_text);
	to->custom_call_target = ts_hlo_text(reader, from->custom_call_target);
	to->fusion_kind = fusion_kind(ts_bytes_of(from->fusion_kind));
	to->is_host_transfer = from->is_host_transfer;
	to->has_side_effect = from->custom_call_has_side_effect || acts_outside(to->opcode);
	hlo_convert_shape(reader, from->shape, &to->shape);
	convert_metadata(reader, from->metadata, to);
	if (from->n_output_operand_aliasing > 0)
		convert_aliases(reader, from, to);
	convert_numbers(reader, from, to);
	convert_window(reader, from->window, to);
	convert_conv(reader, from->convolution_dimension_numbers, to);
	convert_dot(reader, from->dot_dimension_numbers, to);
	convert_slices(reader, from, to);
	to->sharding = ts_hlo_sharding_of(reader, from->sharding);
	convert_literal((struct ts_bytes){ from->literal.data, from->literal.len }, to);
	to->direction = ts_hlo_text(reader, from->comparison_direction);
	ts_hlo_convert_backend(reader, backend, to);
}

static struct ts_bytes *convert_names(struct ts_hlo_reader *reader, char **names, size_t n)
{
	struct ts_bytes *copy = ts_arena_array(&reader->keep, n, sizeof(*copy));

	if (!copy)
		reader->nomem = true;
	for (size_t i = 0; copy && i < n; i++)
		copy[i] = ts_hlo_text(reader, names[i]);
	return copy;
}

static void *keep_alloc(void *data, size_t n)
{
	struct ts_hlo_reader *reader = data;
	void *p = ts_arena_alloc(&reader->keep, n);

	if (!p)
		reader->nomem = true;
	return p;
}

static void keep_free(void *data, void *p)
{
}

/* A module without readable frames is a module without source lines, not a damaged one. */
enum ts_status ts_hlo_read_frames(struct ts_hlo_reader *reader)
{
	struct ts_hlo_frames *frames = &reader->frames;
	ProtobufCAllocator alloc = { keep_alloc, keep_free, reader };
	struct ts_bytes bytes = reader->scan.frames;
	Tpusight__StackFrameIndex *index;

	TS_ASSERT(reader);
	if (bytes.n == 0)
		return TS_OK;
	index = tpusight__stack_frame_index__unpack(&alloc, bytes.n, bytes.p);
	if (index) {
		frames->files = convert_names(reader, index->file_names, index->n_file_names);
		frames->functions =
			convert_names(reader, index->function_names, index->n_function_names);
		frames->stacks = ts_arena_array(&reader->keep, index->n_stack_frames,
						sizeof(*frames->stacks));
		frames->nr_files = index->n_file_names;
		frames->nr_functions = index->n_function_names;
		frames->nr_stacks = index->n_stack_frames;
		frames->index = index;
		reader->nomem |= !frames->stacks;
	}
	return reader->nomem ? ts_fail_nomem(reader->err) : TS_OK;
}

static struct ts_bytes name_at(const struct ts_bytes *names, size_t n, int32_t id)
{
	if (id <= 0 || (size_t)id > n)
		return (struct ts_bytes){ NULL, 0 };
	return ts_bytes_cut(names[id - 1], 0, TS_LIMIT_NAME);
}

/* The frames from ID outwards, TS_LIMIT_HLO_STACK at most: a chain of parents may run in a circle. */
static uint32_t walk_frames(const struct ts_hlo_frames *frames, int32_t id,
			    struct ts_hlo_frame *out)
{
	const Tpusight__StackFrameIndex *index = frames->index;
	uint32_t n;

	for (n = 0; n < TS_LIMIT_HLO_STACK && id > 0 && (size_t)id <= frames->nr_stacks; n++) {
		const Tpusight__StackFrame *frame = index->stack_frames[id - 1];
		const Tpusight__FileLocation *at;

		if (frame->file_location_id <= 0 ||
		    (size_t)frame->file_location_id > index->n_file_locations)
			break;
		at = index->file_locations[frame->file_location_id - 1];
		out[n] = (struct ts_hlo_frame){
			.file = name_at(frames->files, frames->nr_files, at->file_name_id),
			.function = name_at(frames->functions, frames->nr_functions,
					    at->function_name_id),
			.line = at->line,
			.column = at->column,
		};
		id = frame->parent_frame_id;
	}
	return n;
}

static void make_stack(struct ts_hlo_reader *reader, int32_t id, struct ts_hlo_stack *stack)
{
	struct ts_hlo_frame frames[TS_LIMIT_HLO_STACK], *copy;
	uint32_t n = walk_frames(&reader->frames, id, frames);

	stack->made = true;
	if (n == 0 || reader->frames.nr_made + n > TS_LIMIT_HLO_FRAMES)
		return;
	copy = ts_hlo_array(reader, n, sizeof(*copy));
	if (!copy)
		return;
	memcpy(copy, frames, n * sizeof(*copy));
	*stack = (struct ts_hlo_stack){ copy, n, true };
	reader->frames.nr_made += n;
}

void ts_hlo_set_frames(struct ts_hlo_reader *reader, int32_t frame_id, struct ts_hlo_instr *to)
{
	struct ts_hlo_stack *stack;

	TS_ASSERT(reader && to);
	if (frame_id <= 0 || (size_t)frame_id > reader->frames.nr_stacks)
		return;
	stack = &reader->frames.stacks[frame_id - 1];
	if (!stack->made)
		make_stack(reader, frame_id, stack);
	to->frames = stack->frames;
	to->nr_frames = stack->nr;
	if (stack->nr == 0)
		return;
	to->source_file = stack->frames[0].file;
	to->source_line = stack->frames[0].line;
}
