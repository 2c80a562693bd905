/* SPDX-License-Identifier: MIT */
/*
 * The sparsecore analysis' own header: what SparseCores did, and what TensorCores waited for them.
 * Shared by sparsecore.c (the pass), sparsecore_links.c (what belongs to what) and
 * sparsecore_facts.c (offloads and what they cost) and sparsecore_report.c (the tables) only.
 *
 * An offload is a slot (model/async.h): a start and its done on a TensorCore. Its work on a
 * SparseCore is found, the first that is there, by
 *	stats	the mark (offload_core_id, tc_offload_start_id) that the start's event and the event
 *		of the SparseCore's module share (XProf's link);
 *	hlo	the compiler's word, async_execution_thread="sparsecore", and the clock: what runs
 *		between start and done;
 *	overlap	the clock alone: most of the waits at its done are times in which a SparseCore of this
 *		core worked on something that has no mark.
 */
#ifndef TS_ANALYSIS_SPARSECORE_H
#define TS_ANALYSIS_SPARSECORE_H

#include "analysis/facts/collectives.h"
#include "analysis/facts/sparsecore.h"
#include "analysis/facts/time.h"

#define TS_NEEDS(X) X(collectives) X(time)
#include "analysis/kit/needs.h"
#include "model/async.h"

#define SPARSECORE_MAX_TIMES (1 << 18) /* instances kept of a run, 40 bytes each */
#define SPARSECORE_MAX_SPANS 65536     /* of a SparseCore, 1 MiB */

/* Both ends of a mark. */
struct sparsecore_mark {
	uint32_t host;
	int64_t core, id;
	uint32_t slot;		     /* of the TensorCores' op that bears it, or TS_NONE */
	int64_t executions, busy_ps; /* of the SparseCores' modules that bear it */
};

struct sparsecore_marks {
	struct sparsecore_mark *items;
	size_t nr, cap;
	struct ts_map by_key;
};

/* The mark, made when it is new; NULL: no memory. */
struct sparsecore_mark *ts_sparsecore_mark_of(struct sparsecore_marks *marks, uint32_t host,
					      int64_t core, int64_t id);
enum ts_status ts_sparsecore_marks_merge(struct sparsecore_marks *into,
					 const struct sparsecore_marks *from, struct ts_error *err);
extern const struct ts_record ts_sparsecore_marks_record;

/* An instance of an offload without a mark. */
struct sparsecore_time {
	uint32_t slot, device;
	int64_t start_ps, done_ps, end_ps; /* the core waits from done_ps to end_ps */
};

struct sparsecore_op {
	int64_t occurrences, self_ps, bytes;
	bool bytes_unknown; /* of some execution */
};

/* A SparseCore: a plane. */
struct sparsecore_core {
	bool has_ops, has_modules;
	int64_t busy_ps, module_ps, modules; /* busy: by the line of ops */
	struct ts_spans ops, unmarked; /* when it worked: all, and on modules without a mark */
	struct ts_slices slices;
};

struct sparsecore_state {
	/* of a line */
	uint32_t plane, device, host;
	size_t max_times;
	int64_t *open_ps; /* of each slot, its start without a mark; INT64_MIN: none */
	/* of a line, and of the sum */
	struct ts_async_slots slots;
	struct ts_async_seen *seen; /* by device and slot: of a line one device */
	size_t nr_seen;
	struct sparsecore_marks marks;
	struct sparsecore_time *times;
	size_t nr_times, cap_times;
	bool is_cut;		   /* more instances than are kept */
	struct sparsecore_op *ops; /* by the profile's op table, or NULL */
	size_t nr_ops;
	struct sparsecore_core *cores; /* of a line one; of the sum one a plane */
	size_t nr_cores;
};

enum sparsecore_link { SPARSECORE_NO_LINK, SPARSECORE_STATS, SPARSECORE_HLO, SPARSECORE_OVERLAP };

/* What is known of a slot over all cores. */
struct sparsecore_offload {
	enum sparsecore_link link;
	int64_t executions, work_ps; /* -1: no SparseCore says */
	int64_t exposed_ps, hidden_ps;
};

static inline size_t sparsecore_count(const struct ts_profile *profile)
{
	size_t nr = 0;

	for (size_t i = 0; i < profile->nr_planes; i++)
		nr += profile->planes[i].kind == TS_PLANE_SPARSECORE;
	return nr;
}

/* sparsecore_links.c: fills an offload a slot, and of each device what it waited. */
enum ts_status ts_sparsecore_link_all(const struct sparsecore_state *sum,
				      const struct ts_profile *profile,
				      struct sparsecore_offload *offloads,
				      struct sparsecore_offload *devices, struct ts_error *err);
/* XLA says that the op is computed by a SparseCore. */
bool ts_sparsecore_is_named(const struct ts_op *op);

/* sparsecore_facts.c: fills FACTS, and DEVICES with what each device waited. */
enum ts_status ts_sparsecore_read(const struct sparsecore_state *sum, const struct ts_context *ctx,
				  struct ts_arena *arena, struct sparsecore_offload *devices,
				  struct ts_sparsecore_facts *facts, struct ts_error *err);

/* sparsecore_report.c */
enum ts_status ts_sparsecore_report(struct sparsecore_state *sum, const struct ts_context *ctx,
				    const struct sparsecore_offload *devices,
				    const struct ts_sparsecore_facts *facts,
				    struct ts_result *result, struct ts_error *err);

#endif
