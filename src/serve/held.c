/* SPDX-License-Identifier: MIT */
/* One body behind a lock. */
#include "serve/held.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/check.h"

struct ts_held {
	pthread_mutex_t lock;
	const char *type;
	struct ts_body *body;
};

struct ts_held *ts_held_new(const char *type)
{
	TS_ASSERT(type != NULL);

	struct ts_held *held = calloc(1, sizeof(*held));

	if (!held)
		return NULL;
	held->type = type;
	if (pthread_mutex_init(&held->lock, NULL) == 0)
		return held;
	free(held);
	return NULL;
}

void ts_held_free(struct ts_held *held)
{
	if (!held)
		return;
	ts_body_drop(held->body);
	pthread_mutex_destroy(&held->lock);
	free(held);
}

void ts_held_give(struct ts_held *held, struct ts_buf *text)
{
	TS_ASSERT(held != NULL && text != NULL);

	struct ts_body *body = ts_body_new(text, false), *old = NULL;

	if (!body)
		return;
	pthread_mutex_lock(&held->lock);
	old = held->body;
	held->body = body;
	pthread_mutex_unlock(&held->lock);
	ts_body_drop(old);
}

struct ts_answer ts_held_answer(struct ts_held *held)
{
	struct ts_answer answer = { .status = 200 };

	TS_ASSERT(held != NULL);
	answer.type = held->type;
	pthread_mutex_lock(&held->lock);
	if (held->body)
		answer.body = ts_body_use(held->body);
	pthread_mutex_unlock(&held->lock);
	return answer.body ? answer : ts_answer_error(503, "there is no sample yet (ask again)");
}
