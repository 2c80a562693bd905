/* SPDX-License-Identifier: MIT */
/*
 * Collectives of NCCL and RCCL. The args of an event say what it moves (PyTorch 2.2 and later:
 * Collective name, In msg nelems, Out msg nelems, Group size, dtype, Process Group Name and Ranks).
 * Else there is the kernel's name only: ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...). Bandwidth is
 * that of nccl-tests (its doc/PERFORMANCE.md).
 *
 * Which rank comes late: all kernels of one collective end about together, so the rank whose kernel
 * was the shortest began it last, and the others waited for it as long as their kernels were
 * longer. That works without a common clock.
 */
#include "analysis/gpu/hta.h"

#include "base/check.h"
#include "base/order.h"

#define ASKED 64 /* events without these args, after which the trace is taken to have none */

enum measure { BY_IN, BY_OUT, BY_LARGER };

static const struct kind {
	const char *in_args, *in_name; /* parts of the collective's and the kernel's name */
	enum measure measure;
	bool is_peer;
	double first, per_rank; /* bus factor: first + per_rank / n */
} kinds[] = {
	/* the first that fits */
	{ "allreduce", "AllReduce", BY_IN, false, 2, -2 },
	{ "all_reduce", "AllReduce", BY_IN, false, 2, -2 },
	{ "reduce_scatter", "ReduceScatter", BY_IN, false, 1, -1 },
	{ "allgather", "AllGather", BY_OUT, false, 1, -1 },
	{ "all_gather", "AllGather", BY_OUT, false, 1, -1 },
	{ "all_to_all", "AllToAll", BY_LARGER, false, 1, -1 },
	{ "alltoall", "AlltoAll", BY_LARGER, false, 1, -1 },
	{ "broadcast", "Broadcast", BY_LARGER, false, 1, 0 },
	{ "send", "SendRecv", BY_LARGER, true, 1, 0 },
	{ "recv", "SendRecv", BY_LARGER, true, 1, 0 },
	{ "reduce", "Reduce", BY_IN, false, 1, 0 },
};

static const struct type {
	const char *args, *name; /* PyTorch's name, and that in a kernel's name */
	int64_t nr_bytes;
} types[] = {
	/* the first that fits: a longer name stands before its own beginning */
	{ "BFloat16", "bf16", 2 },
	{ "BFloat16", "__nv_bfloat16", 2 },
	{ "Half", "half", 2 },
	{ "Half", "f16", 2 },
	{ "Float", "float", 4 },
	{ "Float", "f32", 4 },
	{ "Double", "double", 8 },
	{ "Double", "f64", 8 },
	{ "Byte", "uint8_t", 1 },
	{ "Byte", "u8", 1 },
	{ "Char", "int8_t", 1 },
	{ "Char", "i8", 1 },
	{ "Int", "int32_t", 4 },
	{ "Int", "i32", 4 },
	{ "Long", "int64_t", 8 },
	{ "Long", "i64", 8 },
	{ "Bool", "bool", 1 },
	{ "Short", "int16_t", 2 },
	{ "Float8_e4m3fn", "f8e4m3", 1 },
	{ "Float8_e5m2", "f8e5m2", 1 },
	{ "ComplexFloat", "ComplexFloat", 8 },
};

static const struct kind *hta_collectives_kind_of(const struct hta_collective *collective)
{
	struct ts_bytes name = ts_bytes_of(collective->name);

	for (size_t i = 0; i < TS_NELEM(kinds); i++)
		if (ts_bytes_has(name, kinds[i].in_args) || ts_bytes_has(name, kinds[i].in_name))
			return &kinds[i];
	return NULL;
}

int64_t ts_hta_collective_bytes(const struct hta_collective *collective)
{
	const struct kind *kind = hta_collectives_kind_of(collective);

	if (collective->in_bytes < 0 || collective->out_bytes < 0 || !kind)
		return TS_UNKNOWN;
	if (kind->measure == BY_LARGER)
		return TS_MAX(collective->in_bytes, collective->out_bytes);
	return kind->measure == BY_IN ? collective->in_bytes : collective->out_bytes;
}

double ts_hta_collective_bus_factor(const struct hta_collective *collective)
{
	const struct kind *kind = hta_collectives_kind_of(collective);

	if (!kind || (kind->per_rank != 0 && collective->group_size < 1))
		return NAN;
	return kind->first +
	       (kind->per_rank != 0 ? kind->per_rank / (double)collective->group_size : 0);
}

/* --- what an event says */

static bool ask_text(const struct ts_interleaved *interleaved, size_t i, const char *name,
		     struct ts_bytes *text)
{
	struct ts_stat stat;

	if (!ts_interleaved_stat(interleaved, i, name, &stat) || stat.type != TS_STAT_TEXT)
		return false;
	*text = stat.text;
	return true;
}

static int64_t ask_number(const struct ts_interleaved *interleaved, size_t i, const char *name)
{
	struct ts_stat stat;

	if (!ts_interleaved_stat(interleaved, i, name, &stat) || stat.type != TS_STAT_INT ||
	    stat.number < 0)
		return TS_UNKNOWN;
	return stat.number;
}

/* A text that is too long is cut. */
static void hta_collectives_keep(char out[HTA_TEXT], struct ts_bytes text)
{
	size_t n = TS_MIN(text.n, HTA_TEXT - 1);

	memset(out, 0, HTA_TEXT);
	if (n > 0)
		memcpy(out, text.p, n);
}

static int64_t hta_collectives_bytes_of(struct ts_bytes type, int64_t nr)
{
	if (nr < 0)
		return TS_UNKNOWN;
	for (size_t i = 0; i < TS_NELEM(types); i++)
		if (ts_bytes_is(type, types[i].args))
			return ts_i64_mul(nr, types[i].nr_bytes);
	return TS_UNKNOWN;
}

/* False: the event does not have these args. */
static bool read_args(struct hta_collective *collective, const struct ts_interleaved *interleaved,
		      size_t i, uint64_t *ranks)
{
	struct ts_bytes text, type = { NULL, 0 };

	if (!ask_text(interleaved, i, "Collective name", &text))
		return false;
	hta_collectives_keep(collective->name, text);
	if (ask_text(interleaved, i, "dtype", &type))
		hta_collectives_keep(collective->type, type);
	if (ask_text(interleaved, i, "Process Group Name", &text))
		hta_collectives_keep(collective->group, text);
	if (ask_text(interleaved, i, "Process Group Ranks", &text))
		*ranks = ts_hash(text, 0);
	collective->group_size = ask_number(interleaved, i, "Group size");
	collective->in_bytes =
		hta_collectives_bytes_of(type, ask_number(interleaved, i, "In msg nelems"));
	collective->out_bytes =
		hta_collectives_bytes_of(type, ask_number(interleaved, i, "Out msg nelems"));
	return true;
}

/* The type stands behind the reduction: ..._Sum_bf16_RING_LL(, ..._Sum_float( */
static void read_type(struct hta_collective *collective, struct ts_bytes name)
{
	static const char *const reductions[] = { "Sum_", "Prod_", "Max_", "Min_", "Avg_" };

	for (size_t i = 0; i < TS_NELEM(reductions); i++) {
		size_t at = ts_bytes_find(name, reductions[i]);
		struct ts_bytes rest = ts_bytes_cut(name, at + strlen(reductions[i]), name.n);

		for (size_t k = 0; at < name.n && k < TS_NELEM(types); k++)
			if (ts_bytes_starts(rest, types[k].name)) {
				hta_collectives_keep(collective->type, ts_bytes_of(types[k].args));
				return;
			}
	}
}

/* One collective has one key on all ranks: what it is, its ranks, its bytes. */
static uint64_t hta_collectives_key_of(const struct hta_collective *collective,
				       struct ts_bytes kernel, uint64_t ranks)
{
	struct {
		char name[HTA_TEXT], type[HTA_TEXT], group[HTA_TEXT];
		int64_t size, in, out;
	} all;

	memset(&all, 0, sizeof(all));
	memcpy(all.name, collective->name, HTA_TEXT);
	memcpy(all.type, collective->type, HTA_TEXT);
	memcpy(all.group, collective->group, HTA_TEXT);
	all.size = collective->group_size;
	all.in = collective->in_bytes;
	all.out = collective->out_bytes;
	return ts_hash((struct ts_bytes){ (const uint8_t *)&all, sizeof(all) },
		       ranks ^ (collective->in_bytes < 0 ? ts_hash(kernel, 0) : 0));
}

static struct hta_collective hta_collectives_describe(struct hta_collectives *collectives,
						      const struct ts_interleaved *interleaved,
						      size_t i)
{
	struct hta_collective collective = { .group_size = TS_UNKNOWN,
					     .in_bytes = TS_UNKNOWN,
					     .out_bytes = TS_UNKNOWN };
	struct ts_bytes kernel = interleaved->profile->ops[interleaved->op[i]].name;
	bool ask = collectives->nr_answered > 0 || collectives->nr_asked < ASKED;
	const struct kind *kind;
	uint64_t ranks = 0;

	collectives->nr_asked += ask;
	if (ask && read_args(&collective, interleaved, i, &ranks))
		collectives->nr_answered++;
	else {
		for (size_t k = 0; k < TS_NELEM(kinds) && !collective.name[0]; k++)
			if (ts_bytes_has(kernel, kinds[k].in_name))
				hta_collectives_keep(collective.name,
						     ts_bytes_of(kinds[k].in_name));
		read_type(&collective, kernel);
	}
	kind = hta_collectives_kind_of(&collective);
	collective.is_peer = kind && kind->is_peer;
	collective.key = hta_collectives_key_of(&collective, kernel, ranks);
	return collective;
}

/* --- counting */

static struct hta_collective *hta_collectives_row_of(struct hta_collectives *collectives,
						     struct hta_collective collective)
{
	uint32_t at = ts_map_find(&collectives->by_key, collective.key);

	if (at == TS_NONE && collectives->nr >= HTA_COLLECTIVES) {
		/* Where there are too many sizes, all others share one row. */
		collective.in_bytes = collective.out_bytes = TS_UNKNOWN;
		collective.group_size = TS_UNKNOWN;
		hta_collectives_keep(collective.name, TS_LIT("other sizes"));
		hta_collectives_keep(collective.type, TS_LIT(""));
		hta_collectives_keep(collective.group, TS_LIT(""));
		collective.key = 0;
		at = ts_map_find(&collectives->by_key, collective.key);
	}
	if (at != TS_NONE)
		return &collectives->rows[at];
	if (!ts_grow(&collectives->rows, &collectives->cap, collectives->nr + 1,
		     sizeof(*collectives->rows)) ||
	    !ts_map_set(&collectives->by_key, collective.key, (uint32_t)collectives->nr))
		return NULL;
	collectives->rows[collectives->nr] = collective;
	return &collectives->rows[collectives->nr++];
}

static enum ts_status add_instance(struct hta_collectives *collectives,
				   const struct hta_collective *row, int64_t dur_ps,
				   struct ts_error *err)
{
	struct hta_instance *instance;

	if (row->is_peer || row->key == 0 || collectives->max_instances == 0)
		return TS_OK;
	if (collectives->nr_instances >= collectives->max_instances) {
		collectives->is_cut = true;
		return TS_OK;
	}
	if (!ts_grow(&collectives->instances, &collectives->cap_instances,
		     collectives->nr_instances + 1, sizeof(*instance)))
		return ts_fail_nomem(err);
	instance = &collectives->instances[collectives->nr_instances++];
	*instance = (struct hta_instance){ row->key, dur_ps, 0, (uint32_t)row->time.nr };
	return TS_OK;
}

enum ts_status ts_hta_collectives_add(struct hta_collectives *collectives,
				      const struct ts_interleaved *interleaved, size_t i,
				      struct ts_error *err)
{
	struct hta_collective *row = hta_collectives_row_of(
		collectives, hta_collectives_describe(collectives, interleaved, i));
	enum ts_status st;

	TS_ASSERT_HOT(i < interleaved->nr_events);
	if (!row)
		return ts_fail_nomem(err);
	st = add_instance(collectives, row, interleaved->dur_ps[i], err);
	if (st)
		return st;
	ts_spread_add(&row->time, interleaved->dur_ps[i]);
	return TS_OK;
}

/* --- ranks against each other */

TS_ORDER(by_meeting, struct hta_instance, TS_UP(key) TS_UP(at) TS_UP(rank))

/* The instances of all ranks, those that meet side by side. NULL: no memory. */
static struct hta_instance *hta_collectives_gather(const struct hta_rank *ranks, size_t nr_ranks,
						   size_t *nr)
{
	struct hta_instance *all;

	*nr = 0;
	for (size_t i = 0; i < nr_ranks; i++)
		*nr += ranks[i].collectives.nr_instances;
	all = malloc((*nr + 1) * sizeof(*all));
	*nr = 0;
	for (size_t i = 0; i < nr_ranks && all; i++)
		for (size_t k = 0; k < ranks[i].collectives.nr_instances; k++) {
			all[*nr] = ranks[i].collectives.instances[k];
			all[(*nr)++].rank = (uint32_t)i;
		}
	TS_SORT(all, *nr, by_meeting);
	return all;
}

/* One collective on all its ranks: the rank with the shortest kernel came last. */
static void hta_collectives_meet(const struct hta_instance *items, size_t nr,
				 struct ts_hta_rank *ranks)
{
	struct ts_hta_arrival *late;
	size_t last = 0;
	int64_t second_ps = INT64_MAX, waited_ps = 0;

	for (size_t i = 1; i < nr; i++)
		if (items[i].dur_ps < items[last].dur_ps)
			last = i;
	for (size_t i = 0; i < nr; i++) {
		struct ts_hta_arrival *arrival = &ranks[items[i].rank].arrival;
		int64_t wait_ps = items[i].dur_ps - items[last].dur_ps;

		arrival->nr++;
		arrival->waited_ps = ts_i64_add(arrival->waited_ps, wait_ps);
		waited_ps = ts_i64_add(waited_ps, wait_ps);
		if (i != last)
			second_ps = TS_MIN(second_ps, wait_ps);
	}
	late = &ranks[items[last].rank].arrival;
	late->nr_last++;
	late->caused_ps = ts_i64_add(late->caused_ps, waited_ps / (int64_t)(nr - 1));
	late->excess_ps = ts_i64_add(late->excess_ps, second_ps);
}

/* Every rank that took part must have equally many instances of a key: else it is unknown which of
 * them belong together. FROM to TO: all instances of a key. */
static bool hta_collectives_is_whole(const struct hta_instance *all, size_t from, size_t to,
				     size_t *nr_ranks)
{
	size_t nr = 1;

	while (from + nr < to && all[from + nr].at == all[from].at)
		nr++;
	*nr_ranks = nr;
	if (nr < 2 || (to - from) % nr != 0)
		return false;
	for (size_t i = from; i < to; i++)
		if (all[i].rank != all[from + (i - from) % nr].rank ||
		    all[i].at != all[from].at + (i - from) / nr)
			return false;
	return true;
}

enum ts_status ts_hta_collectives_match(const struct hta_rank *ranks, size_t nr_ranks,
					struct ts_hta_rank *results, int64_t *nr_unmatched,
					struct ts_error *err)
{
	size_t nr, together;
	struct hta_instance *all;

	if (nr_ranks < 2)
		return TS_OK;
	all = hta_collectives_gather(ranks, nr_ranks, &nr);
	for (size_t from = 0, to; all && from < nr; from = to) {
		for (to = from + 1; to < nr && all[to].key == all[from].key;)
			to++;
		if (!hta_collectives_is_whole(all, from, to, &together)) {
			*nr_unmatched += (int64_t)(to - from);
			continue;
		}
		for (size_t i = from; i < to; i += together)
			hta_collectives_meet(&all[i], together, results);
	}
	free(all);
	return all ? TS_OK : ts_fail_nomem(err);
}
