/* SPDX-License-Identifier: MIT */
/* Random numbers that are the same everywhere: xorshift64 (Marsaglia 2003). A failure names its seed. */
#ifndef TESTS_BASE_RNG_H
#define TESTS_BASE_RNG_H

#include <stdint.h>

struct rng {
	uint64_t state;
};

static inline struct rng rng_of(uint64_t seed)
{
	return (struct rng){ seed * UINT64_C(0x9e3779b97f4a7c15) + 1 };
}

static inline uint64_t rng_next(struct rng *rng)
{
	rng->state ^= rng->state << 13;
	rng->state ^= rng->state >> 7;
	rng->state ^= rng->state << 17;
	return rng->state;
}

/* 0..n-1 */
static inline uint64_t rng_below(struct rng *rng, uint64_t n)
{
	return n ? (rng_next(rng) >> 11) % n : 0;
}

#endif
