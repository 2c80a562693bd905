/* The memory view's sums and tables: in all, by memory, by category, by module, by op, and the link to
 * the host. */
#include "analysis/traffic/memory.h"

/* Bytes, and the time of the ops that moved them. */
struct sum {
	struct ts_bytes name;
	int64_t nr_ops, time_ps, hbm_bytes;
	struct ts_traffic all;
};

struct sums {
	struct sum *items;
	size_t nr, cap;
	struct ts_strmap by_name;
};

static bool is_known(const struct memory_op *op)
{
	return op->all.source > TS_TRAFFIC_INSIDE;
}

static double share_of(double rate, double peak)
{
	return peak > 0 ? rate / peak : NAN;
}

static double hbm_peak(const struct memory *memory)
{
	return memory->rates ? memory->rates->hbm_bytes_per_s : NAN;
}

/* Bytes a second; unknown without a time. */
static double rate_of(int64_t bytes, int64_t ps)
{
	return ps > 0 ? (double)bytes / ((double)ps * 1e-12) : NAN;
}

/* A way that nobody told of some bytes is unknown where no others are known. */
static struct ts_value way(const struct ts_traffic *traffic, int64_t bytes)
{
	bool unknown = traffic->unsplit_bytes > 0 || traffic->source == TS_TRAFFIC_UNKNOWN;

	return bytes == 0 && unknown ? ts_null() : ts_int(bytes);
}

static struct ts_value hbm_read(const struct ts_traffic *traffic)
{
	return way(traffic, traffic->read_bytes[TS_MEMORY_HBM]);
}

static struct ts_value hbm_written(const struct ts_traffic *traffic)
{
	return way(traffic, traffic->written_bytes[TS_MEMORY_HBM]);
}

static int by_hbm(const void *a, const void *b)
{
	const struct memory_op *x = *(const struct memory_op *const *)a;
	const struct memory_op *y = *(const struct memory_op *const *)b;
	int64_t p = ts_traffic_hbm_bytes(&x->all), q = ts_traffic_hbm_bytes(&y->all);

	if (p != q)
		return p > q ? -1 : 1;
	if (x->time_ps != y->time_ps)
		return x->time_ps > y->time_ps ? -1 : 1;
	return (x > y) - (x < y);
}

static int by_link(const void *a, const void *b)
{
	const struct memory_op *x = *(const struct memory_op *const *)a;
	const struct memory_op *y = *(const struct memory_op *const *)b;
	int64_t p = ts_traffic_host_bytes(&x->all), q = ts_traffic_host_bytes(&y->all);

	if (p != q)
		return p > q ? -1 : 1;
	return (x > y) - (x < y);
}

static struct ts_bytes module_name(const struct memory *memory, const struct memory_op *op)
{
	return op->module == TS_NONE ? (struct ts_bytes){ NULL, 0 }
				     : memory->ctx->profile->modules[op->module].name;
}

static struct ts_value source_of(struct memory *memory, const struct memory_op *op)
{
	if (op->source.n > 0 || op->module == TS_NONE || op->instr == TS_NONE)
		return ts_text_or_null(op->source);
	return memory_source(memory, &memory->ctx->profile->modules[op->module].instrs[op->instr]);
}

static struct ts_value source_name(const struct memory_op *op)
{
	const char *name = ts_traffic_source_name(op->all.source);

	return name ? ts_text(ts_bytes_of(name)) : ts_null();
}

static void put_op(struct memory *memory, const struct memory_op *op, struct ts_value *cells)
{
	const struct ts_traffic *all = &op->all;
	double rate = rate_of(ts_traffic_hbm_bytes(all), op->time_ps);

	cells[0] = ts_text(op->name);
	cells[1] = ts_text_or_null(module_name(memory, op));
	cells[2] = ts_text_or_null(op->category);
	cells[3] = ts_int_or_null(op->executions);
	cells[11] = ts_int_or_null(op->time_ps);
	cells[14] = source_name(op);
	cells[15] = source_of(memory, op);
	cells[16] = op->op == TS_NONE ? ts_null() : ts_int(op->op);
	if (!is_known(op))
		return;
	cells[4] = hbm_read(all);
	cells[5] = hbm_written(all);
	cells[6] = ts_int(all->read_bytes[TS_MEMORY_VMEM]);
	cells[7] = ts_int(all->written_bytes[TS_MEMORY_VMEM]);
	cells[8] = ts_int(all->read_bytes[TS_MEMORY_CMEM]);
	cells[9] = ts_int(all->written_bytes[TS_MEMORY_CMEM]);
	cells[10] = ts_int(ts_traffic_host_bytes(all));
	cells[12] = ts_real(rate);
	cells[13] = ts_share_pct(share_of(rate, hbm_peak(memory)));
	cells[17] = ts_int(ts_traffic_hbm_bytes(all));
}

static bool put_ops(struct memory *memory, const struct memory_op *const *order)
{
	static const struct ts_column columns[] = {
		{ "op", TS_MEASURED, "op" },
		{ "module", TS_MEASURED, "module" },
		{ "category", TS_COMPILED, "category" },
		{ "executions", TS_MEASURED, "times" },
		{ "hbm_read_bytes", TS_COMPILED, "HBM read" },
		{ "hbm_written_bytes", TS_COMPILED, "written" },
		{ "vmem_read_bytes", TS_COMPILED, NULL },
		{ "vmem_written_bytes", TS_COMPILED, NULL },
		{ "cmem_read_bytes", TS_COMPILED, NULL },
		{ "cmem_written_bytes", TS_COMPILED, NULL },
		{ "host_bytes", TS_COMPILED, NULL },
		{ "time_ps", TS_MEASURED, "time" },
		{ "hbm_bytes_per_s", TS_MODELLED, "HBM rate" },
		{ "hbm_pct", TS_MODELLED, "of peak" },
		{ "bytes_from", TS_DERIVED, NULL },
		{ "source", TS_MEASURED, "source" },
		{ "op_index", TS_DERIVED, NULL },
		{ "hbm_bytes", TS_COMPILED, NULL },
	};
	struct ts_table *table = ts_result_table(memory->result, "ops", "Ops by HBM bytes", columns,
						 TS_NELEM(columns));

	for (size_t i = 0; table && i < TS_MIN(memory->nr_ops, 2 * TS_MEMORY_MAX_ROWS); i++) {
		struct ts_value *cells = ts_table_row(memory->result, table);

		if (!cells)
			return false;
		put_op(memory, order[i], cells);
	}
	if (memory->nr_ops > 2 * TS_MEMORY_MAX_ROWS)
		ts_result_note(memory->result, "%zu more ops move fewer bytes and are not listed.",
			       memory->nr_ops - 2 * TS_MEMORY_MAX_ROWS);
	return table != NULL;
}

static double link_peak(const struct memory *memory)
{
	return memory->rates ? memory->rates->host_bytes_per_s : NAN;
}

/* Both ways share no wires: a link is as full as the fuller way. */
static void put_transfer(struct memory *memory, const struct memory_op *op, struct ts_value *cells)
{
	int64_t in = op->all.read_bytes[TS_MEMORY_HOST];
	int64_t out = op->all.written_bytes[TS_MEMORY_HOST];
	double busiest = rate_of(TS_MAX(in, out), op->time_ps);

	cells[0] = ts_text(op->name);
	cells[1] = ts_text_or_null(module_name(memory, op));
	cells[2] = ts_text_or_null(op->category);
	cells[3] = ts_int_or_null(op->executions);
	cells[4] = ts_int(in);
	cells[5] = ts_int(out);
	cells[6] = ts_int_or_null(op->time_ps);
	cells[7] = ts_int_or_null(op->self_ps);
	cells[8] = ts_real(rate_of(ts_i64_add(in, out), op->time_ps));
	cells[9] = ts_share_pct(share_of(busiest, link_peak(memory)));
	cells[10] = source_of(memory, op);
}

static bool put_link(struct memory *memory, const struct memory_op *const *order)
{
	static const struct ts_column columns[] = {
		{ "op", TS_MEASURED, "op" },
		{ "module", TS_MEASURED, "module" },
		{ "category", TS_COMPILED, "category" },
		{ "executions", TS_MEASURED, "times" },
		{ "from_host_bytes", TS_COMPILED, "from host" },
		{ "to_host_bytes", TS_COMPILED, "to host" },
		{ "time_ps", TS_MEASURED, "under way" },
		{ "waited_ps", TS_MEASURED, "waited for" },
		{ "bytes_per_s", TS_MODELLED, "rate" },
		{ "link_pct", TS_MODELLED, "of link" },
		{ "source", TS_MEASURED, "source" },
	};
	struct ts_table *table = NULL;

	for (size_t i = 0; i < TS_MIN(memory->nr_ops, TS_MEMORY_MAX_ROWS); i++) {
		struct ts_value *cells;

		if (ts_traffic_host_bytes(&order[i]->all) == 0)
			break;
		if (!table)
			table = ts_result_table(memory->result, "host_link", "Host link", columns,
						TS_NELEM(columns));
		cells = table ? ts_table_row(memory->result, table) : NULL;
		if (!cells)
			return false;
		put_transfer(memory, order[i], cells);
	}
	return true;
}

static bool add_sum(struct sums *sums, const struct memory_op *op, struct ts_bytes name,
		    int64_t time_ps)
{
	uint32_t at = ts_strmap_find(&sums->by_name, name);
	struct sum *sum;

	if (at == TS_NONE) {
		if (!ts_grow(&sums->items, &sums->cap, sums->nr + 1, sizeof(*sums->items)) ||
		    !ts_strmap_set(&sums->by_name, name, (uint32_t)sums->nr))
			return false;
		at = (uint32_t)sums->nr++;
		sums->items[at] = (struct sum){ .name = name };
	}
	sum = &sums->items[at];
	sum->nr_ops++;
	sum->time_ps = ts_i64_add(sum->time_ps, TS_MAX(time_ps, 0));
	sum->hbm_bytes = ts_i64_add(sum->hbm_bytes, ts_traffic_hbm_bytes(&op->all));
	ts_traffic_add(&sum->all, &op->all);
	return true;
}

static void release_sums(struct sums *sums)
{
	free(sums->items);
	ts_strmap_release(&sums->by_name);
}

static int by_bytes(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (x->hbm_bytes != y->hbm_bytes)
		return x->hbm_bytes > y->hbm_bytes ? -1 : 1;
	if (x->time_ps != y->time_ps)
		return x->time_ps > y->time_ps ? -1 : 1;
	return ts_bytes_cmp(x->name, y->name);
}

static void put_sum(struct memory *memory, const struct sum *sum, struct ts_value *cells)
{
	double all = (double)ts_traffic_hbm_bytes(&memory->total);
	bool known = sum->all.source != TS_TRAFFIC_UNKNOWN;
	double rate = rate_of(sum->hbm_bytes, memory->measured && known ? sum->time_ps : -1);

	cells[0] = ts_text_or_null(sum->name);
	cells[1] = ts_int(sum->nr_ops);
	cells[2] = memory->measured ? ts_int(sum->time_ps) : ts_null();
	cells[3] = hbm_read(&sum->all);
	cells[4] = hbm_written(&sum->all);
	cells[5] = ts_share_pct(all > 0 ? (double)sum->hbm_bytes / all : NAN);
	cells[6] = ts_real(rate);
	cells[7] = ts_share_pct(share_of(rate, hbm_peak(memory)));
	cells[8] = known ? ts_int(ts_traffic_host_bytes(&sum->all)) : ts_null();
}

static bool put_sums(struct memory *memory, struct sums *sums, const char *name, const char *title,
		     const struct ts_column *columns, size_t nr_columns)
{
	struct ts_table *table;

	if (sums->nr == 0)
		return true;
	qsort(sums->items, sums->nr, sizeof(*sums->items), by_bytes);
	table = ts_result_table(memory->result, name, title, columns, nr_columns);
	for (size_t i = 0; table && i < TS_MIN(sums->nr, TS_MEMORY_MAX_ROWS); i++) {
		struct ts_value *cells = ts_table_row(memory->result, table);

		if (!cells)
			return false;
		put_sum(memory, &sums->items[i], cells);
	}
	return table != NULL;
}

#define SUM_COLUMNS                                                        \
	{ "ops", TS_MEASURED, "ops" }, { "time_ps", TS_MEASURED, "time" }, \
		{ "hbm_read_bytes", TS_COMPILED, "HBM read" },             \
		{ "hbm_written_bytes", TS_COMPILED, "written" },           \
		{ "bytes_pct", TS_MODELLED, "of all" },                    \
		{ "hbm_bytes_per_s", TS_MODELLED, "HBM rate" },            \
		{ "hbm_pct", TS_MODELLED, "of peak" },                     \
	{                                                                  \
		"host_bytes", TS_COMPILED, NULL                            \
	}

static bool put_groups(struct memory *memory)
{
	static const struct ts_column by_category[] = { { "category", TS_COMPILED, "category" },
							SUM_COLUMNS };
	static const struct ts_column by_module[] = { { "module", TS_MEASURED, "module" },
						      SUM_COLUMNS };
	struct sums categories = { .nr = 0 }, modules = { .nr = 0 };
	bool good = true;

	for (size_t i = 0; good && i < memory->nr_ops; i++) {
		const struct memory_op *op = &memory->ops[i];

		if (op->all.source == TS_TRAFFIC_INSIDE)
			continue;
		good = add_sum(&categories, op, op->category, op->time_ps) &&
		       add_sum(&modules, op, module_name(memory, op), op->self_ps);
	}
	good = good &&
	       put_sums(memory, &categories, "categories", "HBM by category", by_category,
			TS_NELEM(by_category)) &&
	       put_sums(memory, &modules, "modules", "HBM by module", by_module,
			TS_NELEM(by_module));
	release_sums(&categories);
	release_sums(&modules);
	return good;
}

static double peak_of(const struct memory *memory, int space)
{
	switch (space) {
	case TS_MEMORY_HBM:  return hbm_peak(memory);
	case TS_MEMORY_VMEM: return memory->rates ? memory->rates->vmem_bytes_per_s : NAN;
	default:	     return NAN;
	}
}

static bool put_space(struct memory *memory, struct ts_table *table, int space)
{
	const struct ts_traffic *all = &memory->total;
	int64_t unsplit = space == TS_MEMORY_HBM ? all->unsplit_bytes : 0;
	int64_t bytes =
		ts_i64_add(unsplit, ts_i64_add(all->read_bytes[space], all->written_bytes[space]));
	double rate = rate_of(bytes, memory->measured ? memory->core_ps : -1);
	struct ts_value *cells;

	if (bytes == 0)
		return true;
	cells = ts_table_row(memory->result, table);
	if (!cells)
		return false;
	cells[0] = ts_text(ts_bytes_of(ts_memory_name((enum ts_memory)space)));
	cells[1] = ts_int(all->read_bytes[space]);
	cells[2] = ts_int(all->written_bytes[space]);
	cells[3] = ts_int(unsplit);
	cells[4] = ts_real(rate);
	cells[5] = ts_real(peak_of(memory, space));
	cells[6] = ts_share_pct(share_of(rate, peak_of(memory, space)));
	return true;
}

static bool put_spaces(struct memory *memory)
{
	static const struct ts_column columns[] = {
		{ "memory", TS_COMPILED, "memory" },
		{ "read_bytes", TS_COMPILED, "read" },
		{ "written_bytes", TS_COMPILED, "written" },
		{ "unsplit_bytes", TS_COMPILED, NULL },
		{ "bytes_per_s", TS_MODELLED, "a core" },
		{ "peak_bytes_per_s", TS_COMPILED, "peak" },
		{ "peak_pct", TS_MODELLED, "of peak" },
	};
	struct ts_table *table =
		ts_result_table(memory->result, "spaces", "By memory", columns, TS_NELEM(columns));
	bool good = table != NULL;

	for (int i = 0; good && i < TS_NR_MEMORIES; i++)
		if (i != TS_MEMORY_OTHER)
			good = put_space(memory, table, i);
	return good;
}

static struct ts_value peak_bytes(const struct memory *memory)
{
	const struct ts_result *capacity = ts_results_find(memory->ctx->results, "capacity");

	return capacity ? ts_result_get(capacity, "peak_bytes") : ts_null();
}

static void put_unknown(struct memory *memory)
{
	int64_t nr = 0, time_ps = 0;

	for (size_t i = 0; i < memory->nr_ops; i++) {
		if (memory->ops[i].all.source != TS_TRAFFIC_UNKNOWN)
			continue;
		nr++;
		time_ps = ts_i64_add(time_ps, TS_MAX(memory->ops[i].self_ps, 0));
	}
	ts_result_field(memory->result, "unknown_op_count", ts_int(nr), TS_COMPILED, NULL);
	ts_result_field(memory->result, "unknown_ps",
			memory->measured ? ts_int(time_ps) : ts_null(), TS_MEASURED, NULL);
	if (nr > 0)
		ts_result_note(
			memory->result,
			"Nobody says what %lld op%s (kernels without a cost) move: bytes are "
			"lower bounds.",
			(long long)nr, nr == 1 ? "" : "s");
}

static void put_fields(struct memory *memory)
{
	const struct ts_traffic *all = &memory->total;
	struct ts_result *result = memory->result;
	bool known = memory->nr_ops > 0 && all->source != TS_TRAFFIC_UNKNOWN;
	double rate = rate_of(ts_traffic_hbm_bytes(all),
			      memory->measured && known ? memory->core_ps : -1);
	const int64_t *in = all->read_bytes, *out = all->written_bytes;

	ts_result_field(result, "hbm_read_bytes", known ? hbm_read(all) : ts_null(), TS_COMPILED,
			"HBM read");
	ts_result_field(result, "hbm_written_bytes", known ? hbm_written(all) : ts_null(),
			TS_COMPILED, "HBM written");
	ts_result_field(result, "hbm_unsplit_bytes",
			all->unsplit_bytes > 0 ? ts_int(all->unsplit_bytes) : ts_null(),
			TS_COMPILED, "HBM, read or written");
	ts_result_field(result, "hbm_bytes_per_s", ts_real(rate), TS_MODELLED,
			"HBM rate of a core");
	ts_result_field(result, "hbm_pct", ts_share_pct(share_of(rate, hbm_peak(memory))),
			TS_MODELLED, "of its peak");
	ts_result_field(result, "from_host_bytes", known ? ts_int(in[TS_MEMORY_HOST]) : ts_null(),
			TS_COMPILED, in[TS_MEMORY_HOST] > 0 ? "from the host" : NULL);
	ts_result_field(result, "to_host_bytes", known ? ts_int(out[TS_MEMORY_HOST]) : ts_null(),
			TS_COMPILED, out[TS_MEMORY_HOST] > 0 ? "to the host" : NULL);
	ts_result_field(result, "peak_bytes", peak_bytes(memory), TS_MODELLED, "peak in use");
}

bool memory_put(struct memory *memory)
{
	const struct memory_op **order = calloc(memory->nr_ops + 1, sizeof(*order));
	bool good = order != NULL;

	for (size_t i = 0; good && i < memory->nr_ops; i++)
		order[i] = &memory->ops[i];
	if (good) {
		put_fields(memory);
		put_unknown(memory);
		good = put_spaces(memory);
	}
	if (good && memory->nr_ops > 0) {
		qsort(order, memory->nr_ops, sizeof(*order), by_hbm);
		good = put_ops(memory, order) && put_groups(memory);
		qsort(order, memory->nr_ops, sizeof(*order), by_link);
		good = good && put_link(memory, order);
	}
	free(order);
	if (good && memory->nr_ops > 0 && !memory->measured)
		ts_result_note(memory->result,
			       "Without a run each op counts once, those of a loop too.");
	return good;
}
