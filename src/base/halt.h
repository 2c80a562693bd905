/* SPDX-License-Identifier: MIT */
/* Whether a long work is still wanted: asked now and then, on any thread of it. */
#ifndef TS_BASE_HALT_H
#define TS_BASE_HALT_H

#include <stdbool.h>
#include <stddef.h>

struct ts_halt {
	bool (*is_asked)(void *ctx);
	void *ctx;
};

/* NULL: it is wanted to its end. */
static inline bool ts_is_halted(const struct ts_halt *halt)
{
	return halt && halt->is_asked(halt->ctx);
}

#endif
