/* SPDX-License-Identifier: MIT */
/* One report, and the clients that wait for the next one. */
#include "serve/latest.h"

#include <pthread.h>

#include "base/check.h"
#include "base/clock.h"
#include "codec/json.h"

struct ts_latest {
	char *title;
	int64_t patience_ms;
	pthread_mutex_t lock;
	pthread_cond_t given;
	struct ts_body *body;
	uint64_t nr_given;
	size_t nr_waiting;
	bool is_closed;
};

struct ts_latest *ts_latest_new(const char *title, int64_t patience_ms)
{
	TS_ASSERT(title != NULL && patience_ms >= 0);

	struct ts_latest *latest = calloc(1, sizeof(*latest));

	if (!latest)
		return NULL;
	latest->title = strdup(title);
	latest->patience_ms = patience_ms;
	if (!latest->title || pthread_mutex_init(&latest->lock, NULL) != 0)
		goto no_lock;
	if (pthread_cond_init(&latest->given, NULL) != 0)
		goto no_given;
	return latest;
no_given:
	pthread_mutex_destroy(&latest->lock);
no_lock:
	free(latest->title);
	free(latest);
	return NULL;
}

void ts_latest_free(struct ts_latest *latest)
{
	if (!latest)
		return;
	ts_body_drop(latest->body);
	pthread_cond_destroy(&latest->given);
	pthread_mutex_destroy(&latest->lock);
	free(latest->title);
	free(latest);
}

bool ts_latest_is_wanted(struct ts_latest *latest)
{
	bool wanted;

	TS_ASSERT(latest != NULL);
	pthread_mutex_lock(&latest->lock);
	wanted = latest->nr_waiting > 0;
	pthread_mutex_unlock(&latest->lock);
	return wanted;
}

/* It is not packed: it stays on this machine, and packing would hold up the watch. */
void ts_latest_give(struct ts_latest *latest, struct ts_buf *text)
{
	TS_ASSERT(latest != NULL && text != NULL);

	struct ts_body *body = ts_body_new(text, false), *old;

	if (!body)
		return;
	pthread_mutex_lock(&latest->lock);
	old = latest->body;
	latest->body = body;
	latest->nr_given++;
	pthread_cond_broadcast(&latest->given);
	pthread_mutex_unlock(&latest->lock);
	ts_body_drop(old);
}

void ts_latest_close(struct ts_latest *latest)
{
	TS_ASSERT(latest != NULL);

	pthread_mutex_lock(&latest->lock);
	latest->is_closed = true;
	pthread_cond_broadcast(&latest->given);
	pthread_mutex_unlock(&latest->lock);
}

struct ts_answer ts_latest_list(struct ts_latest *latest)
{
	TS_ASSERT(latest != NULL);

	static const char *const keys[] = { "id", "title", "session" };
	const char *values[] = { TS_LATEST_ID, latest->title, latest->title };
	struct ts_buf text = TS_BUF_INIT;
	struct ts_json json = ts_json_of(&text, TS_JSON_COMPACT);

	ts_json_object(&json);
	ts_json_key(&json, "runs");
	ts_json_array(&json);
	ts_json_object(&json);
	for (size_t i = 0; i < TS_NELEM(keys); i++) {
		ts_json_key(&json, keys[i]);
		ts_json_text(&json, values[i]);
	}
	ts_json_object_end(&json);
	ts_json_array_end(&json);
	ts_json_put_bool(&json, "is_known", true);
	ts_json_key(&json, "problems");
	ts_json_array(&json);
	ts_json_array_end(&json);
	ts_json_object_end(&json);
	return ts_answer_json(&text);
}

static struct ts_body *wait_for_next(struct ts_latest *latest)
{
	int64_t until_ms = ts_now_ms() + latest->patience_ms;
	struct ts_body *body = NULL;
	uint64_t had;

	pthread_mutex_lock(&latest->lock);
	had = latest->nr_given;
	if (latest->nr_waiting == TS_LATEST_WAITING)
		goto done;
	latest->nr_waiting++;
	while (latest->nr_given == had && !latest->is_closed && ts_now_ms() < until_ms)
		ts_doze(&latest->given, &latest->lock, until_ms);
	latest->nr_waiting--;
	if (latest->body)
		body = ts_body_use(latest->body);
done:
	pthread_mutex_unlock(&latest->lock);
	return body;
}

struct ts_answer ts_latest_get(struct ts_latest *latest, const char *id)
{
	struct ts_answer answer = { 200, "application/json", NULL };

	TS_ASSERT(latest != NULL);
	if (!id || strcmp(id, TS_LATEST_ID) != 0)
		return ts_answer_error(id ? 404 : 400, "which run? (?run=" TS_LATEST_ID ")");
	answer.body = wait_for_next(latest);
	return answer.body ? answer
			   : ts_answer_error(503, "there is no sample yet, or too many "
						  "clients wait for one (is the job up?)");
}
