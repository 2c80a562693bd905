/* SPDX-License-Identifier: MIT */
/* The messages of the profiler's service are written and read in place. */
#include "live/profiler.h"

#include "base/check.h"
#include "codec/pb.h"
#include "codec/pbw.h"

enum { /* ProfileRequest */
       REQUEST_DURATION_MS = 1,
       REQUEST_MAX_EVENTS = 2,
       REQUEST_OPTIONS = 4,
       REQUEST_REPOSITORY = 5,
       REQUEST_SESSION = 6,
       REQUEST_HOST = 7,
       REQUEST_EMIT_XSPACE = 9,
};
enum { /* ProfileOptions */
       OPTIONS_HOST_LEVEL = 2,
       OPTIONS_DEVICE_LEVEL = 3,
       OPTIONS_PYTHON_LEVEL = 4,
       OPTIONS_VERSION = 5,
       OPTIONS_HLO_PROTO = 7,
       OPTIONS_DURATION_MS = 9,
};
enum { RESPONSE_XSPACE = 8 };

#define MAX_EVENTS 1000000

/* The levels are the profiler's own defaults, except that of Python's tracer, which slows the job
 * down. */
static void profiler_put_options(struct ts_buf *out, const struct ts_profiler_request *request)
{
	size_t mark = ts_pbw_begin(out, REQUEST_OPTIONS);

	ts_pbw_u64(out, OPTIONS_HOST_LEVEL, 2);
	ts_pbw_u64(out, OPTIONS_DEVICE_LEVEL, 1);
	ts_pbw_u64(out, OPTIONS_PYTHON_LEVEL, 0);
	ts_pbw_u64(out, OPTIONS_VERSION, 1);
	ts_pbw_u64(out, OPTIONS_HLO_PROTO, request->hlo);
	ts_pbw_u64(out, OPTIONS_DURATION_MS, (uint64_t)request->duration_ms);
	ts_pbw_end(out, mark);
}

bool ts_profiler_wants_folder(const char *story)
{
	TS_ASSERT(story != NULL);
	return strstr(story, TS_PROFILER_NO_FOLDER) != NULL;
}

void ts_profiler_put_request(struct ts_buf *out, const struct ts_profiler_request *request)
{
	TS_ASSERT(out != NULL && request != NULL);
	TS_ASSERT(request->duration_ms >= 1);
	TS_ASSERT(request->session[0] != '\0' && request->host[0] != '\0');
	TS_ASSERT(request->repository[0] == '/'); /* else it is below the job's working directory */
	ts_pbw_u64(out, REQUEST_DURATION_MS, (uint64_t)request->duration_ms);
	ts_pbw_u64(out, REQUEST_MAX_EVENTS, MAX_EVENTS);
	profiler_put_options(out, request);
	ts_pbw_text(out, REQUEST_REPOSITORY, ts_bytes_of(request->repository));
	ts_pbw_text(out, REQUEST_SESSION, ts_bytes_of(request->session));
	ts_pbw_text(out, REQUEST_HOST, ts_bytes_of(request->host));
	ts_pbw_u64(out, REQUEST_EMIT_XSPACE, 1);
}

enum ts_status ts_profiler_read(struct ts_bytes message, struct ts_profiler_answer *answer,
				struct ts_error *err)
{
	TS_ASSERT(answer != NULL);

	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(message, &error);

	*answer = (struct ts_profiler_answer){ .has_xspace = false };
	while (ts_pb_next(&pb))
		if (pb.field == RESPONSE_XSPACE && pb.wire == TS_PB_BYTES) {
			answer->xspace = ts_pb_bytes(&pb);
			answer->has_xspace = true;
		}
	if (error.cause)
		return ts_fail(err, TS_FORMAT, "byte %zu of the answer: %s",
			       (size_t)(error.at - message.p), error.cause);
	return TS_OK;
}
