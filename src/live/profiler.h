/* SPDX-License-Identifier: MIT */
/*
 * The messages of the profiler's service: what is asked, and what is used of the answer.
 * (tsl/profiler/protobuf/profiler_service.proto and profiler_options.proto of openxla/xla.)
 */
#ifndef TS_LIVE_PROFILER_H
#define TS_LIVE_PROFILER_H

#include "base/buf.h"

#define TS_PROFILER_METHOD "/tensorflow.ProfilerService/Profile"

/*
 * The repository of a request that wants no file. A server that knows emit_xspace does not look at
 * it. An older one joins repository, session and host, makes the folders and writes the profile
 * there; with an empty repository that is the job's working directory. Nothing can be made below
 * this one, so such a server refuses ("/dev/null is not a directory") and writes nothing.
 */
#define TS_PROFILER_NO_FOLDER "/dev/null"

struct ts_profiler_request {
	int64_t duration_ms;	/* at least 1, because 0 is an empty sample */
	bool hlo;		/* ask for compiled modules too */
	const char *session;	/* the name of the folder, where the server writes files */
	const char *host;	/* the name of the file in it */
	const char *repository; /* an absolute path, or TS_PROFILER_NO_FOLDER */
};

/* Is STORY, the story of a refused call, about TS_PROFILER_NO_FOLDER? Then the server is an old
 * one. */
bool ts_profiler_wants_folder(const char *story);

/* Appends the message. */
void ts_profiler_put_request(struct ts_buf *out, const struct ts_profiler_request *request);

struct ts_profiler_answer {
	struct ts_bytes xspace; /* a view into the message */
	/* false: the server wrote a file, or nothing happened in the sample */
	bool has_xspace;
};

enum ts_status ts_profiler_read(struct ts_bytes message, struct ts_profiler_answer *answer,
				struct ts_error *err);

#endif
