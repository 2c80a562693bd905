/* SPDX-License-Identifier: MIT */
/* The host threads are streamed once more, for two stats. */
#include "live/look.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/map.h"
#include "model/host_event.h"
#include "read/stream.h"
#include "base/order.h"

enum carries {
	UNKNOWN,
	NOTHING,
	STEPS,
	PROGRAMS
}; /* what the first event of a name was seen to have */

struct looking {
	struct ts_look *look;
	const struct ts_profile *profile;
	uint8_t *carries; /* one for each op */
	struct ts_map seen;
	uint32_t host;
};

static bool find_number(const struct ts_block *block, size_t i, const char *name, uint64_t *number)
{
	struct ts_stat stat;

	if (!block->stat(block, i, name, &stat) || stat.type != TS_STAT_INT)
		return false;
	*number = (uint64_t)stat.number;
	return true;
}

static enum ts_status live_look_take_step(struct looking *looking, const struct ts_block *block,
					  size_t i, struct ts_error *err)
{
	struct ts_look *look = looking->look;
	uint64_t number;

	if (look->nr_steps == TS_LOOK_MAX_STEPS || !find_number(block, i, "step_num", &number))
		return TS_OK;
	if (!ts_grow(&look->steps, &look->cap_steps, look->nr_steps + 1, sizeof(*look->steps)))
		return ts_fail_nomem(err);
	look->steps[look->nr_steps++] = (struct ts_look_step){
		.number = number,
		.start_ps = block->start_ps[i],
		.end_ps = ts_i64_add(block->start_ps[i], block->dur_ps[i]),
		.host = looking->host,
		.op = block->op[i],
	};
	return TS_OK;
}

static enum ts_status live_look_take_program(struct looking *looking, const struct ts_block *block,
					     size_t i, struct ts_error *err)
{
	struct ts_look *look = looking->look;
	struct ts_stat module;
	uint64_t id, key;

	if (look->nr_programs == TS_LOOK_MAX_PROGRAMS || !find_number(block, i, "program_id", &id))
		return TS_OK;
	if (!block->stat(block, i, "hlo_module", &module) || module.type != TS_STAT_TEXT)
		return TS_OK;
	key = ts_hash(module.text, id) + looking->host;
	if (ts_map_find(&looking->seen, key) != TS_NONE)
		return TS_OK;
	if (!ts_map_set(&looking->seen, key, 0) ||
	    !ts_grow(&look->programs, &look->cap_programs, look->nr_programs + 1,
		     sizeof(*look->programs)))
		return ts_fail_nomem(err);
	look->programs[look->nr_programs++] =
		(struct ts_look_program){ id, module.text, looking->host };
	return TS_OK;
}

static uint8_t find_out(const struct ts_block *block, size_t i)
{
	uint64_t number;

	if (find_number(block, i, "step_num", &number))
		return STEPS;
	return find_number(block, i, "program_id", &number) ? PROGRAMS : NOTHING;
}

static bool is_lowering(const struct ts_profile *profile, uint32_t op)
{
	enum ts_host_activity activity = ts_host_activity_of(profile->ops[op].name);

	return activity == TS_HOST_TRACE || activity == TS_HOST_LOWER;
}

static enum ts_status live_look_take_block(void *ctx, const struct ts_block *block,
					   struct ts_error *err)
{
	struct looking *looking = ctx;
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < block->nr_events && st == TS_OK; i++) {
		uint8_t *carries = &looking->carries[block->op[i]];

		if (*carries == UNKNOWN) {
			*carries = find_out(block, i);
			looking->look->lowers |= is_lowering(looking->profile, block->op[i]);
		}
		if (*carries == STEPS)
			st = live_look_take_step(looking, block, i, err);
		if (*carries == PROGRAMS)
			st = live_look_take_program(looking, block, i, err);
	}
	return st;
}

TS_ORDER(by_series, struct ts_look_step, TS_UP(host) TS_UP(op) TS_UP(start_ps))

/* The number of steps of one host and one name, from FIRST on. */
static size_t series_length(const struct ts_look *look, size_t first)
{
	TS_ASSERT(first < look->nr_steps);

	const struct ts_look_step *step = &look->steps[first];
	size_t nr = 1;

	while (first + nr < look->nr_steps && step[nr].host == step->host &&
	       step[nr].op == step->op)
		nr++;
	return nr;
}

/* Keeps the first series that has at least half of the steps of the longest one. So of hosts with
 * equally many steps the same one is chosen in every sample. */
static void live_look_choose_steps(struct ts_look *look)
{
	size_t longest = 0, first = 0, nr;

	if (look->nr_steps == 0)
		return;
	qsort(look->steps, look->nr_steps, sizeof(*look->steps), by_series);
	for (size_t i = 0; i < look->nr_steps; i += nr) {
		nr = series_length(look, i);
		longest = TS_MAX(longest, nr);
	}
	for (nr = series_length(look, 0); nr * 2 < longest; nr = series_length(look, first))
		first += nr;
	memmove(look->steps, look->steps + first, nr * sizeof(*look->steps));
	look->nr_steps = nr;
}

enum ts_status ts_look_make(struct ts_look *look, const struct ts_profile *profile,
			    struct ts_error *err)
{
	struct looking looking = { .look = look, .profile = profile };
	struct ts_sink sink = { &looking, TS_COL_STATS, live_look_take_block };
	enum ts_status st = TS_OK;

	TS_ASSERT(look != NULL && profile != NULL);
	TS_ASSERT(look->nr_steps == 0 && look->nr_programs == 0);
	looking.carries = calloc(profile->nr_ops + 1, 1);
	if (!looking.carries)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < profile->nr_lines && st != TS_NOMEM; i++) {
		const struct ts_line *line = &profile->lines[i];

		if (line->kind != TS_LINE_THREAD)
			continue;
		looking.host = profile->planes[line->plane].host;
		st = ts_stream_line(profile, (uint32_t)i, &sink, err);
	}
	live_look_choose_steps(look);
	free(looking.carries);
	ts_map_release(&looking.seen);
	/* of a damaged line what stands before the damage is used */
	return st == TS_NOMEM ? st : TS_OK;
}

void ts_look_release(struct ts_look *look)
{
	TS_ASSERT(look != NULL);
	free(look->steps);
	free(look->programs);
	memset(look, 0, sizeof(*look));
}
