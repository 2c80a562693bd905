/* SPDX-License-Identifier: MIT */
/*
 * What the analysis cache knows: what was compiled while the profiler ran, and which programs are
 * variants of one function. Times are in picoseconds; -1 is unknown.
 */
#ifndef TS_ANALYSIS_FACTS_CACHE_H
#define TS_ANALYSIS_FACTS_CACHE_H

#include "model/hlo.h"

/* What the variants of a function differ in: bits. */
enum ts_cache_difference {
	TS_DIFFERS_FUNCTION = 1, /* other source lines: another function of that name */
	TS_DIFFERS_COUNT = 2,	 /* of parameters */
	TS_DIFFERS_RANK = 4,
	TS_DIFFERS_SHAPE = 8,
	TS_DIFFERS_DTYPE = 16,
	TS_DIFFERS_LAYOUT = 32,
	TS_DIFFERS_CODE = 64, /* same parameters, other instructions: a static argument */
	TS_DIFFERS_RESULT =
		256, /* same parameters, another shape of the result: a size that is asked for */
	TS_DIFFERS_CONSTANT = 128, /* same instructions too: constants, sharding, donation */
};

/* A program: a module of the profile, or one that ran without its compiled form. */
struct ts_cache_variant {
	struct ts_bytes name, stem;
	uint64_t program_id;
	uint32_t module; /* into profile->modules, or TS_NONE */
	int64_t first_ps, nr_runs,
		time_ps; /* of what did not run: -1, 0, -1; nr_runs -1: unknown */
	int64_t nr_compiled, compile_ps;
	uint32_t function; /* variants of one number share lines of source; TS_NONE: unknown */
	bool is_made;	   /* compiled or restored in the profile */
};

#define TS_CACHE_MAX_PLACES  8
#define TS_CACHE_MAX_BUCKETS 8
struct ts_cache_place {
	uint32_t parameter, dim;
};

/* Dimensions of parameters that always change together. */
struct ts_cache_axis {
	struct ts_cache_place places[TS_CACHE_MAX_PLACES];
	size_t nr_places, nr_all_places;
	struct ts_bytes where; /* "parameter 0 dimension 0" */
	const int64_t *values; /* one a variant that has its module, in their order */
	int64_t buckets[TS_CACHE_MAX_BUCKETS];
	size_t nr_buckets;  /* 0: padding is not proposed */
	double waste_share; /* of the work in the buckets, 0..1; NaN: unknown */
};

/* The programs of one name. */
struct ts_cache_family {
	struct ts_bytes stem;			 /* the name without its number */
	const struct ts_cache_variant *variants; /* in the order in which they first ran */
	size_t nr_variants,
		nr_known;	 /* known: their modules are in the profile; they stand first */
	unsigned differences;	 /* enum ts_cache_difference */
	struct ts_bytes differs; /* the same in words; .n 0: there is no difference */
	const struct ts_bytes *shapes; /* of the first known variants: parameters that change */
	size_t nr_shapes;
	const struct ts_cache_axis *axes;
	size_t nr_axes;
	int64_t nr_compiled, compile_ps, nr_restored;
	const struct ts_hlo_instr
		*code; /* of what was made again last, else of the first variant; or NULL */
	int64_t nr_again, again_ps; /* of these, for a function that had an executable */
	int64_t again_wait_ps;
	int64_t nr_calls;	  /* of the jitted function; -1: no call was seen */
	int64_t wait_ps;	  /* core time with nothing to run meanwhile */
	int64_t nr_runs, time_ps; /* as of a variant */
};

struct ts_cache_compilation {
	struct ts_bytes module; /* .n 0: unknown */
	int64_t start_ps, duration_ps, codegen_ps;
	bool is_again; /* the function had an executable */
};

/* The persistent cache, between processes. */
enum ts_cache_use { TS_CACHE_UNKNOWN, TS_CACHE_OFF, TS_CACHE_ON };

struct ts_cache_facts {
	int64_t nr_compiled, compile_ps; /* -1: there was no host event */
	int64_t nr_again; /* of them, for a function that had an executable; -1 likewise */
	const struct ts_cache_compilation *compilations; /* in the order of their starts */
	size_t nr_compilations;				 /* the first ones */
	enum ts_cache_use persistent;
	int64_t nr_restored; /* -1: the persistent cache is off, or it is unknown */
	const struct ts_cache_compilation *longest; /* NULL: there was no compilation */
	const struct ts_cache_family *families;	    /* of two variants or more: what took longest to
						     * compile first */
	size_t nr_families;
};

#endif
