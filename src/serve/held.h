/* SPDX-License-Identifier: MIT */
/* A text that one thread replaces now and then while others read it: each reader gets the one of its moment. */
#ifndef TS_SERVE_HELD_H
#define TS_SERVE_HELD_H

#include "serve/answer.h"

struct ts_held;

struct ts_held *ts_held_new(
	const char *type);		 /* TYPE of the answer must outlive it. NULL: no memory */
void ts_held_free(struct ts_held *held); /* after the last reader; NULL is fine */
/* TEXT is taken over; without memory for it the last one stays. */
void ts_held_give(struct ts_held *held, struct ts_buf *text);
/* Status 503 where nothing was given yet. */
struct ts_answer ts_held_answer(struct ts_held *held);

#endif
