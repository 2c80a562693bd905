/* SPDX-License-Identifier: MIT */
/*
 * The critical path: what had to end for the run, and each of its steps, to end when it did.
 *
 * The pass keeps what ran on each core, moment by moment: of all steps, or where these are too many of every second, fourth, ...
 * step of the run, and of the slowest ones. Which ones follows from the steps and their number of events alone, so all cores keep
 * the same. The graph (model/graph.h) is made of these when the whole run is known.
 */
#include "analysis/waits/critical_path.h"

#include "base/record.h"
#include "result/schema/critical_path.def"

#define MAX_LEVEL 31 /* rows are 32 bits wide */

static bool critical_path_is_moment(const void *self)
{
	const struct path_moment *moment = self;

	return moment->start_ps <= moment->end_ps;
}

#define TS_SELF struct path_moment
static TS_RECORD_WITH(moment, TS_VALID_IF(critical_path_is_moment),
		      TS_NUMBER(1, start_ps, TS_BY_HAND), TS_NUMBER(2, end_ps, TS_BY_HAND),
		      TS_INDEX_KNOWN(3, op, TS_BY_OP, TS_BY_HAND), TS_NUMBER(4, row, TS_BY_HAND));
#undef TS_SELF

/* Moments of a core do not overlap. */
static bool critical_path_is_core(const void *self)
{
	const struct path_core *core = self;

	for (size_t i = 1; i < core->nr; i++)
		if (core->moments[i].start_ps < core->moments[i - 1].end_ps)
			return false;
	return core->level <= MAX_LEVEL;
}

#define TS_SELF struct path_core
static TS_RECORD_WITH(core, TS_VALID_IF(critical_path_is_core),
		      TS_RECORDS_CAP(1, moments, nr, cap, moment_record, TS_BY_NOTHING, TS_BY_HAND),
		      TS_NUMBER(2, level, TS_BY_HAND), TS_NUMBER(3, is_cut, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct path_state
static TS_RECORD(critical_path, TS_INDEX_KNOWN(1, device, TS_BY_DEVICE, TS_BY_HAND),
		 TS_STRUCT(2, own, core_record),
		 TS_RECORDS(3, cores, nr_cores, core_record, TS_BY_DEVICE, TS_BY_HAND));
#undef TS_SELF

/* Streams of a GPU run beside one another; what they wait for is in their launches. */
static bool critical_path_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	const struct ts_device *device = ts_line_device(ctx->profile, line);

	return device && !ts_device_has_streams(device) && ts_line_is_core(ctx->profile, line);
}

static enum ts_status critical_path_open(void *arg, const struct ts_context *ctx,
					 const struct ts_line *line, struct ts_error *err)
{
	struct path_state *state = arg;
	const struct ts_device_steps *steps;
	uint64_t nr_steps;

	(void)err;
	state->device = ctx->profile->planes[line->plane].device;
	state->row = TS_NONE;
	state->row_until_ps = INT64_MIN;
	state->max = PATH_MOMENTS / TS_MAX(ctx->profile->nr_devices, 1);
	steps = ts_steps_of(&ctx->outline->steps, state->device);
	nr_steps = ts_device_steps_nr(steps);
	while (nr_steps >> state->own.level > 1 && line->nr_events >> state->own.level > state->max)
		state->own.level++;
	return TS_OK;
}

/* The step that START_PS lies in, and how far what is said of it goes. */
static void critical_path_find_row(struct path_state *state, const struct ts_context *ctx,
				   int64_t start_ps)
{
	const struct ts_device_steps *steps = ts_steps_of(&ctx->outline->steps, state->device);
	uint32_t at = ts_steps_at(steps, start_ps, &state->hint);

	state->row = at == TS_NONE ? TS_NONE : ts_device_steps_row(steps, at);
	state->row_until_ps = ts_steps_until(steps, at, state->hint);
}

/* Keeps every second one of the steps that are kept. */
static void critical_path_thin(struct path_core *core, const struct ts_context *ctx)
{
	size_t nr = 0;

	core->level++;
	for (size_t i = 0; i < core->nr; i++)
		if (ts_path_keeps(ctx, core->level, core->moments[i].row))
			core->moments[nr++] = core->moments[i];
	core->nr = nr;
}

/* Another step begins, or the time up to the next one. Where the line has more events than it said, there may be too many moments. */
static void critical_path_next_row(struct path_state *state, const struct ts_context *ctx,
				   int64_t start_ps)
{
	struct path_core *core = &state->own;
	size_t most = 2 * state->max;

	critical_path_find_row(state, ctx, start_ps);
	while (core->nr > most && core->level < MAX_LEVEL && state->row != TS_NONE &&
	       state->row >> core->level > 1)
		critical_path_thin(core, ctx);
	state->keeps_row = ts_path_keeps(ctx, core->level, state->row);
}

static enum ts_status critical_path_block(void *arg, const struct ts_context *ctx,
					  const struct ts_block *block, struct ts_error *err)
{
	struct path_state *state = arg;
	struct path_core *core = &state->own;

	for (size_t i = 0; i < block->nr_segments && !core->is_cut; i++) {
		int64_t start_ps = block->segment_start_ps[i];

		if (start_ps >= state->row_until_ps)
			critical_path_next_row(state, ctx, start_ps);
		if (!state->keeps_row)
			continue;
		core->is_cut =
			core->level == 0 && state->row == TS_NONE && core->nr >= 2 * state->max;
		if (!ts_grow(&core->moments, &core->cap, core->nr + 1, sizeof(*core->moments)))
			return ts_fail_nomem(err);
		core->moments[core->nr++] =
			(struct path_moment){ start_ps, block->segment_end_ps[i],
					      block->segment_op[i], state->row };
	}
	return TS_OK;
}

/* A second line of ops of one core would count its moments twice: that with more of them is the core. */
static enum ts_status critical_path_merge(void *arg_into, void *arg_from,
					  const struct ts_context *ctx, struct ts_error *err)
{
	struct path_state *sum = arg_into, *line = arg_from;
	struct path_core *into, *from = &line->own, none = { .nr = 0 };

	if (!sum->cores) {
		sum->nr_cores = ctx->profile->nr_devices;
		sum->cores = calloc(sum->nr_cores + 1, sizeof(*sum->cores));
	}
	if (!sum->cores)
		return ts_fail_nomem(err);
	into = &sum->cores[line->device];
	if (from->nr <= into->nr)
		return TS_OK;
	free(into->moments);
	*into = *from;
	*from = none;
	return TS_OK;
}

static enum ts_status critical_path_close(void *state, const struct ts_context *ctx,
					  void *arg_facts, struct ts_result *result,
					  struct ts_error *err)
{
	struct ts_critical_path_facts *facts = arg_facts;
	const struct path_state *sum = state;

	(void)ctx;
	(void)result;
	(void)err;
	facts->sum = sum && sum->cores ? sum : NULL;
	return TS_OK;
}

const struct ts_analysis ts_analysis_critical_path = {
	.schema = &ts_schema_critical_path,
	.pass = TS_PASS_FIRST,
	.columns = TS_COL_SEGMENTS,
	.state = &critical_path_record,
	.facts_size = sizeof(struct ts_critical_path_facts),
	.wants = critical_path_wants,
	.open = critical_path_open,
	.block = critical_path_block,
	.merge = critical_path_merge,
	.close = critical_path_close,
	.report = ts_path_report,
	.shows = TS_SHOWN,
};
