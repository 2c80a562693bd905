/*
 * Where a changed copy of a profile goes (trim, redact), so that viewers find it and nothing of the
 * user's is overwritten.
 *
 * -o OUT: of one file the file OUT, or into the folder OUT if that is one; of a session or of several,
 * below the folder OUT in TensorBoard's layout (OUT/RUN/plugins/profile/SESSION/FILE), straight into
 * OUT where OUT is such a session folder by its name or the input has no such layout. Without -o: a
 * session becomes a session beside it (SESSION.trimmed), a file a file beside it (NAME.trimmed.json.gz);
 * a file inside a session becomes a session, for viewers would take it for one more host.
 */
#ifndef TS_CLI_COPIES_H
#define TS_CLI_COPIES_H

#include "base/buf.h"
#include "io/rundir.h"

struct ts_copy_name {
	const char *output;	   /* -o; NULL: not given */
	const char *word;	   /* "trimmed" */
	bool several;		   /* sessions were found */
	const char *run, *session; /* the names the copy goes by */
	const char *file;
};

/* The path of a copy of a file of the session: appended to OUT with a NUL that .n counts not.
 * TS_USAGE when it would be a file of the session itself. */
enum ts_status ts_copy_path(const struct ts_session *session, const struct ts_copy_name *name,
			    struct ts_buf *out, struct ts_error *err);

/* A file that was copied, as a line of JSON: {"path", "bytes", "input_bytes", "events", "input_events"}. Counts
 * that are not known are below zero. */
struct ts_copied {
	const char *path;
	int64_t nr_bytes, nr_input_bytes, nr_events, nr_input_events;
};
void ts_copied_print(const struct ts_copied *copied);

#endif
