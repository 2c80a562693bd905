/* SPDX-License-Identifier: MIT */
/*
 * What apply and strip share: the folder they work in, the report they fill, files looked at and
 * replaced. Only files of src/overlay include it.
 */
#ifndef TS_OVERLAY_WORK_H
#define TS_OVERLAY_WORK_H

#include "overlay/apply.h"
#include "overlay/folder.h"

struct work {
	const struct ts_session *session;
	const struct ts_overlay_plan *plan; /* NULL: everything of ours is taken out */
	const struct ts_overlay_options *options;
	struct ts_overlay_report *report;
	struct ts_names names;	   /* of a strip of a whole folder */
	struct ts_sources sources; /* what the results are made of */
	struct ts_error *err;	   /* of the caller */
	enum ts_status status;	   /* the first that was not good */
	bool caches_gone;
	bool has_profiles; /* xplanes, which XProf shows */
	bool ranks_alone;  /* the rest of the session is done */
	int64_t mtime_ns;  /* of the next file; 0: now */
};

/* Paths live in the report's arena; NULL: no memory, and the work has failed. */
const char *ts_overlay_work_path(struct work *work, const char *name);

/* A line of the report. A STORY with a bad status makes the deed FAILED, whatever was wanted. */
void ts_overlay_work_note(struct work *work, enum ts_overlay_thing thing, enum ts_overlay_deed deed,
			  const char *name, uint64_t nr_bytes, const struct ts_error *story);

/* A small file as it stands; .bytes empty and TS_OK when it is missing or empty, and when there is
 * something else than a plain file, a link included: that is never ours. */
enum ts_status ts_overlay_work_read(struct work *work, struct ts_input *in, const char *name,
				    bool *exists, struct ts_error *story);

/* How a file that is made of the results comes to lie beside the profiles. */
struct ts_newfile_use ts_overlay_work_use(const struct work *work);
/* FILE will take the place of what was read, and of nothing that came there since. */
void ts_overlay_work_expect(struct ts_newfile *file, const struct ts_input *old, bool exists);
/* NAME, where OLD was read, gets this content and its line in the report. */
void ts_overlay_work_put(struct work *work, enum ts_overlay_thing thing, const char *name,
			 const struct ts_input *old, bool exists, struct ts_bytes content);
/* FILE took its place, or PATH (of the report's arena) was removed or renamed: so it looks now. */
void ts_overlay_work_wrote(struct work *work, const struct ts_newfile *file);
void ts_overlay_work_moved(struct work *work, const char *path);
/* NAME is removed and gets its line in the report. */
void ts_overlay_work_remove(struct work *work, enum ts_overlay_thing thing, const char *name);

/* Did FILE, not yet committed, become what stands there under its name already? */
bool ts_overlay_work_is_there(struct work *work, const struct ts_newfile *file);
/* Has the file that was read still its name? The descriptor of a replaced file stays good. */
enum ts_status ts_overlay_work_check_name(const struct ts_input *in, const char *path,
					  struct ts_error *story);

/* XProf's caches are removed, once, before the first profile changes. */
enum ts_status ts_overlay_work_drop_caches(struct work *work, struct ts_error *story);

/* report.c: ours of other names goes, the wanted one is put. */
void ts_overlay_work_do_report(struct work *work);
void ts_overlay_work_do_sql(struct work *work);
/* The report or SQL NAME, if it is ours, is taken out. */
void ts_overlay_work_take_out_text(struct work *work, const char *name);
/* copy.c: the annotated copies of traces, put in or taken out. */
void ts_overlay_work_do_copies(struct work *work);
/* The copy NAME, if it is ours and its trace is there, is taken out. */
void ts_overlay_work_take_out_copy(struct work *work, const char *name);
/* The name of a file of ours beside trace FILE; NULL: no memory, and the work has failed. */
const char *ts_overlay_work_beside(struct work *work, const struct ts_hostfile *file,
				   const char *suffix);
/* Is FILE a.json and a.json.gz stands beside it? The files beside them would have the same name. */
bool ts_overlay_work_has_twin(struct work *work, const struct ts_hostfile *file);
/* Has the session a folder to itself, so that ALL_HOSTS is its own? */
bool ts_overlay_work_owns_folder(const struct work *work);

/* ranks.c: the file of all ranks, put in or taken out. */
void ts_overlay_work_do_ranks(struct work *work);

/* trace.c: a Perfetto trace put in, or taken out. */
void ts_overlay_work_put_trace(struct work *work, enum ts_trace_kind kind);
void ts_overlay_work_take_out_trace(struct work *work, enum ts_trace_kind kind);
/* Is this content one of ours in Perfetto's own form, packed or not? */
bool ts_overlay_is_pftrace(struct ts_bytes file, struct ts_error *story);

#endif
