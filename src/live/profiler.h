/*
 * The profiler's service on the wire: what is asked of it, and what of its answer is of use.
 * (tsl/profiler/protobuf/profiler_service.proto and profiler_options.proto of openxla/xla.)
 */
#ifndef TS_LIVE_PROFILER_H
#define TS_LIVE_PROFILER_H

#include "base/buf.h"

#define TS_PROFILER_METHOD "/tensorflow.ProfilerService/Profile"

struct ts_profiler_request {
	int64_t duration_ms;	/* at least 1: 0 is an empty sample */
	bool hlo;		/* compiled modules too */
	const char *session;	/* its folder's name, where the server writes files */
	const char *host;	/* the file's name there */
	const char *repository; /* "": no folder; else for servers that can only write files */
};

/* Appends the message. */
void ts_profiler_ask(struct ts_buf *out, const struct ts_profiler_request *request);

struct ts_profiler_answer {
	struct ts_bytes xspace; /* a view into the message */
	bool has_xspace;	/* false: the server wrote a file, or saw nothing */
};

enum ts_status ts_profiler_read(struct ts_bytes message, struct ts_profiler_answer *answer,
				struct ts_error *err);

#endif
