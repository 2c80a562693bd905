/* SPDX-License-Identifier: MIT */
/*
 * A profile made by hand, and one analysis run over it as the program runs it: a state per line,
 * merged in the order of lines, closed once. Times are in microseconds here, for short numbers.
 * tests/analysis/given.h has profiles as bytes; here an analysis gets modules and rates that no
 * bytes of a TPU would make, and the others' facts are those that the test gives.
 */
#ifndef TESTS_ANALYSIS_FEED_H
#define TESTS_ANALYSIS_FEED_H

#include "analysis/analysis.h"
#include "base/units.h"
#include "run/state.h"
#include "tests/analysis/facts_given.h"
#include "tests/result/values.h"

#define FEED_MAX 16

struct feed_event {
	uint32_t op;
	int64_t start_us, dur_us, self_us, flops;
};

struct feed {
	struct ts_profile profile;
	struct ts_outline outline;
	struct ts_rates rates[FEED_MAX];
	struct ts_results results;
	struct ts_result *result;
	const void *facts[TS_MAX_ANALYSES]; /* of the analyses that ran; NULL: it did not */
	struct feed_event events[FEED_MAX][FEED_MAX]; /* by line */
	size_t nr_events[FEED_MAX];
	uint32_t module, nr_instrs; /* of the module in the making */
	size_t overlay_budget;
};

static inline struct feed *feed_new(void)
{
	struct feed *feed = calloc(1, sizeof(*feed));

	assert_non_null(feed);
	ts_profile_init(&feed->profile);
	ts_results_init(&feed->results);
	assert_non_null(ts_profile_add_host(&feed->profile));
	feed->profile.hosts[0].name = TS_LIT("host0");
	return feed;
}

static inline void feed_free(struct feed *feed)
{
	ts_results_release(&feed->results);
	ts_steps_release(&feed->outline.steps);
	ts_profile_release(&feed->profile);
	free(feed);
}

/* A plane of a core with its line of ops; gives the line. */
static inline uint32_t feed_device(struct feed *feed, const char *kind)
{
	struct ts_plane *plane = ts_profile_add_plane(&feed->profile);
	struct ts_device *device = ts_profile_add_device(&feed->profile);
	struct ts_line *line;
	uint32_t at = (uint32_t)feed->profile.nr_devices - 1;
	struct ts_chip_query query = { .kind = ts_bytes_of(kind),
				       .memory_bytes = -1,
				       .core_count = -1 };

	plane->kind = TS_PLANE_TPU;
	plane->device = at;
	plane->nr_lines = 1;
	device->plane = (uint32_t)feed->profile.nr_planes - 1;
	device->ordinal = at;
	device->name = ts_arena_printf(&feed->profile.arena, "/device:TPU:%u", at);
	device->label = device->name;
	device->kind = ts_bytes_of(kind);
	feed->rates[at] = ts_rates_of(&query, NAN, NAN, NAN, -1);
	line = ts_profile_add_line(&feed->profile);
	line->plane = device->plane;
	line->kind = TS_LINE_OPS;
	return (uint32_t)feed->profile.nr_lines - 1;
}

/* A further line of the plane that was made last. */
static inline uint32_t feed_line(struct feed *feed, enum ts_line_kind kind)
{
	struct ts_line *line = ts_profile_add_line(&feed->profile);

	line->plane = (uint32_t)feed->profile.nr_planes - 1;
	line->kind = kind;
	feed->profile.planes[line->plane].nr_lines++;
	return (uint32_t)feed->profile.nr_lines - 1;
}

static inline struct ts_op *feed_op(struct feed *feed, const char *name, const char *category,
				    uint64_t program, uint32_t *at)
{
	struct ts_op draft;

	ts_op_init(&draft);
	draft.name = ts_bytes_of(name);
	draft.category = ts_bytes_of(category);
	draft.has_program = program != 0;
	draft.program_id = program;
	*at = ts_profile_intern_op(&feed->profile, &draft);
	assert_int_not_equal(*at, TS_NONE);
	return &feed->profile.ops[*at];
}

/* An event whose self time is its duration, and which has no FLOPs of its own. */
static inline void feed_event(struct feed *feed, uint32_t line, uint32_t op, int64_t start_us,
			      int64_t dur_us)
{
	feed->events[line][feed->nr_events[line]++] =
		(struct feed_event){ op, start_us, dur_us, dur_us, TS_UNKNOWN };
}

static inline void feed_line_block(struct feed *feed, const struct ts_analysis *analysis,
				   const struct ts_context *ctx, uint32_t line, void *state)
{
	int64_t start[FEED_MAX], dur[FEED_MAX], self[FEED_MAX], flops[FEED_MAX];
	int64_t bytes[FEED_MAX], occurrences[FEED_MAX];
	uint32_t op[FEED_MAX];
	uint16_t depth[FEED_MAX] = { 0 };
	struct ts_block block = {
		.profile = &feed->profile,
		.line = &feed->profile.lines[line],
		.line_index = line,
		.nr_events = feed->nr_events[line],
		.op = op,
		.start_ps = start,
		.dur_ps = dur,
		.total_ps = dur,
		.self_ps = self,
		.depth = depth,
		.flops = flops,
		.bytes = bytes,
		.occurrences = occurrences,
		.device_first_ps = INT64_MAX,
		.device_last_ps = INT64_MIN,
	};

	for (size_t i = 0; i < block.nr_events; i++) {
		const struct feed_event *event = &feed->events[line][i];

		op[i] = event->op;
		start[i] = event->start_us * TS_PS_PER_US;
		dur[i] = event->dur_us * TS_PS_PER_US;
		self[i] = event->self_us * TS_PS_PER_US;
		flops[i] = event->flops;
		bytes[i] = TS_UNKNOWN;
		occurrences[i] = 1;
		block.device_first_ps = TS_MIN(block.device_first_ps, start[i]);
		block.device_last_ps = TS_MAX(block.device_last_ps, start[i] + dur[i]);
	}
	assert_int_equal(analysis->block(state, ctx, &block, NULL), TS_OK);
}

/* What analyses that ran before found; nothing is known of the others. */
static inline void feed_facts(const struct feed *feed, struct ts_context *ctx)
{
	facts_of_nothing(ctx);
	for (size_t id = 0; ts_analyses[id]; id++)
		if (feed->facts[id])
			ctx->facts[id] = feed->facts[id];
}

static inline void feed_keep_facts(struct feed *feed, const struct ts_analysis *analysis,
				   const void *facts)
{
	for (size_t id = 0; ts_analyses[id]; id++)
		if (ts_analyses[id] == analysis)
			feed->facts[id] = facts;
}

static inline const struct ts_result *feed_run(struct feed *feed,
					       const struct ts_analysis *analysis)
{
	struct ts_context ctx = { .profile = &feed->profile,
				  .outline = &feed->outline,
				  .rates = feed->rates,
				  .overlay_budget = feed->overlay_budget };
	void *sum = ts_state_new(analysis), *facts;

	feed_facts(feed, &ctx);
	for (uint32_t i = 0; analysis->block && i < feed->profile.nr_lines; i++) {
		void *state;

		if (!analysis->wants(&ctx, &feed->profile.lines[i]) || feed->nr_events[i] == 0)
			continue;
		state = ts_state_new(analysis);
		assert_int_equal(analysis->open(state, &ctx, &feed->profile.lines[i], NULL), TS_OK);
		feed_line_block(feed, analysis, &ctx, i, state);
		assert_int_equal(ts_state_merge(analysis, sum, state, &ctx, NULL), TS_OK);
		ts_state_free(analysis, &state);
	}
	feed->result = ts_results_of(&feed->results, analysis->schema);
	facts = ts_arena_zalloc(&feed->results.arena, analysis->facts_size + 1);
	assert_int_equal(analysis->close(sum, &ctx, facts, feed->result, NULL), TS_OK);
	feed_keep_facts(feed, analysis, facts);
	ts_state_free(analysis, &sum);
	return feed->result;
}

/* A module of one computation; further instructions are added at its end, the last is the root. */
static inline struct ts_hlo_module *feed_module(struct feed *feed, const char *name,
						uint64_t program)
{
	struct ts_hlo_module *module = ts_profile_add_module(&feed->profile, program);

	module->name = ts_bytes_of(name);
	module->comps = ts_arena_array(&feed->profile.arena, FEED_MAX, sizeof(*module->comps));
	module->instrs = ts_arena_array(&feed->profile.arena, FEED_MAX, sizeof(*module->instrs));
	module->nr_comps = 1;
	return module;
}

/* An instruction with up to two operands (TS_NONE: none) in the computation that was added last. */
static inline struct ts_hlo_instr *feed_instr(struct feed *feed, struct ts_hlo_module *module,
					      const char *name, const char *opcode,
					      const char *shape, uint32_t a, uint32_t b)
{
	uint32_t at = module->nr_instrs++, comp = module->nr_comps - 1;
	struct ts_hlo_instr *instr = &module->instrs[at];
	uint32_t *operands = ts_arena_array(&feed->profile.arena, 2, sizeof(*operands));

	instr->name = ts_bytes_of(name);
	instr->opcode_text = ts_bytes_of(opcode);
	instr->opcode = ts_opcode_of(instr->opcode_text);
	assert_int_equal(
		ts_shape_parse(&feed->profile.arena, ts_bytes_of(shape), &instr->shape, NULL, NULL),
		TS_OK);
	instr->computation = comp;
	operands[0] = a;
	operands[1] = b;
	instr->operands = operands;
	instr->nr_operands = a == TS_NONE ? 0 : b == TS_NONE ? 1 : 2;
	instr->channel_id = instr->parameter_number = instr->tuple_index = TS_HLO_UNKNOWN;
	instr->feature_group_count = instr->batch_group_count = 1;
	instr->backend.estimated_cycles = instr->backend.scoped_vmem_bytes = TS_HLO_UNKNOWN;
	instr->backend.cost_flops = instr->backend.cost_bytes = TS_HLO_UNKNOWN;
	instr->backend.cost_transcendentals = TS_HLO_UNKNOWN;
	module->comps[comp].nr_instrs++;
	module->comps[comp].root = at;
	module->entry = comp;
	return instr;
}

/* Ends the computation in the making: the next instruction begins another. */
static inline void feed_next_comp(struct ts_hlo_module *module)
{
	module->comps[module->nr_comps++].first_instr = module->nr_instrs;
}

/* lhs[batch..., m, k] x rhs[batch..., k, n]: the last dimension of one meets the one before. */
static inline void feed_dot(struct feed *feed, struct ts_hlo_instr *instr, uint32_t rank)
{
	struct ts_dot_dims *dot = ts_arena_zalloc(&feed->profile.arena, sizeof(*dot));
	int64_t *dims = ts_arena_array(&feed->profile.arena, 8, sizeof(*dims));

	dims[0] = rank - 1;
	dims[1] = rank - 2;
	for (uint32_t i = 0; i + 2 < rank; i++)
		dims[2 + i] = i;
	dot->lhs_contracting = &dims[0];
	dot->rhs_contracting = &dims[1];
	dot->nr_lhs_contracting = dot->nr_rhs_contracting = 1;
	dot->lhs_batch = dot->rhs_batch = &dims[2];
	dot->nr_lhs_batch = dot->nr_rhs_batch = rank - 2;
	instr->dot = dot;
}

static inline const struct ts_table *feed_table(const struct ts_result *result, const char *name)
{
	const struct ts_table *table = ts_result_find_table(result, name);

	assert_non_null(table);
	return table;
}

static inline struct ts_value feed_cell(const struct ts_table *table, size_t row,
					const char *column)
{
	int at = ts_table_column(table, column);

	assert_true(at >= 0);
	assert_true(row < table->nr_rows);
	return ts_table_cell(table, row, at);
}

static inline bool feed_has_note(const struct ts_result *result, const char *part)
{
	for (size_t i = 0; i < result->nr_notes; i++)
		if (ts_bytes_has(result->notes[i], part))
			return true;
	return false;
}

#endif
