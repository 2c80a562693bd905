/* SPDX-License-Identifier: MIT */
/*
 * A server that waits for its next request has no work for the device: that idle time is no loss.
 */
#include "analysis/doctor/doctor.h"

#include "analysis/settings_list.h"

/* The program that runs most. */
static const struct ts_module_fact *requests_program(const struct ts_doctor *doctor)
{
	const struct ts_module_fact *most = NULL;

	for (size_t i = 0; i < doctor->ops->nr_modules; i++)
		if (doctor->ops->modules[i].executions > 0 &&
		    (!most || doctor->ops->modules[i].total_ps > most->total_ps))
			most = &doctor->ops->modules[i];
	return most;
}

static void check_requests(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	double share = ts_doctor_share(doctor, doctor->requests_ps);
	const struct ts_module_fact *program = requests_program(doctor);
	struct ts_finding *finding;

	if (doctor->requests_ps <= 0 || !(share * 100 >= doctor->ctx->settings->finding_min))
		return;
	finding = ts_doctor_report_run(doctor, rule, 0);
	finding->title = TS_SENTENCE(doctor, "Devices wait for requests {share} of the time",
				     TS_SHARE(share));
	TS_PUT(doctor,
	       "The host waits for requests for {core} of {core}. This time is no loss: it counts "
	       "in "
	       "no other finding, and not in the health score.",
	       TS_CORE(doctor->requests_ps), TS_CORE(doctor->total_ps));
	ts_put_host_events(doctor, TS_BUCKET_IDLE);
	if (program)
		TS_PUT(doctor, " {name} runs {count} time{s}, {time}{text}.",
		       TS_NAME(program->name), TS_COUNT(program->executions),
		       TS_TIME(program->total_ps / program->executions),
		       TS_STRING(program->executions > 1 ? " on average" : ""));
	finding->evidence = ts_doctor_text(doctor);
}

const struct ts_rule ts_rule_requests = {
	.name = "requests",
	.confidence = TS_LIKELY,
	.keep = true,
	.check = check_requests,
	.ceiling = "waiting for requests is no loss",
};
