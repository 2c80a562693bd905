/* SPDX-License-Identifier: MIT */
/* One execution of a module, by its schedule. */
#include "model/schedule.h"

#include <stdlib.h>

#include "base/check.h"
#include "model/kernels.h"
#include "base/order.h"

#define MAX_DEPTH   80 /* of calls; a module from the reader has fewer */
#define MAX_UPDATES 64 /* between a start and its done */

/* One walk in the making. */
struct walker {
	struct ts_schedule *walk;
	int64_t now_ps;
	int64_t free_ps[TS_NR_LANES]; /* when the lane has done all that it was given */
	int64_t *ends;		      /* of each start: when its transfer ends */
	int64_t *branch_ps;	      /* of each computation: what it costs by itself */
	int64_t weight;		      /* how many executions one stands for */
	uint64_t nr_ops;	      /* walked so far */
};

bool ts_hlo_is_start(const struct ts_hlo_instr *instr)
{
	TS_ASSERT(instr);
	return ts_opcode_phase(instr->opcode) == TS_PHASE_START;
}

uint32_t ts_hlo_start_of(const struct ts_hlo_module *module, uint32_t done)
{
	const struct ts_hlo_instr *instr = &module->instrs[done];

	TS_ASSERT(module);
	TS_ASSERT(done < module->nr_instrs);
	if (ts_opcode_phase(instr->opcode) != TS_PHASE_DONE)
		return TS_NONE;
	for (int i = 0; i < MAX_UPDATES && instr->nr_operands > 0; i++) {
		uint32_t operand = instr->operands[0];

		instr = &module->instrs[operand];
		if (ts_hlo_is_start(instr))
			return operand;
		if (ts_opcode_phase(instr->opcode) != TS_PHASE_UPDATE)
			break;
	}
	return TS_NONE;
}

/* What computations cost without any overlap; those that are called stand before their callers. */
static int64_t schedule_cost_of(const struct walker *walker, const struct ts_hlo_comp *comp)
{
	const struct ts_hlo_module *module = walker->walk->module;
	int64_t sum = 0;

	for (uint32_t i = comp->first_instr; i < comp->first_instr + comp->nr_instrs; i++) {
		const struct ts_hlo_instr *instr = &module->instrs[i];
		const struct ts_schedule_op *op = &walker->walk->ops[i];
		int64_t inside = 0, most = 0;

		sum = ts_i64_add(sum, op->ps[walker->walk->which]);
		if (!ts_hlo_is_control(instr))
			continue;
		for (uint32_t c = 0; c < instr->nr_called; c++) {
			inside = ts_i64_add(inside, walker->branch_ps[instr->called[c]]);
			most = TS_MAX(most, walker->branch_ps[instr->called[c]]);
		}
		if (instr->opcode == TS_OPCODE_CONDITIONAL)
			inside = most;
		else if (instr->opcode == TS_OPCODE_WHILE)
			inside = ts_i64_mul(inside, op->trips);
		sum = ts_i64_add(sum, inside);
	}
	return sum;
}

static enum ts_status schedule_put_event(struct walker *walker, struct ts_schedule_events *events,
					 uint32_t instr, int64_t start_ps, int64_t dur_ps,
					 struct ts_error *err)
{
	if (!walker->walk->with_events)
		return TS_OK;
	if (!ts_grow(&events->items, &events->cap, events->nr + 1, sizeof(*events->items)))
		return ts_fail_nomem(err);
	events->items[events->nr++] = (struct ts_schedule_event){ instr, start_ps, dur_ps };
	return TS_OK;
}

static void schedule_add_times(int64_t *sum, int64_t ps, int64_t times)
{
	*sum = ts_i64_add(*sum, ts_i64_mul(ps, times));
}

static void schedule_count(struct walker *walker, uint32_t instr, int64_t core_ps, int64_t lane_ps)
{
	struct ts_schedule_sum *sum = walker->walk->sums ? &walker->walk->sums[instr] : NULL;

	if (!sum)
		return;
	sum->runs = ts_i64_add(sum->runs, walker->weight);
	schedule_add_times(&sum->core_ps, core_ps, walker->weight);
	schedule_add_times(&sum->lane_ps, lane_ps, walker->weight);
}

/* The core has done something, or waited. */
static enum ts_status spend(struct walker *walker, uint32_t instr, int64_t dur_ps,
			    struct ts_error *err)
{
	int64_t start_ps = walker->now_ps;

	walker->now_ps = ts_i64_add(start_ps, dur_ps);
	return schedule_put_event(walker, &walker->walk->core, instr, start_ps, dur_ps, err);
}

/* A transfer takes its turn: gives when it ends. */
static enum ts_status schedule_transfer(struct walker *walker, uint32_t instr, enum ts_lane lane,
					int64_t *end_ps, struct ts_error *err)
{
	int64_t ps = walker->walk->ops[instr].ps[walker->walk->which];
	int64_t start_ps = TS_MAX(walker->now_ps, walker->free_ps[lane]);

	*end_ps = walker->free_ps[lane] = ts_i64_add(start_ps, ps);
	schedule_add_times(&walker->walk->lane_ps[lane], ps, walker->weight);
	return schedule_put_event(walker, &walker->walk->beside, instr, start_ps, ps, err);
}

static enum ts_status walk_start(struct walker *walker, uint32_t instr, struct ts_error *err)
{
	const struct ts_schedule_op *op = &walker->walk->ops[instr];
	enum ts_status st = schedule_transfer(walker, instr, op->lane, &walker->ends[instr], err);

	if (st)
		return st;
	schedule_count(walker, instr, TS_SCHEDULE_ISSUE_PS, op->ps[walker->walk->which]);
	schedule_add_times(&walker->walk->core_ps, TS_SCHEDULE_ISSUE_PS, walker->weight);
	return spend(walker, instr, TS_SCHEDULE_ISSUE_PS, err);
}

static enum ts_status walk_done(struct walker *walker, uint32_t instr, uint32_t start,
				struct ts_error *err)
{
	int64_t wait_ps = ts_i64_sub(walker->ends[start], walker->now_ps);
	enum ts_lane lane = walker->walk->ops[start].lane;

	wait_ps = TS_MAX(wait_ps, TS_SCHEDULE_ISSUE_PS);
	schedule_count(walker, instr, wait_ps, 0);
	schedule_add_times(&walker->walk->exposed_ps[lane], wait_ps, walker->weight);
	return spend(walker, instr, wait_ps, err);
}

/* A collective, or a copy to the host, that is one op: the core waits until it is through. */
static enum ts_status walk_wait(struct walker *walker, uint32_t instr, enum ts_lane lane,
				struct ts_error *err)
{
	int64_t end_ps, wait_ps;
	enum ts_status st = schedule_transfer(walker, instr, lane, &end_ps, err);

	if (st)
		return st;
	wait_ps = ts_i64_sub(end_ps, walker->now_ps);
	schedule_count(walker, instr, wait_ps, walker->walk->ops[instr].ps[walker->walk->which]);
	schedule_add_times(&walker->walk->exposed_ps[lane], wait_ps, walker->weight);
	return spend(walker, instr, wait_ps, err);
}

static enum ts_status walk_work(struct walker *walker, uint32_t instr, struct ts_error *err)
{
	int64_t ps = walker->walk->ops[instr].ps[walker->walk->which];

	if (ps == 0)
		return TS_OK;
	schedule_count(walker, instr, ps, 0);
	schedule_add_times(&walker->walk->core_ps, ps, walker->weight);
	return spend(walker, instr, ps, err);
}

static enum ts_status schedule_walk_comp(struct walker *walker, uint32_t comp, unsigned depth,
					 struct ts_error *err);

/* The time that went by in a trip, for each of MORE that are not walked. */
static void schedule_leave_out(struct walker *walker, int64_t more, int64_t trip_ps)
{
	int64_t ps = ts_i64_mul(trip_ps, more);

	walker->now_ps = ts_i64_add(walker->now_ps, ps);
	for (int lane = 0; lane < TS_NR_LANES; lane++)
		walker->free_ps[lane] = ts_i64_add(walker->free_ps[lane], ps);
	schedule_add_times(&walker->walk->left_out_trips, more, walker->weight);
	schedule_add_times(&walker->walk->left_out_ps, ps, walker->weight);
}

static enum ts_status walk_trips(struct walker *walker, const struct ts_hlo_instr *instr,
				 int64_t trips, unsigned depth, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (int64_t trip = 0; trip < trips && st == TS_OK; trip++) {
		int64_t more = walker->nr_ops >= TS_SCHEDULE_OPS ? trips - trip - 1 : 0;
		int64_t weight = walker->weight, begin_ps = walker->now_ps;

		walker->weight = ts_i64_mul(weight, more + 1);
		walker->nr_ops++; /* an empty body, too, is a bounded number of trips */
		for (uint32_t c = instr->nr_called; c-- > 0 && st == TS_OK;)
			/* the condition, then the body */
			st = schedule_walk_comp(walker, instr->called[c], depth + 1, err);
		walker->weight = weight;
		if (more > 0)
			schedule_leave_out(walker, more, ts_i64_sub(walker->now_ps, begin_ps));
		trip += more;
	}
	return st;
}

/* Loops, branches and calls: an event that holds those of the ops inside. */
static enum ts_status walk_control(struct walker *walker, uint32_t index, unsigned depth,
				   struct ts_error *err)
{
	const struct ts_hlo_instr *instr = &walker->walk->module->instrs[index];
	struct ts_schedule_events *events = &walker->walk->core;
	int64_t begin_ps = walker->now_ps;
	size_t event = events->nr;
	enum ts_status st = schedule_put_event(walker, events, index, begin_ps, 0, err);
	uint32_t taken = 0;

	if (st == TS_OK && instr->opcode == TS_OPCODE_WHILE) {
		st = walk_trips(walker, instr, walker->walk->ops[index].trips, depth, err);
	} else if (st == TS_OK && instr->nr_called > 0) {
		for (uint32_t c = 1; c < instr->nr_called; c++)
			if (walker->branch_ps[instr->called[c]] >
			    walker->branch_ps[instr->called[taken]])
				taken = c;
		st = schedule_walk_comp(walker, instr->called[taken], depth + 1, err);
	}
	schedule_count(walker, index, 0, 0);
	if (event < events->nr)
		events->items[event].dur_ps = ts_i64_sub(walker->now_ps, begin_ps);
	return st;
}

static enum ts_status schedule_walk_instr(struct walker *walker, uint32_t index, unsigned depth,
					  struct ts_error *err)
{
	const struct ts_hlo_instr *instr = &walker->walk->module->instrs[index];
	const struct ts_schedule_op *op = &walker->walk->ops[index];

	walker->nr_ops++;
	if (ts_hlo_is_control(instr))
		return walk_control(walker, index, depth, err);
	if (op->is_start)
		return walk_start(walker, index, err);
	if (op->start != TS_NONE)
		return walk_done(walker, index, op->start, err);
	if (op->lane != TS_LANE_CORE)
		return walk_wait(walker, index, op->lane, err);
	return walk_work(walker, index, err);
}

static enum ts_status schedule_walk_comp(struct walker *walker, uint32_t comp, unsigned depth,
					 struct ts_error *err)
{
	const struct ts_hlo_comp *called = &walker->walk->module->comps[comp];
	enum ts_status st = TS_OK;

	if (depth > MAX_DEPTH)
		return TS_OK;
	for (uint32_t i = 0; i < called->nr_instrs && st == TS_OK; i++)
		st = schedule_walk_instr(walker, called->first_instr + i, depth, err);
	return st;
}

TS_ORDER(schedule_by_start, struct ts_schedule_event, TS_UP(start_ps) TS_UP(instr))

enum ts_status ts_schedule_walk(struct ts_schedule *walk, struct ts_error *err)
{
	struct walker walker = { .walk = walk, .weight = 1 };
	enum ts_status st = TS_OK;

	TS_ASSERT(walk && walk->module && walk->ops);
	walker.ends = calloc(walk->module->nr_instrs + 1, sizeof(*walker.ends));
	walker.branch_ps = calloc(walk->module->nr_comps + 1, sizeof(*walker.branch_ps));
	if (!walker.ends || !walker.branch_ps) {
		st = ts_fail_nomem(err);
		goto done;
	}
	for (uint32_t c = 0; c < walk->module->nr_comps; c++)
		walker.branch_ps[c] = schedule_cost_of(&walker, &walk->module->comps[c]);
	st = schedule_walk_comp(&walker, walk->module->entry, 0, err);
	walk->end_ps = walker.now_ps;
	TS_SORT(walk->beside.items, walk->beside.nr, schedule_by_start);
done:
	free(walker.ends);
	free(walker.branch_ps);
	return st;
}

void ts_schedule_release(struct ts_schedule *walk)
{
	TS_ASSERT(walk);
	free(walk->core.items);
	free(walk->beside.items);
	walk->core = walk->beside = (struct ts_schedule_events){ NULL, 0, 0 };
}
