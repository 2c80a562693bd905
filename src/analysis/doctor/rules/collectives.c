/* SPDX-License-Identifier: MIT */
/*
 * The rule about a core that the others wait for. Where what waited for what is known, the graph says where that begins
 * (rules/late.c); here is what collectives alone say.
 *
 * The impact is what this core alone costs, on all cores that meet: the wait of the others and the time
 * by which it is late itself. Until the second latest core arrives the others would wait anyway. The
 * analysis collectives knows which core arrives when.
 */
#include "analysis/doctor/doctor.h"

#include "analysis/facts/collectives.h"
#include "analysis/facts/op_cores.h"

#define MAX_NAMED 3

static const struct ts_collective_core *worst_core(const struct ts_collectives_facts *facts)
{
	const struct ts_collective_core *worst = &facts->cores[0];

	for (size_t i = 1; i < facts->nr_cores; i++)
		if (facts->cores[i].excess_ps > worst->excess_ps)
			worst = &facts->cores[i];
	return worst;
}

/* What the core runs slower than the others do, and most is lost by; NULL: nothing stands out. */
static const struct ts_op_core *slow_op(const struct ts_doctor *doctor, uint32_t device)
{
	const struct ts_op_cores_facts *facts = ts_op_cores_facts(doctor->ctx);

	for (size_t i = 0; i < facts->nr; i++)
		if (facts->items[i].device == device)
			return &facts->items[i];
	return NULL;
}

/* The op that makes it late, then the collectives with the most waiting. */
static void rules_collectives_add_where(struct ts_doctor *doctor, struct ts_finding *finding,
					const struct ts_collectives_facts *facts,
					const struct ts_op_core *slow)
{
	struct ts_best best = { .nr = 0 };
	struct ts_selection selection = { .nr = 0 };
	const struct ts_op_fact *cause = slow ? ts_op_fact_of(doctor->ops, slow->op) : NULL;

	if (cause)
		selection.items[selection.nr++] = cause;
	for (size_t i = 0; i < facts->nr; i++)
		if (facts->items[i].wait_ps > 0)
			ts_best_add(&best, i, facts->items[i].wait_ps);
	for (size_t i = 0; i < TS_MIN(best.nr, MAX_NAMED); i++) {
		const struct ts_collective *collective = &facts->items[best.row[i]];
		const struct ts_op_fact *fact =
			ts_doctor_fact(doctor, collective->module, collective->name);

		if (fact)
			selection.items[selection.nr++] = fact;
	}
	selection.nr_all = selection.nr;
	ts_doctor_where(doctor, finding, &selection);
}

/* What all cores together spend in collectives: no lateness can cost more. */
static int64_t exposed(const struct ts_collectives_facts *facts)
{
	int64_t sum = 0;

	for (size_t i = 0; i < facts->nr; i++)
		if (facts->items[i].nr_matched > 0)
			sum = ts_i64_add(sum, TS_MAX(facts->items[i].exposed_ps, 0));
	return sum;
}

/* The time by which the core is late is in its own ops: in the slow one, or where none stands out in any. */
static void claim_own(struct ts_doctor *doctor, int64_t own_ps)
{
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		if (ts_bucket_is_divided((enum ts_bucket)b))
			ts_doctor_claim_class(doctor, (enum ts_bucket)b, own_ps);
}

static void put_core(struct ts_doctor *doctor, const struct ts_collective_core *core)
{
	const struct ts_profile *profile = doctor->ctx->profile;

	TS_PUT(doctor,
	       "It [(of host {name}) ]comes last to {share} of the {count} collectives in which it "
	       "meets others; the others wait {core} for it, {core} of that for it alone. "
	       "Itself it waits {time}.[ It is late since step {count}.]",
	       TS_NAME(profile->hosts[profile->devices[core->device].host].name),
	       TS_SHARE((double)core->nr_last / (double)core->nr_matched),
	       TS_COUNT(core->nr_matched), TS_CORE(core->caused_ps), TS_CORE(core->excess_ps),
	       TS_TIME(core->waited_ps), TS_COUNT(core->since_step));
}

/* " It is slow in fusion.48 (model.py:41): 0.4 ms an execution, 0.2 ms on the others, since step 104." */
static void put_slow_op(struct ts_doctor *doctor, const struct ts_op_core *slow)
{
	const struct ts_op_fact *fact = slow ? ts_op_fact_of(doctor->ops, slow->op) : NULL;

	if (!fact)
		return;
	TS_PUT(doctor,
	       " It is slow in {name}[ ({name})]: {time} an execution, and {time} on the others[, "
	       "since "
	       "step {count}].",
	       TS_NAME(fact->name), TS_NAME(ts_fact_source(doctor, fact)), TS_TIME(slow->mean_ps),
	       TS_TIME(slow->others_ps), TS_COUNT(slow->since_step));
}

static void check_straggler(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_collectives_facts *facts = ts_collectives_facts(doctor->ctx);
	const struct ts_collective_core *core;
	const struct ts_device *device;
	struct ts_finding *finding;
	const struct ts_op_core *slow;
	int64_t wait_ps, own_ps;

	if (doctor->run->is_known) {
		ts_report_late(doctor, rule);
		return;
	}
	if (facts->nr_cores < 2)
		return;
	core = worst_core(facts);
	wait_ps = TS_MIN(core->excess_ps, exposed(facts));
	if (wait_ps <= 0)
		return;
	own_ps = ts_to_ps((double)core->lead_ps * (double)wait_ps / (double)core->excess_ps);
	device = &doctor->ctx->profile->devices[core->device];
	finding = ts_doctor_report(doctor, rule, (struct ts_bytes){ NULL, 0 }, device->name,
				   ts_i64_add(wait_ps, own_ps));
	slow = slow_op(doctor, core->device);
	if (!slow)
		claim_own(doctor, own_ps);
	finding->title = TS_SENTENCE(
		doctor, "{name} is a straggler: the other cores wait for it in collectives",
		TS_NAME(device->label));
	put_core(doctor, core);
	put_slow_op(doctor, slow);
	finding->evidence = ts_doctor_text(doctor);
	rules_collectives_add_where(doctor, finding, facts, slow);
	if (slow && slow->since_ps >= 0)
		ts_doctor_range(doctor, core->device, slow->since_ps,
				ts_i64_add(slow->since_ps, slow->mean_ps));
}

const struct ts_rule ts_rule_straggler = {
	.name = "straggler",
	.confidence = TS_LIKELY,
	.check = check_straggler,
	.classes = TS_CLASS(TS_BUCKET_COMMUNICATION),
	.ceiling =
		"what the others wait for this core, never more than the collectives took, and the "
		"time by which it is late itself",
};
