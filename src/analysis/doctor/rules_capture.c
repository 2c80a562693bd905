/*
 * Rules about the capture itself: what it lacks, what of it was damaged, and what had to be guessed.
 * They are told whatever their impact, because they say how far the other numbers can be trusted.
 */
#include "analysis/doctor/doctor.h"

#define MAX_DAMAGES 3 /* named in the evidence */

static struct ts_finding *report_capture(struct ts_doctor *doctor, const struct ts_rule *rule,
					 enum ts_severity severity)
{
	struct ts_bytes none = { NULL, 0 };
	struct ts_finding *finding = ts_doctor_report(doctor, rule, none, none, -1);

	if (finding)
		finding->severity = severity;
	return finding;
}

static void say_inventory(struct ts_doctor *doctor)
{
	const struct ts_profile *profile = doctor->ctx->profile;

	ts_buf_printf(&doctor->text,
		      " The input has %zu host%s, %zu plane%s, %zu device plane%s and "
		      "%zu compiled module%s.",
		      profile->nr_hosts, profile->nr_hosts == 1 ? "" : "s", profile->nr_planes,
		      profile->nr_planes == 1 ? "" : "s", profile->nr_devices,
		      profile->nr_devices == 1 ? "" : "s", profile->nr_modules,
		      profile->nr_modules == 1 ? "" : "s");
}

static void check_empty_profile(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_profile *profile = doctor->ctx->profile;
	bool no_device = profile->nr_devices == 0;
	struct ts_finding *finding;

	if (profile->nr_planes == 0 && profile->nr_modules > 0)
		return; /* modules alone: nothing was run, nothing is missing */
	if (!no_device && !(doctor->time && doctor->total_ps == 0))
		return;
	finding = report_capture(doctor, rule, TS_CRITICAL);
	if (!finding)
		return;
	ts_buf_puts(&doctor->text, no_device
					   ? "No TPU or GPU is in this profile"
					   : "The devices ran nothing while the profile was taken");
	finding->title = ts_doctor_text(doctor);
	ts_buf_puts(&doctor->text,
		    no_device ? "Profile the process that uses the device, and check that "
				"jax.default_backend() is not cpu there."
			      : "Run a compiled step inside the profile, and wait for its "
				"result before the profile ends.");
	say_inventory(doctor);
	finding->evidence = ts_doctor_text(doctor);
}

/* Modules and the like that were left out, in files that are whole. */
static bool all_minor(const struct ts_profile *profile)
{
	for (size_t i = 0; i < profile->nr_damage; i++)
		if (!profile->damage[i].minor)
			return false;
	return true;
}

static void check_damaged_input(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_profile *profile = doctor->ctx->profile;
	struct ts_finding *finding;

	if (profile->nr_damage == 0)
		return;
	finding = report_capture(doctor, rule, all_minor(profile) ? TS_INFO : TS_WARNING);
	if (!finding)
		return;
	ts_buf_printf(&doctor->text,
		      "Part of the input could not be read (%zu place%s): the numbers "
		      "miss it",
		      profile->nr_damage, profile->nr_damage == 1 ? "" : "s");
	finding->title = ts_doctor_text(doctor);
	for (size_t i = 0; i < TS_MIN(profile->nr_damage, MAX_DAMAGES); i++) {
		const struct ts_damage *damage = &profile->damage[i];

		ts_buf_puts(&doctor->text, i > 0 ? " " : "");
		ts_say_name(doctor, damage->file);
		ts_buf_printf(&doctor->text, ", byte %" PRIu64 ": ", damage->offset);
		ts_buf_put(&doctor->text, damage->cause);
		ts_buf_putc(&doctor->text, '.');
	}
	if (profile->nr_damage > MAX_DAMAGES)
		ts_buf_printf(&doctor->text, " And %zu more.", profile->nr_damage - MAX_DAMAGES);
	finding->evidence = ts_doctor_text(doctor);
}

static void check_unknown_chip(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_profile *profile = doctor->ctx->profile;
	struct ts_finding *finding;

	if (profile->nr_devices == 0 || !doctor->ctx->rates || doctor->rates)
		return;
	finding = report_capture(doctor, rule, TS_INFO);
	if (!finding)
		return;
	ts_buf_puts(&doctor->text, "The chip is not known: ");
	ts_say_name(doctor, profile->devices[0].kind);
	finding->title = ts_doctor_text(doctor);
	ts_buf_puts(&doctor->text, "Neither the profile nor the chip table has its peak rates, so "
				   "utilizations and rooflines are unknown.");
	finding->evidence = ts_doctor_text(doctor);
}

static void say_step_source(struct ts_doctor *doctor, const struct ts_steps *steps)
{
	const struct ts_profile *profile = doctor->ctx->profile;

	if (steps->source == TS_STEPS_NONE) {
		ts_buf_puts(&doctor->text,
			    "The profile has no step markers and no module repeats.");
		return;
	}
	ts_buf_printf(&doctor->text, "%zu step%s taken from the executions of ", steps->nr_steps,
		      steps->nr_steps == 1 ? " is" : "s are");
	if (steps->module_op < profile->nr_ops)
		ts_say_name(doctor, profile->ops[steps->module_op].name);
	else
		ts_buf_puts(&doctor->text, "the module that repeats");
	ts_buf_puts(&doctor->text,
		    ", each to the start of the next. The profile has no step markers.");
}

static void check_steps_inferred(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_outline *outline = doctor->ctx->outline;
	struct ts_finding *finding;

	if (!outline || outline->steps.source == TS_STEPS_MARKED || doctor->total_ps <= 0)
		return;
	finding = report_capture(doctor, rule, TS_INFO);
	if (!finding)
		return;
	finding->title = ts_bytes_of(outline->steps.source == TS_STEPS_NONE ?
					     "No steps are known" :
					     "Steps are inferred, not marked");
	say_step_source(doctor, &outline->steps);
	finding->evidence = ts_doctor_text(doctor);
}

const struct ts_rule ts_rule_empty_profile = {
	.name = "empty_profile", .confidence = TS_CERTAIN, .keep = true,
	.check = check_empty_profile,
};
const struct ts_rule ts_rule_damaged_input = {
	.name = "damaged_input", .confidence = TS_CERTAIN, .keep = true,
	.check = check_damaged_input,
};
const struct ts_rule ts_rule_unknown_chip = {
	.name = "unknown_chip", .confidence = TS_CERTAIN, .keep = true,
	.check = check_unknown_chip,
};
const struct ts_rule ts_rule_steps_inferred = {
	.name = "steps_inferred", .confidence = TS_LIKELY, .keep = true,
	.check = check_steps_inferred,
};
