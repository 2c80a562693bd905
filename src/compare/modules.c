/* SPDX-License-Identifier: Apache-2.0 */
/* Modules and findings of the runs: which are new, which are gone. */
#include "compare/parts.h"

#include "base/check.h"

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

static struct item *item_of(struct items *items, struct ts_bytes key)
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

static void add(struct item *item, size_t run, double amount, int64_t count)
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

static double most(const struct item *item, size_t nr)
{
	double amount = 0;

	for (size_t r = 0; r < nr; r++)
		amount = fmax(amount, item->amount[r]);
	return amount;
}

/* The largest first; TS_COMPARE_MAX of a row are NaN or a run's. */
static int by_amount(const void *x, const void *y)
{
	double a = most(x, TS_COMPARE_MAX), b = most(y, TS_COMPARE_MAX);

	if (a != b)
		return a > b ? -1 : 1;
	return ts_bytes_cmp(((const struct item *)x)->key, ((const struct item *)y)->key);
}

static enum ts_status add_modules(struct comparing *comparing, size_t run, struct items *items,
				  struct ts_error *err)
{
	const struct ts_measured *measured = &comparing->measured[run];

	for (size_t i = 0; measured->modules && i < measured->modules->nr_rows; i++) {
		int64_t nr = ts_cell_int(measured->modules, i, "executions");
		struct ts_value program = ts_cell(measured->modules, i, "program_id");
		struct item *item;

		if (nr <= 0) /* compiled, and not run while we looked */
			continue;
		item = item_of(items, ts_cell_text(measured->modules, i, "name"));
		if (!item)
			return ts_fail_nomem(err);
		add(item, run,
		    ts_cell_number(measured->modules, i, "total_time_ps") / measured->parts, nr);
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

static const struct ts_column module_columns[] = { { "module", TS_MEASURED, "module" } };
static const struct ts_column module_each[] = {
	{ "_executions", TS_MEASURED, NULL },
	{ "_ps", TS_MEASURED, "" },
	{ "_change_ps", TS_DERIVED, "change" },
	{ "_state", TS_DERIVED, "is" },
};

static void put_module(struct comparing *comparing, const struct ts_compare_table *table,
		       const struct item *item, struct ts_value *row)
{
	row[0] = ts_text(item->key);
	for (size_t r = 0; r < comparing->nr; r++) {
		struct ts_value *cells = ts_compare_cells(table, row, r);
		const char *state = module_state(item, r);

		cells[0] = item->count[r] == 0 ? ts_null() : ts_int(item->count[r]);
		cells[1] = ts_compare_ps(item->amount[r]);
		if (r == 0)
			continue;
		cells[2] = ts_compare_ps(item->amount[r] - item->amount[0]);
		cells[3] = state ? ts_text(ts_bytes_of(state)) : ts_null();
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
		st = add_modules(comparing, r, &items, err);
	if (st == TS_OK && items.nr > 0)
		qsort(items.items, items.nr, sizeof(*items.items), by_amount);
	if (st == TS_OK) {
		table = ts_compare_table(comparing, "modules",
					 comparing->by_step ? "Modules, time of a step and core"
							    : "Modules, time of a core",
					 module_columns, TS_NELEM(module_columns), module_each,
					 TS_NELEM(module_each));
		for (size_t i = 0; table.table && i < items.nr; i++) {
			struct ts_value *row = ts_table_row(comparing->result, table.table);

			if (row)
				put_module(comparing, &table, &items.items[i], row);
		}
		if (table.table)
			table.table->text_rows = 5;
	}
	items_release(&items);
	return st;
}

/* By rule: the op that a finding names has another number in each compilation. */
static enum ts_status add_findings(struct comparing *comparing, size_t run, struct items *items,
				   struct ts_error *err)
{
	const struct ts_result *doctor = comparing->measured[run].doctor;

	for (size_t i = 0; doctor && i < doctor->nr_findings; i++) {
		const struct ts_finding *finding = &doctor->findings[i];
		struct item *item = item_of(items, ts_bytes_of(finding->rule));

		if (!item)
			return ts_fail_nomem(err);
		if (item->title.n == 0)
			item->title = finding->title;
		add(item, run, finding->impact_share, 1);
	}
	return TS_OK;
}

static const char *finding_state(const struct item *item, size_t run)
{
	if (item->count[0] == 0)
		return item->count[run] == 0 ? NULL : "new";
	return item->count[run] == 0 ? "gone" : "still there";
}

static const struct ts_column finding_columns[] = {
	{ "rule", TS_DERIVED, "finding" },
	{ "title", TS_DERIVED, "says" },
};
static const struct ts_column finding_each[] = {
	{ "_count", TS_DERIVED, NULL },
	{ "_impact_pct", TS_DERIVED, "" },
	{ "_state", TS_DERIVED, "is" },
};

static void put_finding(struct comparing *comparing, const struct ts_compare_table *table,
			const struct item *item, struct ts_value *row)
{
	row[0] = ts_text(item->key);
	row[1] = ts_text_or_null(item->title);
	for (size_t r = 0; r < comparing->nr; r++) {
		struct ts_value *cells = ts_compare_cells(table, row, r);
		const char *state = finding_state(item, r);

		cells[0] = ts_int(item->count[r]);
		cells[1] = ts_share_pct(item->amount[r]);
		if (r > 0)
			cells[2] = state ? ts_text(ts_bytes_of(state)) : ts_null();
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
		st = add_findings(comparing, r, &items, err);
	if (st == TS_OK && items.nr > 0)
		qsort(items.items, items.nr, sizeof(*items.items), by_amount);
	if (st == TS_OK) {
		table = ts_compare_table(
			comparing, "findings",
			"Findings: the share of core time that each could give back at most",
			finding_columns, TS_NELEM(finding_columns), finding_each,
			TS_NELEM(finding_each));
		for (size_t i = 0; table.table && i < items.nr; i++) {
			struct ts_value *row = ts_table_row(comparing->result, table.table);

			if (row)
				put_finding(comparing, &table, &items.items[i], row);
		}
	}
	items_release(&items);
	return st;
}
