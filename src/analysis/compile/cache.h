/* SPDX-License-Identifier: MIT */
/*
 * The cache analysis' own header: compilations and calls of host threads, what ran, and
 * the families of programs. Shared by cache.c (the pass), cache_thread.c (events of a thread into
 * requests), cache_match.c (who did whose work), cache_family.c and cache_bucket.c (variants of one
 * function), and cache_report.c only.
 *
 * A request is a framework's wish for an executable: compiled, or restored from the persistent
 * cache. A program is what then runs; a family is all programs of one name.
 */
#ifndef TS_ANALYSIS_CACHE_H
#define TS_ANALYSIS_CACHE_H

#include "analysis/facts/cache.h"
#include "analysis/facts/time.h"

#define TS_NEEDS(X) X(time)
#include "analysis/kit/needs.h"

#include "base/check.h"
#include "base/map.h"

#define CACHE_MAX_REQUESTS 65536  /* kept of a run; all are counted */
#define CACHE_MAX_RUNS	   262144 /* of programs on the CPU, which have no line of their own */

enum cache_cause { CACHE_FIRST, CACHE_AGAIN, CACHE_BY_HAND };

struct cache_request {
	int64_t start_ps,
		end_ps; /* of the compilation; when restored: of the look into the cache */
	int64_t trace_ps, lower_ps, passes_ps, codegen_ps; /* -1: unknown */
	struct ts_bytes module;
	uint32_t call_op; /* the call that needed it, or TS_NONE */
	uint32_t line;
	bool is_backend; /* seen at the compiler alone: may be the work of another thread */
	bool is_restored, is_inferred; /* inferred: lowered, not compiled, and then run */
	/* Of the sum alone, by cache_match.c: */
	bool has_backend; /* the compiler's work for it was found on another thread */
	uint32_t program; /* index into the programs, or TS_NONE */
	const struct ts_hlo_instr *code; /* of the program, with a line of source; or NULL */
	enum cache_cause cause;		 /* by cache_again.c */
	int64_t wait_ps;		 /* core time with nothing to run meanwhile; -1 */
};

static inline int64_t ts_cache_duration(const struct cache_request *request)
{
	return ts_i64_sub(request->end_ps, request->start_ps);
}

struct cache_function {
	uint32_t op; /* PjitFunction(f) */
	int64_t nr_hits, nr_compiled, nr_restored, compile_ps;
};

static inline int64_t ts_cache_nr_calls(const struct cache_function *function)
{
	return function->nr_hits + function->nr_compiled + function->nr_restored;
}

struct cache_program {
	uint64_t id;
	uint32_t module, op; /* into profile->modules, profile->ops; or TS_NONE */
	int64_t first_ps, nr_runs, time_ps;
};

struct cache_run { /* of a program on the CPU: from its first thunk to its last */
	uint64_t program, run;
	int64_t start_ps, end_ps;
};

/* What a thread did inside an event that is still open. */
struct cache_piece {
	enum ts_host_activity activity;
	int64_t start_ps, end_ps, passes_ps, codegen_ps;
	struct ts_bytes module;
	bool is_restored, is_inferred;
};

struct cache_counts {
	int64_t nr_compiled, compile_ps, nr_restored, nr_inferred, nr_calls;
	int64_t nr_asked;  /* questions to the persistent cache, of JAX */
	int64_t nr_files;  /* those that touched a file of it */
	int64_t nr_events; /* of threads: without one it is unknown what was compiled */
};

struct cache_state {
	/* of a line */
	uint32_t line;
	struct cache_piece
		*pieces; /* those that are still open when the line ends stay as they are */
	size_t nr_pieces, cap_pieces;
	/* of a line, while its events come */
	bool is_thread;
	const uint8_t *activity; /* of each op; the outline's */
	uint8_t *thunk;		 /* of each op: 0 not met yet, 1 no, 2 yes; NULL: not asked */
	int64_t file_ps;	 /* start of the last TS_HOST_CACHE_FILE */
	/* of a line and of the sum */
	struct cache_request *requests;
	size_t nr_requests, cap_requests;
	struct cache_function *functions;
	size_t nr_functions, cap_functions;
	struct ts_map function_of_op;
	struct cache_program *programs;
	size_t nr_programs, cap_programs;
	struct ts_map program_of_id;
	struct cache_run *runs;
	size_t nr_runs, cap_runs;
	struct ts_map run_of_key;
	struct cache_counts counts;
};

/* cache_thread.c: an event of a host thread, in the order of ends. */
enum ts_status ts_cache_thread_event(struct cache_state *state, const struct ts_block *block,
				     size_t i, enum ts_host_activity activity,
				     struct ts_error *err);
/* What is still open is as it is. */
enum ts_status ts_cache_thread_end(struct cache_state *state, struct ts_error *err);
/* The function's row, made when it is new; NULL: no memory. */
struct cache_function *ts_cache_function_get(struct cache_state *state, uint32_t op);
struct cache_program *ts_cache_program_get(struct cache_state *state, uint64_t id);
enum ts_status ts_cache_add_request(struct cache_state *state, const struct cache_request *request,
				    struct ts_error *err);

/* cache_match.c */
/* A compiler's work for another thread's request becomes part of it. The rest is sorted by start. */
void ts_cache_match_backends(struct cache_state *sum, const struct ts_profile *profile);
/* Which program each compilation made: the first of its name that ran first behind it. */
enum ts_status ts_cache_match_programs(struct cache_state *sum, const struct ts_profile *profile,
				       struct ts_error *err);
/* Shares out the gaps of the devices, in the result "time", among the compilations in them. */
int64_t ts_cache_match_waits(struct cache_state *sum, const struct ts_time_facts *time);

/* JAX's name of the module of a call; .p NULL: the call has no module. */
enum ts_status ts_cache_module_name(struct ts_arena *arena, struct ts_bytes call,
				    struct ts_bytes *name, struct ts_error *err);

/* cache_family.c: all programs of the profile and of the run by name. Variants and families are in the
 * results' arena. */
struct cache_families {
	struct ts_arena *arena;
	struct ts_cache_variant *variants;
	struct ts_cache_family *items;
	size_t nr, nr_variants;
	bool has_threads;   /* else it is unknown what was compiled */
	bool has_strangers; /* a program ran that is not known: a known one that did not may be it */
};

/* ITEMS in the order of their stems. */
enum ts_status ts_cache_families_make(struct cache_families *families,
				      const struct cache_state *sum,
				      const struct ts_profile *profile, struct ts_arena *arena,
				      struct ts_error *err);
/* Adds up the requests and the calls of each. */
enum ts_status ts_cache_families_sum(struct cache_families *families, const struct cache_state *sum,
				     const struct ts_profile *profile, struct ts_error *err);
/* Leaves those that were compiled again, and those of several variants of which one was compiled or ran; what
 * took longest to compile stands first. Marks what is unknown. */
void ts_cache_families_choose(struct cache_families *families);
/* The entry's parameter, or NULL. */
const struct ts_shape *ts_cache_parameter(const struct ts_hlo_module *module, uint32_t number);
uint32_t ts_cache_nr_parameters(const struct ts_hlo_module *module);

/* The family of a stem, or NULL; before the choice. */
struct ts_cache_family *ts_cache_family_find(const struct cache_families *families,
					     struct ts_bytes stem);
/* Do two modules share a line of source, or does one of them have no source lines? */
bool ts_cache_may_be_one_function(const struct ts_hlo_module *a, const struct ts_hlo_module *b);

/* cache_again.c: fills .cause of all requests; before the choice of families. */
enum ts_status ts_cache_find_again(struct cache_state *sum, const struct cache_families *families,
				   const struct ts_profile *profile, struct ts_error *err);

/* cache_bucket.c: sizes to pad to; WEIGHTS: how often each value was met. */
#define CACHE_MAX_VALUES 64
void ts_cache_axis_buckets(struct ts_cache_axis *axis, size_t nr_values, const int64_t *weights);

#define CACHE_MAX_SHAPES 32 /* variants of a family whose shapes and runs are listed */

/* cache_words.c: what the variants of a family differ in, in words: .differs and .shapes of all
 * families, .where of their axes. */
enum ts_status ts_cache_describe(struct cache_families *families, const struct ts_profile *profile,
				 struct ts_error *err);
/* "16, 104 (21 % padding)", by dimension. */
struct ts_bytes ts_cache_bucket_advice(const struct ts_cache_family *family,
				       struct ts_result *result);

/* cache_report.c: the views of what was found. */
struct cache_report {
	const struct cache_state *sum;
	const struct ts_context *ctx;
	const struct ts_cache_facts *facts;
	const struct cache_request **longest; /* the requests, the longest first */
	int64_t attributed_ps;		      /* core time shared out among compilations; -1 */
	struct ts_result *result;
};

enum ts_status ts_cache_report(const struct cache_report *report, struct ts_error *err);

#endif
