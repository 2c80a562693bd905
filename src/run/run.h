/* SPDX-License-Identifier: MIT */
/*
 * A run, from files to results: open the session's profiles, read them, look once for the outline,
 * analyse in one pass (host threads and, for an overlay, devices once more). What comes out is handed to write/ and
 * overlay/ by the caller.
 *
 * The run owns its inputs, profile and results; all die with ts_run_release().
 */
#ifndef TS_RUN_RUN_H
#define TS_RUN_RUN_H

#include "analysis/analysis.h"
#include "analysis/kit/run_steps.h"
#include "run/pass.h"
#include "run/staged.h"
#include "io/archive.h"
#include "io/input.h"
#include "io/rundir.h"

struct ts_run_options {
	size_t nr_threads;
	const struct ts_settings *settings;
	size_t overlay_budget; /* slices a host; 0: .track_items */
	size_t track_items;    /* slices of all hosts together; 0: no tracks are made */
	size_t tree_rows; /* of a tree of call paths in a result; 0: some, for a report of all */
	size_t max_ops, max_steps; /* that a table lists by themselves; 0: some; SIZE_MAX: all */
	bool interleave; /* interleaves the lines of a host, also where there is no GPU and no trace */
	const struct ts_state_sink *states;	   /* see struct ts_passes */
	bool no_python;				   /* see struct ts_context */
	bool no_stats;				   /* see struct ts_read_request */
	const struct ts_duration_counter *counter; /* of the first pass; NULL: none */
	/* Logs of PyTorch's compiler, or folders of them, to be read along with what the session has */
	const char *const *torch_logs;
	size_t nr_torch_logs;
	struct ts_meter
		*meter; /* how much of ts_run_analyse() is done; NULL: it is not asked for */
	const struct ts_session *next; /* in a bucket: its profiles may come meanwhile; or NULL */
	struct ts_bytes chip;	       /* for modules without a run: which chip; may be empty */
	struct ts_bytes topology;      /* likewise: of which slice, "2x4"; may be empty */
	struct ts_bytes libtpu;	       /* likewise: by which version; may be empty */
	const char *xla_dump;	       /* a folder of what XLA dumped (run/dumps.h); NULL: none */
	struct ts_mesh mesh;	       /* the user's axes; .nr 0: not known */
	const struct ts_halt *halt;    /* whether the analyses are still wanted; NULL: they are */
	bool wants_strict;	       /* see struct ts_read_request */
	bool no_mix; /* a trace does not stand for an empty xplane beside xplanes with planes */
	const struct ts_part *part; /* only this of the run (model/part.h); NULL: all */
};

struct ts_run {
	struct ts_profile profile;
	struct ts_outline outline;
	struct ts_run_steps steps;
	struct ts_results results;
	struct ts_buf
		pictures; /* of a run by files, whose events are elsewhere (picture/picture.h) */
	struct ts_rates
		*rates; /* one a device, and one behind them: of the chip named by the user */
	struct ts_input
		*inputs; /* one a file of the session; without bytes: it could not be read */
	struct ts_buf *unpacked; /* profiles from archives */
	struct ts_arena kept;	 /* the slices of many hosts */
	size_t nr_inputs, nr_unpacked, cap_unpacked;
	struct ts_staged staged; /* of a session in a bucket: what is held */
	bool keeps_protos; /* of modules that are read from files: their bytes stay with them */
	char **problems;   /* files that could not be read: "path: cause (what to do)" */
	size_t nr_problems, cap_problems;
};

void ts_run_init(struct ts_run *run);
void ts_run_release(struct ts_run *run);

/*
 * Reads all profiles of a session (archives are opened) into run->profile, narrowed to .part. A file that cannot be
 * read is a problem, the others are read all the same; an error when none could be.
 */
enum ts_status ts_run_open(struct ts_run *run, const struct ts_session *session,
			   const struct ts_run_options *options, struct ts_error *err);

/* The same, but the profile is left as the readers made it: without ts_profile_finish(). */
enum ts_status ts_run_read(struct ts_run *run, const struct ts_session *session,
			   const struct ts_run_options *options, struct ts_error *err);

/* A profile that is in memory: what a profiler's server answered. All views must outlive the run. */
struct ts_run_bytes {
	struct ts_bytes bytes;
	struct ts_bytes file; /* what messages call it */
	struct ts_bytes host;
	const char *reader; /* its name; NULL: the reader that knows the bytes */
};

/* The same of profiles in memory, each a host; none of them is an archive. */
enum ts_status ts_run_open_bytes(struct ts_run *run, const struct ts_run_bytes *items, size_t nr,
				 const struct ts_run_options *options, struct ts_error *err);

/* Reads one compiled module (HloProto or HloModuleProto) into run->profile, for `tpusight hlo`. */
enum ts_status ts_run_open_module(struct ts_run *run, const char *path, struct ts_error *err);

/* What the analyses of a run may read, its rates and steps among it, when the outline is made. */
enum ts_status ts_run_context(struct ts_run *run, const struct ts_run_options *options,
			      struct ts_context *ctx, struct ts_error *err);
/* How many slices a host may have, by these options. */
size_t ts_run_budget(const struct ts_profile *profile, const struct ts_run_options *options);
/* When all passes are through: results in the order of analysis/list.h. */
enum ts_status ts_run_settle(struct ts_run *run, struct ts_error *err);

/* Outline, analyses, results in the order of analysis/list.h. Once a run. */
enum ts_status ts_run_analyse(struct ts_run *run, const struct ts_run_options *options,
			      struct ts_error *err);

#endif
