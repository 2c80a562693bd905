/* SPDX-License-Identifier: MIT */
/* A run's outline, loaded: what map pass and reduce report begin with. For the files of pod/map.h. */
#ifndef TS_POD_MAPPED_RUN_H
#define TS_POD_MAPPED_RUN_H

#include "pod/map.h"
#include "pod/parcel.h"
#include "pod/saved_results.h"

/* The sections of its parcel. Behind these, and behind the results where they are, stand the steps of each host. */
enum ts_mapped_section {
	TS_MAPPED_OPTIONS,
	TS_MAPPED_PROFILE,
	TS_MAPPED_OUTLINE,
	TS_MAPPED_DAMAGE,
	TS_MAPPED_RESULTS
};

/* Beside struct ts_run, whose profile and outline are filled. */
struct ts_mapped_run {
	struct ts_map_options options;
	struct ts_saved_run saved;
	struct ts_buf outline; /* not loaded yet: ts_mapped_run_finish() */
	struct ts_buf damage;  /* likewise */
	struct ts_buf results; /* likewise: what ts_saved_load_results() reads */
	struct ts_parcel parcel;
	uint64_t id;	     /* of its parcel */
	uint64_t results_id; /* likewise, of results */
};

/* Damage of a line, which a report names behind that of the run. */
struct ts_line_damage {
	uint32_t line;
	struct ts_bytes text;
	uint64_t offset, nr_events; /* as struct ts_damage has them */
};
struct ts_line_damages {
	struct ts_line_damage *items;
	size_t nr, cap;
};

void ts_line_damage_note(const struct ts_line_damage *damage, struct ts_profile *profile);
void ts_line_damages_put(struct ts_buf *out, const struct ts_line_damages *damages);
enum ts_status ts_line_damages_load(struct ts_bytes bytes, struct ts_profile *profile,
				    struct ts_line_damages *damages, struct ts_error *err);
void ts_map_options_put(struct ts_buf *out, const struct ts_map_options *options);

/* The profile as the readers made it. */
enum ts_status ts_mapped_run_open(struct ts_mapped_run *mapped, struct ts_run *run,
				  const struct ts_map_input *input, struct ts_error *err);
/* The same of results, which have the outline in them. */
enum ts_status ts_mapped_run_open_results(struct ts_mapped_run *mapped, struct ts_run *run,
					  const struct ts_map_input *input, struct ts_error *err);
/* Results of the run whose outline is OUTLINE: its sections, and RESULTS behind them. */
enum ts_status ts_mapped_run_put_results(struct ts_buf *out, const struct ts_map_input *outline,
					 struct ts_bytes results, struct ts_error *err);
/* Finishes the profile, and loads the outline; the steps of devices where the run has one host. */
enum ts_status ts_mapped_run_finish(struct ts_mapped_run *mapped, struct ts_run *run,
				    struct ts_error *err);
/* Brings the steps of HOST into the outline, which is loaded. */
enum ts_status ts_mapped_run_bring_steps(const struct ts_mapped_run *mapped, struct ts_run *run,
					 uint32_t host, struct ts_error *err);
/* All of this for results, of which no file is read: their findings are put into RUN as the doctor's. KNOWN is zeroed, and the caller's to
 * release in any case. */
enum ts_status ts_mapped_run_load_results(struct ts_mapped_run *mapped, struct ts_run *run,
					  const struct ts_map_input *input,
					  struct ts_saved_known *known, struct ts_error *err);
struct ts_run_options ts_mapped_run_options(const struct ts_mapped_run *mapped, size_t nr_threads);
void ts_mapped_run_release(struct ts_mapped_run *mapped);

/* A failure with PATH in front of its story, unless memory ran out; ST is handed on. */
enum ts_status ts_map_fail_in(struct ts_error *err, enum ts_status st, const char *path);

/* What tells a file from another of its size: a hash of parts all over it. */
uint64_t ts_fingerprint(struct ts_bytes bytes);

#endif
