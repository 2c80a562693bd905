/* SPDX-License-Identifier: MIT */
/*
 * Which step a moment belongs to. A step lasts from its mark on the host to the end of the last
 * kernel that was launched in it, and the next one begins then. The first step begins when the
 * kernels that no step launched have ended (torch_tb_profiler, event_parser.py: _find_device_steps
 * and _update_steps_duration).
 *
 * Moments come in order, but which kernel is a step's last is known later. So each moment is given
 * to the step that has it as far as is known; and when a kernel of an earlier step begins, all time
 * that later steps got since then goes to that step.
 */
#include "analysis/gpu/timeline.h"

#include "base/check.h"

#define WHOLE_STEP 0.8 /* of the kernels of the step before it */
#define WHOLE_MARK 0.5 /* of the length of the mark before it */

static void timeline_steps_add(int64_t *into, int64_t *from)
{
	for (size_t c = 0; c < TS_NR_TRACE_CLASSES; c++) {
		into[c] += from[c];
		from[c] = 0;
	}
}

static void timeline_steps_move(struct timeline_share *into, struct timeline_share *from)
{
	timeline_steps_add(into->ps, from->ps);
	timeline_steps_add(into->before_ps, from->before_ps);
}

static void hold_back(struct timeline_share *share)
{
	timeline_steps_add(share->before_ps, share->ps);
}

/* The first step begins where the kernels from before it have ended. */
static void pass_leftovers(struct timeline_steps *steps, int64_t now_ps)
{
	bool passed = false;

	for (size_t i = 0; i < steps->nr_leftovers;) {
		if (steps->leftovers[i] > now_ps) {
			i++;
			continue;
		}
		steps->first_ps = TS_MAX(steps->first_ps, steps->leftovers[i]);
		steps->leftovers[i] = steps->leftovers[--steps->nr_leftovers];
		passed = true;
	}
	for (size_t i = 0; passed && i < steps->nr; i++) {
		hold_back(&steps->items[i].own);
		hold_back(&steps->items[i].gap);
	}
	if (passed && steps->nr > 0)
		hold_back(&steps->behind);
}

/* The share that AT_PS belongs to; lowers *UNTIL_PS to the end of that. */
static struct timeline_share *timeline_steps_owner_of(struct timeline_steps *steps, int64_t at_ps,
						      int64_t *until_ps)
{
	struct timeline_step *step;

	while (steps->live < steps->nr && steps->items[steps->live].end_ps <= at_ps)
		steps->live++;
	if (steps->live == steps->nr)
		return &steps->behind;
	step = &steps->items[steps->live];
	if (step->start_ps > at_ps) {
		*until_ps = TS_MIN(*until_ps, step->start_ps);
		return &step->gap;
	}
	*until_ps = TS_MIN(*until_ps, step->end_ps);
	return &step->own;
}

void ts_timeline_steps_give(struct timeline_steps *steps, int64_t from_ps, int64_t to_ps,
			    enum ts_trace_class class)
{
	TS_ASSERT_HOT((size_t)class < TS_NR_TRACE_CLASSES);
	while (from_ps < to_ps) {
		int64_t until_ps = to_ps;
		struct timeline_share *owner;

		if (steps->nr_leftovers > 0)
			pass_leftovers(steps, from_ps);
		for (size_t i = 0; i < steps->nr_leftovers; i++)
			until_ps = TS_MIN(until_ps, steps->leftovers[i]);
		owner = timeline_steps_owner_of(steps, from_ps, &until_ps);
		owner->ps[class] += until_ps - from_ps;
		from_ps = until_ps;
	}
}

enum ts_status ts_timeline_steps_begin(struct timeline_steps *steps, int64_t start_ps,
				       int64_t end_ps, uint64_t number, struct ts_error *err)
{
	struct timeline_step *step;

	if (!ts_grow(&steps->items, &steps->cap, steps->nr + 1, sizeof(*step)))
		return ts_fail_nomem(err);
	step = &steps->items[steps->nr];
	*step = (struct timeline_step){ .number = number,
					.start_ps = start_ps,
					.mark_ps = start_ps,
					.host_end_ps = end_ps,
					.end_ps = end_ps,
					.kernel_ps = INT64_MAX,
					.earliest_ps = INT64_MAX };
	timeline_steps_move(&step->gap, &steps->behind);
	if (steps->nr++ == 0)
		steps->first_ps = start_ps;
	return TS_OK;
}

uint32_t ts_timeline_steps_of_call(const struct timeline_steps *steps, int64_t start_ps,
				   int64_t end_ps)
{
	for (size_t i = steps->nr; i-- > 0;) {
		const struct timeline_step *step = &steps->items[i];

		if (step->start_ps <= start_ps)
			return end_ps <= step->host_end_ps ? (uint32_t)i : TS_NONE;
	}
	return TS_NONE;
}

void ts_timeline_steps_launch(struct timeline_steps *steps, uint32_t step)
{
	TS_ASSERT_HOT(step == TS_NONE || step < steps->nr);
	if (step != TS_NONE)
		steps->items[step].nr_launches++;
}

void ts_timeline_steps_kernel(struct timeline_steps *steps, uint32_t index, int64_t start_ps,
			      int64_t end_ps)
{
	struct timeline_step *step;

	if (steps->fixed)
		return;
	if (index == TS_NONE) {
		if (steps->nr_leftovers < TIMELINE_LEFTOVERS &&
		    (steps->nr == 0 || steps->items[0].kernel_ps == INT64_MAX))
			steps->leftovers[steps->nr_leftovers++] = end_ps;
		return;
	}
	TS_ASSERT_HOT(index < steps->nr);
	step = &steps->items[index];
	step->nr_kernels++;
	step->kernel_ps = TS_MIN(step->kernel_ps, start_ps);
	if (index == 0)
		steps->nr_leftovers = 0;
	if (end_ps <= step->end_ps)
		return;
	for (size_t i = index + 1; i < steps->nr; i++) {
		timeline_steps_move(&step->own, &steps->items[i].gap);
		timeline_steps_move(&step->own, &steps->items[i].own);
	}
	timeline_steps_move(&step->own, &steps->behind);
	step->end_ps = end_ps;
	steps->live = TS_MIN(steps->live, index);
}

/* Where the first step launched nothing, it is unknown whether it waited for a device. */
void ts_timeline_steps_finish(struct timeline_steps *steps)
{
	int64_t before_ps;

	if (steps->nr == 0)
		return;
	if (steps->items[0].kernel_ps == INT64_MAX) {
		steps->first_ps = steps->items[0].start_ps;
		for (size_t i = 0; i < steps->nr; i++)
			timeline_steps_add(steps->items[i].own.ps, steps->items[i].own.before_ps);
	}
	before_ps = steps->first_ps;
	for (size_t i = 0; i < steps->nr; i++) {
		struct timeline_step *step = &steps->items[i];

		step->start_ps = TS_MAX(step->start_ps, before_ps);
		step->end_ps = TS_MAX(step->end_ps, step->start_ps);
		before_ps = step->end_ps;
	}
}

/*
 * Has the capture cut the step at INDEX? One whose launches have no kernel; and of the last one that launches nothing the
 * mark is shorter: the profiler opens it at the end of the step before, and closes it when it stops.
 */
static bool timeline_steps_is_cut(const struct timeline_steps *steps, size_t index)
{
	const struct timeline_step *step = &steps->items[index];
	int64_t before_ps, own_ps = step->host_end_ps - step->mark_ps;

	if (step->nr_kernels > 0 || index == 0)
		return step->nr_kernels == 0 && step->nr_launches > 0;
	before_ps = step[-1].host_end_ps - step[-1].mark_ps;
	return step->nr_launches > 0 ||
	       (index + 1 == steps->nr && (double)own_ps < WHOLE_MARK * (double)before_ps);
}

size_t ts_timeline_steps_whole(const struct timeline_steps *steps)
{
	size_t last = steps->nr;

	while (last > 0 && timeline_steps_is_cut(steps, last - 1))
		last--;
	if (steps->fixed || last == 0 || steps->nr < 2)
		return steps->nr;
	if (steps->items[last - 1].nr_kernels == 0) /* the host alone worked in it */
		return last;
	if (last > 1 && (double)steps->items[last - 2].nr_kernels * WHOLE_STEP >
				(double)steps->items[last - 1].nr_kernels)
		last--;
	return last;
}
