/* SPDX-License-Identifier: MIT */
/* Bodies and answers. */
#include "serve/answer.h"

#include <inttypes.h>
#include <stdarg.h>

#include "base/check.h"
#include "base/map.h"
#include "codec/json.h"
#include "io/gzip.h"

#define PACK_FROM 1024 /* bytes; a shorter text is sent as it is */

static void answer_pack(struct ts_body *body)
{
	struct ts_gzip gz = TS_GZIP_INIT;
	struct ts_error err = TS_ERROR_INIT;

	if (ts_gzip_init(&gz, &err) != TS_OK ||
	    ts_gzip_member(&gz, &body->packed, ts_buf_bytes(&body->text), NULL, &err) != TS_OK ||
	    body->packed.failed || body->packed.n >= body->text.n)
		ts_buf_release(&body->packed); /* the text alone is enough */
	ts_gzip_release(&gz);
}

struct ts_body *ts_body_new(struct ts_buf *text, bool should_pack)
{
	TS_ASSERT(text != NULL);

	struct ts_body *body = calloc(1, sizeof(*body));

	if (!body || text->failed) {
		free(body);
		ts_buf_release(text);
		return NULL;
	}
	atomic_init(&body->nr_users, 1);
	body->text = *text;
	*text = (struct ts_buf)TS_BUF_INIT;
	snprintf(body->etag, sizeof(body->etag), "\"%016" PRIx64 "\"",
		 ts_hash(ts_buf_bytes(&body->text), 1));
	if (should_pack && body->text.n >= PACK_FROM)
		answer_pack(body);
	return body;
}

struct ts_body *ts_body_use(struct ts_body *body)
{
	TS_ASSERT(body != NULL && atomic_load(&body->nr_users) > 0);
	atomic_fetch_add(&body->nr_users, 1);
	return body;
}

void ts_body_drop(struct ts_body *body)
{
	if (!body || atomic_fetch_sub(&body->nr_users, 1) > 1)
		return;
	ts_buf_release(&body->text);
	ts_buf_release(&body->packed);
	free(body);
}

struct ts_answer ts_answer_json(struct ts_buf *text)
{
	TS_ASSERT(text != NULL);
	return (struct ts_answer){ .status = 200,
				   .type = "application/json",
				   .body = ts_body_new(text, true) };
}

struct ts_answer ts_answer_error(unsigned status, const char *fmt, ...)
{
	TS_ASSERT(status >= 400 && status < 600);
	TS_ASSERT(fmt != NULL);

	struct ts_buf text = TS_BUF_INIT;
	struct ts_json json = ts_json_of(&text, TS_JSON_COMPACT);
	struct ts_answer answer;
	char message[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(message, sizeof(message), fmt, args);
	va_end(args);
	ts_json_object(&json);
	ts_json_key(&json, "error");
	ts_json_object(&json);
	ts_json_put_i64(&json, "status", status);
	ts_json_put_text(&json, "message", message);
	ts_json_object_end(&json);
	ts_json_object_end(&json);
	ts_buf_putc(&text, '\n');
	answer = ts_answer_json(&text);
	answer.status = status;
	return answer;
}
