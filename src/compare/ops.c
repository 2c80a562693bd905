/* SPDX-License-Identifier: MIT */
/*
 * Which ops made the difference. Ops of a key (match.c) are one row: a compiler makes more or fewer
 * of them. What one run only has is looked at again: it may be the same op under another module's
 * name, or with another shape, where only one can be meant.
 *
 * The time of an op is that of the moments which are its alone, shared out over steps and cores; so ops and
 * the time without ops (idle, input, compilation) sum to the difference of the step. What is left over is
 * the time of ops outside of steps, and of what XProf counts as no op.
 */
#include "compare/parts.h"

#include "base/check.h"
#include "base/order.h"
#include "base/units.h"
#include "result/schema/ops.def"
#include "result/schema/compare.def"

#include <stdlib.h>

struct group {
	struct op_key key;
	struct ts_bytes other_shape; /* after the third look */
	double ps[TS_COMPARE_MAX];   /* of a step and core; NaN: not there */
	double nr[TS_COMPARE_MAX];   /* executions, likewise */
	double largest_ps;	     /* of its ops: the key has that one's name and source */
	double change_ps;	     /* the largest of the runs */
	bool merged;		     /* into another */
};

struct groups {
	struct group *items;
	size_t nr, cap;
};

typedef struct ts_bytes text_of(const struct op_key *key, struct ts_arena *arena);

static struct ts_bytes key_without_module(const struct op_key *key, struct ts_arena *arena)
{
	return ts_arena_printf(arena, "%.*s\n%.*s\n%.*s", TS_ARG(key->category),
			       TS_ARG(ts_compare_bare_scope(key->scope)), TS_ARG(key->shape));
}

/* Only what has a scope: all copies are alike without one. And the whole of it: a dot_general of
 * another function with another shape is another thing. */
static struct ts_bytes key_without_shape(const struct op_key *key, struct ts_arena *arena)
{
	if (key->scope.n == 0)
		return (struct ts_bytes){ NULL, 0 };
	return ts_arena_printf(arena, "%.*s\n%.*s", TS_ARG(key->category), TS_ARG(key->scope));
}

static struct group *compare_ops_add_group(struct groups *groups, const struct op_key *key)
{
	struct group *group;

	if (!ts_grow(&groups->items, &groups->cap, groups->nr + 1, sizeof(*group)))
		return NULL;
	group = &groups->items[groups->nr++];
	group->key = *key;
	for (size_t r = 0; r < TS_COMPARE_MAX; r++)
		group->ps[r] = NAN;
	return group;
}

static void add_time(struct group *group, size_t run, double ps, double nr)
{
	group->ps[run] = isnan(group->ps[run]) ? ps : group->ps[run] + ps;
	group->nr[run] += nr;
}

static struct group *compare_ops_group_of(struct groups *groups, struct ts_strmap *map,
					  const struct op_key *key, struct ts_arena *arena)
{
	struct ts_bytes text =
		ts_arena_printf(arena, "%.*s\n%.*s\n%.*s\n%.*s", TS_ARG(key->category),
				TS_ARG(key->scope), TS_ARG(key->shape), TS_ARG(key->module));
	uint32_t at = text.p ? ts_strmap_find(map, text) : TS_NONE;

	if (at != TS_NONE)
		return &groups->items[at];
	if (!text.p || !ts_strmap_set(map, text, (uint32_t)groups->nr))
		return NULL;
	return compare_ops_add_group(groups, key);
}

static enum ts_status compare_ops_add_run(struct comparing *comparing, size_t run,
					  struct groups *groups, struct ts_strmap *map,
					  struct ts_error *err)
{
	const struct ts_measured *measured = &comparing->measured[run];

	for (size_t i = 0; measured->ops && i < measured->ops->nr_rows; i++) {
		double ps = ts_value_number(TS_CELL_OF(measured->ops, ops_ops, i, exclusive_ps)) /
			    measured->parts;
		double nr = ts_value_number(TS_CELL_OF(measured->ops, ops_ops, i, occurrences)) /
			    measured->parts;
		struct op_key key = ts_compare_op_key(comparing->runs[run].profile, measured->ops,
						      i, &comparing->scratch);
		struct group *group;

		if (!isfinite(ps))
			continue;
		group = compare_ops_group_of(groups, map, &key, &comparing->scratch);
		if (!group)
			return ts_fail_nomem(err);
		add_time(group, run, ps, nr);
		if (ps > group->largest_ps) {
			group->largest_ps = ps;
			group->key.name = key.name;
			group->key.source = key.source;
		}
	}
	return TS_OK;
}

static bool is_in_all(const struct group *group, size_t nr)
{
	for (size_t r = 0; r < nr; r++)
		if (isnan(group->ps[r]))
			return false;
	return true;
}

/* Groups of one weaker key that are not in all runs; no two in one run, or there is doubt. */
struct class
{
	uint32_t first;
	uint32_t runs; /* a bit for each */
	bool doubtful;
};

static uint32_t runs_of(const struct group *group, size_t nr)
{
	uint32_t runs = 0;

	for (size_t r = 0; r < nr; r++)
		runs |= isnan(group->ps[r]) ? 0 : UINT32_C(1) << r;
	return runs;
}

static void compare_ops_merge(struct group *into, struct group *from, size_t nr)
{
	for (size_t r = 0; r < nr; r++)
		if (!isnan(from->ps[r]))
			add_time(into, r, from->ps[r], from->nr[r]);
	if (!ts_bytes_eq(into->key.shape, from->key.shape))
		into->other_shape = from->key.shape;
	from->merged = true;
}

/* A class a group; TS_NONE: it needs no other, or has no such key. */
static enum ts_status classify(struct comparing *comparing, struct groups *groups, text_of *text,
			       struct class *classes, uint32_t *class_of, struct ts_error *err)
{
	struct ts_strmap map = { NULL, 0, 0 };
	bool good = true;

	for (uint32_t i = 0; good && i < groups->nr; i++) {
		const struct group *group = &groups->items[i];
		uint32_t runs = runs_of(group, comparing->nr), at;
		struct ts_bytes key = { NULL, 0 };

		class_of[i] = TS_NONE;
		if (!group->merged && !is_in_all(group, comparing->nr))
			key = text(&group->key, &comparing->scratch);
		if (key.n == 0)
			continue;
		at = ts_strmap_find(&map, key);
		if (at == TS_NONE) {
			at = i;
			classes[i] = (struct class){ .first = i };
			good = ts_strmap_set(&map, key, i);
		}
		classes[at].doubtful |= (classes[at].runs & runs) != 0;
		classes[at].runs |= runs;
		class_of[i] = at;
	}
	ts_strmap_release(&map);
	return good && !comparing->scratch.failed ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status compare_ops_look_again(struct comparing *comparing, struct groups *groups,
					     text_of *text, struct ts_error *err)
{
	struct class *classes = calloc(groups->nr + 1, sizeof(*classes));
	uint32_t *class_of = calloc(groups->nr + 1, sizeof(*class_of));
	enum ts_status st = classes && class_of ? TS_OK : ts_fail_nomem(err);

	if (st == TS_OK)
		st = classify(comparing, groups, text, classes, class_of, err);
	for (uint32_t i = 0; st == TS_OK && i < groups->nr; i++)
		if (class_of[i] != TS_NONE && class_of[i] != i && !classes[class_of[i]].doubtful)
			compare_ops_merge(&groups->items[class_of[i]], &groups->items[i],
					  comparing->nr);
	free(classes);
	free(class_of);
	return st;
}

TS_ORDER(compare_ops_by_change, struct group,
	 TS_UP(merged) TS_DOWN_OF(fabs, change_ps) TS_DOWN_OF(ts_or_zero, ps[0]) TS_UP(key.scope)
		 TS_UP(key.category) TS_UP(key.shape) TS_UP(key.module))

/* Those that were merged away are at the end, and no longer counted. */
static void rank_groups(struct groups *groups, size_t nr_runs)
{
	for (size_t i = 0; i < groups->nr; i++)
		for (size_t r = 1; r < nr_runs; r++) {
			struct group *group = &groups->items[i];
			double change = ts_or_zero(group->ps[r]) - ts_or_zero(group->ps[0]);

			if (fabs(change) > fabs(group->change_ps))
				group->change_ps = change;
		}
	TS_SORT(groups->items, groups->nr, compare_ops_by_change);
	while (groups->nr > 0 && groups->items[groups->nr - 1].merged)
		groups->nr--;
}

_Static_assert((sizeof(struct ts_compare_ops_row) +
		TS_COMPARE_MAX * sizeof(struct ts_compare_ops_each_row)) /
			       sizeof(struct ts_value) <=
		       TS_MAX_COLUMNS,
	       "the widest table of a comparison has room for every run");

/* The share of the difference between the steps; unknown where they do not differ. */
static double compare_ops_share_of(const struct comparing *comparing, size_t run, double change_ps)
{
	double base = comparing->measured[0].time_ps, all = comparing->measured[run].time_ps - base;

	return fabs(all) > COMPARE_SPECK * base ? change_ps / all : NAN;
}

static enum state compare_ops_state_of(const struct comparing *comparing, const struct group *group,
				       size_t run)
{
	return ts_compare_state(group->ps[0], group->ps[run], comparing->measured[0].time_ps);
}

#define OP_EACH_CELLS(X) \
	X(ps, ts_compare_ps(group->ps[r])) \
	X(executions, isnan(group->ps[r]) ? ts_null() : ts_real(group->nr[r])) \
	X(change_ps, ts_compare_ps(change)) \
	X(change_pct, ts_share_pct(compare_ops_share_of(comparing, r, change))) \
	X(state, state ? ts_text(ts_bytes_of(state)) : ts_null())

static void put_op_times(struct comparing *comparing, const struct ts_compare_table *table,
			 const struct group *group, struct ts_value *row)
{
	for (size_t r = 0; r < comparing->nr; r++) {
		double change = ts_or_zero(group->ps[r]) - ts_or_zero(group->ps[0]);
		const char *state =
			ts_compare_state_name(compare_ops_state_of(comparing, group, r));

		COMPARE_RUN(table, compare_ops_each, row, r, OP_EACH_CELLS);
	}
}

static bool compare_ops_is_changed(const struct comparing *comparing, const struct group *group)
{
	for (size_t r = 1; r < comparing->nr; r++)
		if (compare_ops_state_of(comparing, group, r) > STATE_SAME)
			return true;
	return false;
}

#define TEXT_OPS 10

#define OP_CELLS(X) \
	X(op, ts_text(key->scope.n ? key->scope : key->name)) \
	X(category, ts_text_or_null(key->category)) \
	X(shape, copied(comparing, key->shape)) \
	X(other_shape, copied(comparing, group->other_shape)) \
	X(module, ts_text_or_null(key->module)) \
	X(framework_op, key->by_name ? ts_null() : ts_text_or_null(key->scope)) \
	X(source, ts_text_or_null(key->source)) \
	X(name, ts_text_or_null(key->name))

/* Of the scratch arena's, into the results'. */
static struct ts_value copied(struct comparing *comparing, struct ts_bytes text)
{
	return text.n ? ts_text(ts_result_text(comparing->result, "%.*s", TS_ARG(text)))
		      : ts_null();
}

static void compare_ops_put_ops(struct comparing *comparing, const struct groups *groups)
{
	struct ts_compare_table table =
		ts_compare_table(comparing, &ts_sheet_compare_ops, &ts_sheet_compare_ops_each,
				 ts_sheet_compare_ops.title);
	size_t nr_changed = 0;

	for (size_t i = 0; table.table && i < groups->nr; i++) {
		const struct group *group = &groups->items[i];
		const struct op_key *key = &group->key;
		struct ts_value *row;

		COMPARE_ROW(comparing, &table, compare_ops, row, OP_CELLS);
		put_op_times(comparing, &table, group, row);
		nr_changed += compare_ops_is_changed(comparing, group);
	}
	if (table.table && nr_changed == 0)
		table.table->title = NULL; /* nothing to show */
	else if (table.table)
		table.table->text_rows = TS_MIN(nr_changed, TEXT_OPS);
}

/* What the difference of a run is made of; the last three by hand. */
enum part {
	PART_SLOWER,
	PART_FASTER,
	PART_NEW,
	PART_GONE,
	PART_SAME,
	PART_COMPILATION,
	PART_INPUT,
	PART_LAUNCH,
	PART_IDLE,
	PART_LEFT_OVER,
	PART_ALL,
	NR_PARTS
};

static const struct {
	const char *name, *title;
} parts[NR_PARTS] = {
	{ "slower", "ops that are slower" },
	{ "faster", "ops that are faster" },
	{ "new", "ops that are new" },
	{ "gone", "ops that are gone" },
	{ "same", "ops as before" },
	{ "compilation", "no op: compilation" },
	{ "input", "no op: input" },
	{ "launch", "no op: launch" },
	{ "idle", "no op: idle" },
	{ "left_over", "unattributed" },
	{ "all", "total" },
};

static const enum part part_of_state[NR_STATES] = {
	[STATE_NONE] = PART_SAME, [STATE_SAME] = PART_SAME,	[STATE_NEW] = PART_NEW,
	[STATE_GONE] = PART_GONE, [STATE_SLOWER] = PART_SLOWER, [STATE_FASTER] = PART_FASTER,
};

static void compare_ops_sum_parts(const struct comparing *comparing, const struct groups *groups,
				  size_t run, double ps[NR_PARTS])
{
	const struct ts_measured *base = &comparing->measured[0],
				 *measured = &comparing->measured[run];

	for (size_t i = 0; i < groups->nr; i++) {
		const struct group *group = &groups->items[i];

		ps[part_of_state[compare_ops_state_of(comparing, group, run)]] +=
			ts_or_zero(group->ps[run]) - ts_or_zero(group->ps[0]);
	}
	for (enum ts_bucket b = TS_FIRST_PAUSE; b < TS_NR_BUCKETS; b++)
		ps[PART_COMPILATION + b - TS_FIRST_PAUSE] =
			ts_or_zero(measured->bucket_ps[b] - base->bucket_ps[b]);
	ps[PART_ALL] = measured->time_ps - base->time_ps;
	ps[PART_LEFT_OVER] = ps[PART_ALL];
	for (int p = 0; p < PART_LEFT_OVER; p++)
		ps[PART_LEFT_OVER] -= ps[p];
}

/* Less than a picosecond is rounding. The difference itself always has a row. */
static bool compare_ops_is_zero(const struct comparing *comparing, double ps[][NR_PARTS], int part)
{
	for (size_t r = 1; r < comparing->nr; r++)
		if (fabs(ps[r][part]) >= 1 || (part == PART_ALL && ps[r][part] == 0))
			return false;
	return true;
}

#define PART_CELLS(X) \
	X(part, ts_text(ts_bytes_of(parts[part].name))) \
	X(title, ts_text(ts_bytes_of(parts[part].title)))

#define PART_EACH_CELLS(X) \
	X(change_ps, ts_compare_ps(ps[r][part])) \
	X(change_pct, ts_share_pct(compare_ops_share_of(comparing, r, ps[r][part])))

static void compare_ops_put_part(struct comparing *comparing, const struct ts_compare_table *table,
				 double ps[][NR_PARTS], int part)
{
	struct ts_value *row;

	COMPARE_ROW(comparing, table, compare_difference, row, PART_CELLS);
	for (size_t r = 1; r < comparing->nr; r++)
		COMPARE_RUN(table, compare_difference_each, row, r, PART_EACH_CELLS);
}

static void compare_ops_put_parts(struct comparing *comparing, const struct groups *groups)
{
	struct ts_compare_table table = ts_compare_table(
		comparing, &ts_sheet_compare_difference, &ts_sheet_compare_difference_each,
		comparing->by_step ? "Difference of the mean step" : "Difference of the wall time");
	double ps[TS_COMPARE_MAX][NR_PARTS] = { { 0 } };

	for (size_t r = 1; r < comparing->nr; r++)
		compare_ops_sum_parts(comparing, groups, r, ps[r]);
	for (int zero = 0; table.table && zero < 2; zero++) { /* people see those that are not */
		for (int p = 0; p < NR_PARTS; p++)
			if (compare_ops_is_zero(comparing, ps, p) == zero)
				compare_ops_put_part(comparing, &table, ps, p);
		if (!zero && table.table->nr_rows > 0)
			table.table->text_rows = table.table->nr_rows;
		else if (!zero)
			table.table->title = NULL;
	}
}

enum ts_status ts_compare_ops(struct comparing *comparing, struct ts_error *err)
{
	struct groups groups = { NULL, 0, 0 };
	struct ts_strmap map = { NULL, 0, 0 };
	enum ts_status st = TS_OK;

	TS_ASSERT(comparing);
	TS_ASSERT(comparing->nr > 1 && comparing->nr <= TS_COMPARE_MAX);
	for (size_t r = 0; st == TS_OK && r < comparing->nr; r++)
		st = compare_ops_add_run(comparing, r, &groups, &map, err);
	if (st == TS_OK)
		st = compare_ops_look_again(comparing, &groups, key_without_module, err);
	if (st == TS_OK)
		st = compare_ops_look_again(comparing, &groups, key_without_shape, err);
	if (st == TS_OK) {
		rank_groups(&groups, comparing->nr);
		compare_ops_put_parts(comparing, &groups);
		compare_ops_put_ops(comparing, &groups);
	}
	ts_strmap_release(&map);
	free(groups.items);
	return st;
}
