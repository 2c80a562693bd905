/* SPDX-License-Identifier: MIT */
/*
 * What the analysis ops knows: the ops of the report's op table and the modules, as other analyses
 * read them. Made once, by ops, in the order of the table: the largest self time first.
 *
 * What is in the list: of a TPU's ops that ran those with a program_id and a symbol_id, of a GPU's those that a
 * module has, of a trace's all.
 * Times and counts are sums over all cores and the whole run; work is that of one execution. Without
 * a run the instructions of the modules stand in the list, with no times and .op TS_NONE.
 *
 * Of the four times of an op two are by the device's clock, as XProf counts, and two by the timeline's, on which
 * viewers draw (docs/analyses/clocks.md): they differ, and no sum or difference of one of each is a time.
 */
#ifndef TS_ANALYSIS_FACTS_OPS_H
#define TS_ANALYSIS_FACTS_OPS_H

#include "hw/chips.h"
#include "analysis/facts/time.h"
#include "model/tally.h"

/* Why an op's FLOPs, its bytes of HBM cannot be true: the chip does less in its time. .n 0: they can. */
struct ts_op_doubt {
	struct ts_bytes flops, hbm;
};

struct ts_op_fact {
	uint32_t op; /* index into profile->ops; TS_NONE: an instruction that did not run */
	uint32_t module_index; /* into profile->modules, or TS_NONE */
	uint32_t instr;	       /* of that module, or TS_NONE */
	struct ts_bytes name, module, category, source, framework_op; /* .n 0: unknown */
	enum ts_opcode category_id;				      /* of the category */
	int64_t occurrences;					      /* -1: it did not run */
	int64_t total_ps; /* the device's clock: of its events, with what is nested in them; -1 */
	int64_t self_ps;  /* the device's clock: without what is nested in them; -1 */
	int64_t exclusive_ps; /* the timeline's clock: moments that are this op's alone; -1 */
	int64_t longest_ps;   /* of one execution, as self_ps; 0: it did not run */
	double flops, bytes;  /* whole numbers; NaN: unknown */
	double hbm_bytes;     /* of those, from and to HBM; NaN: unknown */
	/* In which it does its work: total_ps, by its clock; of an asynchronous op, by the timeline's, from its
	 * start to the end of the wait for it, which both halves have; -1: unknown */
	int64_t work_ps;
	double hbm_bytes_per_s;		 /* in that time; NaN: unknown, or it cannot be true */
	double mxu_share;		 /* of the peak FLOPs, in total_ps; NaN likewise */
	const struct ts_op_doubt *doubt; /* NULL: its work and its time agree with the chip */
	double padding_share;		 /* of its arrays' bytes; NaN: unknown */
	enum ts_bound
		bound; /* by the roofline of the first device that ran it; or of a transfer its link */
	enum ts_bucket bucket; /* that has most of its time; TS_NR_BUCKETS: it did not run */
	const struct ts_time_op
		*parts;	       /* what explains exclusive_ps; NULL: .bucket has all of it */
	uint32_t first_device; /* that ran it; TS_NONE: it did not run */
	int64_t first_start_ps, first_end_ps; /* of the execution that ended first there */
	bool is_remat;
	int64_t nr_again,
		again_ps; /* of a kernel of a trace: executions that activation checkpointing asked for */
};

/* First those of the profile, by their index; then programs that ran without their compiled form. */
struct ts_module_fact {
	uint64_t program_id; /* 0: unknown */
	struct ts_bytes name;
	int64_t executions, total_ps; /* over all cores; -1: it did not run */
};

struct ts_ops_facts {
	const struct ts_op_fact *items;
	size_t nr;
	const uint32_t *of_op; /* by index into profile->ops: index into items, or TS_NONE */
	const struct ts_tally_row
		*tally; /* by index into profile->ops: all that ran, listed or not */
	const struct ts_module_fact *modules;
	size_t nr_modules; /* at least profile->nr_modules */
};

/* What the profile says of its work and its time agrees with the chip: a judgement may rest on it. */
static inline bool ts_op_fact_is_possible(const struct ts_op_fact *fact)
{
	return !fact->doubt;
}

static inline struct ts_bytes ts_op_flops_cause(const struct ts_op_fact *fact)
{
	return fact->doubt ? fact->doubt->flops : (struct ts_bytes){ NULL, 0 };
}

static inline struct ts_bytes ts_op_hbm_cause(const struct ts_op_fact *fact)
{
	return fact->doubt ? fact->doubt->hbm : (struct ts_bytes){ NULL, 0 };
}

/* The fact of an op of the profile, or NULL: it is not in the op table. */
static inline const struct ts_op_fact *ts_op_fact_of(const struct ts_ops_facts *ops, uint32_t op)
{
	uint32_t at = op == TS_NONE || !ops->of_op ? TS_NONE : ops->of_op[op];

	return at == TS_NONE ? NULL : &ops->items[at];
}

/* Of the op's own time, what lies in a bucket; 0 where the op did not run. */
static inline int64_t ts_op_fact_in(const struct ts_op_fact *fact, enum ts_bucket bucket)
{
	if (!fact->parts)
		return fact->bucket == bucket ? TS_MAX(fact->exclusive_ps, 0) : 0;
	return ts_time_op_in(fact->parts, bucket);
}

/* Does it work: neither a wait nor a collective, a talk with the host, or a recomputation? */
static inline bool ts_op_fact_works(const struct ts_op_fact *fact)
{
	return ts_bucket_is_divided(fact->bucket);
}

#endif
