/* What is said of the programs: a row each, the buffers at their peaks, by line of source, and the
 * parameters that could give their memory to a result. */
#include "analysis/capacity/capacity.h"

#include "analysis/kit/cells.h"

#define MAX_PROGRAMS 100
#define MAX_BUFFERS  500 /* of all programs */
#define MAX_OF_ONE   100
#define MAX_LINES    200
#define MAX_PAIRS    100

static const char *const kind_names[TS_NR_BUFFER_KINDS] = {
	[TS_BUFFER_PARAMETER] = "parameter", [TS_BUFFER_OUTPUT] = "output",
	[TS_BUFFER_DONATED] = "donated",     [TS_BUFFER_TEMP] = "temp",
	[TS_BUFFER_CONSTANT] = "constant",
};

static const struct ts_hlo_instr *instr_at(const struct program *program, uint32_t index)
{
	return index < program->sum.module->nr_instrs ? &program->sum.module->instrs[index] : NULL;
}

/* The first op from POSITION on that somebody knows: events of a heap trace may have no name. */
static const struct ts_hlo_instr *op_at(const struct program *program, uint32_t position)
{
	for (; position < program->sum.nr_positions; position++)
		if (program->order[position] != TS_NONE)
			return instr_at(program, program->order[position]);
	return NULL;
}

static struct ts_bytes source_of(struct ts_result *result, const struct ts_hlo_instr *instr)
{
	if (!instr || instr->source_file.n == 0)
		return (struct ts_bytes){ NULL, 0 };
	return ts_result_text(result, "%.*s:%d", TS_ARG(instr->source_file), instr->source_line);
}

static struct ts_value name_or_null(const struct ts_hlo_instr *instr)
{
	return instr ? ts_text_or_null(instr->name) : ts_null();
}

static const struct ts_shape *shape_of(const struct program *program, const struct buffer *buffer)
{
	const struct ts_hlo_instr *instr = instr_at(program, buffer->instr);

	if (!instr || buffer->leaf == TS_NONE)
		return NULL;
	return ts_shape_leaf(&instr->shape, buffer->leaf);
}

static void put_programs(const struct program *programs, size_t nr, int64_t hbm_bytes,
			 struct ts_result *result)
{
	static const struct ts_column columns[] = {
		{ "module", TS_COMPILED, "module" },
		{ "program_id", TS_COMPILED, NULL },
		{ "peak_bytes", TS_MODELLED, "peak" },
		{ "peak_pct", TS_MODELLED, "of HBM" },
		{ "argument_bytes", TS_COMPILED, "arguments" },
		{ "output_bytes", TS_COMPILED, "results" },
		{ "alias_bytes", TS_COMPILED, "donated" },
		{ "temp_bytes", TS_MODELLED, "temporaries" },
		{ "constant_bytes", TS_COMPILED, NULL },
		{ "reserved_bytes", TS_MODELLED, NULL },
		{ "onchip_peak_bytes", TS_MODELLED, NULL },
		{ "peak_op", TS_MODELLED, "peak at" },
		{ "peak_source", TS_COMPILED, NULL },
		{ "peak_position", TS_MODELLED, NULL },
		{ "positions", TS_COMPILED, NULL },
		{ "buffers", TS_COMPILED, NULL },
	};
	struct ts_table *table = ts_result_table(result, "modules", "Device memory by module",
						 columns, TS_NELEM(columns));

	for (size_t i = 0; i < nr && i < MAX_PROGRAMS && table; i++) {
		const struct program *program = &programs[i];
		const struct ts_hlo_instr *op = op_at(program, program->sum.peak_at);
		struct ts_value *cells = ts_table_row(result, table);

		if (!cells)
			return;
		cells[0] = ts_text_or_null(program->sum.module->name);
		cells[1] = ts_id(program->sum.module->program_id);
		cells[2] = ts_int(program->sum.peak_bytes);
		if (hbm_bytes > 0)
			cells[3] =
				ts_share_pct((double)program->sum.peak_bytes / (double)hbm_bytes);
		cells[4] = ts_int(program->sum.argument_bytes);
		cells[5] = ts_int(program->sum.output_bytes);
		cells[6] = ts_int(program->sum.alias_bytes);
		cells[7] = ts_int(program->sum.temp_bytes);
		cells[8] = ts_int(program->sum.constant_bytes);
		cells[9] = ts_int(program->sum.reserved_bytes);
		cells[10] = ts_int(program->sum.onchip_peak_bytes);
		cells[11] = name_or_null(op);
		cells[12] = ts_text_or_null(source_of(result, op));
		cells[13] = ts_int(program->sum.peak_at);
		cells[14] = ts_int(program->sum.nr_positions);
		cells[15] =
			ts_text(ts_bytes_of(program->sum.is_assigned ? "assigned" : "simulated"));
	}
}

/* A buffer that is alive at its program's peak. */
struct alive {
	const struct program *program;
	const struct buffer *buffer;
};

static int by_size(const void *a, const void *b)
{
	const struct alive *x = a, *y = b;

	if (x->buffer->nr_bytes != y->buffer->nr_bytes)
		return x->buffer->nr_bytes > y->buffer->nr_bytes ? -1 : 1;
	if (x->buffer->instr != y->buffer->instr)
		return x->buffer->instr < y->buffer->instr ? -1 : 1;
	return x->buffer->leaf < y->buffer->leaf ? -1 : x->buffer->leaf > y->buffer->leaf;
}

/* Largest first; *NR says how many. NULL: no memory. Free with free(). */
static struct alive *list_alive(const struct program *program, size_t *nr)
{
	struct alive *list = calloc(program->nr_buffers + 1, sizeof(*list));

	*nr = 0;
	for (size_t i = 0; i < program->nr_buffers && list; i++)
		if (ts_capacity_is_alive(program, &program->buffers[i]))
			list[(*nr)++] = (struct alive){ program, &program->buffers[i] };
	if (*nr > 1)
		qsort(list, *nr, sizeof(*list), by_size);
	return list;
}

static struct ts_value op_name(struct ts_result *result, const struct ts_hlo_instr *instr,
			       uint32_t leaf)
{
	if (!instr)
		return ts_null();
	if (instr->shape.dtype != TS_TUPLE || leaf == TS_NONE)
		return ts_text_or_null(instr->name);
	return ts_text(ts_result_text(result, "%.*s{%u}", TS_ARG(instr->name), leaf));
}

static void put_buffer(struct ts_result *result, struct ts_value *cells, const struct alive *alive)
{
	const struct program *program = alive->program;
	const struct buffer *buffer = alive->buffer;
	const struct ts_hlo_instr *instr = instr_at(program, buffer->instr);
	const struct ts_shape *shape = shape_of(program, buffer);

	cells[0] = ts_text_or_null(program->sum.module->name);
	cells[1] = op_name(result, instr, buffer->leaf);
	cells[2] = ts_text(ts_bytes_of(kind_names[buffer->kind]));
	cells[3] = shape ? ts_shape_cell(result, shape) : ts_null();
	cells[4] = shape ? ts_int(ts_shape_logical_bytes(shape)) : ts_null();
	cells[5] = ts_int(buffer->nr_bytes);
	if (shape && buffer->nr_bytes > 0)
		cells[6] = ts_share_pct(
			1 - TS_MIN((double)ts_shape_logical_bytes(shape) / (double)buffer->nr_bytes,
				   1));
	cells[7] = ts_text_or_null(source_of(result, instr));
	cells[8] = instr ? ts_text_or_null(instr->op_name) : ts_null();
	cells[9] = name_or_null(op_at(program, buffer->from));
	cells[10] = name_or_null(op_at(program, buffer->to));
	cells[11] = ts_int(buffer->from);
	cells[12] = ts_int(buffer->to);
}

static bool put_buffers(const struct program *programs, size_t nr, struct ts_result *result)
{
	static const struct ts_column columns[] = {
		{ "module", TS_COMPILED, "module" },
		{ "op", TS_COMPILED, "made by" },
		{ "kind", TS_COMPILED, "kind" },
		{ "shape", TS_COMPILED, "shape" },
		{ "logical_bytes", TS_COMPILED, NULL },
		{ "bytes", TS_COMPILED, "size" },
		{ "padding_pct", TS_COMPILED, "padding" },
		{ "source", TS_COMPILED, "source" },
		{ "framework_op", TS_COMPILED, NULL },
		{ "from_op", TS_MODELLED, NULL },
		{ "to_op", TS_MODELLED, NULL },
		{ "from_position", TS_MODELLED, NULL },
		{ "to_position", TS_MODELLED, NULL },
	};
	struct ts_table *table =
		ts_result_table(result, "buffers", "Largest buffers at the peak of each module",
				columns, TS_NELEM(columns));
	size_t left = MAX_BUFFERS;

	for (size_t i = 0; i < nr && left > 0 && table; i++) {
		size_t nr_alive;
		struct alive *list = list_alive(&programs[i], &nr_alive);

		if (!list)
			return false;
		nr_alive = TS_MIN(TS_MIN(nr_alive, left), MAX_OF_ONE);
		for (size_t k = 0; k < nr_alive; k++) {
			struct ts_value *cells = ts_table_row(result, table);

			if (cells)
				put_buffer(result, cells, &list[k]);
		}
		left -= nr_alive;
		free(list);
	}
	return table != NULL;
}

/* What one line of source has at the peak. */
struct line {
	struct ts_bytes source; /* empty: no line is known */
	const struct buffer *largest;
	int64_t nr_bytes, nr_buffers;
};

struct lines {
	struct line *items;
	size_t nr, cap;
	struct ts_strmap by_source;
};

static bool add_to_line(struct lines *lines, struct ts_bytes source, const struct buffer *buffer)
{
	uint32_t at = ts_strmap_find(&lines->by_source, source);
	struct line *line;

	if (at == TS_NONE) {
		at = (uint32_t)lines->nr;
		if (!ts_grow(&lines->items, &lines->cap, lines->nr + 1, sizeof(*lines->items)) ||
		    !ts_strmap_set(&lines->by_source, source, at))
			return false;
		lines->items[lines->nr++] = (struct line){ .source = source };
	}
	line = &lines->items[at];
	line->nr_bytes = ts_i64_add(line->nr_bytes, buffer->nr_bytes);
	line->nr_buffers++;
	if (!line->largest || buffer->nr_bytes > line->largest->nr_bytes)
		line->largest = buffer;
	return true;
}

static int by_line_bytes(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->nr_bytes != y->nr_bytes)
		return x->nr_bytes > y->nr_bytes ? -1 : 1;
	return ts_bytes_cmp(x->source, y->source);
}

static void put_line_rows(const struct program *program, const struct lines *lines,
			  struct ts_result *result)
{
	static const struct ts_column columns[] = {
		{ "source", TS_COMPILED, "source" },	 { "module", TS_COMPILED, NULL },
		{ "bytes", TS_MODELLED, "at the peak" }, { "buffers", TS_MODELLED, "buffers" },
		{ "largest", TS_MODELLED, "largest" },
	};
	struct ts_table *table = ts_result_table(result, "lines", "Peak by line of source", columns,
						 TS_NELEM(columns));

	for (size_t i = 0; i < lines->nr && i < MAX_LINES && table; i++) {
		const struct line *line = &lines->items[i];
		struct ts_value *cells = ts_table_row(result, table);

		if (!cells)
			return;
		cells[0] = ts_text_or_null(line->source);
		cells[1] = ts_text_or_null(program->sum.module->name);
		cells[2] = ts_int(line->nr_bytes);
		cells[3] = ts_int(line->nr_buffers);
		cells[4] = op_name(result, instr_at(program, line->largest->instr),
				   line->largest->leaf);
	}
}

/* Of the program with the largest peak. Parameters are from the caller: they have no line. */
static bool put_lines(const struct program *program, struct ts_result *result)
{
	struct lines lines = { .items = NULL };
	bool good = true;

	for (size_t i = 0; i < program->nr_buffers && good; i++) {
		const struct buffer *buffer = &program->buffers[i];

		if (ts_capacity_is_alive(program, buffer))
			good = add_to_line(&lines,
					   source_of(result, instr_at(program, buffer->instr)),
					   buffer);
	}
	if (good && lines.nr > 1)
		qsort(lines.items, lines.nr, sizeof(*lines.items), by_line_bytes);
	if (good)
		put_line_rows(program, &lines, result);
	free(lines.items);
	ts_strmap_release(&lines.by_source);
	return good;
}

/* A part of the entry's parameters or of its result. */
struct side {
	const struct ts_shape *shape;
	uint32_t instr, leaf; /* of a result: the parameter's place is what it came from */
	struct ts_bytes text;
	bool taken;
};

struct sides {
	struct side *items;
	size_t nr, cap;
};

static bool add_sides(struct sides *sides, const struct program *program, uint32_t instr,
		      struct ts_arena *scratch)
{
	const struct ts_shape *whole = &program->sum.module->instrs[instr].shape;
	uint32_t nr = ts_shape_leaves(whole);

	if (!ts_grow(&sides->items, &sides->cap, sides->nr + nr + 1, sizeof(*sides->items)))
		return false;
	for (uint32_t leaf = 0; leaf < nr; leaf++) {
		struct side *side = &sides->items[sides->nr];

		*side = (struct side){
			ts_shape_leaf(whole, leaf), instr, leaf, { NULL, 0 }, false
		};
		side->text = ts_shape_text(scratch, side->shape);
		if (!side->text.p)
			return false;
		sides->nr++;
	}
	return true;
}

static void take(struct sides *sides, uint32_t instr, uint32_t leaf)
{
	for (size_t i = 0; i < sides->nr; i++)
		if (sides->items[i].instr == instr && sides->items[i].leaf == leaf)
			sides->items[i].taken = true;
}

static int by_text(const void *a, const void *b)
{
	const struct side *x = a, *y = b;
	int64_t p = ts_shape_bytes(x->shape), q = ts_shape_bytes(y->shape);
	int order = ts_bytes_cmp(x->text, y->text);

	if (p != q)
		return p > q ? -1 : 1;
	if (order != 0)
		return order;
	if (x->instr != y->instr)
		return x->instr < y->instr ? -1 : 1;
	return x->leaf < y->leaf ? -1 : x->leaf > y->leaf;
}

static bool list_sides(const struct program *program, struct sides *params, struct sides *outputs,
		       struct ts_arena *scratch)
{
	const struct ts_hlo_module *module = program->sum.module;
	const struct ts_hlo_comp *entry = &module->comps[module->entry];

	for (uint32_t i = 0; i < entry->nr_params; i++)
		if (entry->params[i] != TS_NONE &&
		    !add_sides(params, program, entry->params[i], scratch))
			return false;
	if (!add_sides(outputs, program, entry->root, scratch))
		return false;
	for (uint32_t i = 0; i < module->nr_aliases; i++) {
		const struct ts_hlo_alias *alias = &module->aliases[i];

		if (alias->operand >= entry->nr_params)
			continue;
		take(params, entry->params[alias->operand], alias->operand_leaf);
		take(outputs, entry->root, alias->output_leaf);
	}
	if (params->nr > 1)
		qsort(params->items, params->nr, sizeof(*params->items), by_text);
	if (outputs->nr > 1)
		qsort(outputs->items, outputs->nr, sizeof(*outputs->items), by_text);
	return true;
}

static bool is_free(const struct side *side)
{
	return !side->taken && side->shape->dtype != TS_TUPLE && ts_shape_bytes(side->shape) > 0 &&
	       (!side->shape->has_layout || side->shape->memory_space == TS_SPACE_HBM);
}

/* A parameter that is itself the result need not be copied back into its own place. */
static bool is_itself(const struct ts_hlo_module *module, const struct side *param,
		      const struct side *output)
{
	const struct ts_hlo_instr *root = &module->instrs[output->instr];

	if (output->instr == param->instr)
		return true;
	return output->leaf < root->nr_operands && ts_bytes_is(root->opcode, "tuple") &&
	       root->operands[output->leaf] == param->instr;
}

struct donations {
	struct ts_table *table;
	int64_t nr_bytes; /* of the program that could save most */
	size_t nr;
};

static void put_pair(const struct program *program, const struct side *param,
		     const struct side *output, struct donations *all, struct ts_result *result)
{
	const struct ts_hlo_instr *from = instr_at(program, param->instr);
	struct ts_value *cells;

	if (all->nr++ >= MAX_PAIRS)
		return;
	cells = ts_table_row(result, all->table);
	if (!cells)
		return;
	cells[0] = ts_text_or_null(program->sum.module->name);
	cells[1] = ts_int(from->parameter_number);
	cells[2] = op_name(result, from, param->leaf);
	cells[3] = ts_text_or_null(from->op_name);
	cells[4] = ts_int(output->leaf);
	cells[5] = ts_shape_cell(result, param->shape);
	cells[6] = ts_int(ts_shape_bytes(param->shape));
}

/* Both lists are in one order: pairs of equal shapes are found in one walk. */
static int64_t pair_up(const struct program *program, const struct sides *params,
		       const struct sides *outputs, struct donations *all, struct ts_result *result)
{
	int64_t sum = 0;

	for (size_t i = 0, k = 0; i < params->nr && k < outputs->nr;) {
		const struct side *param = &params->items[i], *output = &outputs->items[k];
		int64_t p = ts_shape_bytes(param->shape), q = ts_shape_bytes(output->shape);
		int order = p != q ? (p > q ? -1 : 1) : ts_bytes_cmp(param->text, output->text);

		if (!is_free(param) || order < 0) {
			i++;
		} else if (!is_free(output) || order > 0) {
			k++;
		} else if (is_itself(program->sum.module, param, output)) {
			i++;
			k++;
		} else {
			put_pair(program, param, output, all, result);
			sum = ts_i64_add(sum, p);
			i++;
			k++;
		}
	}
	return sum;
}

static bool put_donations_of(const struct program *program, struct donations *all,
			     struct ts_result *result)
{
	struct ts_arena scratch = TS_ARENA_INIT;
	struct sides params = { .items = NULL }, outputs = { .items = NULL };
	bool good = list_sides(program, &params, &outputs, &scratch);
	int64_t sum = good ? pair_up(program, &params, &outputs, all, result) : 0;

	all->nr_bytes = TS_MAX(all->nr_bytes, sum);
	free(params.items);
	free(outputs.items);
	ts_arena_release(&scratch);
	return good;
}

static bool put_donations(const struct program *programs, size_t nr, struct ts_result *result)
{
	static const struct ts_column columns[] = {
		{ "module", TS_COMPILED, "module" },
		{ "parameter", TS_COMPILED, "argument" },
		{ "op", TS_COMPILED, NULL },
		{ "framework_op", TS_COMPILED, "name" },
		{ "output", TS_COMPILED, "result" },
		{ "shape", TS_COMPILED, "shape" },
		{ "bytes", TS_COMPILED, "could be saved" },
	};
	struct donations all = { ts_result_table(result, "donations",
						 "Arguments that could be donated", columns,
						 TS_NELEM(columns)),
				 0, 0 };
	bool good = all.table != NULL;

	for (size_t i = 0; i < nr && good; i++)
		good = put_donations_of(&programs[i], &all, result);
	ts_result_field(result, "donation_bytes", ts_int(all.nr_bytes), TS_COMPILED,
			all.nr_bytes > 0 ? "donation could save" : NULL);
	return good;
}

/* The memory of one device; of several kinds, the smallest: all run the same programs. */
static int64_t hbm_of(const struct ts_context *ctx)
{
	int64_t least = ctx->chip ? ctx->chip->hbm_bytes : -1;

	for (size_t i = 0; i < ctx->profile->nr_devices; i++) {
		int64_t is = ctx->rates ? ctx->rates[i].hbm_bytes : -1;

		if (is > 0 && (least <= 0 || is < least))
			least = is;
	}
	return least > 0 ? least : -1;
}

static void put_fields(const struct program *top, int64_t hbm_bytes, struct ts_result *result)
{
	const struct ts_hlo_instr *op = op_at(top, top->sum.peak_at);
	enum ts_origin origin = top->sum.is_assigned ? TS_COMPILED : TS_MODELLED;
	double share = hbm_bytes > 0 ? (double)top->sum.peak_bytes / (double)hbm_bytes : NAN;

	ts_result_field(result, "peak_bytes", ts_int(top->sum.peak_bytes), origin,
			"peak of one program");
	ts_result_field(result, "hbm_bytes", ts_int_or_null(hbm_bytes), TS_ASSUMED,
			"memory of a device");
	ts_result_field(result, "peak_pct", ts_share_pct(share), origin, "of it at the peak");
	ts_result_field(result, "headroom_bytes",
			hbm_bytes > 0 ? ts_int(hbm_bytes - top->sum.peak_bytes) : ts_null(), origin,
			"left beside it");
	ts_result_field(result, "peak_module", ts_text_or_null(top->sum.module->name), origin,
			"peak in module");
	ts_result_field(result, "peak_op", name_or_null(op), origin, "peak at op");
	ts_result_field(result, "argument_bytes", ts_int(top->sum.argument_bytes), TS_COMPILED,
			"arguments");
	ts_result_field(result, "output_bytes", ts_int(top->sum.output_bytes), TS_COMPILED,
			"results");
	ts_result_field(result, "alias_bytes", ts_int(top->sum.alias_bytes), TS_COMPILED,
			"results in donated arguments");
	ts_result_field(result, "temp_bytes", ts_int(top->sum.temp_bytes), origin, "temporaries");
	ts_result_field(result, "reserved_bytes", ts_int(top->sum.reserved_bytes), origin, NULL);
}

enum ts_status ts_capacity_rows(const struct ts_context *ctx, const struct program *programs,
				size_t nr, struct ts_result *result, struct ts_error *err)
{
	int64_t hbm_bytes = hbm_of(ctx);
	size_t nr_simulated = 0;

	if (!ts_capacity_sites(ctx, hbm_bytes, result))
		return ts_fail_nomem(err);
	if (nr == 0)
		return TS_OK;
	put_fields(&programs[0], hbm_bytes, result);
	put_programs(programs, nr, hbm_bytes, result);
	if (!put_buffers(programs, nr, result) || !put_lines(&programs[0], result) ||
	    !put_donations(programs, nr, result))
		return ts_fail_nomem(err);
	for (size_t i = 0; i < nr; i++)
		nr_simulated += !programs[i].sum.is_assigned;
	if (nr_simulated > 0)
		ts_result_note(
			result,
			"%zu of %zu modules come without a buffer assignment: their peaks "
			"are from live ranges over the schedule, without the gaps of a heap.",
			nr_simulated, nr);
	return TS_OK;
}
