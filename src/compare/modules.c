/* SPDX-License-Identifier: MIT */
/* Modules and findings of the runs: which are new, which are gone. */
#include "compare/parts.h"

#include "base/check.h"
#include "base/order.h"
#include "result/schema/ops.def"

#include <stdlib.h>

/* Rows of several runs under one key; what a run has of it. */
struct item {
	struct ts_bytes key, title;
	int64_t count[TS_COMPARE_MAX]; /* 0: not there */
	double amount[TS_COMPARE_MAX]; /* NaN: unknown */
	uint64_t hash[TS_COMPARE_MAX]; /* of a module: its programs */
};

struct items {
	struct item *items;
	size_t nr, cap;
	struct ts_strmap map;
};

static struct item *modules_item_of(struct items *items, struct ts_bytes key)
{
	uint32_t at = ts_strmap_find(&items->map, key);
	struct item *item;

	if (at != TS_NONE)
		return &items->items[at];
	if (!ts_grow(&items->items, &items->cap, items->nr + 1, sizeof(*item)) ||
	    !ts_strmap_set(&items->map, key, (uint32_t)items->nr))
		return NULL;
	item = &items->items[items->nr++];
	item->key = key;
	for (size_t r = 0; r < TS_COMPARE_MAX; r++)
		item->amount[r] = NAN;
	return item;
}

static void modules_add(struct item *item, size_t run, double amount, int64_t count)
{
	if (!isnan(amount))
		item->amount[run] = isnan(item->amount[run]) ? amount : item->amount[run] + amount;
	item->count[run] += count;
}

static void items_release(struct items *items)
{
	ts_strmap_release(&items->map);
	free(items->items);
}

/* TS_COMPARE_MAX of a row are NaN or a run's. */
static double most(const struct item *item)
{
	double amount = 0;

	for (size_t r = 0; r < TS_COMPARE_MAX; r++)
		amount = fmax(amount, item->amount[r]);
	return amount;
}

TS_ORDER(by_amount, struct item, TS_DOWN_BY(most) TS_UP(key))

static enum ts_status modules_add_modules(struct comparing *comparing, size_t run,
					  struct items *items, struct ts_error *err)
{
	const struct ts_measured *measured = &comparing->measured[run];

	for (size_t i = 0; measured->modules && i < measured->modules->nr_rows; i++) {
		int64_t nr =
			ts_value_int(TS_CELL_OF(measured->modules, ops_modules, i, executions));
		struct ts_value program = TS_CELL_OF(measured->modules, ops_modules, i, program_id);
		struct item *item;

		if (nr <= 0) /* compiled, and not run while we looked */
			continue;
		item = modules_item_of(
			items, ts_value_text(TS_CELL_OF(measured->modules, ops_modules, i, name)));
		if (!item)
			return ts_fail_nomem(err);
		modules_add(item, run,
			    ts_value_number(
				    TS_CELL_OF(measured->modules, ops_modules, i, total_time_ps)) /
				    measured->parts,
			    nr);
		if (program.type == TS_VALUE_ID) /* in whatever order */
			item->hash[run] += program.as.u * UINT64_C(0x9e3779b97f4a7c15);
	}
	return TS_OK;
}

static const char *module_state(const struct item *item, size_t run)
{
	if (item->count[0] == 0)
		return item->count[run] == 0 ? NULL : "new";
	if (item->count[run] == 0)
		return "gone";
	return item->hash[run] == item->hash[0] ? "the same program" : "compiled anew";
}

#define MODULE_CELLS(X) X(module, ts_text(item->key))
#define MODULE_EACH_CELLS(X) \
	X(executions, item->count[r] == 0 ? ts_null() : ts_int(item->count[r])) \
	X(ps, ts_compare_ps(item->amount[r])) \
	X(change_ps, ts_compare_ps(item->amount[r] - item->amount[0])) \
	X(state, state ? ts_text(ts_bytes_of(state)) : ts_null())

static void modules_put_module(struct comparing *comparing, const struct ts_compare_table *table,
			       const struct item *item)
{
	struct ts_value *row;

	COMPARE_ROW(comparing, table, compare_modules, row, MODULE_CELLS);
	for (size_t r = 0; r < comparing->nr; r++) {
		const char *state = module_state(item, r);

		COMPARE_RUN(table, compare_modules_each, row, r, MODULE_EACH_CELLS);
	}
}

enum ts_status ts_compare_modules(struct comparing *comparing, struct ts_error *err)
{
	struct items items = { NULL, 0, 0, { NULL, 0, 0 } };
	struct ts_compare_table table;
	enum ts_status st = TS_OK;

	TS_ASSERT(comparing);
	TS_ASSERT(comparing->nr > 1 && comparing->nr <= TS_COMPARE_MAX);
	for (size_t r = 0; st == TS_OK && r < comparing->nr; r++)
		st = modules_add_modules(comparing, r, &items, err);
	if (st == TS_OK)
		TS_SORT(items.items, items.nr, by_amount);
	if (st == TS_OK) {
		table = ts_compare_table(comparing, &ts_sheet_compare_modules,
					 &ts_sheet_compare_modules_each,
					 comparing->by_step ? ts_sheet_compare_modules.title
							    : "Modules, time of a core");
		for (size_t i = 0; table.table && i < items.nr; i++)
			modules_put_module(comparing, &table, &items.items[i]);
		if (table.table)
			table.table->text_rows = 5;
	}
	items_release(&items);
	return st;
}

/* By rule: the op that a finding names has another number in each compilation. */
static enum ts_status modules_add_findings(struct comparing *comparing, size_t run,
					   struct items *items, struct ts_error *err)
{
	const struct ts_result *doctor = comparing->measured[run].doctor;

	for (size_t i = 0; doctor && i < doctor->nr_findings; i++) {
		const struct ts_finding *finding = &doctor->findings[i];
		struct item *item = modules_item_of(items, ts_bytes_of(finding->rule));

		if (!item)
			return ts_fail_nomem(err);
		if (item->title.n == 0)
			item->title = finding->title;
		modules_add(item, run, finding->impact_share, 1);
	}
	return TS_OK;
}

static const char *finding_state(const struct item *item, size_t run)
{
	if (item->count[0] == 0)
		return item->count[run] == 0 ? NULL : "new";
	return item->count[run] == 0 ? "gone" : "unchanged";
}

#define FINDING_CELLS(X) \
	X(rule, ts_text(item->key)) \
	X(title, ts_text_or_null(item->title))
#define FINDING_EACH_CELLS(X) \
	X(count, ts_int(item->count[r])) \
	X(impact_pct, ts_share_pct(item->amount[r])) \
	X(state, state ? ts_text(ts_bytes_of(state)) : ts_null())

static void modules_put_finding(struct comparing *comparing, const struct ts_compare_table *table,
				const struct item *item)
{
	struct ts_value *row;

	COMPARE_ROW(comparing, table, compare_findings, row, FINDING_CELLS);
	for (size_t r = 0; r < comparing->nr; r++) {
		const char *state = finding_state(item, r);

		COMPARE_RUN(table, compare_findings_each, row, r, FINDING_EACH_CELLS);
	}
}

enum ts_status ts_compare_findings(struct comparing *comparing, struct ts_error *err)
{
	struct items items = { NULL, 0, 0, { NULL, 0, 0 } };
	struct ts_compare_table table;
	enum ts_status st = TS_OK;

	TS_ASSERT(comparing);
	TS_ASSERT(comparing->nr > 1 && comparing->nr <= TS_COMPARE_MAX);
	for (size_t r = 0; st == TS_OK && r < comparing->nr; r++)
		st = modules_add_findings(comparing, r, &items, err);
	if (st == TS_OK)
		TS_SORT(items.items, items.nr, by_amount);
	if (st == TS_OK) {
		table = ts_compare_table(comparing, &ts_sheet_compare_findings,
					 &ts_sheet_compare_findings_each,
					 ts_sheet_compare_findings.title);
		for (size_t i = 0; table.table && i < items.nr; i++)
			modules_put_finding(comparing, &table, &items.items[i]);
	}
	items_release(&items);
	return st;
}
