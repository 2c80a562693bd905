/* SPDX-License-Identifier: MIT */
/* Between libFuzzer and the mutators: numbers become chances, what does not fit is changed as bytes. */
#include "tests/fuzz/mutate/mutator.h"

/* libFuzzer is built without MemorySanitizer, which takes what it wrote for bytes that no one did. */
#ifdef __has_feature
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define WAS_WRITTEN(p, n) __msan_unpoison((p), (n))
#endif
#endif
#ifndef WAS_WRITTEN
#define WAS_WRITTEN(p, n) ((void)0)
#endif

#define BYTES_ONE_IN 8	/* changes that are libFuzzer's own */
#define SOUND_ONE_IN 2	/* changes after which the format must hold */
#define ROOM	     64 /* that a text may grow by */

void fuzz_bytes(struct ts_buf *out, struct ts_bytes text)
{
	size_t n;

	if (!ts_buf_room(out, text.n + ROOM))
		return;
	if (text.n > 0)
		memcpy(out->p + out->n, text.p, text.n);
	n = LLVMFuzzerMutate(out->p + out->n, text.n, text.n + ROOM);
	WAS_WRITTEN(out->p + out->n, n);
	out->n += n;
}

/* What is in OUT goes to DATA: 0 when it is empty or too long, and DATA is as before. */
static size_t give(struct ts_buf *out, uint8_t *data, size_t max)
{
	size_t n = !out->failed && out->n <= max ? out->n : 0;

	if (n > 0)
		memcpy(data, out->p, n);
	ts_buf_release(out);
	return n;
}

static size_t apply(const struct mutator *mutator, struct mutation *mutation, uint8_t *data,
		    size_t max)
{
	struct ts_buf out = TS_BUF_INIT;

	mutation->out = &out;
	mutation->sound = rng_below(mutation->rng, SOUND_ONE_IN) == 0;
	if (!mutator->apply(mutator, mutation))
		ts_buf_clear(&out);
	return give(&out, data, max);
}

size_t fuzz_mutate(const struct mutator *mutator, uint8_t *data, size_t n, size_t max,
		   unsigned seed)
{
	struct rng rng = rng_of(seed);
	struct mutation mutation = { .rng = &rng, .in = { data, n } };
	size_t got = 0;

	WAS_WRITTEN(data, n);
	if (n > 0 && rng_below(&rng, BYTES_ONE_IN) > 0)
		got = apply(mutator, &mutation, data, max);
	return got > 0 ? got : LLVMFuzzerMutate(data, n, max);
}

size_t fuzz_cross(const struct mutator *mutator, struct ts_bytes in, struct ts_bytes other,
		  uint8_t *out, size_t max, unsigned seed)
{
	struct rng rng = rng_of(seed);
	struct mutation mutation = { .rng = &rng, .in = in, .other = other };

	WAS_WRITTEN(in.p, in.n);
	WAS_WRITTEN(other.p, other.n);
	return in.n > 0 ? apply(mutator, &mutation, out, max) : 0;
}
