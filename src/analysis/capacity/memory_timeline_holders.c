/*
 * Who held memory at the peak, by owner and by module, and the blocks it was made of; the largest
 * allocations of the capture, and what steps took and kept.
 */
#include "analysis/capacity/memory_timeline.h"

#define MAX_HOLDERS 50 /* rows a device */
#define MAX_BLOCKS  20
#define MODULE	    "nn.Module: " /* in front of a module's name */

struct ts_value mt_host_cell(const struct mt_view *view)
{
	return ts_text_or_null(view->ctx->profile->hosts[view->host->host].name);
}

/* --- owners */

enum { OWNER_COLUMNS = 6 };
#define OWNER_COLUMN_ROWS                                                                 \
	{ "op", TS_MEASURED, "operator" }, { "outer_op", TS_MEASURED, NULL },             \
		{ "module", TS_MEASURED, "module" }, { "annotation", TS_MEASURED, NULL }, \
		{ "source", TS_MEASURED, "source" }, { "phase", TS_MEASURED, "phase" }

struct ts_value mt_op_cell(const struct mt_view *view, uint32_t op)
{
	return op == TS_NONE ? ts_null() : ts_text_or_null(view->ctx->profile->ops[op].name);
}

struct ts_value mt_module_cell(const struct mt_view *view, uint32_t op)
{
	struct ts_bytes name;

	if (op == TS_NONE)
		return ts_null();
	name = view->ctx->profile->ops[op].name;
	return ts_text_or_null(ts_bytes_cut(name, strlen(MODULE), name.n));
}

static bool is_others(const struct mt_owner *owner)
{
	return owner->phase == MT_NR_PHASES;
}

static struct ts_value phase_cell(const struct mt_owner *owner)
{
	static const char *const names[MT_NR_PHASES] = {
		[MT_FORWARD] = "forward",
		[MT_IN_BACKWARD] = "backward",
		[MT_IN_OPTIMIZER] = "optimizer",
		[MT_IN_INPUT] = "input",
	};
	const char *name = is_others(owner) ? NULL : names[owner->phase];

	return name ? ts_text(ts_bytes_of(name)) : ts_null();
}

static void put_owner(const struct mt_view *view, struct ts_value *cells,
		      const struct mt_owner *owner)
{
	cells[0] = is_others(owner) ? ts_text(TS_LIT("(others)")) : mt_op_cell(view, owner->op);
	cells[1] = mt_op_cell(view, owner->outer_op);
	cells[2] = mt_module_cell(view, owner->module);
	cells[3] = mt_op_cell(view, owner->annotation);
	cells[4] = mt_op_cell(view, owner->source);
	cells[5] = phase_cell(owner);
}

static int by_u32(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int by_owner(const struct mt_owner *x, const struct mt_owner *y)
{
	const int orders[] = {
		by_u32(x->op, y->op),	      by_u32(x->outer_op, y->outer_op),
		by_u32(x->module, y->module), by_u32(x->annotation, y->annotation),
		by_u32(x->source, y->source), by_u32(x->phase, y->phase),
	};

	for (size_t i = 0; i < TS_NELEM(orders); i++)
		if (orders[i] != 0)
			return orders[i];
	return 0;
}

static int by_module(const struct mt_owner *x, const struct mt_owner *y)
{
	int order = by_u32(x->module, y->module);

	return order ? order : by_u32(x->phase, y->phase);
}

/* --- what is held at the peak, in sums */

struct sum {
	struct mt_owner owner;
	int64_t nr_bytes, count;
	uint32_t serial;
};

typedef int order_fn(const struct mt_owner *x, const struct mt_owner *y);

static int kinds_by_owner(const void *a, const void *b)
{
	const struct mt_kind *x = *(const struct mt_kind *const *)a;
	const struct mt_kind *y = *(const struct mt_kind *const *)b;
	int order = by_owner(&x->owner, &y->owner);

	return order ? order
		     : (x->block_bytes > y->block_bytes) - (x->block_bytes < y->block_bytes);
}

static int kinds_by_module(const void *a, const void *b)
{
	const struct mt_kind *x = *(const struct mt_kind *const *)a;
	const struct mt_kind *y = *(const struct mt_kind *const *)b;

	return by_module(&x->owner, &y->owner);
}

static int sums_by_size(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (x->nr_bytes != y->nr_bytes)
		return x->nr_bytes > y->nr_bytes ? -1 : 1;
	return by_u32(x->serial, y->serial);
}

/* Of the view's kinds, which come in ORDER, those that were alive at the peak; NULL: no memory. */
static struct sum *sums_of(const struct mt_view *view, order_fn *order, size_t *nr)
{
	struct sum *sums = calloc(view->nr_kinds + 1, sizeof(*sums));

	*nr = 0;
	for (size_t i = 0; sums && i < view->nr_kinds; i++) {
		const struct mt_kind *kind = view->kinds[i];
		struct sum *sum;

		if (kind->peak_count == 0)
			continue;
		if (*nr == 0 || order(&sums[*nr - 1].owner, &kind->owner) != 0) {
			sums[*nr] = (struct sum){ .owner = kind->owner, .serial = (uint32_t)*nr };
			(*nr)++;
		}
		sum = &sums[*nr - 1];
		sum->nr_bytes = ts_i64_add(sum->nr_bytes, kind->peak_bytes);
		sum->count += kind->peak_count;
	}
	if (*nr > 1)
		qsort(sums, *nr, sizeof(*sums), sums_by_size);
	return sums;
}

static struct ts_value share_cell(const struct mt_view *view, int64_t nr_bytes)
{
	int64_t peak = view->device->peak_bytes;

	return peak > 0 ? ts_share_pct((double)nr_bytes / (double)peak) : ts_null();
}

typedef void cells_fn(const struct mt_view *view, struct ts_value *cells, const struct sum *sum);

/* What is past MAX_HOLDERS stands in one row. */
static bool put_sums(struct ts_result *result, struct ts_table *table, const struct mt_view *view,
		     const struct sum *sums, size_t nr, cells_fn *put)
{
	struct sum others = { .owner = { TS_NONE, TS_NONE, TS_NONE, TS_NONE, TS_NONE,
					 MT_NR_PHASES } };

	for (size_t i = 0; i < nr; i++) {
		struct ts_value *cells;

		if (i >= MAX_HOLDERS && nr > MAX_HOLDERS + 1) {
			others.nr_bytes = ts_i64_add(others.nr_bytes, sums[i].nr_bytes);
			others.count += sums[i].count;
			continue;
		}
		cells = ts_table_row(result, table);
		if (!cells)
			return false;
		put(view, cells, &sums[i]);
	}
	if (others.count > 0) {
		struct ts_value *cells = ts_table_row(result, table);

		if (!cells)
			return false;
		put(view, cells, &others);
	}
	return true;
}

/* device, host, bytes, share, count; then the owner. */
static void put_holder(const struct mt_view *view, struct ts_value *cells, const struct sum *sum)
{
	cells[0] = ts_text(view->name);
	cells[1] = mt_host_cell(view);
	cells[2] = ts_int(sum->nr_bytes);
	cells[3] = share_cell(view, sum->nr_bytes);
	cells[4] = ts_int(sum->count);
	put_owner(view, &cells[5], &sum->owner);
}

static bool put_unknown(struct ts_result *result, struct ts_table *table,
			const struct mt_view *view)
{
	struct ts_value *cells;

	if (view->device->peak_untracked == 0)
		return true;
	cells = ts_table_row(result, table);
	if (!cells)
		return false;
	cells[0] = ts_text(view->name);
	cells[1] = mt_host_cell(view);
	cells[2] = ts_int(view->device->peak_untracked);
	cells[3] = share_cell(view, view->device->peak_untracked);
	cells[5] = ts_text(TS_LIT("(allocated before the capture)"));
	return true;
}

static const struct ts_column of_holders[] = {
	{ "device", TS_MEASURED, "device" },	 { "host", TS_MEASURED, NULL },
	{ "bytes", TS_MEASURED, "at the peak" }, { "peak_pct", TS_MEASURED, "share" },
	{ "count", TS_MEASURED, "blocks" },	 OWNER_COLUMN_ROWS,
};

static bool put_holders(struct ts_result *result, struct ts_table *table,
			const struct mt_view *view)
{
	struct sum *sums;
	bool good;
	size_t nr;

	if (view->nr_kinds > 1)
		qsort(view->kinds, view->nr_kinds, sizeof(const struct mt_kind *), kinds_by_owner);
	sums = sums_of(view, by_owner, &nr);
	good = sums && put_unknown(result, table, view) &&
	       put_sums(result, table, view, sums, nr, put_holder);
	free(sums);
	return good;
}

static const struct ts_column of_modules[] = {
	{ "device", TS_MEASURED, "device" },	 { "host", TS_MEASURED, NULL },
	{ "bytes", TS_MEASURED, "at the peak" }, { "peak_pct", TS_MEASURED, "share" },
	{ "count", TS_MEASURED, "blocks" },	 { "module", TS_MEASURED, "module" },
	{ "phase", TS_MEASURED, "phase" },
};

static void put_module(const struct mt_view *view, struct ts_value *cells, const struct sum *sum)
{
	cells[0] = ts_text(view->name);
	cells[1] = mt_host_cell(view);
	cells[2] = ts_int(sum->nr_bytes);
	cells[3] = share_cell(view, sum->nr_bytes);
	cells[4] = ts_int(sum->count);
	cells[5] = is_others(&sum->owner) ? ts_text(TS_LIT("(others)"))
					  : mt_module_cell(view, sum->owner.module);
	cells[6] = phase_cell(&sum->owner);
}

static bool has_modules(const struct mt_view *view)
{
	for (size_t i = 0; i < view->nr_kinds; i++)
		if (view->kinds[i]->owner.module != TS_NONE ||
		    view->kinds[i]->owner.phase != MT_NO_PHASE)
			return true;
	return false;
}

static bool put_modules(struct ts_result *result, struct ts_table *table,
			const struct mt_view *view)
{
	struct sum *sums;
	bool good;
	size_t nr;

	if (!has_modules(view))
		return true;
	if (view->nr_kinds > 1)
		qsort(view->kinds, view->nr_kinds, sizeof(const struct mt_kind *), kinds_by_module);
	sums = sums_of(view, by_module, &nr);
	good = sums && put_unknown(result, table, view) &&
	       put_sums(result, table, view, sums, nr, put_module);
	free(sums);
	return good;
}

/* --- kinds of blocks */

typedef int64_t size_fn(const struct mt_kind *kind);

static int64_t peak_block(const struct mt_kind *kind)
{
	return kind->peak_count > 0 ? kind->block_bytes : 0;
}

static int64_t any_block(const struct mt_kind *kind)
{
	return kind->block_bytes;
}

static int64_t unfreed(const struct mt_kind *kind)
{
	return kind->unfreed_bytes;
}

/* Moves the kind of the largest SIZE among those from FROM on there; false: none has one. */
static bool next_largest(const struct mt_view *view, size_t from, size_fn *size)
{
	size_t best = from;

	for (size_t i = from + 1; i < view->nr_kinds; i++)
		if (size(view->kinds[i]) > size(view->kinds[best]))
			best = i;
	if (best >= view->nr_kinds || size(view->kinds[best]) <= 0)
		return false;
	if (best != from) {
		const struct mt_kind *kind = view->kinds[best];

		memmove(&view->kinds[from + 1], &view->kinds[from],
			(best - from) * sizeof(const struct mt_kind *));
		view->kinds[from] = kind;
	}
	return true;
}

typedef void kind_fn(const struct mt_view *view, struct ts_value *cells,
		     const struct mt_kind *kind);

static bool put_largest(struct ts_result *result, struct ts_table *table,
			const struct mt_view *view, size_fn *size, kind_fn *put)
{
	if (view->nr_kinds > 1)
		qsort(view->kinds, view->nr_kinds, sizeof(const struct mt_kind *), kinds_by_owner);
	for (size_t i = 0; i < MAX_BLOCKS && next_largest(view, i, size); i++) {
		struct ts_value *cells = ts_table_row(result, table);

		if (!cells)
			return false;
		cells[0] = ts_text(view->name);
		cells[1] = mt_host_cell(view);
		put(view, cells, view->kinds[i]);
	}
	return true;
}

static const struct ts_column of_blocks[] = {
	{ "device", TS_MEASURED, "device" },
	{ "host", TS_MEASURED, NULL },
	{ "bytes", TS_MEASURED, "block" },
	{ "count", TS_MEASURED, "times" },
	OWNER_COLUMN_ROWS,
};

static void put_block(const struct mt_view *view, struct ts_value *cells,
		      const struct mt_kind *kind)
{
	cells[2] = ts_int(kind->block_bytes);
	cells[3] = ts_int(kind->peak_count);
	put_owner(view, &cells[4], &kind->owner);
}

static bool put_blocks(struct ts_result *result, struct ts_table *table, const struct mt_view *view)
{
	return put_largest(result, table, view, peak_block, put_block);
}

static const struct ts_column of_allocations[] = {
	{ "device", TS_MEASURED, "device" },
	{ "host", TS_MEASURED, NULL },
	{ "bytes", TS_MEASURED, "block" },
	{ "allocations", TS_MEASURED, "times" },
	{ "total_bytes", TS_MEASURED, "in all" },
	{ "mean_lifetime_ps", TS_MEASURED, "lives" },
	OWNER_COLUMN_ROWS,
};

static void put_allocation(const struct mt_view *view, struct ts_value *cells,
			   const struct mt_kind *kind)
{
	cells[2] = ts_int(kind->block_bytes);
	cells[3] = ts_int(kind->count);
	cells[4] = ts_int(kind->total_bytes);
	if (kind->nr_lived > 0)
		cells[5] = ts_int(kind->lived_ps / kind->nr_lived);
	put_owner(view, &cells[6], &kind->owner);
}

static bool put_allocations(struct ts_result *result, struct ts_table *table,
			    const struct mt_view *view)
{
	return put_largest(result, table, view, any_block, put_allocation);
}

static const struct ts_column of_unfreed[] = {
	{ "device", TS_MEASURED, "device" },  { "host", TS_MEASURED, NULL },
	{ "bytes", TS_MEASURED, "kept" },     { "count", TS_MEASURED, "blocks" },
	{ "steps", TS_MEASURED, "of steps" }, OWNER_COLUMN_ROWS,
};

static int64_t nr_bits(uint64_t bits)
{
	int64_t nr = 0;

	for (; bits; bits &= bits - 1)
		nr++;
	return nr;
}

static void put_kept(const struct mt_view *view, struct ts_value *cells, const struct mt_kind *kind)
{
	cells[2] = ts_int(kind->unfreed_bytes);
	cells[3] = ts_int(kind->unfreed_count);
	cells[4] = ts_int(nr_bits(kind->unfreed_steps));
	put_owner(view, &cells[5], &kind->owner);
}

static bool put_unfreed(struct ts_result *result, struct ts_table *table,
			const struct mt_view *view)
{
	return put_largest(result, table, view, unfreed, put_kept);
}

const struct mt_sheet mt_holder_sheets[MT_HOLDER_SHEETS] = {
	MT_SHEET(holders, "Who held memory at the peak", put_holders),
	MT_SHEET(modules, "The same by module", put_modules),
	MT_SHEET(blocks, "The largest blocks at the peak", put_blocks),
	MT_SHEET(allocations, "The largest allocations", put_allocations),
	MT_SHEET(unfreed, "Taken in a step and kept after it", put_unfreed),
};
