/* SPDX-License-Identifier: MIT */
/*
 * SipHash-2-4 with 128 bits (Aumasson, Bernstein: "SipHash: a fast short-input PRF", 2012): a keyed
 * hash. Without the key it cannot be found out what was hashed, not even by trying all short texts.
 *
 * For names that are given away; tables of our own have ts_hash() (base/map.h).
 */
#ifndef TS_BASE_SIPHASH_H
#define TS_BASE_SIPHASH_H

#include "base/bytes.h"

struct ts_sipkey {
	uint64_t k[2];
};

struct ts_siphash {
	uint64_t h[2];
};

struct ts_siphash ts_siphash(const struct ts_sipkey *key, struct ts_bytes bytes);
/* A key from the system's own source of random bytes. */
enum ts_status ts_sipkey_random(struct ts_sipkey *key, struct ts_error *err);
/* A key made from a secret that the user keeps: the same bytes give the same key. */
struct ts_sipkey ts_sipkey_of(struct ts_bytes secret);

#endif
