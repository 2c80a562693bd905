/* SPDX-License-Identifier: MIT */
/*
 * Slices and what goes over their links. The bytes that each device must send are those of any algorithm that
 * sends the least (a ring): all-reduce 2 (n - 1) / n, all-gather and reduce-scatter (n - 1) / n. In an all-to-all most of
 * it goes further than the neighbour: a quarter of a ring's length on average, a third of a line's.
 */
#include "hw/topology.h"

#include <math.h>

#include "base/check.h"

#define MAX_CHIPS (INT64_C(1) << 20)

/* How long the "2x" of "2xv5e" is, and the number in it; without one 0 and 1. */
static size_t topology_read_count(struct ts_bytes text, int64_t *count)
{
	size_t n = ts_bytes_find(text, "x");

	if (n > 0 && n < text.n && ts_bytes_i64(ts_bytes_cut(text, 0, n), count))
		return n + 1;
	*count = 1;
	return 0;
}

/* What stands in front of the colon. */
static struct ts_bytes topology_head_of(struct ts_bytes text)
{
	size_t at = ts_bytes_find(text, ":");

	return ts_bytes_cut(text, 0, at < text.n ? at : 0);
}

struct ts_bytes ts_topology_chip(struct ts_bytes text)
{
	struct ts_bytes head = topology_head_of(text);
	int64_t count;

	return ts_bytes_cut(head, topology_read_count(head, &count), head.n);
}

/* Rings by the length of an axis; TPUs with three axes are put together of cubes of 4 x 4 x 4. */
static bool closes(const char *chip, unsigned nr_dims, int64_t length)
{
	if (chip && strcmp(chip, "TPU v4i") == 0)
		return false;
	if (nr_dims == 3)
		return length >= 4 && length % 4 == 0;
	return length == 16;
}

/* "TPU v2" and its like show the two cores of a chip as two devices. */
static int64_t devices_a_chip(const char *chip)
{
	static const char *const twins[] = { "TPU v2", "TPU v3", "TPU v7x" };

	for (size_t i = 0; chip && i < TS_NELEM(twins); i++)
		if (strcmp(chip, twins[i]) == 0)
			return 2;
	return 1;
}

bool ts_topology_parse(struct ts_bytes text, const char *chip, struct ts_topology *topology)
{
	struct ts_topology found = { .dims = { 1, 1, 1 }, .nr_chips = 1 };
	struct ts_bytes head = topology_head_of(text);

	TS_ASSERT(topology);
	*topology = (struct ts_topology){ .nr_dims = 0 };
	topology_read_count(head, &found.nr_slices);
	if (found.nr_slices < 1 || found.nr_slices > MAX_CHIPS)
		return false;
	if (head.n > 0)
		text = ts_bytes_cut(text, head.n + 1, text.n);
	while (text.n > 0 && found.nr_dims < TS_TOPOLOGY_AXES) {
		size_t n = ts_bytes_find(text, "x");
		int64_t *dim = &found.dims[found.nr_dims++];

		if (!ts_bytes_i64(ts_bytes_cut(text, 0, n), dim) || *dim < 1 || *dim > MAX_CHIPS ||
		    n + 1 == text.n)
			return false;
		found.nr_chips *= *dim;
		if (found.nr_chips > MAX_CHIPS)
			return false;
		text = ts_bytes_cut(text, TS_MIN(n + 1, text.n), text.n);
	}
	if (text.n > 0 || found.nr_dims == 0)
		return false;
	for (unsigned i = 0; i < found.nr_dims; i++)
		found.is_ring[i] = closes(chip, found.nr_dims, found.dims[i]);
	found.nr_cores = found.nr_chips * devices_a_chip(chip);
	*topology = found;
	return true;
}

/* Along which axes a group of N goes: those whose lengths make N, the fewest; a part of one axis where none do. */
struct way {
	double links; /* at once: two of a ring's, one of a line's (there and back) */
	double hops;  /* on average, from any to any */
};

static struct way way_along(const struct ts_topology *topology, unsigned axes, int64_t n)
{
	struct way way = { 0, 0 };

	for (unsigned i = 0; i < topology->nr_dims; i++) {
		double length = (double)topology->dims[i];

		if (!(axes >> i & 1) || topology->dims[i] < 2)
			continue;
		way.links += topology->is_ring[i] ? 2 : 1;
		way.hops += topology->is_ring[i] ? length / 4 : length / 3;
	}
	if (way.links > 0)
		return way;
	return (struct way){ 1, fmax((double)n / 3, 1) };
}

static struct way topology_way_of(const struct ts_topology *topology, int64_t n)
{
	unsigned best = 0;

	for (unsigned axes = 1; axes < 1u << topology->nr_dims; axes++) {
		int64_t chips = 1;

		for (unsigned i = 0; i < topology->nr_dims; i++)
			chips *= axes >> i & 1 ? topology->dims[i] : 1;
		if ((chips == n || chips * topology->nr_cores == n * topology->nr_chips) &&
		    (best == 0 || __builtin_popcount(axes) < __builtin_popcount(best)))
			best = axes;
	}
	return way_along(topology, best, n);
}

/* Of one chip: two an axis of a ring, at a line's inner chips as well. */
static double all_links(const struct ts_topology *topology)
{
	double links = 0;

	for (unsigned i = 0; i < topology->nr_dims; i++)
		links += topology->dims[i] < 2 ? 0 : topology->dims[i] == 2 ? 1 : 2;
	return fmax(links, 1);
}

static double sent_bytes(const struct ts_exchange *exchange, double hops)
{
	double n = (double)exchange->group, part = (n - 1) / n;

	switch (exchange->what) {
	case TS_ALL_REDUCE:	return 2 * part * exchange->bytes;
	case TS_ALL_GATHER:
	case TS_REDUCE_SCATTER: return part * exchange->bytes;
	case TS_ALL_TO_ALL:	return part * exchange->bytes * fmax(hops, 1);
	case TS_PERMUTE:	return exchange->bytes;
	default:		return NAN;
	}
}

struct ts_exchange_time ts_exchange_time_of(const struct ts_topology *topology,
					    double link_bytes_per_s,
					    const struct ts_exchange *exchange)
{
	const struct ts_exchange_time unknown = { NAN, NAN, NAN, NAN };
	bool is_known;
	struct way way = { 1, 1 };
	double sent, links;

	TS_ASSERT(topology && exchange);
	is_known = topology->nr_dims > 0;
	if (exchange->what != TS_PERMUTE && exchange->group == 1)
		return (struct ts_exchange_time){ 0, 0, 0, 0 };
	if (exchange->what == TS_COLLECTIVE_NONE || !(link_bytes_per_s > 0) || exchange->group < 1)
		return unknown;
	if (is_known && exchange->what != TS_PERMUTE)
		way = topology_way_of(topology, exchange->group);
	sent = sent_bytes(exchange, way.hops);
	/* Of a permute each chip sends over one link; where the topology is unknown, six links are the most there are. */
	links = exchange->what == TS_PERMUTE ? 1 : is_known ? all_links(topology) : 6;
	return (struct ts_exchange_time){
		.likely_s = sent / (way.links * link_bytes_per_s),
		.low_s = sent_bytes(exchange, 1) / (fmax(links, way.links) * link_bytes_per_s),
		.high_s = 2 * sent / link_bytes_per_s,
		.links = way.links,
	};
}
