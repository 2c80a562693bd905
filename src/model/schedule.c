/* SPDX-License-Identifier: Apache-2.0 */
/* One execution of a module, by its schedule. */
#include "model/schedule.h"

#include <stdlib.h>

#include "base/check.h"
#include "model/kernels.h"

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
	bool failed;		      /* no memory */
};

bool ts_hlo_is_start(const struct ts_hlo_instr *instr)
{
	TS_ASSERT(instr);
	return ts_bytes_ends(instr->opcode, "-start");
}

uint32_t ts_hlo_start_of(const struct ts_hlo_module *module, uint32_t done)
{
	const struct ts_hlo_instr *instr = &module->instrs[done];

	TS_ASSERT(module);
	TS_ASSERT(done < module->nr_instrs);
	if (!ts_bytes_ends(instr->opcode, "-done"))
		return TS_NONE;
	for (int i = 0; i < MAX_UPDATES && instr->nr_operands > 0; i++) {
		uint32_t operand = instr->operands[0];

		instr = &module->instrs[operand];
		if (ts_hlo_is_start(instr))
			return operand;
		if (!ts_bytes_ends(instr->opcode, "-update"))
			break;
	}
	return TS_NONE;
}

/* What computations cost without any overlap; those that are called stand before their callers. */
static int64_t cost_of(const struct walker *walker, const struct ts_hlo_comp *comp)
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
		if (ts_bytes_is(instr->opcode, "conditional"))
			inside = most;
		else if (ts_bytes_is(instr->opcode, "while"))
			inside = ts_i64_mul(inside, op->trips);
		sum = ts_i64_add(sum, inside);
	}
	return sum;
}

/* The index of a new event; SIZE_MAX: none is wanted. */
static size_t put_event(struct walker *walker, struct ts_schedule_events *events, uint32_t instr,
			int64_t start_ps, int64_t dur_ps)
{
	if (!walker->walk->with_events)
		return SIZE_MAX;
	if (!ts_grow(&events->items, &events->cap, events->nr + 1, sizeof(*events->items))) {
		walker->failed = true;
		return SIZE_MAX;
	}
	events->items[events->nr] = (struct ts_schedule_event){ instr, start_ps, dur_ps };
	return events->nr++;
}

static void add_times(int64_t *sum, int64_t ps, int64_t times)
{
	*sum = ts_i64_add(*sum, ts_i64_mul(ps, times));
}

static void count(struct walker *walker, uint32_t instr, int64_t core_ps, int64_t lane_ps)
{
	struct ts_schedule_sum *sum = walker->walk->sums ? &walker->walk->sums[instr] : NULL;

	if (!sum)
		return;
	sum->runs = ts_i64_add(sum->runs, walker->weight);
	add_times(&sum->core_ps, core_ps, walker->weight);
	add_times(&sum->lane_ps, lane_ps, walker->weight);
}

/* The core has done something, or waited. */
static void spend(struct walker *walker, uint32_t instr, int64_t dur_ps)
{
	put_event(walker, &walker->walk->core, instr, walker->now_ps, dur_ps);
	walker->now_ps = ts_i64_add(walker->now_ps, dur_ps);
}

/* A transfer takes its turn: gives when it ends. */
static int64_t transfer(struct walker *walker, uint32_t instr, enum ts_lane lane)
{
	int64_t ps = walker->walk->ops[instr].ps[walker->walk->which];
	int64_t start_ps = TS_MAX(walker->now_ps, walker->free_ps[lane]);

	put_event(walker, &walker->walk->beside, instr, start_ps, ps);
	walker->free_ps[lane] = ts_i64_add(start_ps, ps);
	add_times(&walker->walk->lane_ps[lane], ps, walker->weight);
	return walker->free_ps[lane];
}

static void walk_start(struct walker *walker, uint32_t instr)
{
	const struct ts_schedule_op *op = &walker->walk->ops[instr];

	walker->ends[instr] = transfer(walker, instr, op->lane);
	count(walker, instr, TS_SCHEDULE_ISSUE_PS, op->ps[walker->walk->which]);
	add_times(&walker->walk->core_ps, TS_SCHEDULE_ISSUE_PS, walker->weight);
	spend(walker, instr, TS_SCHEDULE_ISSUE_PS);
}

static void walk_done(struct walker *walker, uint32_t instr, uint32_t start)
{
	int64_t wait_ps = ts_i64_sub(walker->ends[start], walker->now_ps);
	enum ts_lane lane = walker->walk->ops[start].lane;

	wait_ps = TS_MAX(wait_ps, TS_SCHEDULE_ISSUE_PS);
	count(walker, instr, wait_ps, 0);
	add_times(&walker->walk->exposed_ps[lane], wait_ps, walker->weight);
	spend(walker, instr, wait_ps);
}

/* A collective, or a copy to the host, that is one op: the core waits until it is through. */
static void walk_wait(struct walker *walker, uint32_t instr, enum ts_lane lane)
{
	int64_t end_ps = transfer(walker, instr, lane);
	int64_t wait_ps = ts_i64_sub(end_ps, walker->now_ps);

	count(walker, instr, wait_ps, walker->walk->ops[instr].ps[walker->walk->which]);
	add_times(&walker->walk->exposed_ps[lane], wait_ps, walker->weight);
	spend(walker, instr, wait_ps);
}

static void walk_work(struct walker *walker, uint32_t instr)
{
	int64_t ps = walker->walk->ops[instr].ps[walker->walk->which];

	if (ps == 0)
		return;
	count(walker, instr, ps, 0);
	add_times(&walker->walk->core_ps, ps, walker->weight);
	spend(walker, instr, ps);
}

static void walk_comp(struct walker *walker, uint32_t comp, unsigned depth);

/* The time that went by in a trip, for each of MORE that are not walked. */
static void leave_out(struct walker *walker, int64_t more, int64_t trip_ps)
{
	int64_t ps = ts_i64_mul(trip_ps, more);

	walker->now_ps = ts_i64_add(walker->now_ps, ps);
	for (int lane = 0; lane < TS_NR_LANES; lane++)
		walker->free_ps[lane] = ts_i64_add(walker->free_ps[lane], ps);
	add_times(&walker->walk->left_out_trips, more, walker->weight);
	add_times(&walker->walk->left_out_ps, ps, walker->weight);
}

static void walk_trips(struct walker *walker, const struct ts_hlo_instr *instr, int64_t trips,
		       unsigned depth)
{
	for (int64_t trip = 0; trip < trips && !walker->failed; trip++) {
		int64_t more = walker->nr_ops >= TS_SCHEDULE_OPS ? trips - trip - 1 : 0;
		int64_t weight = walker->weight, begin_ps = walker->now_ps;

		walker->weight = ts_i64_mul(weight, more + 1);
		walker->nr_ops++; /* an empty body, too, is a bounded number of trips */
		for (uint32_t c = instr->nr_called; c-- > 0;) /* the condition, then the body */
			walk_comp(walker, instr->called[c], depth + 1);
		walker->weight = weight;
		if (more > 0)
			leave_out(walker, more, ts_i64_sub(walker->now_ps, begin_ps));
		trip += more;
	}
}

/* Loops, branches and calls: an event that holds those of the ops inside. */
static void walk_control(struct walker *walker, uint32_t index, unsigned depth)
{
	const struct ts_hlo_instr *instr = &walker->walk->module->instrs[index];
	struct ts_schedule_events *events = &walker->walk->core;
	int64_t begin_ps = walker->now_ps;
	size_t event = put_event(walker, events, index, begin_ps, 0);
	uint32_t taken = 0;

	if (ts_bytes_is(instr->opcode, "while")) {
		walk_trips(walker, instr, walker->walk->ops[index].trips, depth);
	} else if (instr->nr_called > 0) {
		for (uint32_t c = 1; c < instr->nr_called; c++)
			if (walker->branch_ps[instr->called[c]] >
			    walker->branch_ps[instr->called[taken]])
				taken = c;
		walk_comp(walker, instr->called[taken], depth + 1);
	}
	count(walker, index, 0, 0);
	if (event != SIZE_MAX)
		events->items[event].dur_ps = ts_i64_sub(walker->now_ps, begin_ps);
}

static void walk_instr(struct walker *walker, uint32_t index, unsigned depth)
{
	const struct ts_hlo_instr *instr = &walker->walk->module->instrs[index];
	const struct ts_schedule_op *op = &walker->walk->ops[index];

	walker->nr_ops++;
	if (ts_hlo_is_control(instr))
		walk_control(walker, index, depth);
	else if (op->is_start)
		walk_start(walker, index);
	else if (op->start != TS_NONE)
		walk_done(walker, index, op->start);
	else if (op->lane != TS_LANE_CORE)
		walk_wait(walker, index, op->lane);
	else
		walk_work(walker, index);
}

static void walk_comp(struct walker *walker, uint32_t comp, unsigned depth)
{
	const struct ts_hlo_comp *called = &walker->walk->module->comps[comp];

	if (depth > MAX_DEPTH)
		return;
	for (uint32_t i = 0; i < called->nr_instrs && !walker->failed; i++)
		walk_instr(walker, called->first_instr + i, depth);
}

static int by_start(const void *a, const void *b)
{
	const struct ts_schedule_event *x = a, *y = b;
	int order = (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);

	return order ? order : (x->instr > y->instr) - (x->instr < y->instr);
}

bool ts_schedule_walk(struct ts_schedule *walk)
{
	struct walker walker = { .walk = walk, .weight = 1 };

	TS_ASSERT(walk && walk->module && walk->ops);
	walker.ends = calloc(walk->module->nr_instrs + 1, sizeof(*walker.ends));
	walker.branch_ps = calloc(walk->module->nr_comps + 1, sizeof(*walker.branch_ps));
	walker.failed = !walker.ends || !walker.branch_ps;
	for (uint32_t c = 0; c < walk->module->nr_comps && !walker.failed; c++)
		walker.branch_ps[c] = cost_of(&walker, &walk->module->comps[c]);
	if (!walker.failed)
		walk_comp(&walker, walk->module->entry, 0);
	walk->end_ps = walker.now_ps;
	if (!walker.failed && walk->beside.nr > 0)
		qsort(walk->beside.items, walk->beside.nr, sizeof(*walk->beside.items), by_start);
	free(walker.ends);
	free(walker.branch_ps);
	return !walker.failed;
}

void ts_schedule_release(struct ts_schedule *walk)
{
	TS_ASSERT(walk);
	free(walk->core.items);
	free(walk->beside.items);
	walk->core = walk->beside = (struct ts_schedule_events){ NULL, 0, 0 };
}
