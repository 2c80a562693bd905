/* SPDX-License-Identifier: MIT */
/*
 * Why the partitioner put a collective in: the module as it got it, where each array has a sharding, and as it left it, where the
 * collectives stand for the first time. XLA dumps both (--xla_dump_hlo_pass_re=.*spmd-partition.*).
 *
 * A collective's metadata is of the op whose operand or result is resharded, and not of who asks for the other sharding. That is found
 * in the module of before: from the array on, over ops that have its sharding, to the first constraint; else back, to a constraint or
 * an argument. What a constraint should say instead is the sharding that the array has by itself, by those of what it is made of.
 *
 * A partition owns what it makes; the modules and the mesh's names must outlive it.
 */
#ifndef TS_MODEL_PARTITION_H
#define TS_MODEL_PARTITION_H

#include "base/map.h"
#include "model/hlo.h"

/* Where the instructions of a module come from. */
struct ts_places {
	struct ts_strmap by_name; /* op_name -> the first instruction that has it */
	uint32_t *next;		  /* of the same op_name, or TS_NONE */
};

struct ts_partition {
	const struct ts_hlo_module *before, *after;
	struct ts_mesh mesh;
	struct ts_spec *specs; /* by instruction of .before */
	struct ts_places places_before, places_after;
	struct ts_map by_channel; /* channel id -> instruction of .after */
};

enum ts_cause_kind {
	TS_CAUSE_UNKNOWN,
	TS_CAUSE_CONSTRAINT, /* with_sharding_constraint */
	TS_CAUSE_ARGUMENT,
	TS_CAUSE_RESULT, /* the sharding that the function's result has */
	TS_CAUSE_OP,	 /* an op that cannot be split as its operands are */
};

/* A collective's reason. Instructions are those of .before; TS_NONE: unknown. */
struct ts_resharding {
	bool is_found; /* in .after; else nothing of what follows is known */
	/* What is resharded, and for which op; equal where an op's own result is */
	uint32_t value, user;
	struct ts_spec from, to;
	enum ts_cause_kind cause;
	uint32_t cause_instr;
	struct ts_spec
		mend;	   /* of a constraint: what it could say without this; unknown: not found */
	bool is_cut_again; /* each device cuts its part out of what was gathered */
	bool is_weight;	   /* an argument is gathered for a product, as FSDP does */
	bool was_there;	   /* the program has it: it is not the partitioner's */
};

/* Names in MESH (.nr 0: none) are taken where the shardings fit into it. TS_NOMEM alone. */
enum ts_status ts_partition_make(struct ts_partition *partition, const struct ts_hlo_module *before,
				 const struct ts_hlo_module *after, const struct ts_mesh *mesh,
				 struct ts_error *err);
void ts_partition_release(struct ts_partition *partition);

/* Why INSTR, a collective of the module that was compiled of both, is there. */
struct ts_resharding ts_partition_reason(const struct ts_partition *partition,
					 const struct ts_hlo_instr *instr);

#endif
