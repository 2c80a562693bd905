/* SPDX-License-Identifier: MIT */
/* Histograms of durations, one cut for a host, quotas at the cut. */
#include "trace/plan.h"

#include "base/check.h"

#define ALL_BINS UINT32_MAX /* a cut that no event can meet: nothing is written */

static uint32_t plan_host_of(const struct ts_profile *profile, size_t line)
{
	return profile->planes[profile->lines[line].plane].host;
}

/* By host; of one they stay in their order. */
static void sort_lines(struct ts_trace_plan *plan)
{
	const struct ts_profile *profile = plan->profile;

	for (size_t i = 0; i < plan->nr_lines; i++)
		plan->hosts[plan_host_of(profile, i)].end++;
	for (size_t i = 0, nr = 0; i < profile->nr_hosts; i++) {
		plan->hosts[i].first = nr;
		nr += plan->hosts[i].end;
		plan->hosts[i].end = plan->hosts[i].first;
	}
	for (uint32_t i = 0; i < plan->nr_lines; i++)
		plan->lines[plan->hosts[plan_host_of(profile, i)].end++] = i;
}

enum ts_status ts_trace_plan_init(struct ts_trace_plan *plan, const struct ts_profile *profile,
				  struct ts_error *err)
{
	TS_ASSERT(plan && profile);
	*plan = (struct ts_trace_plan){ .profile = profile,
					.nr_lines = profile->nr_lines,
					.host = TS_NONE };
	plan->tallies = calloc(profile->nr_lines + 1, sizeof(struct ts_trace_tally *));
	plan->async = calloc(profile->nr_ops + 1, 1);
	plan->hosts = calloc(profile->nr_hosts + 1, sizeof(*plan->hosts));
	plan->lines = calloc(profile->nr_lines + 1, sizeof(*plan->lines));
	if (!plan->tallies || !plan->async || !plan->hosts || !plan->lines) {
		ts_trace_plan_release(plan);
		return ts_fail_nomem(err);
	}
	sort_lines(plan);
	for (size_t i = 0; i < profile->nr_ops; i++)
		if (profile->ops[i].partner != TS_NONE)
			plan->async[i] = (uint8_t)profile->ops[i].async;
	return TS_OK;
}

static void free_tally(struct ts_trace_tally *tally)
{
	if (tally)
		free(tally->pairs);
	free(tally);
}

void ts_trace_plan_release(struct ts_trace_plan *plan)
{
	TS_ASSERT(plan);
	for (size_t i = 0; plan->tallies && i < plan->nr_lines; i++)
		free_tally(plan->tallies[i]);
	free(plan->tallies);
	free(plan->async);
	free(plan->hosts);
	free(plan->lines);
	*plan = (struct ts_trace_plan){ 0 };
}

bool ts_trace_wants(void *ctx, const struct ts_profile *profile, uint32_t line)
{
	const struct ts_trace_plan *plan = ctx;
	const struct ts_line *wanted = &profile->lines[line];
	enum ts_plane_kind kind = profile->planes[wanted->plane].kind;

	TS_ASSERT(profile);
	TS_ASSERT(line < profile->nr_lines);
	if ((plan->slices_alone && wanted->repeats) || ts_trace_has_points(plan, wanted))
		return false;
	return wanted->kind != TS_LINE_COUNTERS && kind != TS_PLANE_OURS &&
	       kind != TS_PLANE_METADATA && kind != TS_PLANE_TASK;
}

static void trace_restart(void *ctx, uint32_t line)
{
	struct ts_trace_plan *plan = ctx;

	free_tally(plan->tallies[line]);
	plan->tallies[line] = NULL;
}

struct ts_duration_counter ts_trace_plan_counter(struct ts_trace_plan *plan)
{
	TS_ASSERT(plan);
	return (struct ts_duration_counter){ plan, ts_trace_wants, trace_restart, ts_trace_count };
}

/* Eight bins to each doubling, exact below 8 ps. */
static uint32_t plan_bin_of(int64_t key_ps)
{
	uint64_t key = key_ps > 0 ? (uint64_t)key_ps : 0;
	uint32_t top;

	if (key < 8)
		return (uint32_t)key;
	top = 63 - (uint32_t)__builtin_clzll(key);
	return (top - 2) * 8 + (uint32_t)(key >> (top - 3) & 7);
}

static void plan_count(struct ts_trace_tally *tally, int64_t key_ps)
{
	uint32_t *bin = &tally->bins[plan_bin_of(key_ps)];

	*bin += *bin != UINT32_MAX;
}

static enum ts_status count_pair(void *ctx, const struct ts_trace_event *start,
				 const struct ts_trace_event *done, struct ts_error *err)
{
	plan_count(ctx, ts_trace_pair_key(start, done));
	if (done)
		plan_count(ctx, done->dur_ps);
	return TS_OK;
}

static struct ts_trace_tally *tally_of(struct ts_trace_plan *plan, uint32_t line)
{
	struct ts_trace_tally **tally = &plan->tallies[line];

	if (!*tally) {
		*tally = calloc(1, sizeof(**tally));
		if (*tally)
			(*tally)->first_ps = INT64_MAX;
	}
	return *tally;
}

/* An event of an async op: counted by way of the pairs. */
static enum ts_status count_async(const struct ts_trace_plan *plan, struct ts_trace_tally *tally,
				  const struct ts_trace_event *event, struct ts_error *err)
{
	struct ts_trace_visitor visitor = { tally, count_pair };
	bool taken = false;
	enum ts_status st;

	if (!tally->pairs)
		tally->pairs = calloc(1, sizeof(*tally->pairs));
	if (!tally->pairs)
		return ts_fail_nomem(err);
	st = ts_trace_pairs_add(tally->pairs, plan->profile, event, tally->nr_events, &visitor,
				&taken, err);
	if (st == TS_OK && !taken)
		plan_count(tally, event->dur_ps);
	return st;
}

static enum ts_status plan_count_event(const struct ts_trace_plan *plan,
				       struct ts_trace_tally *tally, const struct ts_block *block,
				       size_t i, bool is_core, struct ts_error *err)
{
	struct ts_trace_visitor visitor = { tally, count_pair };
	struct ts_trace_event event;
	enum ts_status st = TS_OK;

	if (ts_trace_leaves_out(plan, block, i)) {
		tally->nr_left_out++;
		return TS_OK;
	}
	tally->first_ps = TS_MIN(tally->first_ps, block->start_ps[i]);
	tally->last_ps = TS_MAX(tally->last_ps, ts_i64_add(block->start_ps[i], block->dur_ps[i]));
	if (tally->pairs && tally->pairs->nr > 0)
		st = ts_trace_pairs_expire(tally->pairs, tally->nr_events, &visitor, err);
	if (st == TS_OK && is_core && plan->async[block->op[i]] != TS_ASYNC_NONE) {
		event = ts_trace_event_of(block, i);
		st = count_async(plan, tally, &event, err);
	} else {
		plan_count(tally, block->dur_ps[i]);
	}
	tally->nr_events++;
	return st;
}

enum ts_status ts_trace_count(void *ctx, const struct ts_block *block, struct ts_error *err)
{
	struct ts_trace_plan *plan = ctx;
	struct ts_trace_tally *tally = tally_of(plan, block->line_index);
	bool is_core = block->line->kind == TS_LINE_OPS;
	enum ts_status st = tally ? TS_OK : ts_fail_nomem(err);

	TS_ASSERT_HOT(block);
	for (size_t i = 0; i < block->nr_events && st == TS_OK; i++)
		st = plan_count_event(plan, tally, block, i, is_core, err);
	return st;
}

/* Steps and modules are served first. */
static unsigned plan_class_of(const struct ts_profile *profile, size_t line)
{
	enum ts_line_kind kind = profile->lines[line].kind;

	return kind == TS_LINE_STEPS || kind == TS_LINE_MODULES ? 0 : 1;
}

/* What a choice is about: the lines of a host that are of a class. */
struct choice {
	struct ts_trace_plan *plan;
	struct ts_trace_cuts *host;
	unsigned class;
};

/* The tally of the host's line AT; NULL: the choice is not about it. */
static struct ts_trace_tally *tally_in(const struct choice *choice, size_t at)
{
	uint32_t line = choice->plan->lines[at];

	if (plan_class_of(choice->plan->profile, line) != choice->class)
		return NULL;
	return choice->plan->tallies[line];
}

/* A line's part of what is LEFT of its cut's bin, so that the parts of all lines sum to it. */
static uint64_t plan_share_of(uint64_t left, uint64_t mine, uint64_t all)
{
	uint64_t share = all ? (uint64_t)((double)left * ((double)mine / (double)all)) : 0;

	share = TS_MIN(share, TS_MIN(mine, left));
	return TS_MAX(share, left > all - mine ? left - (all - mine) : 0);
}

static void give_quotas(const struct choice *choice, uint64_t left, uint64_t all)
{
	for (size_t i = choice->host->first; i < choice->host->end; i++) {
		struct ts_trace_tally *tally = tally_in(choice, i);
		uint64_t mine;

		if (!tally)
			continue;
		mine = tally->bins[choice->host->bins[choice->class]];
		tally->quota = plan_share_of(left, mine, all);
		left -= tally->quota;
		all -= mine;
	}
}

static uint64_t count_chosen(const struct choice *choice)
{
	uint64_t nr = 0;

	for (size_t i = choice->host->first; i < choice->host->end; i++) {
		struct ts_trace_tally *tally = tally_in(choice, i);

		if (!tally)
			continue;
		tally->nr_chosen = tally->quota;
		for (size_t b = choice->host->bins[choice->class]; ++b < TS_TRACE_BINS;)
			tally->nr_chosen += tally->bins[b];
		nr += tally->nr_chosen;
	}
	return nr;
}

/* Sets the cut of a class that may write BUDGET events of the host; gives back how many it will. */
static uint64_t choose_cut(const struct choice *choice, uint64_t budget)
{
	uint64_t sums[TS_TRACE_BINS] = { 0 }, left = budget;
	uint32_t bin = TS_TRACE_BINS - 1;

	choice->host->bins[choice->class] = ALL_BINS;
	if (budget == 0)
		return 0;
	for (size_t i = choice->host->first; i < choice->host->end; i++) {
		const struct ts_trace_tally *tally = tally_in(choice, i);

		for (size_t b = 0; tally && b < TS_TRACE_BINS; b++)
			sums[b] += tally->bins[b];
	}
	while (bin > 0 && sums[bin] <= left)
		left -= sums[bin--];
	choice->host->bins[choice->class] = bin;
	give_quotas(choice, TS_MIN(left, sums[bin]), sums[bin]);
	return count_chosen(choice);
}

static uint64_t choose_host(struct ts_trace_plan *plan, struct ts_trace_cuts *host, uint64_t budget)
{
	const struct choice first = { plan, host, 0 }, rest = { plan, host, 1 };
	uint64_t nr = choose_cut(&first, budget);

	return nr + choose_cut(&rest, budget - nr);
}

/* Of the hosts that want more than LEVEL none gets it; the others have what they want. */
static bool serve_modest(const uint64_t *wants, uint64_t *shares, size_t nr, uint64_t level,
			 uint64_t *left, size_t *nr_left)
{
	bool served = false;

	for (size_t i = 0; i < nr; i++) {
		if (shares[i] != UINT64_MAX || wants[i] > level)
			continue;
		shares[i] = wants[i];
		*left -= wants[i];
		--*nr_left;
		served = true;
	}
	return served;
}

void ts_trace_shares(const uint64_t *wants, uint64_t *shares, size_t nr, uint64_t budget)
{
	size_t nr_left = nr;

	TS_ASSERT((wants && shares) || nr == 0);
	for (size_t i = 0; i < nr; i++)
		shares[i] = UINT64_MAX; /* not served yet */
	while (nr_left > 0 && serve_modest(wants, shares, nr, budget / nr_left, &budget, &nr_left))
		;
	for (size_t i = 0; i < nr; i++) {
		if (shares[i] != UINT64_MAX)
			continue;
		shares[i] = budget / nr_left;
		budget -= shares[i];
		nr_left--;
	}
}

static enum ts_status finish_pairs(struct ts_trace_plan *plan, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < plan->nr_lines && st == TS_OK; i++) {
		struct ts_trace_tally *tally = plan->tallies[i];
		struct ts_trace_visitor visitor = { tally, count_pair };

		if (!tally)
			continue;
		plan->nr_left_out += tally->nr_left_out;
		tally->nr_left_out = 0; /* so a later choice does not count an event twice */
		plan->first_ps = TS_MIN(plan->first_ps, tally->first_ps);
		plan->last_ps = TS_MAX(plan->last_ps, tally->last_ps);
		if (!tally->pairs)
			continue;
		st = ts_trace_pairs_expire(tally->pairs, UINT64_MAX, &visitor, err);
		free(tally->pairs);
		tally->pairs = NULL;
	}
	return st;
}

/* How many events of each host are there to be chosen from; of the others, where the file is of one, none. */
static void count_wants(const struct ts_trace_plan *plan, uint64_t *wants)
{
	for (uint32_t h = 0; h < plan->profile->nr_hosts; h++) {
		const struct ts_trace_cuts *host = &plan->hosts[h];

		wants[h] = plan->wants ? plan->wants->nr_events[h] : 0;
		if (plan->wants)
			continue;
		for (size_t i = host->first; i < host->end; i++) {
			const struct ts_trace_tally *tally = plan->tallies[plan->lines[i]];

			if (tally && (plan->host == TS_NONE || plan->host == h))
				wants[h] += tally->nr_events;
		}
	}
}

static enum ts_status plan_choose(struct ts_trace_plan *plan, uint64_t budget, struct ts_error *err)
{
	size_t nr = plan->profile->nr_hosts;
	uint64_t *wants = calloc(2 * nr + 1, sizeof(*wants)), *shares;

	if (!wants)
		return ts_fail_nomem(err);
	shares = wants + nr;
	count_wants(plan, wants);
	ts_trace_shares(wants, shares, nr, budget);
	plan->nr_events = plan->nr_chosen = 0;
	for (size_t i = 0; i < nr; i++) {
		plan->nr_events += wants[i];
		plan->nr_chosen += choose_host(plan, &plan->hosts[i], shares[i]);
	}
	free(wants);
	return TS_OK;
}

enum ts_status ts_trace_plan_close(struct ts_trace_plan *plan, uint64_t max_events,
				   struct ts_error *err)
{
	enum ts_status st = finish_pairs(plan, err);

	TS_ASSERT(plan && (!plan->wants || plan->wants->nr == plan->profile->nr_hosts));
	if (plan->wants) {
		plan->first_ps = plan->wants->first_ps;
		plan->last_ps = plan->wants->last_ps;
	}
	return st ? st : plan_choose(plan, max_events ? max_events : UINT64_MAX, err);
}

bool ts_trace_chooses(const struct ts_trace_plan *plan, uint32_t line, int64_t key_ps,
		      uint64_t *quota)
{
	const struct ts_trace_cuts *host = &plan->hosts[plan_host_of(plan->profile, line)];
	uint32_t cut = host->bins[plan_class_of(plan->profile, line)], bin = plan_bin_of(key_ps);

	TS_ASSERT_HOT(plan && quota);
	if (bin != cut)
		return cut != ALL_BINS && bin > cut;
	if (*quota == 0)
		return false;
	--*quota;
	return true;
}

static void plan_forget(struct ts_trace_pairs *pairs, size_t i)
{
	pairs->nr--;
	memmove(pairs->items + i, pairs->items + i + 1, (pairs->nr - i) * sizeof(pairs->items[0]));
	memmove(pairs->at + i, pairs->at + i + 1, (pairs->nr - i) * sizeof(pairs->at[0]));
}

static enum ts_status give_up_oldest(struct ts_trace_pairs *pairs,
				     const struct ts_trace_visitor *visitor, struct ts_error *err)
{
	struct ts_trace_event start = pairs->items[0];

	plan_forget(pairs, 0);
	return visitor->pair(visitor->ctx, &start, NULL, err);
}

enum ts_status ts_trace_pairs_expire(struct ts_trace_pairs *pairs, uint64_t nr,
				     const struct ts_trace_visitor *visitor, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	TS_ASSERT_HOT(pairs && visitor);
	while (st == TS_OK && pairs->nr > 0 && nr - pairs->at[0] > TS_TRACE_PAIR_AGE)
		st = give_up_oldest(pairs, visitor, err);
	return st;
}

static enum ts_status plan_add_start(struct ts_trace_pairs *pairs,
				     const struct ts_trace_event *event, uint64_t nr,
				     const struct ts_trace_visitor *visitor, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	if (pairs->nr == TS_TRACE_PAIRS)
		st = give_up_oldest(pairs, visitor, err);
	pairs->items[pairs->nr] = *event;
	pairs->at[pairs->nr++] = nr;
	return st;
}

enum ts_status ts_trace_pairs_add(struct ts_trace_pairs *pairs, const struct ts_profile *profile,
				  const struct ts_trace_event *event, uint64_t nr,
				  const struct ts_trace_visitor *visitor, bool *taken,
				  struct ts_error *err)
{
	const struct ts_op *op = &profile->ops[event->op];
	size_t i = 0;

	TS_ASSERT_HOT(pairs && profile && event && visitor);
	TS_ASSERT_HOT(taken);
	*taken = true;
	if (op->async == TS_ASYNC_START)
		return plan_add_start(pairs, event, nr, visitor, err);
	while (i < pairs->nr && pairs->items[i].op != op->partner)
		i++;
	if (i < pairs->nr) {
		struct ts_trace_event start = pairs->items[i];

		plan_forget(pairs, i);
		return visitor->pair(visitor->ctx, &start, event, err);
	}
	*taken = false;
	return TS_OK;
}
