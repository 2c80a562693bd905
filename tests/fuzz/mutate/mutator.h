/* SPDX-License-Identifier: MIT */
/*
 * Mutators that know what an input is made of: they take it apart, change a piece and put it
 * together again, so that most of what a target gets is whole and only one thing in it is odd.
 *
 *	FUZZ_MUTATOR(proto)		one line of a target: its inputs are protobuf messages
 *
 * The line defines the two functions that libFuzzer asks for. A target without it is changed byte by
 * byte, by libFuzzer alone. One change in eight is libFuzzer's own in any case, and so is every
 * change inside a text: LLVMFuzzerMutate() knows the dictionary and what was compared. The same
 * input and number give the same change, as long as LLVMFuzzerMutate() does.
 *
 * A program that is not libFuzzer's defines LLVMFuzzerMutate() itself.
 */
#ifndef TESTS_FUZZ_MUTATE_MUTATOR_H
#define TESTS_FUZZ_MUTATE_MUTATOR_H

#include "base/buf.h"
#include "tests/base/rng.h"

struct mutation {
	struct rng *rng;
	struct ts_bytes in;
	struct ts_bytes other; /* an input to take pieces from; may be empty */
	bool sound;	       /* the format must hold afterwards: no wrong length, nothing open */
	struct ts_buf *out;    /* the changed input goes behind what is there */
};

struct mutator {
	const char *name;
	/* False: IN does not have this format at all, and nothing was written. */
	bool (*apply)(const struct mutator *self, const struct mutation *mutation);
	const struct mutator *inner; /* of what is wrapped */
	uint8_t between;	     /* the byte between two parts */
};

#define FUZZ_MUTATORS(X)                                                                    \
	X(bytes)    /* what LLVMFuzzerMutate() does */                                      \
	X(proto)    /* fields, their numbers and wire types, messages in messages */        \
	X(hlo)	    /* a module as a graph: operands, computations, shapes, the schedule */ \
	X(json)	    /* members, elements, numbers, strings */                               \
	X(tar)	    /* members with right checksums; a profile or trace in it by its own */ \
	X(pprof)    /* proto, in gzip or not */                                             \
	X(chrome)   /* json, in gzip or not */                                              \
	X(ranks)    /* traces with a byte 0x1e between them */                              \
	X(profile)  /* proto, or a trace */                                                 \
	X(answer)   /* proto in gRPC's frame */                                             \
	X(titled)   /* a line of text, then proto */                                        \
	X(log)	    /* lines with JSON in them, in gzip or not */                           \
	X(archive)  /* tar, in gzip or not */                                               \
	X(gzip)	    /* bytes in gzip */

#define FUZZ_DECLARE(name) extern const struct mutator mutator_##name;
FUZZ_MUTATORS(FUZZ_DECLARE)
#undef FUZZ_DECLARE

/* The changed input goes to DATA, which has room for MAX bytes; gives its length. */
size_t fuzz_mutate(const struct mutator *mutator, uint8_t *data, size_t n, size_t max,
		   unsigned seed);
/* The same with a piece of OTHER, to OUT. */
size_t fuzz_cross(const struct mutator *mutator, struct ts_bytes in, struct ts_bytes other,
		  uint8_t *out, size_t max, unsigned seed);
/* Puts what LLVMFuzzerMutate() makes of TEXT behind OUT. */
void fuzz_bytes(struct ts_buf *out, struct ts_bytes text);

/* libFuzzer's names */
size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t nr_a, const uint8_t *b, size_t nr_b,
				 uint8_t *out, size_t max, unsigned seed);

#define FUZZ_MUTATOR(name)                                                                         \
	size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed)         \
	{                                                                                          \
		return fuzz_mutate(&mutator_##name, data, n, max, seed);                            \
	}                                                                                          \
	size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t nr_a, const uint8_t *b,          \
					 size_t nr_b, uint8_t *out, size_t max, unsigned seed)     \
	{                                                                                          \
		return fuzz_cross(&mutator_##name, (struct ts_bytes){ a, nr_a },                    \
				  (struct ts_bytes){ b, nr_b }, out, max, seed);                   \
	}

#endif
