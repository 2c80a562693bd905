/* SPDX-License-Identifier: MIT */
/*
 * HighwayHash with 64 bits (github.com/google/highwayhash), bytes in any pieces. It finds damage in files of others;
 * nothing of ours is hashed with it.
 */
#ifndef TS_CODEC_HIGHWAY_H
#define TS_CODEC_HIGHWAY_H

#include "base/bytes.h"

struct ts_highway {
	uint64_t v0[4], v1[4], mul0[4], mul1[4];
	uint8_t packet[32]; /* what does not fill a packet yet */
	size_t nr_bytes;    /* of it */
};

void ts_highway_init(struct ts_highway *hash, const uint64_t key[4]);
void ts_highway_add(struct ts_highway *hash, struct ts_bytes bytes);
uint64_t ts_highway_finish(struct ts_highway *hash); /* nothing is added after it */

#endif
