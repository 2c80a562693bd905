/* SPDX-License-Identifier: MIT */
/*
 * A run without its events, saved: what a reader made of its files, as it is before
 * ts_profile_finish(), and its outline. Saved by records (codec/record.h), so the bytes depend on the
 * content alone; loaded bytes are held against one another before they count.
 *
 * It goes two ways: the outline of one file, with what each of its lines gave (run/outline_lines.h),
 * and that of a whole run, which is joined of those. A loaded profile is like one that was read, but
 * its lines have no bodies and its planes no reader's data.
 */
#ifndef TS_POD_SAVED_H
#define TS_POD_SAVED_H

#include "codec/record.h"
#include "run/outline_lines.h"

/* A file of the run: what names it, what tells it from another, and the hosts that it has. */
struct ts_saved_file {
	struct ts_bytes host, name, path;     /* as struct ts_hostfile has them */
	struct ts_bytes logdir, run, session; /* of the session that it is in */
	struct ts_bytes problem;	      /* why it could not be read; empty: it was */
	uint64_t nr_bytes, print;	      /* print: ts_fingerprint() */
	uint32_t nr_hosts;
	bool is_archive;
};

/* A module as it was found; reading it is left to ts_saved_read_modules(). */
struct ts_saved_module {
	uint64_t program_id;
	struct ts_bytes file, proto;
};

/* Beside the profile. Texts lie in its arena, or are the caller's. */
struct ts_saved_run {
	struct ts_saved_file *files; /* in the order of their hosts */
	struct ts_saved_module *modules;
	size_t nr_files, nr_modules;
};

void ts_saved_run_release(struct ts_saved_run *saved);

/* The profile, before it was finished. Check OUT->failed at the end. */
void ts_saved_put_profile(struct ts_buf *out, const struct ts_profile *profile,
			  const struct ts_saved_run *saved);
/* Fills PROFILE, which was only initialised, and SAVED, which is zeroed. The profile has no modules
 * yet. TS_FORMAT: not such bytes, or they contradict one another. */
enum ts_status ts_saved_load_profile(struct ts_bytes bytes, struct ts_profile *profile,
				     struct ts_saved_run *saved, struct ts_error *err);
/* Reads a module into PROFILE; the views are kept. */
enum ts_status ts_saved_read_module(struct ts_profile *profile, const struct ts_saved_module *from,
				    struct ts_error *err);
enum ts_status ts_saved_read_modules(struct ts_profile *profile, const struct ts_saved_run *saved,
				     struct ts_error *err);

/* What the lines gave, and where each of them began, for another one's clock. Their marks are used up. */
void ts_saved_put_lines(struct ts_buf *out, const struct ts_profile *profile,
			struct ts_outline_lines *lines);
/* LINES are zeroed. FROM_PS: one a line of the profile, on the heap, the caller's. */
enum ts_status ts_saved_load_lines(struct ts_bytes bytes, struct ts_profile *profile,
				   struct ts_outline_lines *lines, int64_t **from_ps,
				   struct ts_error *err);

/*
 * The steps of each host by themselves, so that one who needs those of one host does not hold all: what the run's outline
 * keeps of them is the sum over all devices, row by row (pod/reduce_steps.h).
 */
void ts_saved_put_steps(struct ts_buf *out, const struct ts_steps *steps, uint32_t host);
/* Those of a host, back into STEPS; and out again. */
enum ts_status ts_saved_load_steps(struct ts_bytes bytes, struct ts_steps *steps, uint32_t host,
				   struct ts_error *err);
void ts_saved_forget_steps(struct ts_steps *steps, uint32_t host);

/* An outline that is made, but for its .host_activity, which follows from the profile. */
void ts_saved_put_outline(struct ts_buf *out, const struct ts_outline *outline);
enum ts_status ts_saved_load_outline(struct ts_bytes bytes, struct ts_profile *profile,
				     struct ts_outline *outline, struct ts_error *err);

#endif
