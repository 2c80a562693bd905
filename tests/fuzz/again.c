/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the profile of a session, reported twice in each format: on one thread, and on several. The bytes are
 * the same, and so is the status; what is JSON is JSON.
 */
#include <cjson/cJSON.h>

#include "tests/fuzz/session.h"
#include "write/output.h"
#include "tests/fuzz/mutate/mutator.h"

FUZZ_MUTATOR(profile)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void look_at_json(struct ts_bytes text)
{
	cJSON *json = cJSON_ParseWithLength((const char *)text.p, text.n);

	if (!json)
		broken("the report is not JSON");
	cJSON_Delete(json);
}

/* Where they part, with what is around it. */
static void show_difference(struct ts_bytes first, struct ts_bytes second)
{
	size_t at = 0, from;

	while (at < first.n && at < second.n && first.p[at] == second.p[at])
		at++;
	from = at > 100 ? at - 100 : 0;
	fprintf(stderr, "first: %.*s\nsecond: %.*s\n", TS_ARG(ts_bytes_cut(first, from, at + 100)),
		TS_ARG(ts_bytes_cut(second, from, at + 100)));
}

static void must_be_equal(const struct said *first, const struct said *second)
{
	if (first->status == second->status &&
	    ts_bytes_eq(ts_buf_bytes(&first->out), ts_buf_bytes(&second->out)) &&
	    ts_bytes_eq(ts_buf_bytes(&first->err), ts_buf_bytes(&second->err)))
		return;
	fprintf(stderr, "status %d, then %d\n", first->status, second->status);
	show_difference(ts_buf_bytes(&first->out), ts_buf_bytes(&second->out));
	show_difference(ts_buf_bytes(&first->err), ts_buf_bytes(&second->err));
	broken("the second report is another one");
}

static void report_as(const struct session *session, const char *format, const char *view)
{
	const char *const once[] = { "report",	 "-j",	 "1",	 "--all",
				     "--format", format, FOLDER, view ? "--view" : NULL,
				     view,	 NULL };
	const char *const again[] = { "report",	  "-j",	  "3",	  "--all",
				      "--format", format, FOLDER, view ? "--view" : NULL,
				      view,	  NULL };
	struct said first, second;

	session_run(session, once, &first);
	session_run(session, again, &second);
	must_be_equal(&first, &second);
	if (strcmp(format, "json") == 0 && first.status == TS_EXIT_DONE)
		look_at_json(ts_buf_bytes(&first.out));
	said_release(&first);
	said_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct session session;

	session_fill(&session, (struct ts_bytes){ data, n });
	report_as(&session, "json", NULL);
	report_as(&session, "text", NULL);
	report_as(&session, "csv", "ops");
	report_as(&session, "html", NULL);
	return 0;
}
