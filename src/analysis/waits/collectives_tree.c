/* SPDX-License-Identifier: MIT */
/*
 * Clocks of hosts from pairs of hosts: of all pairs those with the smallest spread that join hosts
 * which are not joined yet (Kruskal). Each part that is joined has its first host as the reference.
 */
#include "analysis/waits/collectives.h"
#include "base/order.h"

struct tree {
	const struct collective_pair *pairs;
	size_t nr_pairs, nr_hosts;
	uint32_t *part;		/* of each host: another one of its part, or itself */
	uint32_t *first, *next; /* of each host its pairs in the tree; two entries a pair */
	uint32_t *todo;
	struct ts_host_clock *clocks;
};

static uint32_t collectives_tree_part_of(struct tree *tree, uint32_t host)
{
	while (tree->part[host] != host) {
		tree->part[host] = tree->part[tree->part[host]];
		host = tree->part[host];
	}
	return host;
}

TS_ORDER(by_spread, struct collective_pair, TS_UP(source) TS_UP(spread_ps) TS_UP(base) TS_UP(host))

static void link_host(struct tree *tree, uint32_t host, uint32_t entry)
{
	tree->next[entry] = tree->first[host];
	tree->first[host] = entry;
}

static void collectives_tree_join(struct tree *tree)
{
	for (uint32_t i = 0; i < tree->nr_pairs; i++) {
		uint32_t a = collectives_tree_part_of(tree, tree->pairs[i].base);
		uint32_t b = collectives_tree_part_of(tree, tree->pairs[i].host);

		if (a == b)
			continue;
		tree->part[TS_MAX(a, b)] = TS_MIN(a, b);
		link_host(tree, tree->pairs[i].base, 2 * i);
		link_host(tree, tree->pairs[i].host, 2 * i + 1);
	}
}

/* The pair the other way round: the same moments on BASE's clock. */
static struct collective_pair turned(const struct collective_pair *pair)
{
	struct collective_pair back = *pair;

	back.host = pair->base;
	back.base = pair->host;
	back.pivot_ps = ts_i64_sub(pair->pivot_ps, pair->offset_ps);
	back.offset_ps = ts_i64_sub(0, pair->offset_ps);
	back.drift = 1 - 1 / (1 - pair->drift);
	return back;
}

/* HOST's clock through that of the pair's other host, which is known. */
static struct ts_host_clock through(const struct ts_host_clock *base,
				    const struct collective_pair *pair)
{
	int64_t there_ps = ts_i64_sub(pair->pivot_ps, pair->offset_ps);
	struct ts_host_clock clock = { .source = TS_MAX(pair->source, base->source),
				       .reference = base->reference,
				       .pivot_ps = pair->pivot_ps,
				       .spread_ps = TS_MAX(pair->spread_ps, base->spread_ps),
				       .nr_matched = pair->nr_matched };

	clock.offset_ps = ts_i64_sub(pair->pivot_ps, ts_host_clock_align(base, there_ps));
	clock.drift = 1 - (1 - pair->drift) * (1 - base->drift);
	return clock;
}

static void collectives_tree_walk(struct tree *tree, uint32_t reference)
{
	size_t nr = 0;

	tree->clocks[reference] =
		(struct ts_host_clock){ .source = TS_CLOCK_REFERENCE, .reference = reference };
	tree->todo[nr++] = reference;
	while (nr > 0) {
		uint32_t from = tree->todo[--nr];

		for (uint32_t e = tree->first[from]; e != TS_NONE; e = tree->next[e]) {
			struct collective_pair pair =
				e % 2 == 0 ? tree->pairs[e / 2] : turned(&tree->pairs[e / 2]);

			if (tree->clocks[pair.host].reference != TS_NONE)
				continue;
			tree->clocks[pair.host] = through(&tree->clocks[from], &pair);
			tree->todo[nr++] = pair.host;
		}
	}
}

static enum ts_status make_tree(struct tree *tree, struct ts_error *err)
{
	tree->part = calloc(tree->nr_hosts + 1, sizeof(*tree->part));
	tree->first = calloc(tree->nr_hosts + 1, sizeof(*tree->first));
	tree->todo = calloc(tree->nr_hosts + 1, sizeof(*tree->todo));
	tree->next = calloc(2 * tree->nr_pairs + 1, sizeof(*tree->next));
	if (!tree->part || !tree->first || !tree->todo || !tree->next)
		return ts_fail_nomem(err);
	for (uint32_t h = 0; h < tree->nr_hosts; h++) {
		tree->part[h] = h;
		tree->first[h] = TS_NONE;
	}
	return TS_OK;
}

enum ts_status ts_collective_clocks_solve(struct collective_pairs *pairs, size_t nr_hosts,
					  struct ts_host_clock *clocks, struct ts_error *err)
{
	struct tree tree = {
		.pairs = pairs->items, .nr_pairs = pairs->nr, .nr_hosts = nr_hosts, .clocks = clocks
	};
	enum ts_status st = make_tree(&tree, err);

	TS_SORT(pairs->items, pairs->nr, by_spread);
	for (uint32_t h = 0; h < nr_hosts; h++)
		clocks[h] = (struct ts_host_clock){ .source = pairs->why[h],
						    .reference = TS_NONE,
						    .spread_ps = -1 };
	if (!st)
		collectives_tree_join(&tree);
	for (uint32_t h = 0; !st && h < nr_hosts; h++)
		if (tree.first[h] != TS_NONE && clocks[h].reference == TS_NONE)
			collectives_tree_walk(&tree, h);
	free(tree.part);
	free(tree.first);
	free(tree.todo);
	free(tree.next);
	return st;
}
