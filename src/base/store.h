/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that somebody else gives, and takes back all at once: what is large and seldom looked at may lie elsewhere than the rest. */
#ifndef TS_BASE_STORE_H
#define TS_BASE_STORE_H

#include "base/bytes.h"

struct ts_store {
	void *(*take)(void *ctx,
		      size_t nr_bytes); /* aligned for any number; NULL: there is no room */
	void *ctx;
};

/* A copy of the bytes; NULL without a store, or without room in it: they stay where they are. */
static inline void *ts_store_copy(const struct ts_store *store, const void *bytes, size_t nr_bytes)
{
	void *copy = store && nr_bytes > 0 ? store->take(store->ctx, nr_bytes) : NULL;

	if (copy)
		memcpy(copy, bytes, nr_bytes);
	return copy;
}

#endif
