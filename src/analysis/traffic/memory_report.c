/* SPDX-License-Identifier: MIT */
/* The sums and tables of the memory view: in all, by memory, by category, by module, by op, and the
 * link to the host. */
#include "analysis/traffic/memory.h"

#include "analysis/facts/async.h"
#include "analysis/facts/capacity.h"
#include "analysis/facts/kernels.h"
#include "analysis/kit/cells.h"
#include "analysis/kit/source.h"
#include "analysis/kit/others.h"
#include "base/units.h"
#include "base/order.h"
#include "result/schema/memory.def"

/* Bytes, and the time of the ops that moved them. */
struct sum {
	struct ts_bytes name;
	int64_t nr_ops, hbm_bytes;
	int64_t time_ps;     /* that their copies were under way, or that the module ran */
	int64_t self_ps;     /* of the cores */
	int64_t timed_bytes; /* of those whose time is known */
	struct ts_traffic all;
};

struct sums {
	struct sum *items;
	size_t nr, cap;
	struct ts_strmap by_name;
};

static double memory_report_share_of(double rate, double peak)
{
	return peak > 0 ? rate / peak : NAN;
}

static double hbm_peak(const struct memory *memory)
{
	return memory->rates ? memory->rates->hbm_bytes_per_s : NAN;
}

static const struct ts_bytes above =
	TS_LIT("the bytes of its ops and the time that they were under way contradict the peak");

/* Where it is not known whether some bytes were read or written, 0 bytes one way are unknown. */
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

TS_ORDER_AT(by_hbm, struct memory_row, TS_DOWN(hbm_bytes) TS_DOWN(time_ps) TS_UP_ADDRESS)

/* An op that moved something between the host and the device. */
struct transfer {
	int64_t host_bytes;
	const struct memory_row *row;
};

TS_ORDER(by_link, struct transfer, TS_DOWN(host_bytes) TS_UP(row))

static struct ts_bytes memory_report_module_name(const struct memory *memory,
						 const struct ts_memory_op *op)
{
	return ts_module_name(memory->ctx->profile, op->module);
}

/* The op's own, else its instruction's. */
static struct ts_bytes memory_report_source_of(const struct memory *memory,
					       const struct ts_memory_op *op)
{
	if (op->source.n > 0 || op->module == TS_NONE || op->instr == TS_NONE)
		return op->source;
	return ts_instr_source(memory->result,
			       &memory->ctx->profile->modules[op->module].instrs[op->instr]);
}

static struct ts_value if_known(const struct ts_memory_op *op, int64_t bytes)
{
	return ts_memory_is_known(op) ? ts_int(bytes) : ts_null();
}

/* Of bytes in HBM one way. */
static struct ts_value known_way(const struct ts_memory_op *op, int64_t bytes)
{
	return ts_memory_is_known(op) ? way(&op->all, bytes) : ts_null();
}

#define OP_CELLS(X) \
	X(op, ts_text(op->name)) \
	X(module, ts_text_or_null(memory_report_module_name(memory, op))) \
	X(category, ts_text_or_null(op->category)) \
	X(executions, ts_int_or_null(op->executions)) \
	X(hbm_read_bytes, known_way(op, in[TS_MEMORY_HBM])) \
	X(hbm_written_bytes, known_way(op, out[TS_MEMORY_HBM])) \
	X(vmem_read_bytes, if_known(op, in[TS_MEMORY_VMEM])) \
	X(vmem_written_bytes, if_known(op, out[TS_MEMORY_VMEM])) \
	X(cmem_read_bytes, if_known(op, in[TS_MEMORY_CMEM])) \
	X(cmem_written_bytes, if_known(op, out[TS_MEMORY_CMEM])) \
	X(host_bytes, if_known(op, ts_traffic_host_bytes(&op->all))) \
	X(time_ps, ts_int_or_null(op->time_ps)) \
	X(hbm_bytes_per_s, ts_held_value(memory->result, op->hbm_bytes_per_s, hbm_peak(memory), op->hbm_cause)) \
	X(hbm_pct, ts_held_share_pct(memory->result, op->hbm_share, op->hbm_cause)) \
	X(bytes_from, ts_string_cell(ts_traffic_source_name(op->all.source))) \
	X(source, ts_text_or_null(op->source)) \
	X(op_index, op->op == TS_NONE ? ts_null() : ts_int(op->op)) \
	X(hbm_bytes, if_known(op, ts_traffic_hbm_bytes(&op->all)))

static void memory_report_put_op(const struct memory *memory, struct ts_table *table,
				 const struct ts_memory_op *op)
{
	const int64_t *in = op->all.read_bytes, *out = op->all.written_bytes;

	TS_CELLS(memory->result, table, memory_ops, OP_CELLS);
}

#define OP_SUMS(X) \
	X(executions) X(hbm_read_bytes) X(hbm_written_bytes) X(vmem_read_bytes) \
	X(vmem_written_bytes) X(cmem_read_bytes) X(cmem_written_bytes) X(host_bytes) \
	X(time_ps) X(hbm_bytes)

static void memory_report_put_ops(const struct memory *memory)
{
	struct ts_table *table = TS_TABLE(memory->result, memory_ops);

	for (size_t i = 0; i < memory->nr_listed; i++)
		memory_report_put_op(memory, table, &memory->facts->ops[i]);
	if (memory->nr_listed == memory->nr_ops)
		return;
	memory_report_put_op(memory, table, &memory->others);
	TS_END_OTHERS(memory->result, table, memory_ops, memory->nr_ops - memory->nr_listed, op,
		      OP_SUMS);
}

static struct ts_bytes memory_report_cause_of(const struct memory *memory,
					      const struct ts_memory_op *op)
{
	double bytes = (double)ts_traffic_hbm_bytes(&op->all);
	char is[TS_UNIT_MAX], time[TS_UNIT_MAX], needs[TS_UNIT_MAX];

	return ts_result_text(
		memory->result,
		"%s of HBM (from: %s) in %s under way, for which the chip's peak needs %s",
		ts_fmt_bytes(is, bytes), ts_traffic_source_name(op->all.source),
		ts_fmt_ps(time, op->time_ps), ts_fmt_ps(needs, ts_whole(bytes * memory->byte_ps)));
}

static struct ts_memory_op memory_report_make_fact(const struct memory *memory,
						   const struct ts_memory_op *op)
{
	struct ts_memory_op fact = *op;

	fact.source = memory_report_source_of(memory, op);
	fact.hbm_bytes_per_s = ts_memory_rate(op);
	fact.hbm_share = memory_report_share_of(fact.hbm_bytes_per_s, hbm_peak(memory));
	if (ts_is_impossible(fact.hbm_share, 1))
		fact.hbm_cause = memory_report_cause_of(memory, op);
	return fact;
}

/* Ops whose traffic is unknown add nothing to it. */
static void sum_others(struct memory *memory, const struct memory_row *const *order)
{
	struct ts_memory_op *others = &memory->others;

	*others = (struct ts_memory_op){ .op = TS_NONE, .module = TS_NONE, .instr = TS_NONE };
	for (size_t i = memory->nr_listed; i < memory->nr_ops; i++) {
		struct ts_memory_op op = ts_memory_row(memory, order[i]);

		others->executions = ts_i64_add(others->executions, TS_MAX(op.executions, 0));
		others->time_ps = ts_i64_add(others->time_ps, TS_MAX(op.time_ps, 0));
		ts_traffic_add(&others->all, &op.all);
	}
	others->all.source = TS_TRAFFIC_TOTAL;
	others->hbm_share = NAN;
}

/* The first ones of ORDER become facts, and as many as the table lists. */
static enum ts_status memory_report_list_ops(struct memory *memory,
					     const struct memory_row *const *order,
					     struct ts_error *err)
{
	size_t listed = ts_listed_ops(memory->ctx, memory->nr_ops, TS_MEMORY_MAX_OPS);
	size_t nr = TS_MAX(TS_MIN(memory->nr_ops, TS_MEMORY_MAX_OPS), listed);
	struct ts_memory_op *ops =
		ts_arena_array(&memory->result->owner->arena, nr + 1, sizeof(*ops));

	if (!ops)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < nr; i++) {
		struct ts_memory_op op = ts_memory_row(memory, order[i]);

		ops[i] = memory_report_make_fact(memory, &op);
	}
	memory->facts->ops = ops;
	memory->facts->nr_ops = TS_MIN(nr, TS_MEMORY_MAX_OPS);
	memory->nr_listed = listed;
	sum_others(memory, order);
	return TS_OK;
}

static double link_peak(const struct memory *memory)
{
	return memory->rates ? memory->rates->host_bytes_per_s : NAN;
}

/* What a core waited for a transfer, as the view async has it: of the time in which it was under way. Of
 * an op that is not asynchronous all of its time. */
static int64_t waited_ps(const struct memory *memory, const struct ts_memory_op *op)
{
	const struct ts_async_facts *async = ts_async_facts(memory->ctx);

	for (size_t i = 0; i < async->nr; i++)
		if (async->items[i].op == op->op)
			return TS_MIN(async->items[i].exposed_ps, op->time_ps);
	return TS_MIN(op->self_ps, op->time_ps);
}

#define LINK_CELLS(X) \
	X(op, ts_text(op->name)) \
	X(module, ts_text_or_null(memory_report_module_name(memory, op))) \
	X(category, ts_text_or_null(op->category)) \
	X(executions, ts_int_or_null(op->executions)) \
	X(from_host_bytes, ts_int(in)) \
	X(to_host_bytes, ts_int(out)) \
	X(time_ps, ts_int_or_null(op->time_ps)) \
	X(waited_ps, ts_int_or_null(waited_ps(memory, op))) \
	X(bytes_per_s, ts_held_value(memory->result, ts_memory_rate_of(ts_i64_add(in, out), op->time_ps), \
			2 * link_peak(memory), above)) \
	X(link_pct, ts_held_share_pct(memory->result, memory_report_share_of(busiest, link_peak(memory)), above)) \
	X(source, ts_text_or_null(memory_report_source_of(memory, op)))

/* The two ways do not share wires: a link is as full as the fuller way. */
static void put_transfer(const struct memory *memory, struct ts_table *table,
			 const struct ts_memory_op *op)
{
	int64_t in = op->all.read_bytes[TS_MEMORY_HOST];
	int64_t out = op->all.written_bytes[TS_MEMORY_HOST];
	double busiest = ts_memory_rate_of(TS_MAX(in, out), op->time_ps);

	TS_CELLS(memory->result, table, memory_host_link, LINK_CELLS);
}

static enum ts_status memory_report_put_link(const struct memory *memory, struct ts_error *err)
{
	struct transfer *transfers;
	struct ts_table *table;
	size_t nr = 0;

	if (!memory->uses_host)
		return TS_OK;
	transfers = calloc(memory->nr_ops, sizeof(*transfers));
	if (!transfers)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < memory->nr_ops; i++) {
		struct ts_memory_op op = ts_memory_row(memory, &memory->ops[i]);

		transfers[nr] =
			(struct transfer){ ts_traffic_host_bytes(&op.all), &memory->ops[i] };
		nr += transfers[nr].host_bytes > 0;
	}
	TS_SORT(transfers, nr, by_link);
	table = TS_TABLE(memory->result, memory_host_link);
	for (size_t i = 0; i < TS_MIN(nr, TS_MEMORY_MAX_ROWS); i++) {
		struct ts_memory_op op = ts_memory_row(memory, transfers[i].row);

		put_transfer(memory, table, &op);
	}
	free(transfers);
	return TS_OK;
}

static enum ts_status add_sum(struct sums *sums, const struct ts_memory_op *op,
			      struct ts_bytes name, int64_t time_ps, struct ts_error *err)
{
	uint32_t at = ts_strmap_find(&sums->by_name, name);
	struct sum *sum;

	if (at == TS_NONE) {
		if (!ts_grow(&sums->items, &sums->cap, sums->nr + 1, sizeof(*sums->items)) ||
		    !ts_strmap_set(&sums->by_name, name, (uint32_t)sums->nr))
			return ts_fail_nomem(err);
		at = (uint32_t)sums->nr++;
		sums->items[at] = (struct sum){ .name = name };
	}
	sum = &sums->items[at];
	sum->nr_ops++;
	sum->time_ps = ts_i64_add(sum->time_ps, TS_MAX(time_ps, 0));
	sum->self_ps = ts_i64_add(sum->self_ps, TS_MAX(op->self_ps, 0));
	sum->hbm_bytes = ts_i64_add(sum->hbm_bytes, ts_traffic_hbm_bytes(&op->all));
	if (op->time_ps > 0)
		sum->timed_bytes = ts_i64_add(sum->timed_bytes, ts_traffic_hbm_bytes(&op->all));
	ts_traffic_add(&sum->all, &op->all);
	return TS_OK;
}

static void release_sums(struct sums *sums)
{
	free(sums->items);
	ts_strmap_release(&sums->by_name);
}

TS_ORDER(memory_report_by_bytes, struct sum, TS_DOWN(hbm_bytes) TS_DOWN(time_ps) TS_UP(name))

#define SUM_CELLS(X) \
	X(ops, ts_int(sum->nr_ops)) \
	X(self_time_ps, memory->measured ? ts_int(sum->self_ps) : ts_null()) \
	X(time_ps, memory->measured ? ts_int(sum->time_ps) : ts_null()) \
	X(hbm_read_bytes, hbm_read(&sum->all)) \
	X(hbm_written_bytes, hbm_written(&sum->all)) \
	X(bytes_pct, ts_share_pct(all > 0 ? (double)sum->hbm_bytes / all : NAN)) \
	X(hbm_bytes_per_s, ts_held_value(memory->result, rate, hbm_peak(memory), above)) \
	X(hbm_pct, ts_held_share_pct(memory->result, memory_report_share_of(rate, hbm_peak(memory)), above)) \
	X(host_bytes, known ? ts_int(ts_traffic_host_bytes(&sum->all)) : ts_null())

#define CATEGORY_CELLS(X) \
	X(category, ts_text_or_null(sum->name)) \
	SUM_CELLS(X)

#define MODULE_CELLS(X) \
	X(module, ts_text_or_null(sum->name)) \
	SUM_CELLS(X)

/* For both tables: their cells have the same values. */
static void memory_report_put_sum(const struct memory *memory, struct ts_table *table,
				  const struct sum *sum)
{
	double all = (double)ts_traffic_hbm_bytes(&memory->total);
	bool known = sum->all.source != TS_TRAFFIC_UNKNOWN;
	double rate =
		ts_memory_rate_of(sum->timed_bytes, memory->measured && known ? sum->time_ps : -1);

	if (table->columns == ts_sheet_memory_categories.columns)
		TS_CELLS(memory->result, table, memory_categories, CATEGORY_CELLS);
	else
		TS_CELLS(memory->result, table, memory_modules, MODULE_CELLS);
}

static void memory_report_put_sums(const struct memory *memory, struct sums *sums,
				   struct ts_table *table)
{
	TS_SORT(sums->items, sums->nr, memory_report_by_bytes);
	for (size_t i = 0; i < TS_MIN(sums->nr, TS_MEMORY_MAX_ROWS); i++)
		memory_report_put_sum(memory, table, &sums->items[i]);
}

static enum ts_status memory_report_put_groups(const struct memory *memory, struct ts_error *err)
{
	struct sums categories = { .nr = 0 }, modules = { .nr = 0 };
	enum ts_status st = TS_OK;

	for (size_t i = 0; st == TS_OK && i < memory->nr_ops; i++) {
		struct ts_memory_op op = ts_memory_row(memory, &memory->ops[i]);

		if (op.all.source == TS_TRAFFIC_INSIDE)
			continue;
		st = add_sum(&categories, &op, op.category, op.time_ps, err);
		if (st == TS_OK)
			st = add_sum(&modules, &op, memory_report_module_name(memory, &op),
				     op.self_ps, err);
	}
	if (st == TS_OK && modules.nr > 0) {
		memory_report_put_sums(memory, &categories,
				       TS_TABLE(memory->result, memory_categories));
		memory_report_put_sums(memory, &modules, TS_TABLE(memory->result, memory_modules));
	}
	release_sums(&categories);
	release_sums(&modules);
	return st;
}

static double memory_report_peak_of(const struct memory *memory, int space)
{
	switch (space) {
	case TS_MEMORY_HBM:  return hbm_peak(memory);
	case TS_MEMORY_VMEM: return memory->rates ? memory->rates->vmem_bytes_per_s : NAN;
	default:	     return NAN;
	}
}

#define SPACE_CELLS(X) \
	X(memory, ts_string_cell(ts_memory_name((enum ts_memory)space))) \
	X(read_bytes, ts_int(all->read_bytes[space])) \
	X(written_bytes, ts_int(all->written_bytes[space])) \
	X(unsplit_bytes, ts_int(unsplit)) \
	X(bytes_per_s, ts_held_value(memory->result, rate, peak, above)) \
	X(peak_bytes_per_s, ts_real(peak)) \
	X(peak_pct, ts_held_share_pct(memory->result, memory_report_share_of(rate, peak), above))

static void put_space(const struct memory *memory, struct ts_table *table, int space)
{
	const struct ts_traffic *all = &memory->total;
	int64_t unsplit = space == TS_MEMORY_HBM ? all->unsplit_bytes : 0;
	int64_t bytes =
		ts_i64_add(unsplit, ts_i64_add(all->read_bytes[space], all->written_bytes[space]));
	double rate = ts_memory_rate_of(bytes, memory->measured ? memory->core_ps : -1);
	double peak = memory_report_peak_of(memory, space);

	if (bytes > 0)
		TS_CELLS(memory->result, table, memory_spaces, SPACE_CELLS);
}

static void put_spaces(const struct memory *memory)
{
	struct ts_table *table = TS_TABLE(memory->result, memory_spaces);

	for (int i = 0; i < TS_NR_MEMORIES; i++)
		if (i != TS_MEMORY_OTHER)
			put_space(memory, table, i);
}

static struct ts_value peak_bytes(const struct memory *memory)
{
	const struct ts_capacity_program *top = ts_capacity_top(ts_capacity_facts(memory->ctx));

	return top ? ts_int(top->peak_bytes) : ts_null();
}

static void memory_report_put_unknown(struct memory *memory)
{
	int64_t nr = memory->nr_unknown;

	TS_SET(memory->result, memory, unknown_op_count, ts_int(nr));
	TS_SET(memory->result, memory, unknown_ps,
	       memory->measured ? ts_int(memory->unknown_ps) : ts_null());
	if (nr > 0)
		ts_result_note(
			memory->result,
			"What %lld op%s (kernels without a cost) move is unknown: bytes are lower "
			"bounds.",
			(long long)nr, nr == 1 ? "" : "s");
}

/* What a GPU's copies say of their bytes was measured; without that it is what the ops were compiled to. */
static void memory_report_put_host(const struct memory *memory, size_t field, int64_t compiled,
				   int64_t copied)
{
	int64_t nr_bytes = copied > 0 ? copied : compiled;
	enum ts_origin from = copied > 0 ? TS_MEASURED : TS_COMPILED;
	struct ts_field *put = TS_SET_AT(memory->result, memory, field,
					 ts_value_from(ts_int_or_null(nr_bytes), from));

	if (nr_bytes <= 0)
		put->label = NULL;
}

/* Of the bytes, those of ops that cannot have moved them in their time: 0..1. */
static double impossible_part(const struct memory *memory)
{
	double bytes = memory->impossible_bytes;

	return bytes > 0 ? bytes / (double)ts_traffic_hbm_bytes(&memory->total) : 0;
}

/* How much of HBM's peak the run used. */
static struct ts_held held_of(const struct memory *memory, double rate)
{
	struct ts_held held = { memory_report_share_of(rate, hbm_peak(memory)), { NULL, 0 } };
	double part = impossible_part(memory);
	char text[TS_UNIT_MAX];

	if (part > TS_IMPOSSIBLE_PART)
		held.cause =
			ts_result_text(memory->result,
				       "%s of its bytes are of ops that cannot have moved them "
				       "in the time that they were under way",
				       ts_fmt_pct(text, 100 * part));
	else if (ts_is_impossible(held.share, 1))
		held.cause = above;
	return held;
}

static struct ts_value memory_report_rate_cell(const struct memory *memory, double rate)
{
	struct ts_held held = memory->facts->hbm;

	return held.cause.n > 0
		       ? ts_impossible_value(memory->result, rate, hbm_peak(memory), held.cause)
		       : ts_real(rate);
}

static void memory_report_put_fields(struct memory *memory)
{
	const struct ts_traffic *all = &memory->total;
	struct ts_result *result = memory->result;
	bool known = memory->nr_ops > 0 && all->source != TS_TRAFFIC_UNKNOWN;
	double rate = ts_memory_rate_of(ts_traffic_hbm_bytes(all),
					memory->measured && known ? memory->core_ps : -1);
	const int64_t *in = all->read_bytes, *out = all->written_bytes;

	TS_SET(result, memory, hbm_read_bytes, known ? hbm_read(all) : ts_null());
	TS_SET(result, memory, hbm_written_bytes, known ? hbm_written(all) : ts_null());
	TS_SET(result, memory, hbm_unsplit_bytes,
	       all->unsplit_bytes > 0 ? ts_int(all->unsplit_bytes) : ts_null());
	memory->facts->hbm = held_of(memory, rate);
	TS_SET(result, memory, hbm_bytes_per_s, memory_report_rate_cell(memory, rate));
	TS_SET(result, memory, hbm_pct, ts_held_pct(result, memory->facts->hbm));
	memory_report_put_host(memory, TS_FIELD_AT(memory, from_host_bytes),
			       known ? in[TS_MEMORY_HOST] : TS_UNKNOWN,
			       ts_kernels_facts(memory->ctx)->from_host_bytes);
	memory_report_put_host(memory, TS_FIELD_AT(memory, to_host_bytes),
			       known ? out[TS_MEMORY_HOST] : TS_UNKNOWN,
			       ts_kernels_facts(memory->ctx)->to_host_bytes);
	TS_SET(result, memory, peak_bytes, peak_bytes(memory));
}

static enum ts_status memory_report_put_tables(struct memory *memory,
					       const struct memory_row **order,
					       struct ts_error *err)
{
	enum ts_status st;

	for (size_t i = 0; i < memory->nr_ops; i++)
		order[i] = &memory->ops[i];
	TS_SORT(order, memory->nr_ops, by_hbm);
	st = memory_report_list_ops(memory, order, err);
	if (st)
		return st;
	memory_report_put_ops(memory);
	st = memory_report_put_groups(memory, err);
	if (st)
		return st;
	return memory_report_put_link(memory, err);
}

enum ts_status ts_memory_put_ops(struct memory *memory, struct ts_error *err)
{
	const struct memory_row **order = calloc(memory->nr_ops + 1, sizeof(*order));
	enum ts_status st = TS_OK;

	if (!order)
		return ts_fail_nomem(err);
	memory_report_put_fields(memory);
	memory_report_put_unknown(memory);
	put_spaces(memory);
	if (memory->nr_ops > 0)
		st = memory_report_put_tables(memory, order, err);
	free(order);
	if (memory->nr_ops > 0 && !memory->measured)
		ts_result_note(memory->result,
			       "Without a run each op counts once, those of a loop too.");
	return st;
}
