/* SPDX-License-Identifier: MIT */
/*
 * HighwayHash, 64 bits: the portable form of Alakuijala, Cox and Wassenberg, "Fast keyed hash/pseudo-random function using
 * SIMD multiply and permute" (arXiv 1612.06257). Four lanes take 32 bytes at a time; the last ones are padded by their number.
 */
#include "codec/highway.h"

#include "base/check.h"

#define LANES	4
#define LOW32	UINT64_C(0xffffffff)
#define PACKET	32

static uint64_t swap_halves(uint64_t x)
{
	return x >> 32 | x << 32;
}

void ts_highway_init(struct ts_highway *hash, const uint64_t key[4])
{
	static const uint64_t mul0[LANES] = { 0xdbe6d5d5fe4cce2f, 0xa4093822299f31d0,
					      0x13198a2e03707344, 0x243f6a8885a308d3 };
	static const uint64_t mul1[LANES] = { 0x3bd39e10cb0ef593, 0xc0acf169b5f18a8c,
					      0xbe5466cf34e90c6c, 0x452821e638d01377 };

	TS_ASSERT(hash && key);
	hash->nr_bytes = 0;
	for (int i = 0; i < LANES; i++) {
		hash->mul0[i] = mul0[i];
		hash->mul1[i] = mul1[i];
		hash->v0[i] = mul0[i] ^ key[i];
		hash->v1[i] = mul1[i] ^ swap_halves(key[i]);
	}
}

/* Bytes of two lanes change places, so that high bits of products meet low ones. */
static void zip(uint64_t high, uint64_t low, uint64_t *add_high, uint64_t *add_low)
{
	*add_low += ((low & 0xff000000) | (high & 0xff00000000)) >> 24 |
		    ((low & 0xff0000000000) | (high & 0xff000000000000)) >> 16 | (low & 0xff0000) |
		    (low & 0xff00) << 32 | (high & 0xff00000000000000) >> 8 | low << 56;
	*add_high += ((high & 0xff000000) | (low & 0xff00000000)) >> 24 | (high & 0xff0000) |
		     (high & 0xff0000000000) >> 16 | (high & 0xff00) << 24 |
		     (low & 0xff000000000000) >> 8 | (high & 0xff) << 48 |
		     (low & 0xff00000000000000);
}

static void update(struct ts_highway *hash, const uint64_t lanes[LANES])
{
	uint64_t *v0 = hash->v0, *v1 = hash->v1;

	for (int i = 0; i < LANES; i++) {
		v1[i] += hash->mul0[i] + lanes[i];
		hash->mul0[i] ^= (v1[i] & LOW32) * (v0[i] >> 32);
		v0[i] += hash->mul1[i];
		hash->mul1[i] ^= (v0[i] & LOW32) * (v1[i] >> 32);
	}
	zip(v1[1], v1[0], &v0[1], &v0[0]);
	zip(v1[3], v1[2], &v0[3], &v0[2]);
	zip(v0[1], v0[0], &v1[1], &v1[0]);
	zip(v0[3], v0[2], &v1[3], &v1[2]);
}

static void update_packet(struct ts_highway *hash, const uint8_t *packet)
{
	uint64_t lanes[LANES]; /* little-endian: configure sees to it */

	memcpy(lanes, packet, sizeof(lanes));
	update(hash, lanes);
}

void ts_highway_add(struct ts_highway *hash, struct ts_bytes bytes)
{
	TS_ASSERT(hash && hash->nr_bytes < PACKET);
	while (bytes.n > 0) {
		size_t n = TS_MIN(bytes.n, PACKET - hash->nr_bytes);

		if (n == PACKET) {
			update_packet(hash, bytes.p);
		} else {
			memcpy(hash->packet + hash->nr_bytes, bytes.p, n);
			hash->nr_bytes += n;
			if (hash->nr_bytes == PACKET) {
				update_packet(hash, hash->packet);
				hash->nr_bytes = 0;
			}
		}
		bytes = ts_bytes_cut(bytes, n, bytes.n);
	}
}

static uint64_t rotate_halves(uint64_t x, unsigned by)
{
	uint32_t low = (uint32_t)x, high = (uint32_t)(x >> 32);

	low = low << by | low >> (32 - by);
	high = high << by | high >> (32 - by);
	return (uint64_t)high << 32 | low;
}

/* The last bytes, fewer than a packet: whole words first, then what is left in a place by their number. */
static void update_rest(struct ts_highway *hash)
{
	size_t n = hash->nr_bytes, words = n & ~(size_t)3, left = n & 3;
	uint8_t packet[PACKET] = { 0 };

	for (int i = 0; i < LANES; i++) {
		hash->v0[i] += ((uint64_t)n << 32) + n;
		hash->v1[i] = rotate_halves(hash->v1[i], (unsigned)n);
	}
	memcpy(packet, hash->packet, words);
	if (n & 16) {
		memcpy(packet + PACKET - 4, hash->packet + n - 4, 4);
	} else if (left > 0) {
		packet[16] = hash->packet[words];
		packet[17] = hash->packet[words + (left >> 1)];
		packet[18] = hash->packet[words + left - 1];
	}
	update_packet(hash, packet);
}

uint64_t ts_highway_finish(struct ts_highway *hash)
{
	TS_ASSERT(hash);
	if (hash->nr_bytes > 0)
		update_rest(hash);
	for (int round = 0; round < 4; round++) {
		uint64_t lanes[LANES];

		for (int i = 0; i < LANES; i++)
			lanes[i] = swap_halves(hash->v0[(i + 2) % LANES]);
		update(hash, lanes);
	}
	return hash->v0[0] + hash->v1[0] + hash->mul0[0] + hash->mul1[0];
}
