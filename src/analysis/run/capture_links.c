/* SPDX-License-Identifier: MIT */
#include "analysis/run/capture_links.h"

#include "base/arena.h"
#include "base/bytes.h"
#include "base/check.h"
#include "base/order.h"
#include "base/units.h"

#define MAX_LEVEL 56
#define EARLY_PS  TS_PS_PER_US /* clocks that are read one after the other differ by as much */

static bool capture_links_has(uint64_t link, uint8_t level)
{
	return level == 0 || (link * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - level) == 0;
}

static void capture_links_thin(struct capture_links *links, uint8_t level)
{
	size_t nr = 0;

	for (size_t i = 0; i < links->nr; i++)
		if (capture_links_has(links->items[i].link, level))
			links->items[nr++] = links->items[i];
	links->nr = nr;
	links->level = level;
}

static bool capture_links_put(struct capture_links *links, struct capture_link link)
{
	if (!ts_grow(&links->items, &links->cap, links->nr + 1, sizeof(*links->items)))
		return false;
	links->items[links->nr++] = link;
	while (links->nr > CAPTURE_LINKS && links->level < MAX_LEVEL)
		capture_links_thin(links, links->level + 1);
	links->nr = TS_MIN(links->nr, CAPTURE_LINKS); /* one number, again and again */
	return true;
}

bool ts_capture_links_add(struct capture_links *links, uint64_t link, int64_t start_ps)
{
	TS_ASSERT_HOT(links);
	links->nr_all++;
	if (!capture_links_has(link, links->level))
		return true;
	if (links->nr > 0 && links->items[links->nr - 1].link == link)
		return true;
	return capture_links_put(links, (struct capture_link){ link, start_ps });
}

bool ts_capture_links_merge(struct capture_links *into, const struct capture_links *from)
{
	TS_ASSERT(into && from);
	into->nr_all += from->nr_all;
	if (from->level > into->level)
		capture_links_thin(into, from->level);
	for (size_t i = 0; i < from->nr; i++)
		if (capture_links_has(from->items[i].link, into->level) &&
		    !capture_links_put(into, from->items[i]))
			return false;
	return true;
}

TS_ORDER(capture_links_by_link, struct capture_link, TS_UP(link) TS_UP(start_ps))
TS_ORDER(capture_links_by_start, struct capture_link, TS_UP(start_ps) TS_UP(link))

/* The first kernel with this number; NULL: there is none. */
static const struct capture_link *capture_links_find(const struct capture_links *links,
						     uint64_t link)
{
	size_t lo = 0, hi = links->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (links->items[mid].link < link)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < links->nr && links->items[lo].link == link ? &links->items[lo] : NULL;
}

/* Launches that were made last may have had no time to run. */
static size_t capture_links_count_answered(const struct capture_links *launches,
					   const struct capture_links *kernels)
{
	size_t nr = launches->nr;

	while (nr > 0 && !capture_links_find(kernels, launches->items[nr - 1].link))
		nr--;
	return nr > 0 ? nr : launches->nr;
}

static void capture_links_find_lost(struct capture_pairs *pairs,
				    const struct capture_links *launches,
				    const struct capture_links *kernels, uint64_t times)
{
	size_t nr = capture_links_count_answered(launches, kernels), row = 0, longest = 0;

	for (size_t i = 0; i < nr; i++) {
		if (capture_links_find(kernels, launches->items[i].link)) {
			row = 0;
			continue;
		}
		pairs->nr_lost += times;
		if (++row <= longest)
			continue;
		longest = row;
		pairs->lost_from_ps = launches->items[i + 1 - row].start_ps;
		pairs->lost_until_ps = launches->items[i].start_ps;
	}
}

static void capture_links_find_early(struct capture_pairs *pairs,
				     const struct capture_links *launches,
				     const struct capture_links *kernels, uint64_t times)
{
	for (size_t i = 0; i < launches->nr; i++) {
		const struct capture_link *kernel =
			capture_links_find(kernels, launches->items[i].link);
		int64_t early_ps =
			kernel ? ts_i64_sub(launches->items[i].start_ps, kernel->start_ps) : 0;

		pairs->nr_paired += kernel ? times : 0;
		if (early_ps <= EARLY_PS)
			continue;
		pairs->nr_early += times;
		pairs->early_ps = TS_MAX(pairs->early_ps, early_ps);
	}
}

struct capture_pairs ts_capture_links_pair(struct capture_links *launches,
					   struct capture_links *kernels)
{
	uint8_t level = TS_MAX(launches->level, kernels->level);
	uint64_t times = UINT64_C(1) << level;
	struct capture_pairs pairs = { .nr_launches = launches->nr_all,
				       .nr_kernels = kernels->nr_all,
				       .is_sample = level > 0 };

	TS_ASSERT(launches && kernels);
	capture_links_thin(launches, level);
	capture_links_thin(kernels, level);
	TS_SORT(kernels->items, kernels->nr, capture_links_by_link);
	TS_SORT(launches->items, launches->nr, capture_links_by_start);
	capture_links_find_lost(&pairs, launches, kernels, times);
	capture_links_find_early(&pairs, launches, kernels, times);
	return pairs;
}
