/* SPDX-License-Identifier: MIT */
/*
 * Ops by core: which core runs an op slower than the others do, and since when.
 *
 * All cores of a program run the same ops on parts of equal size, so an op's mean time on one core is
 * held against its mean on all others. Of each op the slowest few cores are kept, whatever the number
 * of cores. Collectives are left out: in them a core waits for others, and the late one waits least.
 *
 * Since when: an execution is slow when it takes longer than the fastest one before it by LEAST_RATIO. The
 * stretch of executions that ends with the last one, and in which the slow ones outnumber the others by
 * most, begins where the op became slow (the largest sum that ends at the last one).
 *
 * A core that is slow as a whole since a moment: nearly all of its work is in ops that take longer since
 * then, by one factor. No program does that to all of its ops; a clock that falls does.
 */
#include "analysis/facts/op_cores.h"

#include <math.h>

#define TS_NEEDS(X) X(time)
#include "analysis/kit/needs.h"

#include "analysis/facts/time.h"
#include "analysis/kit/cells.h"
#include "base/record.h"
#include "model/bucket.h"
#include "base/order.h"
#include "result/schema/op_cores.def"

#define KEPT	       4     /* cores of an op: the slowest */
#define LEAST_RATIO    1.1   /* what is less may be jitter */
#define LEAST_SHARE    0.002 /* of the wall time, that the core loses by it */
#define LEAST_TIMES    3     /* executions */
#define LISTED	       64
#define NEAR_FACTOR    0.05 /* of the factor of all: what an op's own may differ */
#define NEAR_MOMENT    0.05 /* of the core's time, or from one execution to the next: so near to each other ops slow down */
#define NEARLY_ALL     0.9  /* of a core's work */

/* An op on the core of a line. */
struct own_op {
	int64_t nr, self_ps;
	int64_t least_ps; /* of an execution so far */
	int64_t score;	  /* slow executions less others, since .since_ps; 0: none of it */
	int64_t since_ps;
	int64_t before_nr, before_ps; /* executions and self time until then */
};

/* What a core does since it is slow. */
struct slowdown {
	int64_t since_ps;
	int64_t slow_ps; /* of its ops, since then; 0: it is not slow */
	int64_t fair_ps; /* what they would take at their pace of before */
	int64_t work_ps; /* of these ops, over the whole run */
	int64_t nr_ops;
};

struct slow_core {
	uint32_t device;
	int64_t nr, self_ps; /* .nr 0: no core */
	int64_t since_ps;    /* -1: it is not slower than it was */
};

/* An op over all cores. */
struct all_op {
	int64_t nr, self_ps;
	struct slow_core slow[KEPT]; /* the slowest first */
};

struct op_cores_state {
	/* of a line */
	uint32_t device;
	int64_t first_ps, last_ps; /* starts of its ops */
	struct own_op *own;
	size_t nr_own;
	/* of the sum */
	struct slowdown *slowdowns; /* by device */
	size_t nr_slowdowns;
	struct all_op *ops;
	size_t nr_ops;
};

#define TS_SELF struct own_op
static TS_RECORD_WITH(own, TS_EMPTY(nr), TS_NUMBER(1, nr, TS_BY_HAND),
		      TS_NUMBER(2, self_ps, TS_BY_HAND), TS_NUMBER(3, least_ps, TS_BY_HAND),
		      TS_NUMBER(4, score, TS_BY_HAND), TS_NUMBER(5, since_ps, TS_BY_HAND),
		      TS_NUMBER(6, before_nr, TS_BY_HAND), TS_NUMBER(7, before_ps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct slowdown
static TS_RECORD(slowdown, TS_NUMBER(1, since_ps, TS_BY_HAND), TS_NUMBER(2, slow_ps, TS_BY_HAND),
		 TS_NUMBER(3, fair_ps, TS_BY_HAND), TS_NUMBER(4, work_ps, TS_BY_HAND),
		 TS_NUMBER(5, nr_ops, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct slow_core
static TS_RECORD(slow, TS_INDEX(1, device, TS_BY_DEVICE, TS_BY_HAND), TS_NUMBER(2, nr, TS_BY_HAND),
		 TS_NUMBER(3, self_ps, TS_BY_HAND), TS_NUMBER(4, since_ps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct all_op
static TS_RECORD_WITH(all, TS_EMPTY(nr), TS_NUMBER(1, nr, TS_BY_HAND),
		      TS_NUMBER(2, self_ps, TS_BY_HAND), TS_STRUCT(3, slow, slow_record));
#undef TS_SELF

#define TS_SELF struct op_cores_state
static TS_RECORD(state, TS_INDEX(1, device, TS_BY_DEVICE, TS_BY_HAND),
		 TS_RECORDS(2, own, nr_own, own_record, TS_BY_OP, TS_BY_HAND),
		 TS_RECORDS(3, ops, nr_ops, all_record, TS_BY_OP, TS_BY_HAND),
		 TS_NUMBER(4, first_ps, TS_BY_HAND), TS_NUMBER(5, last_ps, TS_BY_HAND),
		 TS_RECORDS(6, slowdowns, nr_slowdowns, slowdown_record, TS_BY_DEVICE, TS_BY_HAND));
#undef TS_SELF

static bool op_cores_applies(const struct ts_context *ctx)
{
	return ctx->profile->nr_devices > 0;
}

static bool op_cores_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	return ts_line_is_core(ctx->profile, line) && ts_line_device(ctx->profile, line);
}

static enum ts_status op_cores_open(void *arg, const struct ts_context *ctx,
				    const struct ts_line *line, struct ts_error *err)
{
	struct op_cores_state *state = arg;

	state->device = ctx->profile->planes[line->plane].device;
	state->first_ps = INT64_MAX;
	state->nr_own = ctx->profile->nr_ops;
	state->own = ts_room_array(ctx->profile->rooms, state->nr_own + 1, sizeof(*state->own));
	return state->own ? TS_OK : ts_fail_nomem(err);
}

static void op_cores_look_at(struct own_op *own, int64_t start_ps, int64_t dur_ps)
{
	if (own->nr == 0 || dur_ps < own->least_ps)
		own->least_ps = dur_ps;
	if ((double)dur_ps <= LEAST_RATIO * (double)own->least_ps) {
		own->score = TS_MAX(own->score - 1, 0);
		return;
	}
	if (own->score++ > 0)
		return;
	own->since_ps = start_ps;
	own->before_nr = own->nr;
	own->before_ps = own->self_ps;
}

static enum ts_status op_cores_block(void *arg, const struct ts_context *ctx,
				     const struct ts_block *block, struct ts_error *err)
{
	struct op_cores_state *state = arg;

	for (size_t i = 0; i < block->nr_events; i++) {
		struct own_op *own = &state->own[block->op[i]];
		int64_t nr = block->occurrences ? block->occurrences[i] : 1;

		if (nr <= 0)
			continue;
		op_cores_look_at(own, block->start_ps[i], block->self_ps[i] / nr);
		state->first_ps = TS_MIN(state->first_ps, block->start_ps[i]);
		state->last_ps = TS_MAX(state->last_ps, block->start_ps[i]);
		own->nr = ts_i64_add(own->nr, nr);
		own->self_ps = ts_i64_add(own->self_ps, block->self_ps[i]);
	}
	return TS_OK;
}

static double mean_of(int64_t ps, int64_t nr)
{
	return nr > 0 ? (double)ps / (double)nr : 0;
}

/* Among the slowest, of equal ones the first. */
static void keep_core(struct all_op *op, struct slow_core core)
{
	size_t at = KEPT;

	while (at > 0 && mean_of(core.self_ps, core.nr) >
				 mean_of(op->slow[at - 1].self_ps, op->slow[at - 1].nr))
		at--;
	if (at == KEPT)
		return;
	memmove(&op->slow[at + 1], &op->slow[at], (KEPT - 1 - at) * sizeof(core));
	op->slow[at] = core;
}

static void op_cores_add_own(struct op_cores_state *into, const struct op_cores_state *from)
{
	for (size_t i = 0; i < TS_MIN(from->nr_own, into->nr_ops); i++) {
		const struct own_op *own = &from->own[i];
		struct all_op *all = &into->ops[i];

		if (own->nr == 0)
			continue;
		all->nr = ts_i64_add(all->nr, own->nr);
		all->self_ps = ts_i64_add(all->self_ps, own->self_ps);
		keep_core(all,
			  (struct slow_core){ from->device, own->nr, own->self_ps,
					      own->score >= LEAST_TIMES ? own->since_ps : -1 });
	}
}

/* --- a core that is slow as a whole */

static bool op_cores_works(const struct ts_context *ctx, size_t op)
{
	return ts_op_bucket(&ctx->profile->ops[op]) == TS_NR_BUCKETS;
}

static bool became_slow(const struct own_op *own)
{
	return own->score >= LEAST_TIMES && own->before_nr >= LEAST_TIMES && own->before_ps > 0;
}

/* What its executions since then would take at their pace of before. */
static double fair_of(const struct own_op *own)
{
	return mean_of(own->before_ps, own->before_nr) * (double)(own->nr - own->before_nr);
}

static double factor_of(const struct own_op *own)
{
	return (double)(own->self_ps - own->before_ps) / fair_of(own);
}

/* Of all ops that work what they took; of those that became slow the one that lost most. */
static const struct own_op *most_slowed(const struct ts_context *ctx,
					const struct op_cores_state *line, int64_t *work_ps)
{
	const struct own_op *most = NULL;
	double most_ps = 0;

	*work_ps = 0;
	for (size_t i = 0; i < line->nr_own; i++) {
		const struct own_op *own = &line->own[i];
		double lost_ps;

		if (own->nr == 0 || !op_cores_works(ctx, i))
			continue;
		*work_ps = ts_i64_add(*work_ps, own->self_ps);
		lost_ps = became_slow(own) ? fair_of(own) * (factor_of(own) - 1) : 0;
		if (lost_ps > most_ps) {
			most_ps = lost_ps;
			most = own;
		}
	}
	return most;
}

static void slowdown_add(struct slowdown *found, const struct own_op *own)
{
	found->since_ps =
		found->nr_ops++ == 0 ? own->since_ps : TS_MIN(found->since_ps, own->since_ps);
	found->slow_ps = ts_i64_add(found->slow_ps, own->self_ps - own->before_ps);
	found->fair_ps = ts_i64_add(found->fair_ps, ts_whole(fair_of(own)));
	found->work_ps = ts_i64_add(found->work_ps, own->self_ps);
}

/* Those that became slow when the one did that lost most, by its factor; none where they are not nearly all. */
static struct slowdown find_slowdown(const struct ts_context *ctx,
				     const struct op_cores_state *line)
{
	struct slowdown found = { .slow_ps = 0 };
	int64_t work_ps;
	const struct own_op *most = most_slowed(ctx, line, &work_ps);
	double span_ps = (double)(line->last_ps - line->first_ps);
	double near_ps = most ? span_ps * fmax(NEAR_MOMENT, 1 / (double)most->nr) : 0;

	for (size_t i = 0; most && i < line->nr_own; i++) {
		const struct own_op *own = &line->own[i];

		if (own->nr > 0 && op_cores_works(ctx, i) && became_slow(own) &&
		    fabs((double)(own->since_ps - most->since_ps)) <= near_ps &&
		    fabs(factor_of(own) / factor_of(most) - 1) <= NEAR_FACTOR)
			slowdown_add(&found, own);
	}
	if ((double)found.work_ps < NEARLY_ALL * (double)work_ps || found.nr_ops < LEAST_TIMES ||
	    (double)found.slow_ps < LEAST_RATIO * (double)found.fair_ps)
		return (struct slowdown){ .slow_ps = 0 };
	return found;
}

static void op_cores_add_slowdown(const struct ts_context *ctx, struct op_cores_state *into,
				  const struct op_cores_state *from)
{
	struct slowdown found = find_slowdown(ctx, from);

	if (found.slow_ps > 0 && from->device < into->nr_slowdowns)
		into->slowdowns[from->device] = found;
}

static enum ts_status op_cores_merge(void *into_arg, void *from_arg, const struct ts_context *ctx,
				     struct ts_error *err)
{
	struct op_cores_state *into = into_arg;

	if (!into->ops) {
		into->nr_ops = ctx->profile->nr_ops;
		into->ops =
			ts_room_array(ctx->profile->rooms, into->nr_ops + 1, sizeof(*into->ops));
	}
	if (!into->slowdowns) {
		into->nr_slowdowns = ctx->profile->nr_devices;
		into->slowdowns = calloc(into->nr_slowdowns + 1, sizeof(*into->slowdowns));
	}
	if (!into->ops || !into->slowdowns)
		return ts_fail_nomem(err);
	op_cores_add_own(into, from_arg);
	op_cores_add_slowdown(ctx, into, from_arg);
	return TS_OK;
}

static bool is_slow(const struct all_op *all, const struct slow_core *core, int64_t wall_ps,
		    struct ts_op_core *fact)
{
	double mean = mean_of(core->self_ps, core->nr);
	double others = mean_of(all->self_ps - core->self_ps, all->nr - core->nr);

	if (core->nr < LEAST_TIMES || all->nr - core->nr < LEAST_TIMES || others <= 0 ||
	    mean < LEAST_RATIO * others)
		return false;
	fact->device = core->device;
	fact->executions = core->nr;
	fact->mean_ps = ts_whole(mean);
	fact->others_ps = ts_whole(others);
	fact->excess_ps = ts_whole((mean - others) * (double)core->nr);
	fact->since_ps = core->since_ps;
	return (double)fact->excess_ps > LEAST_SHARE * (double)wall_ps;
}

TS_ORDER(by_excess, struct ts_op_core, TS_DOWN(excess_ps) TS_UP(op) TS_UP(device))

/* Those of one op that are slow. How many. */
static size_t op_cores_find_slow(const struct ts_context *ctx, const struct op_cores_state *sum,
				 uint32_t op, struct ts_op_core *items)
{
	const struct all_op *all = &sum->ops[op];
	int64_t wall_ps = ts_time_facts(ctx)->wall_ps;
	size_t nr = 0;

	if (all->nr == 0 || ts_op_bucket(&ctx->profile->ops[op]) == TS_BUCKET_COMMUNICATION)
		return 0;
	for (size_t i = 0; i < KEPT; i++) {
		items[nr].op = op;
		nr += is_slow(all, &all->slow[i], wall_ps, &items[nr]);
	}
	return nr;
}

static enum ts_status op_cores_make_facts(const struct op_cores_state *sum,
					  const struct ts_context *ctx, struct ts_arena *arena,
					  struct ts_op_cores_facts *facts, struct ts_error *err)
{
	size_t cap = 0, nr = 0;
	struct ts_op_core *items, found[KEPT];

	for (uint32_t op = 0; op < sum->nr_ops; op++)
		cap += op_cores_find_slow(ctx, sum, op, found);
	items = ts_arena_array(arena, cap + KEPT, sizeof(*items));
	if (!items)
		return ts_fail_nomem(err);
	for (uint32_t op = 0; op < sum->nr_ops; op++)
		nr += op_cores_find_slow(ctx, sum, op, &items[nr]);
	TS_SORT(items, nr, by_excess);
	nr = TS_MIN(nr, LISTED);
	for (size_t i = 0; i < nr; i++)
		items[i].since_step = ts_steps_number_at(&ctx->outline->steps, items[i].device,
							 items[i].since_ps);
	facts->items = items;
	facts->nr = nr;
	return TS_OK;
}

static enum ts_status op_cores_list_slowdowns(const struct op_cores_state *sum,
					      const struct ts_context *ctx, struct ts_arena *arena,
					      struct ts_op_cores_facts *facts, struct ts_error *err)
{
	struct ts_slowdown *items = ts_arena_array(arena, sum->nr_slowdowns + 1, sizeof(*items));

	if (!items)
		return ts_fail_nomem(err);
	for (uint32_t d = 0; d < sum->nr_slowdowns; d++) {
		const struct slowdown *of = &sum->slowdowns[d];

		if (of->slow_ps > 0)
			items[facts->nr_slowdowns++] = (struct ts_slowdown){
				d,
				of->since_ps,
				ts_steps_number_at(&ctx->outline->steps, d, of->since_ps),
				of->slow_ps,
				of->fair_ps,
				of->nr_ops
			};
	}
	facts->slowdowns = items;
	return TS_OK;
}

#define CELLS(X) \
	X(program_id, ts_id(op->program_id)) \
	X(module, ts_text_or_null(ts_module_name(profile, op->module))) \
	X(op, ts_text(op->name)) \
	X(device, ts_text(device->name)) \
	X(host, ts_text_or_null(profile->hosts[device->host].name)) \
	X(device_id, ts_int(fact->device)) \
	X(since_step, ts_int_or_null(fact->since_step)) \
	X(since_ps, ts_int_or_null(fact->since_ps)) \
	X(executions, ts_int(fact->executions)) \
	X(mean_ps, ts_int(fact->mean_ps)) \
	X(others_ps, ts_int(fact->others_ps)) \
	X(excess_ps, ts_int(fact->excess_ps)) \
	X(source, ts_text_or_null(op->source)) \
	X(op_index, ts_int(fact->op))

static enum ts_status op_cores_close(void *arg, const struct ts_context *ctx, void *facts_arg,
				     struct ts_result *result, struct ts_error *err)
{
	const struct ts_profile *profile = ctx->profile;
	struct ts_op_cores_facts *facts = facts_arg;
	struct ts_table *table;
	enum ts_status st = op_cores_list_slowdowns(arg, ctx, &result->owner->arena, facts, err);

	if (st == TS_OK)
		st = op_cores_make_facts(arg, ctx, &result->owner->arena, facts, err);
	if (st)
		return st;
	if (profile->nr_devices < 2)
		return TS_OK;
	table = TS_TABLE(result, op_cores_op_cores);
	for (size_t i = 0; i < facts->nr; i++) {
		const struct ts_op_core *fact = &facts->items[i];
		const struct ts_op *op = &profile->ops[fact->op];
		const struct ts_device *device = &profile->devices[fact->device];

		TS_CELLS(result, table, op_cores_op_cores, CELLS);
	}
	return TS_OK;
}

const struct ts_analysis ts_analysis_op_cores = {
	.schema = &ts_schema_op_cores,
	.needs = TS_NEEDED,
	.pass = TS_PASS_FIRST,
	.columns = TS_COL_DEVICE_CLOCK,
	.state = &state_record,
	.facts_size = sizeof(struct ts_op_cores_facts),
	.applies = op_cores_applies,
	.wants = op_cores_wants,
	.open = op_cores_open,
	.block = op_cores_block,
	.merge = op_cores_merge,
	.close = op_cores_close,
};
