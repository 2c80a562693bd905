/* SPDX-License-Identifier: MIT */
/* What the doctor knows before it asks its rules: the facts of ops and time in one place, and what
 * the roofline says of each op. */
#include "analysis/doctor/doctor.h"

#include "analysis/facts/timeline.h"
#include "analysis/kit/peaks.h"
#include "base/check.h"
#include "model/op_kind.h"
#include "model/trace_class.h"

/* Copies, transposes and waits move bytes that no result asked for: they have no ideal time. */
static bool does_work(const struct ts_doctor *doctor, const struct ts_op_fact *fact)
{
	const struct ts_op *op = ts_fact_op(doctor, fact);

	if (!ts_op_fact_works(fact))
		return false;
	return !op || (op->async == TS_ASYNC_NONE && op->kind != TS_OP_MOVE);
}

static struct ts_fact_work doctor_facts_work_of(const struct ts_doctor *doctor,
						const struct ts_op_fact *fact)
{
	const struct ts_op *op = ts_fact_op(doctor, fact);
	struct ts_fact_work work = { NAN, TS_BOUND_UNKNOWN };
	struct ts_roofline roofline;

	if (!doctor->rates || fact->occurrences <= 0 || !does_work(doctor, fact) ||
	    !ts_op_fact_is_possible(fact))
		return work;
	if (op && op->kind == TS_OP_CONTROL) /* its costs are those of the ops inside */
		return work;
	roofline = ts_roofline_of(doctor->rates, fact->flops, fact->hbm_bytes,
				  op ? ts_op_vmem_bytes(op) : NAN);
	work.bound = roofline.bound;
	if (roofline.least_s > 0)
		work.least_ps = fmin(roofline.least_s * 1e12 * (double)fact->occurrences,
				     (double)fact->exclusive_ps);
	return work;
}

static uint64_t place_key(struct ts_bytes module, struct ts_bytes op)
{
	return ts_hash(op, ts_hash(module, 1));
}

static void index_facts(struct ts_doctor *doctor)
{
	for (size_t i = doctor->nr_facts; i-- > 0;) { /* of equal names the largest stays */
		const struct ts_op_fact *fact = &doctor->facts[i];

		if (!ts_map_set(&doctor->by_place, place_key(fact->module, fact->name),
				(uint32_t)i))
			doctor->failed = true;
	}
}

static void gather_ops(struct ts_doctor *doctor)
{
	doctor->ops = ts_ops_facts(doctor->ctx);
	TS_ASSERT(doctor->ops->nr < TS_NONE);
	doctor->work = ts_arena_array(&doctor->scratch, doctor->ops->nr + 1, sizeof(*doctor->work));
	if (!doctor->work) {
		doctor->failed = true;
		return;
	}
	doctor->facts = doctor->ops->items;
	doctor->nr_facts = doctor->ops->nr;
	for (size_t i = 0; i < doctor->nr_facts; i++)
		doctor->work[i] = doctor_facts_work_of(doctor, &doctor->facts[i]);
	index_facts(doctor);
}

static bool has_shared_work(const struct ts_run_replay *run)
{
	for (uint32_t i = 0; i < run->path.graph.nr_nodes; i++)
		if (ts_run_replay_is_shared(run, i))
			return true;
	return false;
}

/* Peers are of several cores, likes of steps that stand out. */
static bool needs_level(const struct ts_doctor *doctor, enum ts_level level)
{
	bool has_peers = doctor->run->path.graph.nr_rows > 1;

	switch (level) {
	case TS_LEVEL_PEERS: return has_peers;
	case TS_LEVEL_MEAN:  return has_peers && has_shared_work(doctor->run);
	default:	     return doctor->time->nr_slow > 0 || ts_timeline_facts(doctor->ctx)->nr_steps > 0;
	}
}

static void gather_run(struct ts_doctor *doctor)
{
	struct ts_run_replay *run = doctor->run;
	enum ts_status st =
		ts_run_replay_open(run, doctor->ctx, ts_critical_path_facts(doctor->ctx),
				   doctor->ops, doctor->time->wall_ps, NULL);

	for (enum ts_level i = 0; i < TS_NR_LEVELS && run->is_known && st == TS_OK; i++)
		if (needs_level(doctor, i))
			st = ts_run_replay_find_usual(run, i, NULL);
	doctor->failed = st != TS_OK;
	if (!doctor->failed)
		doctor->roots = ts_doctor_roots(doctor);
}

void ts_doctor_gather(struct ts_doctor *doctor)
{
	const struct ts_context *ctx = doctor->ctx;

	TS_ASSERT(ctx && ctx->outline && doctor->result && !doctor->facts);
	doctor->rates = ts_flops_rates(ctx);
	doctor->framework = ts_framework_of(ctx->profile);
	doctor->nr_steps = ctx->outline->steps.nr_steps;
	doctor->time = ts_time_facts(doctor->ctx);
	doctor->total_ps = doctor->time->total_ps;
	memcpy(doctor->bucket_ps, doctor->time->bucket_ps, sizeof(doctor->bucket_ps));
	gather_ops(doctor);
	if (!doctor->failed)
		gather_run(doctor);
}

void ts_doctor_release(struct ts_doctor *doctor)
{
	ts_run_replay_close(doctor->run);
	ts_map_release(&doctor->by_place);
	free(doctor->drafts);
	free(doctor->ranges);
	free(doctor->claims);
	ts_buf_release(&doctor->text);
	ts_arena_release(&doctor->scratch);
}

const struct ts_op_fact *ts_doctor_fact(const struct ts_doctor *doctor, struct ts_bytes module,
					struct ts_bytes op)
{
	uint32_t at = ts_map_find(&doctor->by_place, place_key(module, op));
	const struct ts_op_fact *fact = at == TS_NONE ? NULL : &doctor->facts[at];

	if (!fact || !ts_bytes_eq(fact->module, module) || !ts_bytes_eq(fact->name, op))
		return NULL; /* not there, or another place with the same hash */
	return fact;
}

const struct ts_op *ts_fact_op(const struct ts_doctor *doctor, const struct ts_op_fact *fact)
{
	TS_ASSERT(fact->op == TS_NONE || fact->op < doctor->ctx->profile->nr_ops);
	return fact->op == TS_NONE ? NULL : &doctor->ctx->profile->ops[fact->op];
}

struct ts_fact_work ts_fact_work(const struct ts_doctor *doctor, const struct ts_op_fact *fact)
{
	size_t at = (size_t)(fact - doctor->facts);

	TS_ASSERT(at < doctor->nr_facts);
	return doctor->work[at];
}
