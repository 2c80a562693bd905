/* SPDX-License-Identifier: Apache-2.0 */
/* What the tables of a comparison are made of: columns for each run, states, times. */
#include "compare/parts.h"

#include "base/check.h"

const char *ts_compare_state_name(enum state state)
{
	static const char *const names[NR_STATES] = { NULL,   "same",	"new",
						      "gone", "slower", "faster" };

	TS_ASSERT((size_t)state < NR_STATES);
	return names[state];
}

enum state ts_compare_state(double base, double other, double time_ps)
{
	double change = other - base;

	if (isnan(base))
		return isnan(other) ? STATE_NONE : STATE_NEW;
	if (isnan(other))
		return STATE_GONE;
	if (!(fabs(change) >= COMPARE_SAME * base) || fabs(change) < COMPARE_SPECK * time_ps)
		return STATE_SAME;
	return change > 0 ? STATE_SLOWER : STATE_FASTER;
}

struct ts_value ts_compare_ps(double ps)
{
	return fabs(ps) < 9e18 ? ts_int(llround(ps)) : ts_null();
}

static bool is_of_others(const struct ts_column *column)
{
	return ts_bytes_starts(ts_bytes_of(column->name), "_change") ||
	       ts_bytes_is(ts_bytes_of(column->name), "_state");
}

static const char *column_name(struct comparing *comparing, size_t run, const char *rest)
{
	return (const char *)ts_result_text(comparing->result, "run_%zu%s", run, rest).p;
}

struct ts_compare_table ts_compare_table(struct comparing *comparing, const char *name,
					 const char *title, const struct ts_column *fixed,
					 size_t nr_fixed, const struct ts_column *each,
					 size_t nr_each)
{
	struct ts_compare_table made = { NULL, nr_fixed, nr_each, 0 };
	struct ts_arena *arena = &comparing->result->owner->arena;
	struct ts_column *columns, *at;

	TS_ASSERT(comparing && name && fixed && each);
	TS_ASSERT(nr_fixed > 0 && nr_each > 0);
	for (size_t i = 0; i < nr_each; i++)
		made.nr_base += !is_of_others(&each[i]);
	columns = ts_arena_array(arena, nr_fixed + comparing->nr * nr_each, sizeof(*columns));
	if (!columns) {
		comparing->result->owner->failed = true;
		return made;
	}
	memcpy(columns, fixed, nr_fixed * sizeof(*columns));
	at = columns + nr_fixed;
	for (size_t run = 0; run < comparing->nr; run++)
		for (size_t i = 0; i < nr_each; i++) {
			if (run == 0 && is_of_others(&each[i]))
				continue;
			*at = each[i];
			at->name = column_name(comparing, run, each[i].name);
			if (at->label && at->label[0] == '\0')
				at->label = comparing->labels[run];
			if (!at++->name)
				return made; /* the arena knows */
		}
	made.table =
		ts_result_table(comparing->result, name, title, columns, (size_t)(at - columns));
	return made;
}

struct ts_value *ts_compare_cells(const struct ts_compare_table *table, struct ts_value *row,
				  size_t run)
{
	TS_ASSERT(table && row);
	TS_ASSERT(run < TS_COMPARE_MAX);
	return row + table->nr_fixed + (run == 0 ? 0 : table->nr_base + (run - 1) * table->nr_each);
}
