/* SPDX-License-Identifier: MIT */
/* The rule about cores that run all their ops slower, by one factor, since a moment: their clock fell. */
#include "analysis/doctor/doctor.h"

#include "analysis/facts/op_cores.h"

static const struct ts_slowdown *worst_slowdown(const struct ts_op_cores_facts *facts)
{
	const struct ts_slowdown *worst = &facts->slowdowns[0];

	for (size_t i = 1; i < facts->nr_slowdowns; i++)
		if (facts->slowdowns[i].slow_ps - facts->slowdowns[i].fair_ps >
		    worst->slow_ps - worst->fair_ps)
			worst = &facts->slowdowns[i];
	return worst;
}

static int64_t all_throttled(const struct ts_op_cores_facts *facts)
{
	int64_t sum_ps = 0;

	for (size_t i = 0; i < facts->nr_slowdowns; i++)
		sum_ps = ts_i64_add(sum_ps,
				    facts->slowdowns[i].slow_ps - facts->slowdowns[i].fair_ps);
	return sum_ps;
}

static void check_slowdown(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_op_cores_facts *facts = ts_op_cores_facts(doctor->ctx);
	const struct ts_slowdown *worst;
	struct ts_finding *finding;
	struct ts_bytes device;
	double factor;

	if (facts->nr_slowdowns == 0)
		return;
	worst = worst_slowdown(facts);
	factor = (double)worst->slow_ps / (double)worst->fair_ps;
	device = doctor->ctx->profile->devices[worst->device].name;
	finding = ts_doctor_report_run(doctor, rule, all_throttled(facts));
	ts_doctor_cures(doctor, (struct ts_cure){ .kind = TS_CURE_PACE });
	finding->root.kind = "clock";
	finding->root.device = device;
	finding->title = TS_SENTENCE(
		doctor,
		"All ops of {name} take {number} % longer[ from step {count} on]: its clock fell",
		TS_NAME(device), TS_ROUNDED((factor - 1) * 100), TS_COUNT(worst->since_step));
	finding->evidence = TS_SENTENCE(
		doctor,
		"{count} op{s}, nearly all of its work, become slower at {time} of the run by one "
		"factor: "
		"{time} since then, and {time} at their pace of before. No program does that to "
		"all of "
		"its ops; heat and limits of power do. It is so on {count} of {count} cores.",
		TS_COUNT(worst->nr_ops), TS_TIME(worst->since_ps - doctor->time->wall_start_ps),
		TS_TIME(worst->slow_ps), TS_TIME(worst->fair_ps), TS_COUNT(facts->nr_slowdowns),
		TS_COUNT(doctor->time->nr_cores));
	for (size_t i = 0; i < facts->nr_slowdowns && i < TS_MAX_RANGES; i++)
		ts_doctor_range(doctor, facts->slowdowns[i].device, facts->slowdowns[i].since_ps,
				ts_i64_add(doctor->time->wall_start_ps, doctor->time->wall_ps));
}

const struct ts_rule ts_rule_slowdown = {
	.name = "slowdown",
	.confidence = TS_CERTAIN,
	.check = check_slowdown,
	.classes = TS_CLASSES_OF_WORK,
	.ceiling = "what the ops take longer than at their pace of before",
};
