/* SPDX-License-Identifier: MIT */
/*
 * How the chips of a slice are connected, and how long what they tell one another takes at best.
 *
 * A slice is a grid of chips, each with a link to its neighbours along each axis. An axis closes to a ring
 * where the slice is as long as the pod's (16 on v2, v3, v5e and v6e; any multiple of 4 on v4, v5p and v7x);
 * on the others what goes round must go back along the same links. Left out: the start of a transfer
 * (microseconds), what several collectives take from one another. Of slices that are joined by the data centre's network
 * ("2xv5e:4x4") each is as one alone is: a compiled module sends to the others by the host, which is not predicted.
 */
#ifndef TS_HW_TOPOLOGY_H
#define TS_HW_TOPOLOGY_H

#include "base/bytes.h"

#define TS_TOPOLOGY_AXES 3

struct ts_topology {
	int64_t dims[TS_TOPOLOGY_AXES]; /* of chips; the rest is 1 */
	unsigned nr_dims;		/* 0: the topology is unknown */
	bool is_ring[TS_TOPOLOGY_AXES];
	int64_t nr_chips; /* of one slice */
	int64_t nr_cores; /* of one slice, JAX devices: two a chip on v2, v3 and v7x */
	int64_t nr_slices;
};

/*
 * "2x4", "v5e:2x4", "4x4x4", as JAX and Cloud write them, "2xv5e:4x4" for two of them; CHIP is the chip table's name, or NULL. False: it is not one, or has more
 * than 2^20 chips.
 */
bool ts_topology_parse(struct ts_bytes text, const char *chip, struct ts_topology *topology);
/* "v5e" of "v5e:2x4" and of "2xv5e:2x4"; empty: it names no chip. */
struct ts_bytes ts_topology_chip(struct ts_bytes text);

enum ts_exchange_kind {
	TS_COLLECTIVE_NONE,
	TS_ALL_REDUCE,
	TS_ALL_GATHER,
	TS_REDUCE_SCATTER,
	TS_ALL_TO_ALL,
	TS_PERMUTE, /* to one other chip; a broadcast likewise */
};

/* One collective among GROUP devices. BYTES: all-reduce what each holds; all-gather what each ends with; reduce-scatter what
 * each begins with; the others what each sends. */
struct ts_exchange {
	enum ts_exchange_kind what;
	int64_t group;
	double bytes;
};

/* Seconds. NaN: unknown; GROUP 1 or less takes none. */
struct ts_exchange_time {
	double likely_s; /* over the links of the axes that the group goes along */
	double low_s;	 /* over all links of a chip */
	double high_s; /* over one link, at half its rate: what was measured on a v6e (docs/analyses/time/prediction.md) */
	double links; /* that are thought to be used at once, each way counted; NaN: unknown */
};
struct ts_exchange_time ts_exchange_time_of(const struct ts_topology *topology,
					    double link_bytes_per_s,
					    const struct ts_exchange *exchange);

#endif
