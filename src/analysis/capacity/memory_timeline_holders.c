/* SPDX-License-Identifier: MIT */
/*
 * Who held memory at the peak, by owner and by module, and the blocks it was made of; the largest
 * allocations of the capture, and what steps took and kept.
 */
#include "analysis/capacity/memory_timeline.h"
#include "base/order.h"

#define MAX_HOLDERS 50 /* rows a device */
#define MAX_BLOCKS  20
#define MODULE	    "nn.Module: " /* in front of a module's name */

/* The kinds of one device. */
struct kinds {
	const struct heap_kind **items;
	size_t nr;
};

/* --- owners */

static struct ts_bytes memory_timeline_holders_op_name(const struct ts_profile *profile,
						       uint32_t op)
{
	return op == TS_NONE ? (struct ts_bytes){ NULL, 0 } : profile->ops[op].name;
}

static struct ts_bytes memory_timeline_holders_module_name(const struct ts_profile *profile,
							   uint32_t op)
{
	struct ts_bytes name = memory_timeline_holders_op_name(profile, op);

	return op == TS_NONE ? name : ts_bytes_cut(name, strlen(MODULE), name.n);
}

static bool is_others(const struct heap_owner *owner)
{
	return owner->phase == NR_PHASES;
}

static struct ts_bytes phase_name(const struct heap_owner *owner)
{
	static const char *const names[NR_PHASES] = {
		[PHASE_NONE] = "",
		[PHASE_FORWARD] = "forward",
		[PHASE_BACKWARD] = "backward",
		[PHASE_OPTIMIZER] = "optimizer",
		[PHASE_INPUT] = "input",
	};

	return ts_bytes_of(is_others(owner) ? "" : names[owner->phase]);
}

struct ts_heap_owner ts_heap_owner_names(const struct ts_profile *profile,
					 const struct heap_owner *owner)
{
	return (struct ts_heap_owner){
		.op = is_others(owner) ? TS_LIT("(others)")
				       : memory_timeline_holders_op_name(profile, owner->op),
		.outer_op = memory_timeline_holders_op_name(profile, owner->outer_op),
		.module = memory_timeline_holders_module_name(profile, owner->module),
		.annotation = memory_timeline_holders_op_name(profile, owner->annotation),
		.source = memory_timeline_holders_op_name(profile, owner->source),
		.phase = phase_name(owner),
	};
}

static struct ts_heap_owner module_owner(const struct ts_profile *profile,
					 const struct heap_owner *owner)
{
	return (struct ts_heap_owner){
		.module = is_others(owner)
				  ? TS_LIT("(others)")
				  : memory_timeline_holders_module_name(profile, owner->module),
		.phase = phase_name(owner),
	};
}

TS_ORDER(by_owner, struct heap_owner,
	 TS_UP(op) TS_UP(outer_op) TS_UP(module) TS_UP(annotation) TS_UP(source) TS_UP(phase))

TS_ORDER(memory_timeline_holders_by_module, struct heap_owner, TS_UP(module) TS_UP(phase))

TS_ORDER_AT(kinds_by_owner, struct heap_kind, TS_AS(by_owner, owner) TS_UP(block_bytes))

TS_ORDER_AT(kinds_by_module, struct heap_kind, TS_AS(memory_timeline_holders_by_module, owner))

static void memory_timeline_holders_sort(const struct kinds *kinds,
					 int (*order)(const void *a, const void *b))
{
	TS_SORT(kinds->items, kinds->nr, order);
}

/* --- what is held at the peak, in sums */

struct sum {
	struct heap_owner owner;
	int64_t nr_bytes, count;
	uint32_t serial;
};

/* The two ways to sum up. */
struct summing {
	int (*sort)(const void *a, const void *b);  /* of kinds */
	int (*order)(const void *x, const void *y); /* of owners */
	struct ts_heap_owner (*names)(const struct ts_profile *profile,
				      const struct heap_owner *owner);
	bool is_of_modules;
};
static const struct summing summed_by_owner = { kinds_by_owner, by_owner, ts_heap_owner_names,
						false };
static const struct summing summed_by_module = { kinds_by_module, memory_timeline_holders_by_module,
						 module_owner, true };

/* Of what was allocated before the capture. */
static struct ts_heap_owner owner_before(const struct summing *by)
{
	struct ts_bytes name = TS_LIT("(allocated before the capture)"), none = { NULL, 0 };

	return (struct ts_heap_owner){ .op = by->is_of_modules ? none : name,
				       .module = by->is_of_modules ? name : none };
}

TS_ORDER(sums_by_size, struct sum, TS_DOWN(nr_bytes) TS_UP(serial))

/* Of the kinds those that were alive at the peak, the largest sum first; NULL: no memory. */
static struct sum *memory_timeline_holders_sums_of(const struct kinds *kinds,
						   const struct summing *by, size_t *nr)
{
	struct sum *sums = calloc(kinds->nr + 1, sizeof(*sums));

	*nr = 0;
	memory_timeline_holders_sort(kinds, by->sort);
	for (size_t i = 0; sums && i < kinds->nr; i++) {
		const struct heap_kind *kind = kinds->items[i];
		struct sum *sum;

		if (kind->peak_count == 0)
			continue;
		if (*nr == 0 || by->order(&sums[*nr - 1].owner, &kind->owner) != 0) {
			sums[*nr] = (struct sum){ .owner = kind->owner, .serial = (uint32_t)*nr };
			(*nr)++;
		}
		sum = &sums[*nr - 1];
		sum->nr_bytes = ts_i64_add(sum->nr_bytes, kind->peak_bytes);
		sum->count += kind->peak_count;
	}
	TS_SORT(sums, *nr, sums_by_size);
	return sums;
}

/* What is past MAX_HOLDERS becomes one sum. */
static size_t join_others(struct sum *sums, size_t nr)
{
	struct sum others = { .owner = { TS_NONE, TS_NONE, TS_NONE, TS_NONE, TS_NONE, NR_PHASES } };

	if (nr <= MAX_HOLDERS + 1)
		return nr;
	for (size_t i = MAX_HOLDERS; i < nr; i++) {
		others.nr_bytes = ts_i64_add(others.nr_bytes, sums[i].nr_bytes);
		others.count += sums[i].count;
	}
	sums[MAX_HOLDERS] = others;
	return MAX_HOLDERS + 1;
}

/* *MADE: what was allocated before the capture, and the sums. */
static enum ts_status list_sums(const struct heap_view *view, const struct kinds *kinds,
				const struct summing *by, const struct ts_heap_holder **made,
				size_t *nr_made, struct ts_error *err)
{
	size_t nr;
	struct sum *sums = memory_timeline_holders_sums_of(kinds, by, &nr);
	struct ts_heap_holder *holders;

	nr = sums ? join_others(sums, nr) : 0;
	holders = ts_arena_array(&view->result->owner->arena, nr + 1, sizeof(*holders));
	*made = holders;
	*nr_made = 0;
	if (holders && view->device->peak_untracked > 0)
		holders[(*nr_made)++] = (struct ts_heap_holder){ owner_before(by),
								 view->device->peak_untracked, -1 };
	for (size_t i = 0; holders && i < nr; i++)
		holders[(*nr_made)++] =
			(struct ts_heap_holder){ by->names(view->ctx->profile, &sums[i].owner),
						 sums[i].nr_bytes, sums[i].count };
	free(sums);
	return sums && holders ? TS_OK : ts_fail_nomem(err);
}

static bool memory_timeline_holders_has_modules(const struct kinds *kinds)
{
	for (size_t i = 0; i < kinds->nr; i++)
		if (kinds->items[i]->owner.module != TS_NONE ||
		    kinds->items[i]->owner.phase != PHASE_NONE)
			return true;
	return false;
}

/* --- kinds of blocks */

typedef int64_t size_fn(const struct heap_kind *kind);

static int64_t peak_block(const struct heap_kind *kind)
{
	return kind->peak_count > 0 ? kind->block_bytes : 0;
}

static int64_t any_block(const struct heap_kind *kind)
{
	return kind->block_bytes;
}

static int64_t unfreed(const struct heap_kind *kind)
{
	return kind->unfreed_bytes;
}

/* Moves the kind of the largest SIZE among those from FROM on there; false: none has one. */
static bool next_largest(const struct kinds *kinds, size_t from, size_fn *size)
{
	const struct heap_kind *kind;
	size_t best = from;

	for (size_t i = from + 1; i < kinds->nr; i++)
		if (size(kinds->items[i]) > size(kinds->items[best]))
			best = i;
	if (best >= kinds->nr || size(kinds->items[best]) <= 0)
		return false;
	kind = kinds->items[best];
	memmove(&kinds->items[from + 1], &kinds->items[from],
		(best - from) * sizeof(const struct heap_kind *));
	kinds->items[from] = kind;
	return true;
}

static int64_t nr_bits(uint64_t bits)
{
	int64_t nr = 0;

	for (; bits; bits &= bits - 1)
		nr++;
	return nr;
}

static struct ts_heap_blocks memory_timeline_holders_blocks_of(const struct heap_view *view,
							       const struct heap_kind *kind)
{
	return (struct ts_heap_blocks){
		.owner = ts_heap_owner_names(view->ctx->profile, &kind->owner),
		.block_bytes = kind->block_bytes,
		.peak_count = kind->peak_count,
		.count = kind->count,
		.total_bytes = kind->total_bytes,
		.mean_lifetime_ps = kind->nr_lived > 0 ? kind->lived_ps / kind->nr_lived : -1,
		.unfreed_count = kind->unfreed_count,
		.unfreed_bytes = kind->unfreed_bytes,
		.unfreed_steps = nr_bits(kind->unfreed_steps),
	};
}

static enum ts_status list_largest(const struct heap_view *view, const struct kinds *kinds,
				   size_fn *size, const struct ts_heap_blocks **made, size_t *nr,
				   struct ts_error *err)
{
	struct ts_heap_blocks *blocks =
		ts_arena_array(&view->result->owner->arena, MAX_BLOCKS, sizeof(*blocks));

	*made = blocks;
	*nr = 0;
	if (!blocks)
		return ts_fail_nomem(err);
	memory_timeline_holders_sort(kinds, kinds_by_owner);
	while (*nr < MAX_BLOCKS && next_largest(kinds, *nr, size)) {
		blocks[*nr] = memory_timeline_holders_blocks_of(view, kinds->items[*nr]);
		(*nr)++;
	}
	return TS_OK;
}

static enum ts_status memory_timeline_holders_list_all(const struct heap_view *view,
						       const struct kinds *kinds,
						       struct ts_heap_device *to,
						       struct ts_error *err)
{
	enum ts_status st;

	if (memory_timeline_holders_has_modules(kinds)) {
		st = list_sums(view, kinds, &summed_by_module, &to->modules, &to->nr_modules, err);
		if (st)
			return st;
	}
	st = list_sums(view, kinds, &summed_by_owner, &to->holders, &to->nr_holders, err);
	if (st)
		return st;
	st = list_largest(view, kinds, peak_block, &to->blocks, &to->nr_blocks, err);
	if (st)
		return st;
	st = list_largest(view, kinds, any_block, &to->allocations, &to->nr_allocations, err);
	if (st)
		return st;
	return list_largest(view, kinds, unfreed, &to->unfreed, &to->nr_unfreed, err);
}

enum ts_status ts_heap_list_holders(const struct heap_view *view, struct ts_heap_device *to,
				    struct ts_error *err)
{
	const struct heap_host *host = view->host;
	uint32_t device = (uint32_t)(view->device - host->devices);
	struct kinds kinds = { calloc(host->nr_kinds + 1, sizeof(const struct heap_kind *)), 0 };
	enum ts_status st;

	if (!kinds.items)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < host->nr_kinds; i++)
		if (host->kinds[i].device == device)
			kinds.items[kinds.nr++] = &host->kinds[i];
	st = memory_timeline_holders_list_all(view, &kinds, to, err);
	free(kinds.items);
	return st;
}
