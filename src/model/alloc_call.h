/* SPDX-License-Identifier: MIT */
/* Calls of a device's runtime and driver that take its memory, or pinned memory of the host, or give
 * it back. */
#ifndef TS_MODEL_ALLOC_CALL_H
#define TS_MODEL_ALLOC_CALL_H

#include "base/bytes.h"

enum ts_alloc_call {
	TS_ALLOC_NONE,	   /* no such call */
	TS_ALLOC_GOES_ON,  /* ordered with a stream, or of addresses alone: no thread waits */
	TS_ALLOC_BLOCKING, /* waits for the device, or holds up threads that launch on it */
};
enum ts_alloc_call ts_alloc_call_of(struct ts_bytes name);

#endif
