/* SPDX-License-Identifier: MIT */
/*
 * The fusion analysis' own interface: between the sums (fusion.c), the intermediates that pass
 * through HBM (fusion_pairs.c), why they do (fusion_reason.c), ops in series (fusion_chains.c) and
 * the tables (fusion_report.c). No other analysis includes this.
 *
 * model/kernels.h says what a kernel is. A -done counts with its -start.
 */
#ifndef TS_ANALYSIS_FUSION_H
#define TS_ANALYSIS_FUSION_H

#define TS_NEEDS(X) X(ops)
#include "analysis/facts/fusion.h"
#include "analysis/kit/needs.h"
#include "base/map.h"
#include "model/kernels.h"

#define TS_FUSION_MAX_DEPTH 80 /* of calls; a module from the reader has fewer */

/* What an op holds, itself or inside its fusion. */
enum ts_fusion_trait {
	TS_HOLDS_MATRIX = 1,
	TS_HOLDS_COLLECTIVE = 2,
	TS_HOLDS_HOST = 4,
	TS_HOLDS_CUSTOM = 8,
	TS_HOLDS_SORT = 16,
	TS_HOLDS_WHOLE = 32, /* fft, cholesky ...: emitted as kernels of their own */
	TS_HOLDS_GATHER = 64,
	TS_HOLDS_SCATTER = 128,
	TS_HOLDS_UPDATE = 256, /* dynamic-update-slice */
	TS_HOLDS_REDUCE = 512,
	TS_HOLDS_COSTLY = 1024, /* what XLA would rather not compute twice */
	TS_HOLDS_COPY = 2048,
	TS_HOLDS_TRANSPOSE = 4096,
	TS_HOLDS_ASYNC = 8192,
	TS_HOLDS_OTHER = 16384, /* anything that computes */
};

/* Of an instruction in the run; all zero when it was not seen. */
struct ts_fusion_time {
	int64_t occurrences, self_ps;
	double spare_ps;  /* of its self time, what fewer bytes can take away at most */
	double demand_ps; /* what all its bytes at stake would take at HBM's peak */
};

/* One module at a time. */
struct ts_fusion_walk {
	const struct ts_hlo_module *module;
	const bool *inner;	      /* of each computation: it is not a schedule of kernels */
	const uint32_t *caller;	      /* of each computation: the op that runs it, or TS_NONE */
	const uint32_t *traits;	      /* of each instruction: enum ts_fusion_trait; inner ones 0 */
	struct ts_fusion_time *times; /* of each instruction; NULL: no run */
};

/* What is known of an intermediate on its way from one op to another. */
struct ts_fusion_case {
	const struct ts_fusion_walk *walk;
	struct ts_hlo_place made;
	uint32_t consumer, operand;
	size_t nr_users; /* kernels that read it */
	bool is_output;	 /* the module gives it out */
	bool crosses;	 /* into or out of a loop, branch or call */
	bool carried;	 /* from a loop's trip to the next */
};

/* fusion_reason.c. Never NULL: the last reason fits all. */
const struct ts_reason *ts_fusion_reason_of(const struct ts_fusion_case *what);
uint32_t ts_fusion_traits(const struct ts_hlo_module *module, uint32_t instr);

struct ts_fusion_pairs {
	struct ts_fusion_pair *items;
	size_t nr, cap;
};

/* fusion_pairs.c: adds the pairs of a module. PER_BYTE_PS: by HBM's peak; NaN unknown. */
enum ts_status ts_fusion_find_pairs(struct ts_fusion_walk *walk, double per_byte_ps,
				    struct ts_fusion_pairs *pairs, struct ts_error *err);

struct ts_fusion_chains {
	struct ts_fusion_chain *items;
	size_t nr, cap;
};

/* fusion_chains.c. LIMIT_PS: mean time below which an op is tiny. */
enum ts_status ts_fusion_find_chains(const struct ts_fusion_walk *walk, double limit_ps,
				     struct ts_fusion_chains *chains, struct ts_error *err);

/* Of the fusions of one kind. */
struct ts_fusion_kind_sum {
	int64_t nr_fusions, nr_ops, executions, self_ps;
	int64_t saved_bytes;
};

struct ts_fusion {
	const struct ts_context *ctx;
	struct ts_result *result;
	struct ts_fusion_time **times; /* by module; NULL: it did not run */
	bool measured;
	double per_byte_ps, per_flop_ps, tiny_ps;
	struct ts_fusion_kind_sum kinds[TS_FUSION_CUSTOM + 1];
	size_t nr_modules;
	int64_t nr_before, nr_after;	/* instructions inside and outside of fusions; kernels */
	struct ts_fusion_pairs pairs;	/* in the order of the facts and of the table */
	struct ts_fusion_chains chains; /* likewise */
};

/* fusion_report.c */
#define TS_FUSION_MAX_ROWS 500 /* of a table */
void ts_fusion_report(const struct ts_fusion *fusion);

#endif
