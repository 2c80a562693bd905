/* SPDX-License-Identifier: MIT */
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
#include "cli/cli.h"
#include "io/newfile.h"

struct ts_copy_name {
	const char *output;	   /* -o; NULL: not given */
	const char *word;	   /* "trimmed" */
	bool several;		   /* sessions were found */
	const char *run, *session; /* the names the copy goes by */
	const char *file;
};

struct ts_copy_place {
	const char *path;
	struct ts_newfile_use use; /* as open as what it is copied from, and no more */
	size_t made_dirs;	   /* of the path (io/file.h); 0 once the copy is there */
	struct ts_buf text;	   /* these two are looked into */
	struct ts_sources source;
};

#define TS_COPY_PLACE_INIT { .text = TS_BUF_INIT, .source = TS_SOURCES_INIT }

/* The place of a copy of FROM, a file of the session. Makes the folders it needs, as open as the
 * session's own. TS_USAGE: a file that the command reads, or has written, is there. */
enum ts_status ts_copy_place_find(struct ts_copy_place *place, const struct ts_cli *cli,
				  const struct ts_session *session, const struct ts_copy_name *name,
				  const char *from, struct ts_error *err);
/* The folders that were made go again where the copy did not come. */
void ts_copy_place_release(struct ts_copy_place *place);
/* The copy is there, and no other may come into its place. */
enum ts_status ts_copy_place_done(struct ts_copy_place *place, const struct ts_cli *cli,
				  struct ts_error *err);

/* A file that was copied, as a line of JSON: {"path", "bytes", "input_bytes", "events", "input_events"}. Counts
 * that are not known are below zero. False: it cannot be printed. */
struct ts_copied {
	const char *path;
	int64_t nr_bytes, nr_input_bytes, nr_events, nr_input_events;
};
bool ts_copied_print(const struct ts_copied *copied);
/* Of HOST.xplane.riegeli copies are not made. DONE: "trimmed". */
enum ts_status ts_copy_refuse_records(struct ts_bytes path, const char *done, struct ts_error *err);

/* Of a trace in JSON that strict readers refuse (codec/strict.h): mended, or byte for byte. */
enum ts_copy_form { TS_COPY_STRICT, TS_COPY_EXACT };
extern const char *const ts_copy_forms[]; /* in that order; NULL at the end */
#define TS_OPT_COPY_FORM(type, member)                                                            \
	TS_OPT_CHOICE(type, member, enum ts_copy_form, "copy", "FORM", ts_copy_forms, true,       \
		      "a trace whose JSON viewers refuse: mended in the copy, or exact (%s)")

#endif
