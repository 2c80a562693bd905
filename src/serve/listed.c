/* SPDX-License-Identifier: MIT */
/* A run of a list as JSON. */
#include "serve/listed.h"

#include "base/check.h"
#include "io/rundir.h"

void ts_listed_put(struct ts_json *json, const struct ts_listed *listed)
{
	const struct ts_session *session = listed->session;
	struct ts_buf title = TS_BUF_INIT;
	int64_t nr_bytes = 0;

	TS_ASSERT(json && listed);
	ts_json_put_text(json, "id", listed->id);
	ts_json_put_text(json, "title", ts_session_title(session, &title));
	ts_json_put_text(json, "run", session->run);
	ts_json_put_text(json, "session", session->session);
	ts_json_put_text(json, "path", ts_session_place(session));
	ts_json_key(json, "hosts");
	ts_json_array(json);
	for (size_t i = 0; i < session->nr_files; i++) {
		ts_json_text(json, session->files[i].host);
		nr_bytes = ts_i64_add(nr_bytes, (int64_t)session->files[i].nr_bytes);
	}
	ts_json_array_end(json);
	ts_json_put_i64(json, "bytes", nr_bytes);
	ts_json_put_bool(json, "is_known", listed->is_known);
	ts_json_put_bool(json, "has_events", session->kind != TS_SESSION_REPORT);
	ts_card_put(json, &listed->card);
	ts_buf_release(&title);
}
