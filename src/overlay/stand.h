/* SPDX-License-Identifier: MIT */
/*
 * Does an annotation stand: was it made by this program, with these options, of the files as they are now, and has
 * nobody touched what it wrote? This is known without reading any of them. How all files looked from outside, those
 * that went in and those that came out, is noted as one number in the report, which is written last:
 *
 *	"annotation": {"health_score": 71, "finding_count": 8, "files": [...], "state": "0123..."}
 *
 * Looks are name, size, times of content and of change, and inode. A look is worth something when a change behind it would
 * show in it: when the file's times are older than the clock's last tick. Whatever is in doubt, there is no note, or another
 * one, and the work is done.
 */
#ifndef TS_OVERLAY_STAND_H
#define TS_OVERLAY_STAND_H

#include "base/arena.h"
#include "io/look.h"
#include "io/rundir.h"

struct ts_stand_file {
	const char *path;
	bool exists;
	struct ts_file_look look;
};

struct ts_stand {
	struct ts_stand_file *files;
	size_t nr, cap;
	const struct ts_looker *looker; /* of the session; NULL: files are looked at themselves */
	const char *report;		/* the path of the report, which is not one of them */
	bool has_temp;	 /* a run that was killed, or is at work, has left a temporary */
	bool is_settled; /* a later change of any of them would show */
	struct ts_arena arena;
};

#define TS_STAND_INIT { .arena = TS_ARENA_INIT }

/* Looks at all files of the session; waits for some milliseconds where one of them has changed just now. */
enum ts_status ts_stand_look(struct ts_stand *stand, const struct ts_session *session,
			     struct ts_error *err);
void ts_stand_release(struct ts_stand *stand);

/* What the note says beside the state. */
struct ts_stand_summary {
	double health_score; /* NaN: unknown */
	int64_t nr_findings;
};

struct ts_overlay_report;
struct ts_overlay_touch;

/*
 * The report TEXT with the note in it, of the files as they are now: those that TOUCHED names as they were left, all others
 * as BEFORE. *MTIME_NS is the time that the report's file must get. False: there is doubt, and TEXT is as it was; or memory
 * is out, and TEXT has failed.
 */
struct ts_stand_note {
	const struct ts_stand *before;
	struct ts_bytes key; /* of program and options */
	const struct ts_overlay_report *report;
	struct ts_stand_summary summary;
};
bool ts_stand_put(struct ts_buf *text, const struct ts_session *session,
		  const struct ts_stand_note *note, int64_t *mtime_ns);

/*
 * Of files that stand for objects (.looker) the state is known only when these have been written: ts_stand_put() leaves room,
 * and this puts the state of SESSION into its report, which is written last. A report without a note is left alone.
 */
void ts_stand_seal(const struct ts_session *session, struct ts_bytes key);

/* True: the annotation of SESSION stands. REPORT gets its files as UNCHANGED, SUMMARY what the note says. */
bool ts_stand_holds(const struct ts_session *session, struct ts_bytes key,
		    struct ts_overlay_report *report, struct ts_stand_summary *summary);

#endif
