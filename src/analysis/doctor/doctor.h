/* SPDX-License-Identifier: MIT */
/*
 * The doctor's own interface: between the analysis (doctor.c), the facts of other analyses that it
 * reads (facts.c), its health score, and its rules (rules/). What every rule has at hand is in
 * kit/rule.h. No other analysis includes this.
 *
 * A rule about several analyses is its struct in a file of rules/, a line in TS_RULES below and a
 * file in analysis/advice for a framework or for both.
 */
#ifndef TS_ANALYSIS_DOCTOR_H
#define TS_ANALYSIS_DOCTOR_H

#define TS_NEEDS(X) \
	X(ops) X(op_cores) X(time) X(gaps) X(systolic) X(padding) X(fusion) X(collectives) X(resharding) X(custom_calls) \
	X(capture) X(cache) X(capacity) X(memory) X(remat) X(async) X(sparsecore) X(allocators) \
	X(memory_timeline) X(compile) X(critical_path) X(hta) X(kernels) X(operators) X(streams) X(timeline)
#include "analysis/doctor/replay.h"
#include "analysis/doctor/roots.h"
#include "analysis/facts/doctor.h"
#include "analysis/facts/gaps.h"
#include "analysis/facts/ops.h"
#include "analysis/facts/padding.h"
#include "analysis/facts/systolic.h"
#include "analysis/facts/time.h"
#include "analysis/kit/needs.h"
#include "analysis/kit/rule.h"

/* In the order in which findings of equal gain and impact are reported. */
#define TS_RULES(X)             \
	X(capture)              \
	X(host_copies)          \
	X(infeed_outfeed)       \
	X(large_transfers)      \
	X(input_bound)          \
	X(compilation)          \
	X(recompilation)        \
	X(launch_bound)         \
	X(idle)                 \
	X(requests)             \
	X(cpu_fallback)         \
	X(logging_in_steps)     \
	X(other_time)           \
	X(resharding)           \
	X(exposed_collectives)  \
	X(straggler)            \
	X(uneven_op)            \
	X(pipeline_bubble)      \
	X(slowdown)             \
	X(exposed_async)        \
	X(late_rank)            \
	X(kernel_gaps)          \
	X(short_kernels)        \
	X(launch_queue)         \
	X(sparsecore_offload)   \
	X(mxu_utilization)      \
	X(matmul_fill)          \
	X(highest_precision)    \
	X(padding_waste)        \
	X(memory_bound)         \
	X(layout_copies)        \
	X(upcasts)              \
	X(hbm_bandwidth)        \
	X(rematerialization)    \
	X(dominant_op)          \
	X(unfused_attention)    \
	X(long_op)              \
	X(many_executions)      \
	X(small_ops)            \
	X(op_chains)            \
	X(unfused)              \
	X(slow_steps)           \
	X(hbm_capacity)         \
	X(donation)             \
	X(memory_growth)        \
	X(out_of_memory)        \
	X(device_memory)        \
	X(fragmentation)        \
	X(allocator_calls)      \
	X(torch_graph_breaks)   \
	X(torch_recompilations) \
	X(torch_unfused)        \
	X(torch_cuda_graphs)    \
	X(kernel_roofline)      \
	X(unknown_cost)         \
	X(unknown_chip)

#define TS_DECLARE_RULE(name) extern const struct ts_rule ts_rule_##name;
TS_RULES(TS_DECLARE_RULE)
#undef TS_DECLARE_RULE

/* facts.c */
void ts_doctor_gather(struct ts_doctor *doctor); /* fills all but .ctx, .result and .run */
void ts_doctor_release(struct ts_doctor *doctor);

/* gains.c: time of the run that each draft could give back, and its severity; symptoms of which
 * nothing is left become parts of others */
void ts_doctor_gains(struct ts_doctor *doctor);

/* The part of the op's time in which it does not wait for others; all, where that is unknown. */
double ts_doctor_own_share(const struct ts_doctor *doctor, const struct ts_op_fact *fact);

/* cures.c: changes the times of the run to what they would be. */
void ts_doctor_cure(struct ts_doctor *doctor, const struct ts_draft *draft);
/* How much shorter the run would be; it stays as it is. */
int64_t ts_doctor_cure_gain(struct ts_doctor *doctor, const struct ts_cure *cure);
/* The op that takes most longer in the times of the newest finding than is usual for its executions in steps, and by how much;
 * NULL: none does, or it is not known. */
const struct ts_op_fact *ts_doctor_grown_op(struct ts_doctor *doctor, int64_t *excess_ps);

/* health.c: 0..100, or NaN when the run has no time to judge by. Needs .nr_drafts in place. */
struct ts_health {
	double score, ideal_ps;
	bool assumed; /* no op's roofline was known */
};
struct ts_health ts_doctor_health(const struct ts_doctor *doctor);

/* places.c: times and links of the findings that are kept */
void ts_doctor_places(struct ts_doctor *doctor);

/* kpis.c: the table "kpis", and the figures of it that others read */
void ts_doctor_kpis(struct ts_doctor *doctor, struct ts_doctor_facts *facts);

/* what_if.c: the field "what_if", a command that tries what could mend the findings. Needs .nr_drafts in place. */
void ts_doctor_what_if(struct ts_doctor *doctor);

/* copies.c: one execution of a copy to or from the host */
struct ts_copy {
	double bytes; /* of the array as laid out; NaN unknown */
	bool to_host;
};
struct ts_copy ts_fact_copy(struct ts_doctor *doctor, const struct ts_op_fact *fact);

/* hosts.c: sentences about time without an op, each with a space in front. They put nothing where
 * nothing is known. */
#define TS_MIN_STEP_SHARE 0.01 /* of a step's core time: with less, the step only touches it */
void ts_put_host_events(struct ts_doctor *doctor, enum ts_bucket bucket);
void ts_put_per_step(struct ts_doctor *doctor, enum ts_bucket bucket);
void ts_put_cores(struct ts_doctor *doctor, enum ts_bucket bucket);
/* What most of the class's time waited for, where that is an event of a thread that launches: the finding begins there. False: it is
 * not known. */
bool ts_doctor_root_at_host(struct ts_doctor *doctor, struct ts_finding *finding,
			    enum ts_bucket bucket);
/* The advice about the event that a gap passed in, by its name: to bring input, save, log or compile beside the
 * steps; of what else the user's program does before it launches, to take that out of them. False: the finding keeps
 * its own; the event is the runtime's, or there is none. */
bool ts_doctor_advise_by_event(struct ts_doctor *doctor, struct ts_finding *finding,
			       const struct ts_gap_witness *witness);
/* The name of HOST where there are several, else empty. */
struct ts_bytes ts_doctor_host(const struct ts_doctor *doctor, uint32_t host);

/* waits.c */
#define TS_MAX_WAITS 3
/* Those of collectives, or those of copies within the device: the most exposed first. */
struct ts_waits {
	const struct ts_async_op *items[TS_MAX_WAITS];
	size_t nr, nr_all;
	int64_t exposed_ps, hidden_ps, coverable_ps; /* coverable -1: no module says */
	int64_t judged_ps; /* exposed, of those whose coverable time is known */
};
struct ts_waits ts_waits_find(const struct ts_doctor *doctor, bool collectives);
/* "copy-start.2 (88.0 core-s, 47 % hidden; fusion.3 could run meanwhile) and 2 more." */
void ts_put_waits(struct ts_doctor *doctor, const struct ts_waits *waits);
/* " Compute that does not depend on them could cover ...": of the collectives. */
void ts_put_coverable(struct ts_doctor *doctor);

/* requests.c: takes what a server waits for requests out of the idle time */
void ts_doctor_find_requests(struct ts_doctor *doctor);

/* rules/late.c: the cores at which lateness begins, for the rule straggler */
void ts_report_late(struct ts_doctor *doctor, const struct ts_rule *rule);

/* launches.c: times of all GPUs between the kernels of a stream */
struct ts_kernel_gaps {
	int64_t all_ps, host_ps, kernel_ps; /* host: for a launch that came too late */
	int64_t nr_kernel;
};
struct ts_kernel_gaps ts_kernel_gaps_of(const struct ts_doctor *doctor);
/* " Of the time between the kernels of a stream 90 % waits ...", or nothing. */
void ts_put_launches(struct ts_doctor *doctor);

#endif
