/* SPDX-License-Identifier: MIT */
/*
 * Scopes: what the user's program named on its threads, and the epochs among it. Found by the
 * outline (run/outline_scopes.c); here it becomes rows.
 */
#include "analysis/facts/capture.h"
#include "analysis/facts/time.h"

#define TS_NEEDS(X) X(capture) X(time)
#include "analysis/kit/needs.h"

#include "model/block.h"
#include "base/order.h"
#include "base/record.h"
#include "result/schema/scopes.def"

#define MAX_SCOPES 1000 /* rows; those with least time are left out */

static int64_t window_ps(const struct ts_outline *outline)
{
	return outline->host_first_ps <= outline->host_last_ps
		       ? ts_i64_sub(outline->host_last_ps, outline->host_first_ps)
		       : TS_UNKNOWN;
}

TS_ORDER_AT(time_scopes_longest_first, struct ts_scope, TS_DOWN(total_ps) TS_UP(op))

#define SCOPE_CELLS(X) \
	X(name, ts_text(ctx->profile->ops[scope->op].name)) \
	X(count, ts_int(scope->nr)) \
	X(total_ps, ts_int(scope->total_ps)) \
	X(mean_ps, ts_int(scope->total_ps / scope->nr)) \
	X(min_ps, ts_int(scope->min_ps)) \
	X(max_ps, ts_int(scope->max_ps)) \
	X(share_pct, \
	  ts_share_pct(all_ps > 0 ? (double)ts_spans_total(&scope->spans) / (double)all_ps : NAN)) \
	X(inside, \
	  scope->parent == TS_NONE ? ts_null() : ts_text(ctx->profile->ops[scope->parent].name)) \
	X(input_ps, ts_int(scope->part_ps[TS_PART_INPUT])) \
	X(trace_ps, ts_int(scope->part_ps[TS_PART_TRACE])) \
	X(compile_ps, ts_int(scope->part_ps[TS_PART_COMPILE])) \
	X(dispatch_ps, ts_int(scope->part_ps[TS_PART_DISPATCH])) \
	X(other_ps, ts_int(scope->part_ps[TS_PART_OTHER]))

/* False: no memory. */
static bool put_scopes(const struct ts_context *ctx, struct ts_result *result)
{
	const struct ts_scopes *scopes = &ctx->outline->scopes;
	const struct ts_scope **sorted = malloc((scopes->nr + 1) * sizeof(*sorted));
	int64_t all_ps = window_ps(ctx->outline);
	struct ts_table *table;

	if (!sorted)
		return false;
	for (size_t i = 0; i < scopes->nr; i++)
		sorted[i] = &scopes->items[i];
	TS_SORT(sorted, scopes->nr, time_scopes_longest_first);
	table = TS_TABLE(result, scopes_named);
	for (size_t i = 0; i < TS_MIN(scopes->nr, MAX_SCOPES); i++) {
		const struct ts_scope *scope = sorted[i];

		TS_CELLS(result, table, scopes_named, SCOPE_CELLS);
	}
	free(sorted);
	if (scopes->nr > MAX_SCOPES)
		ts_result_note(result, "%zu scopes with less time are left out",
			       scopes->nr - MAX_SCOPES);
	return true;
}

/* Steps that began in it. */
static int64_t steps_in(const struct ts_steps *steps, const struct ts_epoch *epoch)
{
	int64_t nr = 0;

	if (steps->source != TS_STEPS_MARKED)
		return TS_UNKNOWN;
	for (size_t h = 0; h < steps->nr_devices; h++)
		for (size_t i = 0; i < steps->devices[h].nr; i++)
			nr += steps->devices[h].items[i].start_ps >= epoch->start_ps &&
			      steps->devices[h].items[i].start_ps < epoch->end_ps;
	return nr;
}

#define EPOCH_CELLS(X) \
	X(epoch, epoch->number == TS_NO_NUMBER ? ts_null() : ts_int((int64_t)epoch->number)) \
	X(name, ts_text(ctx->profile->ops[epoch->op].name)) \
	X(start_ps, ts_int(epoch->start_ps)) \
	X(duration_ps, ts_int(ts_i64_sub(epoch->end_ps, epoch->start_ps))) \
	X(steps, ts_int_or_null(steps_in(&ctx->outline->host_steps, epoch)))

static void put_epochs(const struct ts_context *ctx, struct ts_result *result)
{
	const struct ts_scopes *scopes = &ctx->outline->scopes;
	struct ts_table *table = TS_TABLE(result, scopes_epochs);

	for (size_t i = 0; i < scopes->nr_epochs; i++) {
		const struct ts_epoch *epoch = &scopes->epochs[i];

		TS_CELLS(result, table, scopes_epochs, EPOCH_CELLS);
	}
	if (scopes->nr_epochs == TS_EPOCHS_MAX)
		ts_result_note(result, "only the first %d epochs stand one by one", TS_EPOCHS_MAX);
}

/* --- the mean step, host and device */

/* Where the hosts' own CPUs run the ops, a thread that waits for one is not in Python. Of each host, when they do. */
struct scopes_state {
	struct ts_spans *busy;
	size_t nr_busy;
};

#define TS_SELF struct scopes_state
static TS_RECORD(scopes, TS_RECORDS(1, busy, nr_busy, ts_spans_record, TS_BY_HOST, TS_BY_HAND));
#undef TS_SELF

static bool scopes_applies(const struct ts_context *ctx)
{
	return ts_profile_is_of_cpus(ctx->profile);
}

static bool scopes_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	return ts_line_is_core(ctx->profile, line);
}

static enum ts_status scopes_open(void *arg, const struct ts_context *ctx,
				  const struct ts_line *line, struct ts_error *err)
{
	struct scopes_state *state = arg;

	(void)line;
	state->busy = calloc(ctx->profile->nr_hosts + 1, sizeof(*state->busy));
	state->nr_busy = state->busy ? ctx->profile->nr_hosts : 0;
	return state->busy ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status scopes_block(void *arg, const struct ts_context *ctx,
				   const struct ts_block *block, struct ts_error *err)
{
	struct scopes_state *state = arg;
	struct ts_spans *busy = &state->busy[ctx->profile->planes[block->line->plane].host];

	for (size_t i = 0; i < block->nr_segments; i++)
		if (!ts_spans_add(busy, block->segment_start_ps[i], block->segment_end_ps[i]))
			return ts_fail_nomem(err);
	return TS_OK;
}

static enum ts_status scopes_merge(void *arg_into, void *arg_from, const struct ts_context *ctx,
				   struct ts_error *err)
{
	struct scopes_state *into = arg_into, *from = arg_from;

	(void)ctx;
	if (!into->busy) {
		*into = *from;
		*from = (struct scopes_state){ .nr_busy = 0 };
		return TS_OK;
	}
	for (size_t h = 0; h < from->nr_busy; h++)
		if (!ts_spans_union(&into->busy[h], &from->busy[h]))
			return ts_fail_nomem(err);
	return TS_OK;
}

/* Of the marks: with an op at work on the CPU. */
static int64_t xla_ps(const struct scopes_state *state, const struct ts_steps *marked)
{
	int64_t sum_ps = 0;

	for (size_t h = 0; h < TS_MIN(state->nr_busy, marked->nr_devices); h++)
		for (size_t i = 0, hint = 0; i < marked->devices[h].nr; i++) {
			const struct ts_step *mark = &marked->devices[h].items[i];

			sum_ps =
				ts_i64_add(sum_ps, ts_spans_covered(&state->busy[h], mark->start_ps,
								    mark->end_ps, &hint));
		}
	return sum_ps;
}

static const char *const part_names[TS_NR_PARTS] = {
	[TS_PART_INPUT] = "input",
	[TS_PART_TRACE] = "tracing and lowering",
	[TS_PART_COMPILE] = "compilation",
	[TS_PART_DISPATCH] = "dispatch",
	[TS_PART_OTHER] = "Python and other",
};

#define LAYER_CELLS(X) \
	X(layer, ts_text(ts_bytes_of(layer))) \
	X(name, ts_text(name)) \
	X(total_ps, ts_int(total_ps)) \
	X(step_mean_ps, ts_int(total_ps / nr)) \
	X(share_pct, all_ps > 0 ? ts_share_pct((double)total_ps / (double)all_ps) : ts_null())

static void put_layer(struct ts_result *result, struct ts_table *table, const char *layer,
		      struct ts_bytes name, int64_t total_ps, int64_t nr, int64_t all_ps)
{
	TS_CELLS(result, table, scopes_step_layers, LAYER_CELLS);
}

/* NULL: no scope marks steps, or PyTorch's does. */
static const struct ts_scope *step_scope(const struct ts_context *ctx)
{
	const struct ts_outline *outline = ctx->outline;

	for (size_t i = 0; i < outline->scopes.nr && outline->host_steps.nr_steps > 0; i++)
		if (ts_bytes_is(ctx->profile->ops[outline->scopes.items[i].op].name,
				outline->host_steps.made_of))
			return &outline->scopes.items[i];
	return NULL;
}

/* What of PS stands in a part; that is taken from both. */
static int64_t take_from(int64_t *part_ps, int64_t *ps)
{
	int64_t taken_ps = TS_MIN(*part_ps, *ps);

	*part_ps -= taken_ps;
	*ps -= taken_ps;
	return taken_ps;
}

static void put_host_layers(const struct ts_context *ctx, const struct scopes_state *state,
			    struct ts_result *result, struct ts_table *table)
{
	const struct ts_scope *step = step_scope(ctx);
	int64_t part_ps[TS_NR_PARTS], left_ps, taken_ps;

	if (!step)
		return;
	memcpy(part_ps, step->part_ps, sizeof(part_ps));
	left_ps = xla_ps(state, &ctx->outline->host_steps);
	taken_ps = take_from(&part_ps[TS_PART_OTHER], &left_ps);
	taken_ps += take_from(&part_ps[TS_PART_DISPATCH], &left_ps);
	put_layer(result, table, "host", ctx->profile->ops[step->op].name, step->total_ps, step->nr,
		  step->total_ps);
	if (ts_profile_is_of_cpus(ctx->profile))
		put_layer(result, table, "host", TS_LIT("XLA on the CPU"), taken_ps, step->nr,
			  step->total_ps);
	for (size_t p = 0; p < TS_NR_PARTS; p++)
		put_layer(result, table, "host", ts_bytes_of(part_names[p]), part_ps[p], step->nr,
			  step->total_ps);
}

/* Of a core, on average over those that ran a step. */
static void put_device_layers(const struct ts_context *ctx, struct ts_result *result,
			      struct ts_table *table)
{
	const struct ts_time_facts *time = ts_time_facts(ctx);
	int64_t bucket_ps[TS_NR_BUCKETS] = { 0 }, all_ps = 0;

	if (time->nr_steps == 0)
		return;
	for (struct ts_time_walk walk = { .time = time }; ts_time_next_step(&walk);) {
		const struct ts_time_step *step = &walk.step;

		all_ps = ts_i64_add(all_ps, ts_time_step_duration(step));
		for (int b = 0; b < TS_NR_BUCKETS; b++)
			bucket_ps[b] = ts_i64_add(bucket_ps[b], step->ps[b] / step->cores);
	}
	put_layer(result, table, "device", TS_LIT("step"), all_ps, (int64_t)time->nr_steps, all_ps);
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		put_layer(result, table, "device", ts_bytes_of(ts_bucket_title((enum ts_bucket)b)),
			  bucket_ps[b], (int64_t)time->nr_steps, all_ps);
}

static void put_layers(const struct ts_context *ctx, const struct scopes_state *state,
		       struct ts_result *result)
{
	struct ts_table *table = TS_TABLE(result, scopes_step_layers);

	table->text_rows = 3 + TS_NR_PARTS + TS_NR_BUCKETS;
	put_host_layers(ctx, state, result, table);
	put_device_layers(ctx, result, table);
}

/* What was timed can be believed as far as the capture can. */
static struct ts_value time_scopes_verdict_of(const struct ts_context *ctx)
{
	const char *verdict = ts_capture_facts(ctx)->verdict_name;

	return verdict ? ts_text(ts_bytes_of(verdict)) : ts_null();
}

static enum ts_status scopes_close(void *state, const struct ts_context *ctx, void *facts,
				   struct ts_result *result, struct ts_error *err)
{
	if (ctx->profile->nr_hosts == 0 || window_ps(ctx->outline) < 0)
		return TS_OK; /* modules alone, or no event of a host */
	TS_SET(result, scopes, host_ps, ts_int_or_null(window_ps(ctx->outline)));
	TS_SET(result, scopes, step_name,
	       ts_text_or_null(ts_bytes_of(ctx->outline->host_steps.made_of)));
	TS_SET(result, scopes, step_count,
	       ctx->outline->host_steps.source == TS_STEPS_MARKED
		       ? ts_int((int64_t)ctx->outline->host_steps.nr_steps)
		       : ts_null());
	TS_SET(result, scopes, capture_verdict, time_scopes_verdict_of(ctx));
	if (!put_scopes(ctx, result))
		return ts_fail_nomem(err);
	put_epochs(ctx, result);
	put_layers(ctx, state, result);
	return TS_OK;
}

const struct ts_analysis ts_analysis_scopes = {
	.schema = &ts_schema_scopes,
	.needs = TS_NEEDED,
	.pass = TS_PASS_FIRST,
	.columns = TS_COL_SEGMENTS,
	.state = &scopes_record,
	.applies = scopes_applies,
	.wants = scopes_wants,
	.open = scopes_open,
	.block = scopes_block,
	.merge = scopes_merge,
	.close = scopes_close,
};
