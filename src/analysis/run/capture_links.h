/* SPDX-License-Identifier: MIT */
/*
 * Launches and kernels are two counts of one thing: what each launch ran, by the number that both have. Of more than
 * CAPTURE_LINKS a sample is kept, the same numbers of launches and of kernels, so that memory does not grow with the run.
 */
#ifndef TS_ANALYSIS_CAPTURE_LINKS_H
#define TS_ANALYSIS_CAPTURE_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAPTURE_LINKS 8192

struct capture_link {
	uint64_t link;
	int64_t start_ps;
};

struct capture_links {
	struct capture_link *items;
	size_t nr, cap;
	uint64_t nr_all;
	uint8_t level; /* one of 2^level is kept, by a hash of its number */
};

/* False: no memory. Of kernels that follow each other with one number (of a graph) the first counts. */
bool ts_capture_links_add(struct capture_links *links, uint64_t link, int64_t start_ps);
bool ts_capture_links_merge(struct capture_links *into, const struct capture_links *from);

/* Numbers are those of the sample, times what it stands for. */
struct capture_pairs {
	uint64_t nr_launches, nr_kernels;
	uint64_t
		nr_lost; /* launches whose kernel is missing, less those that the capture's end may have cut off */
	int64_t lost_from_ps, lost_until_ps; /* the longest row of them */
	uint64_t nr_paired, nr_early; /* kernels whose launch is known; that begin before it */
	int64_t early_ps;	      /* the most */
	bool is_sample;
};

/* Sorts both. */
struct capture_pairs ts_capture_links_pair(struct capture_links *launches,
					   struct capture_links *kernels);

#endif
