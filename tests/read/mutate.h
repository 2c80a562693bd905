/* SPDX-License-Identifier: MIT */
/*
 * Damage as it happens and as somebody would build it: bytes flipped, lengths made huge, parts cut
 * out, doubled or moved. The same seed gives the same damage.
 */
#ifndef TESTS_READ_MUTATE_H
#define TESTS_READ_MUTATE_H

#include "base/buf.h"
#include "tests/base/rng.h"

static inline void mutate_bytes(struct rng *rng, uint8_t *p, size_t n)
{
	static const uint8_t odd[] = { 0x00, 0x01, 0x7f, 0x80, 0xff, 0xfe, 0x0a, 0x12, 0x22 };
	size_t at = (size_t)rng_below(rng, n);
	size_t run = 1 + (size_t)rng_below(rng, 10);

	run = TS_MIN(run, n - at);
	switch (rng_below(rng, 5)) {
	case 0:	 p[at] ^= (uint8_t)(1u << rng_below(rng, 8)); break;
	case 1:	 p[at] = odd[rng_below(rng, TS_NELEM(odd))]; break;
	case 2:	 p[at] = (uint8_t)rng_next(rng); break;
	case 3:	 memset(p + at, 0xff, run); break; /* a huge varint */
	default: memmove(p + at, p + rng_below(rng, n - run + 1), run); break;
	}
}

/* Fills OUT with a damaged copy of BYTES. */
static inline void mutate(struct rng *rng, struct ts_bytes bytes, struct ts_buf *out)
{
	size_t cut, gap, nr = 1 + (size_t)rng_below(rng, 4);

	ts_buf_clear(out);
	ts_buf_put(out, bytes);
	if (out->failed || out->n == 0)
		return;
	if (rng_below(rng, 8) == 0) { /* a part is missing */
		cut = (size_t)rng_below(rng, out->n);
		gap = 1 + (size_t)rng_below(rng, 64);
		gap = TS_MIN(gap, out->n - cut);
		memmove(out->p + cut, out->p + cut + gap, out->n - cut - gap);
		out->n -= gap;
	}
	for (size_t i = 0; i < nr && out->n > 0; i++)
		mutate_bytes(rng, out->p, out->n);
}

#endif
