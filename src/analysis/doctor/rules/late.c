/* SPDX-License-Identifier: MIT */
/*
 * Rules about cores that do not take equally long for what all of them run: one or a few of them are late, and what waits for
 * them is evidence; or another one is late each time, and no core is to blame but the op.
 */
#include "analysis/doctor/doctor.h"

#include "analysis/facts/collectives.h"
#include "analysis/settings_list.h"

#define MAX_LATE_OPS 4   /* that are named */
#define MOST_IN_OP   0.5 /* of a core's lateness in one op: else it is in all of them */

static struct ts_bytes rules_late_label(const struct ts_doctor *doctor, uint32_t device)
{
	return doctor->ctx->profile->devices[device].label;
}

/* What the run takes longer, on all cores. */
static int64_t rules_late_core_ps(struct ts_doctor *doctor, const struct ts_cure *cure)
{
	return ts_i64_mul(ts_doctor_cure_gain(doctor, cure),
			  (int64_t)doctor->run->path.graph.nr_rows);
}

static bool rules_late_is_worth(const struct ts_doctor *doctor, int64_t core_ps)
{
	return ts_doctor_share(doctor, core_ps) * 100 >= doctor->ctx->settings->finding_min;
}

struct blamed {
	int64_t own_ps, usual_ps;      /* of all late ops of the cores */
	const struct ts_late_op *most; /* the op that has most of it, of the first core */
};

static bool rules_late_has(const struct ts_roots *roots, uint32_t device)
{
	for (size_t i = 0; i < roots->nr_devices; i++)
		if (roots->devices[i] == device)
			return true;
	return false;
}

static struct blamed rules_late_blame(const struct ts_roots *roots)
{
	struct blamed blamed = { .most = NULL };
	int64_t first_ps = 0;

	for (size_t i = 0; i < roots->nr_ops; i++) {
		const struct ts_late_op *late = &roots->ops[i];

		if (!rules_late_has(roots, late->device))
			continue;
		blamed.own_ps = ts_i64_add(blamed.own_ps, late->own_ps);
		blamed.usual_ps = ts_i64_add(blamed.usual_ps, late->usual_ps);
		if (late->device != roots->devices[0])
			continue;
		first_ps = ts_i64_add(first_ps, late->path_ps);
		blamed.most = blamed.most ? blamed.most : late;
	}
	if (blamed.most && (double)blamed.most->path_ps < MOST_IN_OP * (double)first_ps)
		blamed.most = NULL;
	return blamed;
}

/* "/device:TPU:1 and /device:TPU:5" */
static struct ts_bytes rules_late_names(struct ts_doctor *doctor)
{
	const struct ts_roots *roots = doctor->roots;

	for (size_t i = 0; i < roots->nr_devices; i++) {
		if (i > 0)
			ts_put(doctor, i + 1 == roots->nr_devices ? " and " : ", ");
		TS_PUT(doctor, "{name}", TS_NAME(rules_late_label(doctor, roots->devices[i])));
	}
	return ts_doctor_text(doctor);
}

static struct ts_bytes rules_late_title(struct ts_doctor *doctor, const struct blamed *blamed)
{
	const struct ts_late_op *most = blamed->most;
	struct ts_bytes names = rules_late_names(doctor);
	const char *are = doctor->roots->nr_devices == 1 ? "is a straggler" : "are stragglers";

	if (most && most->usual_ps == 0)
		return TS_SENTENCE(doctor,
				   "{text} {text}: it alone runs {name}, {time} an "
				   "execution",
				   TS_PLAIN(names), TS_STRING(are),
				   TS_NAME(doctor->ctx->profile->ops[most->op].name),
				   TS_TIME(most->own_ps / most->nr));
	if (most)
		return TS_SENTENCE(doctor,
				   "{text} {text}: {name} takes {time} an "
				   "execution there and {time} on the others",
				   TS_PLAIN(names), TS_STRING(are),
				   TS_NAME(doctor->ctx->profile->ops[most->op].name),
				   TS_TIME(most->own_ps / most->nr),
				   TS_TIME(most->usual_ps / most->nr));
	if (blamed->usual_ps == 0)
		return TS_SENTENCE(doctor,
				   "{text} {text}: it alone runs ops that "
				   "take {time}",
				   TS_PLAIN(names), TS_STRING(are), TS_TIME(blamed->own_ps));
	return TS_SENTENCE(
		doctor,
		"{text} {text}: ops take {number} % longer there than "
		"on the others",
		TS_PLAIN(names), TS_STRING(are),
		TS_ROUNDED(((double)blamed->own_ps / (double)blamed->usual_ps - 1) * 100));
}

/* "/device:TPU:2 waits for /device:TPU:1 in recv-done.1" */
static struct ts_bytes rules_late_hop(struct ts_doctor *doctor, const struct ts_hop *hop)
{
	struct ts_bytes op = doctor->ctx->profile->ops[hop->op].name;

	if (hop->nr_others > 0)
		return TS_SENTENCE(doctor, "{count} core{s} wait{v} for {name} in {name}",
				   TS_COUNT(hop->nr_others),
				   TS_NAME(rules_late_label(doctor, hop->from)), TS_NAME(op));
	return TS_SENTENCE(doctor, "{name} waits for {name} in {name}",
			   TS_NAME(rules_late_label(doctor, hop->to)),
			   TS_NAME(rules_late_label(doctor, hop->from)), TS_NAME(op));
}

static void rules_late_chain(struct ts_doctor *doctor, struct ts_finding *finding)
{
	const struct ts_roots *roots = doctor->roots;
	struct ts_bytes *chain =
		ts_arena_array(&doctor->result->owner->arena, TS_MAX_CHAIN, sizeof(*chain));

	doctor->failed |= !chain;
	for (size_t i = 0; chain && i < roots->nr_hops; i++)
		chain[i] = rules_late_hop(doctor, &roots->hops[i]);
	finding->root.chain = chain;
	finding->root.nr_chain = chain ? roots->nr_hops : 0;
}

static void rules_late_put_chain(struct ts_doctor *doctor, const struct ts_finding *finding)
{
	for (size_t i = 0; i < finding->root.nr_chain; i++)
		TS_PUT(doctor, "{text}{text}", TS_STRING(i == 0 ? " " : "; "),
		       TS_PLAIN(finding->root.chain[i]));
	ts_put(doctor, finding->root.nr_chain > 0 ? "." : "");
}

static struct ts_bytes rules_late_source(struct ts_doctor *doctor, uint32_t op)
{
	const struct ts_op_fact *fact = ts_op_fact_of(doctor->ops, op);

	return fact ? ts_fact_source(doctor, fact) : (struct ts_bytes){ NULL, 0 };
}

/* "fusion.50 (model.py:41) on /device:TPU:1: 19.8 ms more in 10 executions." */
static void rules_late_put_ops(struct ts_doctor *doctor)
{
	const struct ts_roots *roots = doctor->roots;
	size_t nr = 0;

	for (size_t i = 0; i < roots->nr_ops && nr < MAX_LATE_OPS; i++) {
		const struct ts_late_op *late = &roots->ops[i];

		if (!rules_late_has(roots, late->device))
			continue;
		TS_PUT(doctor,
		       "{text}{name}[ ({name})] on {name}: {time} instead of {time} in {count} "
		       "execution{s}",
		       TS_STRING(nr++ == 0 ? "" : "; "),
		       TS_NAME(doctor->ctx->profile->ops[late->op].name),
		       TS_NAME(rules_late_source(doctor, late->op)),
		       TS_NAME(rules_late_label(doctor, late->device)), TS_TIME(late->own_ps),
		       TS_TIME(late->usual_ps), TS_COUNT(late->nr));
	}
	ts_put(doctor, ".");
}

static void rules_late_where(struct ts_doctor *doctor, struct ts_finding *finding)
{
	const struct ts_roots *roots = doctor->roots;
	struct ts_selection ops = { .nr = 0 };

	for (size_t i = 0; i < roots->nr_ops && ops.nr < MAX_LATE_OPS; i++) {
		const struct ts_op_fact *fact = ts_op_fact_of(doctor->ops, roots->ops[i].op);

		if (fact && rules_late_has(roots, roots->ops[i].device))
			ops.items[ops.nr++] = fact;
	}
	ops.nr_all = ops.nr;
	ts_doctor_where(doctor, finding, &ops);
}

/* Where it was not late at first, as the cores come to the collectives. */
static void rules_late_put_since(struct ts_doctor *doctor, uint32_t device)
{
	const struct ts_collectives_facts *facts = ts_collectives_facts(doctor->ctx);
	const struct ts_time_facts *time = doctor->time;

	for (size_t i = 0; time->nr_listed > 0 && i < facts->nr_cores; i++)
		if (facts->cores[i].device == device &&
		    facts->cores[i].since_step > (int64_t)time->steps[0].number)
			TS_PUT(doctor, " It is late since step {count}.",
			       TS_COUNT(facts->cores[i].since_step));
}

void ts_report_late(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_roots *roots = doctor->roots;
	const struct ts_profile *profile = doctor->ctx->profile;
	const struct ts_cure cure = { .kind = TS_CURE_LATE,
				      .devices = roots->devices,
				      .nr_devices = roots->nr_devices };
	struct blamed blamed;
	struct ts_finding *finding;
	int64_t core_ps;

	if (roots->nr_devices == 0)
		return;
	blamed = rules_late_blame(roots);
	core_ps = rules_late_core_ps(doctor, &cure);
	if (!rules_late_is_worth(doctor, core_ps))
		return;
	finding = ts_doctor_report(doctor, rule, (struct ts_bytes){ NULL, 0 },
				   profile->devices[roots->devices[0]].name, core_ps);
	ts_doctor_cures(doctor, cure);
	finding->title = rules_late_title(doctor, &blamed);
	finding->root.kind = "core";
	finding->root.device = rules_late_label(doctor, roots->devices[0]);
	finding->root.host = profile->hosts[profile->devices[roots->devices[0]].host].name;
	if (blamed.most)
		finding->root.op = profile->ops[blamed.most->op].name;
	rules_late_chain(doctor, finding);
	rules_late_put_ops(doctor);
	rules_late_put_chain(doctor, finding);
	rules_late_put_since(doctor, roots->devices[0]);
	finding->evidence = ts_doctor_text(doctor);
	rules_late_where(doctor, finding);
}

/* --- no core is to blame */

static void check_uneven_op(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_roots *roots = doctor->roots;
	const struct ts_op_fact *fact;
	struct ts_finding *finding;
	struct ts_bytes name;
	const struct ts_cure cure = { .kind = TS_CURE_UNEVEN, .op = roots->uneven };
	int64_t core_ps;
	size_t nr = 0;

	if (!doctor->run->is_known || roots->uneven == TS_NONE)
		return;
	core_ps = rules_late_core_ps(doctor, &cure);
	if (!rules_late_is_worth(doctor, core_ps))
		return;
	name = doctor->ctx->profile->ops[roots->uneven].name;
	fact = ts_op_fact_of(doctor->ops, roots->uneven);
	finding = ts_doctor_report(doctor, rule, fact ? fact->module : (struct ts_bytes){ NULL, 0 },
				   name, core_ps);
	ts_doctor_cures(doctor, cure);
	finding->title =
		TS_SENTENCE(doctor,
			    "{name} takes longer on one core now and on another then, and the "
			    "others wait",
			    TS_NAME(name));
	finding->root.kind = "op";
	finding->root.op = name;
	ts_put(doctor, "No core stands out: ");
	for (size_t i = 0; i < roots->nr_ops; i++) {
		const struct ts_late_op *late = &roots->ops[i];

		if (late->op == roots->uneven && nr < MAX_LATE_OPS)
			TS_PUT(doctor, "{text}{name} is late by {time}",
			       TS_STRING(nr++ > 0 ? ", " : ""),
			       TS_NAME(rules_late_label(doctor, late->device)),
			       TS_TIME(late->path_ps));
	}
	ts_put(doctor, " where the run waits for it.");
	finding->evidence = ts_doctor_text(doctor);
	ts_doctor_where_one(doctor, finding, fact);
}

const struct ts_rule ts_rule_uneven_op = {
	.name = "uneven_op",
	.confidence = TS_LIKELY,
	.check = check_uneven_op,
	.classes = TS_CLASS(TS_BUCKET_COMMUNICATION),
	.ceiling = "what the run takes longer because the op does not take as long as on the other "
		   "cores, on all cores",
};
