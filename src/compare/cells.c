/* SPDX-License-Identifier: MIT */
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

static const char *column_name(struct comparing *comparing, size_t run, const char *rest)
{
	return (const char *)ts_result_text(comparing->result, "run_%zu%s", run, rest).p;
}

struct ts_compare_table ts_compare_table(struct comparing *comparing, const struct ts_sheet *fixed,
					 const struct ts_sheet *each, const char *title)
{
	struct ts_compare_table made = { NULL, fixed->nr_columns, each->nr_columns, 0 };
	struct ts_arena *arena = &comparing->result->owner->arena;
	size_t nr_columns = fixed->nr_columns + comparing->nr * each->nr_columns;
	struct ts_column *columns, *at;

	TS_ASSERT(comparing && fixed && each);
	TS_ASSERT(each->is_each && !fixed->is_each);
	for (size_t i = 0; i < made.nr_each; i++)
		made.nr_base += !each->columns[i].of_others;
	columns = ts_arena_array(arena, nr_columns, sizeof(*columns));
	if (!columns) {
		comparing->result->owner->failed = true;
		return made;
	}
	memcpy(columns, fixed->columns, made.nr_fixed * sizeof(*columns));
	at = columns + made.nr_fixed;
	for (size_t run = 0; run < comparing->nr; run++)
		for (size_t i = 0; i < made.nr_each; i++) {
			if (run == 0 && each->columns[i].of_others)
				continue;
			*at = each->columns[i];
			at->name = column_name(comparing, run, at->name);
			if (at->label && at->label[0] == '\0')
				at->label = comparing->labels[run];
			if (!at++->name)
				return made; /* the arena knows */
		}
	made.table = ts_result_table(comparing->result, fixed->name, title, columns,
				     (size_t)(at - columns));
	return made;
}

void ts_compare_put(const struct ts_compare_table *table, struct ts_value *row, size_t run,
		    const struct ts_value *cells)
{
	size_t first = run == 0 ? 0 : table->nr_base + (run - 1) * table->nr_each;

	TS_ASSERT(table && row && cells);
	TS_ASSERT(run < TS_COMPARE_MAX);
	memcpy(row + table->nr_fixed + first, cells,
	       (run == 0 ? table->nr_base : table->nr_each) * sizeof(*cells));
}
