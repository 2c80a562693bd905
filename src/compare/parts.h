/* SPDX-License-Identifier: MIT */
/*
 * What the files of compare/ share: the runs side by side, tables with columns for each run, and the
 * parts a comparison is put together from. No file outside includes this.
 */
#ifndef TS_COMPARE_PARTS_H
#define TS_COMPARE_PARTS_H

#include "compare/compare.h"
#include "compare/differ.h"
#include "result/schema/compare.def"

#define COMPARE_ALPHA 0.05 /* with a p from here on, the samples do not show a difference */
#define COMPARE_SAME  0.01 /* an op that changed by a smaller share of its time did not change */
#define COMPARE_SPECK 1e-4 /* nor did one that changed by a smaller share of the step */

struct comparing {
	const struct ts_compare_run *runs;
	size_t nr;
	struct ts_measured measured[TS_COMPARE_MAX];
	const char *labels[TS_COMPARE_MAX];	 /* short names, each once */
	struct ts_differ differ[TS_COMPARE_MAX]; /* the baseline's steps against the run's */
	bool by_step;
	struct ts_result *result;
	struct ts_arena scratch;
};

/* cells.c */
/* How an op, a module, a finding of a run stands to the baseline's. */
enum state { STATE_NONE, STATE_SAME, STATE_NEW, STATE_GONE, STATE_SLOWER, STATE_FASTER, NR_STATES };
const char *ts_compare_state_name(enum state state);
/* By what each has of it, in picoseconds of TIME_PS; NaN: it has none. */
enum state ts_compare_state(double base, double other, double time_ps);

/*
 * A table whose columns are those of FIXED, then for each run those of EACH: "run_1" and the name.
 * A label of "" is the run's own; "_state" and columns whose name begins with "_change" are of the
 * others alone, and stand behind those that all have.
 */
struct ts_compare_table {
	struct ts_table *table;		   /* NULL: no memory */
	size_t nr_fixed, nr_each, nr_base; /* nr_base: of EACH, that the baseline has */
};
struct ts_compare_table ts_compare_table(struct comparing *comparing, const struct ts_sheet *fixed,
					 const struct ts_sheet *each, const char *title);
/* Cells of EACH for RUN; those that the baseline does not have are left out of its own. */
void ts_compare_put(const struct ts_compare_table *table, struct ts_value *row, size_t run,
		    const struct ts_value *cells);

/* A new row with the cells of LIST for the fixed columns (struct ts_FIXED_row). */
#define COMPARE_ROW(comparing, table_, fixed, row_, LIST) \
	do { \
		row_ = ts_table_row((comparing)->result, (table_)->table); \
		TS_CHECK_LIST(fixed, LIST); \
		*(struct ts_##fixed##_row *)row_ = TS_ROW_OF(fixed, LIST); \
	} while (0)
/* The cells of a run in it. */
#define COMPARE_RUN(table_, each, row_, run, LIST) \
	do { \
		const struct ts_##each##_row ts_cells = TS_ROW_OF(each, LIST); \
\
		TS_CHECK_LIST(each, LIST); \
		ts_compare_put(table_, row_, run, (const struct ts_value *)&ts_cells); \
	} while (0)

/* A time of the report, whole picoseconds; NaN is unknown. */
struct ts_value ts_compare_ps(double ps);

/* labels.c: .labels, each once. */
enum ts_status ts_compare_labels(struct comparing *comparing, struct ts_error *err);

/* variants.c: programs of a run by name and by the shapes that they take in. Looks into PROFILE and ARENA. */
struct variants {
	const struct ts_profile *profile;
	struct ts_bytes *keys; /* one a module */
	struct ts_strmap set;
	struct ts_strmap first; /* of each name the first module */
	uint32_t *next; /* and behind each module the next one of its name; TS_NONE: the last */
};
enum ts_status ts_variants_init(struct variants *variants, const struct ts_profile *profile,
				struct ts_arena *arena, struct ts_error *err);
void ts_variants_release(struct variants *variants);
size_t ts_variants_count(const struct variants *variants, struct ts_bytes name);
/* A module of this name that ran (by its row of MODULES; unknown counts) and takes in what none of OTHER
 * with this name does; the one that ran most. NULL: there is none. */
const struct ts_hlo_module *ts_variants_only_in(const struct variants *variants,
						const struct variants *other, struct ts_bytes name,
						const struct ts_table *modules);

/* The parts. */
enum ts_status ts_compare_fairness(struct comparing *comparing, struct ts_error *err); /* fair.c */
enum ts_status ts_compare_times(struct comparing *comparing, struct ts_error *err);    /* times.c */
void ts_compare_figures(struct comparing *comparing);
void ts_compare_buckets(struct comparing *comparing);

/* histogram.c: steps by their time, in bins that all runs share. */
enum ts_status ts_compare_histogram(struct comparing *comparing, struct ts_error *err);

/* ops.c: also the table "difference", what the difference of each run is made of. */
enum ts_status ts_compare_ops(struct comparing *comparing, struct ts_error *err);
/* operators.c: PyTorch's; no table where no run has some. */
enum ts_status ts_compare_operators(struct comparing *comparing, struct ts_error *err);
enum ts_status ts_compare_modules(struct comparing *comparing,
				  struct ts_error *err); /* modules.c */
enum ts_status ts_compare_findings(struct comparing *comparing, struct ts_error *err);

/* match.c: what ops of several runs are known by. Texts are kept in ARENA. */
struct op_key {
	struct ts_bytes module, scope, category, shape;
	struct ts_bytes name, source; /* of the op, to find it; no part of the key */
	bool by_name;		      /* nothing else is known of it: .scope is its name */
};
struct op_key ts_compare_op_key(const struct ts_profile *profile, const struct ts_table *ops,
				size_t row, struct ts_arena *arena);
/* A shape without layouts: bf16[8,128]{1,0:T(8,128)} is bf16[8,128]. */
struct ts_bytes ts_compare_bare_shape(struct ts_bytes shape, struct ts_arena *arena);
/* Without the functions that are jitted: jit(f)/jit(main)/dot is dot. */
struct ts_bytes ts_compare_bare_scope(struct ts_bytes scope);
/* A parameter of a module's entry, its bare shape: f32[8]; .n is 0 where it has none. */
struct ts_bytes ts_compare_parameter(const struct ts_hlo_module *module, uint32_t at,
				     struct ts_arena *arena);

#endif
