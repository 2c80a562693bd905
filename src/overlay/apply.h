/* SPDX-License-Identifier: MIT */
/*
 * Results into a session's folder, and out again. What is written: overlays behind
 * the profiles, suggestions, the report, the Perfetto trace, and XProf's caches put right.
 *
 * The promises: every file is replaced whole or not at all. Applying the same results twice leaves
 * the files of the first time untouched. A strip leaves every file of the user's byte for byte as
 * it was; after a kill at any point so does the next strip, and the next apply gets where the
 * killed one was going. Which files are ours is known from their content: nothing else is ever
 * replaced or removed, save XProf's caches, which it makes anew. What is kept is the content, mode,
 * owner, ACL and extended attributes; a profile that was annotated or stripped has a new modification
 * time, so that XProf and copying tools notice it. What a symbolic link leads to is not changed, unless the
 * user named the link (TS_SESSION_FILE); docs/files.md has it all.
 *
 * A trace (io/tracefile.h) is never written into: an annotated copy stands beside it, STEM.tpusight.json.gz
 * or (Perfetto's own form) STEM.tpusight.pftrace, the report, and SQL. These are ALL_HOSTS.tpusight.json and
 * tpusight.sql where the folder is the session's own, and STEM.tpusight.report.json and STEM.tpusight.sql of the
 * first trace where the folder is the user's.
 *
 * A profile is never changed on a guess: a damaged one is left as it is (FAILED), and so is one
 * that the overlay would take over 2 GiB, where protobuf libraries cannot read it any more
 * (SKIPPED). One file's failure does not stop the others; the first one's status comes back, with
 * its story, and all of them are in the report.
 */
#ifndef TS_OVERLAY_APPLY_H
#define TS_OVERLAY_APPLY_H

#include "io/input.h"
#include "io/newfile.h"
#include "io/rundir.h"
#include "model/profile.h"
#include "overlay/stand.h"
#include "result/result.h"

#define TS_REPORT_FILE	"ALL_HOSTS.tpusight.json"
#define TS_TRACE_FILE	"perfetto_trace.json.gz"
#define TS_PFTRACE_FILE "perfetto_trace.pftrace"
#define TS_SQL_FILE	"tpusight.sql"
/* The user's trace, while ours has its name. */
#define TS_TRACE_NATIVE_FILE   "perfetto_trace.native.json.gz"
#define TS_PFTRACE_NATIVE_FILE "perfetto_trace.native.pftrace"
/* The annotated copies of several ranks, which Perfetto then keeps apart and in time. */
#define TS_RANKS_FILE	  "ALL_RANKS.perfetto.zip"
#define TS_RANKS_MANIFEST "perfetto_manifest.json" /* its first member */
/* A trace of ours begins so, unpacked. */
#define TS_TRACE_MARK "{\"otherData\":{\"generator\":\"tpusight"
#define TS_PFTRACE_MARK "\x0a\x25" TS_PFTRACE_GENERATOR
/* And so, if a release before machine ids wrote it: that one is taken out, too. */
#define TS_PFTRACE_OLDER_MARK "\x0a\x1e" TS_PFTRACE_GENERATOR
#define TS_PFTRACE_GENERATOR                           \
	"\x50\x01\x68\x01\xf2\x07\x17\x0a\x15\x0a\x09" \
	"generator\x1a\x08"                            \
	"tpusight"

/* Our SQL begins so; between the two is the checksum of what follows. */
#define TS_SQL_MARK	"-- TPUsight's views for queries of this trace, checksum "
#define TS_SQL_MARK_END "; once changed, this file stays when TPUsight's others are taken out.\n"

enum ts_trace_kind { TS_TRACE_JSON, TS_TRACE_PFTRACE, TS_NR_TRACE_KINDS };

/* Writes the trace, gzip and all, beginning with its mark; NULL: one of ours is taken out. */
struct ts_overlay_trace {
	enum ts_status (*write)(void *ctx, struct ts_newfile *file, struct ts_error *err);
	void *ctx;
};

/* What the file of all ranks has: the manifest, and the copies as they stand then, unpacked. */
struct ts_overlay_ranks {
	struct ts_bytes manifest; /* beginning as ts_overlay_ranks_mark() says */
	const struct ts_overlay_rank {
		const char *name; /* in the file */
		const char *copy; /* its path */
	} *ranks;
	size_t nr_ranks;
	const char *why_not; /* it is not made; NULL: it is */
};

struct ts_overlay_plan {
	const struct ts_profile *profile;
	const struct ts_results *results;
	const struct ts_input *inputs; /* one for each file of the session, as analysed; those
					  without bytes could not be read and are left alone. NULL: the
					  profiles have their overlays already, and only what stands beside
					  them is put */
	/* Of the session's one file: its overlay, drawn elsewhere, and nothing else is put. NULL: overlays are
	 * drawn from .profile and .results. */
	const struct ts_bytes *tail;
	struct ts_bytes report_json; /* empty: an older report of ours is taken out */
	struct ts_bytes sql;	     /* for queries of a trace; likewise */
	struct ts_overlay_trace traces[TS_NR_TRACE_KINDS];
	/* Of traces, each kind: one for each file of the session, as .inputs; NULL: none is wanted */
	const struct ts_overlay_trace *copies[TS_NR_TRACE_KINDS];
	const struct ts_overlay_ranks *ranks; /* NULL: one of ours is taken out */
	bool of_traces; /* the files are traces, which are never written into */
	/* How all files looked before the first of them was read; NULL: whether the annotation stands is not noted. */
	const struct ts_stand *before;
	struct ts_bytes key; /* of what else the results depend on: the program, the options */
	struct ts_stand_summary summary;
	/* What the results are of, where the session is a member of it; NULL: of the session itself. What is
	 * written is open to nobody to whom a file of it is not open. */
	const struct ts_session *whole;
};

struct ts_overlay_options {
	bool dry_run; /* only find out what would be done; nothing is written, no trace made */
	const char *xprof_version; /* for cache_version.txt; NULL: of the installed XProf */
};

enum ts_overlay_thing {
	TS_THING_OVERLAY,
	TS_THING_SUGGESTIONS,
	TS_THING_REPORT,
	TS_THING_TRACE,
	TS_THING_PFTRACE,
	TS_THING_CACHE_VERSION,
	TS_THING_COPY, /* a trace's annotated copy */
	TS_THING_SQL,
	TS_THING_RANKS,
};

enum ts_overlay_deed {
	TS_DEED_WRITTEN,   /* new, or with new content */
	TS_DEED_UNCHANGED, /* it was there already, to the byte */
	TS_DEED_RESTORED,  /* ours is out, the user's is back */
	TS_DEED_REMOVED,   /* ours is out, nothing else was there */
	TS_DEED_SKIPPED,   /* left as it is: .why */
	TS_DEED_FAILED,	   /* likewise, and the call failed: .why */
};

struct ts_overlay_entry {
	enum ts_overlay_thing thing;
	enum ts_overlay_deed deed;
	const char *name; /* of the file, without folder */
	/* Ours: of the overlay alone for profiles; 0 for a trace that was not made (dry run). */
	uint64_t nr_bytes;
	const char *why; /* "path: cause (what to do)"; with other deeds a remark, or NULL */
};

/* A file that was written, removed or renamed, and how it was left. */
struct ts_overlay_touch {
	const char *path;
	bool exists;
	struct ts_file_look look;
};

struct ts_overlay_report {
	struct ts_overlay_entry *entries; /* in the order of the work */
	size_t nr_entries, cap_entries;
	struct ts_overlay_touch *touched; /* of one path the last counts */
	size_t nr_touched, cap_touched;
	size_t nr_caches; /* of XProf's removed */
	size_t nr_stale;  /* temporaries of a killed run removed */
	struct ts_arena arena;
};

#define TS_OVERLAY_REPORT_INIT { .arena = TS_ARENA_INIT }

void ts_overlay_report_release(struct ts_overlay_report *report);

/* TS_USAGE for a session that is not a folder (standard input). */
enum ts_status ts_overlay_apply(const struct ts_session *session,
				const struct ts_overlay_plan *plan,
				const struct ts_overlay_options *options,
				struct ts_overlay_report *report, struct ts_error *err);
/* The file of all ranks, whose copies may lie in several folders, after the last of them was applied. */
enum ts_status ts_overlay_apply_ranks(const struct ts_session *session,
				      const struct ts_overlay_plan *plan,
				      const struct ts_overlay_options *options,
				      struct ts_overlay_report *report, struct ts_error *err);
/* How the manifest of a session's ranks begins; another session in the folder has another one. */
void ts_overlay_ranks_mark(struct ts_buf *out, const struct ts_session *session);
/*
 * Takes out what is ours of the session's files and, where it has its folder to itself, of the folder.
 * A report without entries: there was nothing of ours.
 */
enum ts_status ts_overlay_strip(const struct ts_session *session,
				const struct ts_overlay_options *options,
				struct ts_overlay_report *report, struct ts_error *err);
/*
 * Takes out all that is ours in the folder DIR, whatever the sessions in it are now: profiles and
 * traces may have come and gone since it was annotated. Only an annotated copy whose trace is gone
 * stays (SKIPPED): it has every byte of the trace, or every slice.
 */
enum ts_status ts_overlay_strip_folder(const char *dir, const struct ts_overlay_options *options,
				       struct ts_overlay_report *report, struct ts_error *err);

#endif
