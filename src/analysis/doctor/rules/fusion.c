/* SPDX-License-Identifier: MIT */
/*
 * Rules about what was not fused: arrays that pass through HBM between two ops, a finding a reason,
 * and tiny ops in series.
 */
#include "analysis/doctor/doctor.h"

#include "analysis/facts/fusion.h"
#include "analysis/kit/cells.h"
#include "analysis/settings_list.h"

#define MAX_REASONS 32

/* All pairs with one reason. */
struct unfused {
	const struct ts_reason *reason;
	int64_t impact_ps;
	size_t nr;
	struct ts_best best;
};

static struct unfused *unfused_of(struct unfused *groups, size_t *nr,
				  const struct ts_reason *reason)
{
	for (size_t i = 0; i < *nr; i++)
		if (groups[i].reason == reason)
			return &groups[i];
	if (*nr == MAX_REASONS)
		return NULL;
	groups[*nr] = (struct unfused){ .reason = reason };
	return &groups[(*nr)++];
}

static size_t group_pairs(const struct ts_fusion_facts *fusion, struct unfused *groups)
{
	size_t nr = 0;

	for (size_t i = 0; i < fusion->nr_pairs; i++) {
		const struct ts_reason *reason = fusion->pairs[i].reason;
		int64_t impact_ps = ts_whole(fusion->pairs[i].impact_ps);
		struct unfused *group;

		/* These have rules of their own, which know more. */
		if (impact_ps <= 0 || !reason->advice ||
		    strcmp(reason->code, "host_transfer") == 0 ||
		    strcmp(reason->code, "layout") == 0 || strcmp(reason->code, "copy") == 0)
			continue;
		group = unfused_of(groups, &nr, reason);
		if (!group)
			continue;
		group->impact_ps = ts_i64_add(group->impact_ps, impact_ps);
		group->nr++;
		ts_best_add(&group->best, i, impact_ps);
	}
	return nr;
}

static struct ts_bytes rules_fusion_name_of(const struct ts_hlo_module *module, uint32_t instr)
{
	return module->instrs[instr].name;
}

static void rules_fusion_add_where(struct ts_doctor *doctor, struct ts_selection *ops,
				   const struct ts_hlo_module *module, uint32_t instr)
{
	const struct ts_op_fact *fact =
		ts_doctor_fact(doctor, module->name, rules_fusion_name_of(module, instr));

	for (size_t i = 0; i < ops->nr; i++)
		if (ops->items[i] == fact)
			return;
	if (fact && ops->nr < TS_MAX_WHERE) {
		ops->items[ops->nr++] = fact;
		ops->nr_all++;
	}
}

static void rules_fusion_put_pair(struct ts_doctor *doctor, const struct ts_fusion_pair *pair)
{
	TS_PUT(doctor, "{name} to {name} ({core}, {bytes} each time)",
	       TS_NAME(rules_fusion_name_of(pair->module, pair->producer)),
	       TS_NAME(rules_fusion_name_of(pair->module, pair->consumer)),
	       TS_CORE(ts_whole(pair->impact_ps)),
	       TS_BYTES(ts_i64_add(pair->read_bytes, pair->write_bytes)));
}

static void rules_fusion_put_pairs(struct ts_doctor *doctor, const struct ts_fusion_facts *fusion,
				   const struct unfused *group)
{
	TS_PUT(doctor, "They pass arrays through HBM: {text}. Most in ",
	       TS_STRING(group->reason->words));
	for (size_t i = 0; i < group->best.nr; i++) {
		ts_put(doctor, i > 0 ? ", " : "");
		rules_fusion_put_pair(doctor, &fusion->pairs[group->best.row[i]]);
	}
	ts_put(doctor, ".");
}

/* Some reasons have a piece of code of their own: unfused_two_products. */
static const struct ts_advice *rules_fusion_advice_of(const struct ts_doctor *doctor,
						      const char *code)
{
	char name[64];

	snprintf(name, sizeof(name), "unfused_%s", code);
	return ts_advice_find(doctor->framework, name);
}

static void report_unfused(struct ts_doctor *doctor, const struct ts_rule *rule,
			   const struct ts_fusion_facts *fusion, const struct unfused *group)
{
	struct ts_bytes none = { NULL, 0 };
	struct ts_finding *finding = ts_doctor_report(
		doctor, rule, none, ts_bytes_of(group->reason->code), group->impact_ps);
	const struct ts_advice *own = rules_fusion_advice_of(doctor, group->reason->code);
	struct ts_selection ops = { .nr = 0 };

	if (own->code[0])
		finding->code = ts_bytes_of(own->code);
	finding->confidence = group->reason->confidence;
	finding->advice = ts_bytes_of(group->reason->advice);
	TS_PUT(doctor,
	       "{count} op pair{s} {text} not fused ({text}); fusing them could save {share} of "
	       "device time",
	       TS_COUNT(group->nr), TS_STRING(group->nr == 1 ? "is" : "are"),
	       TS_PLAIN(ts_bytes_of(group->reason->name)),
	       TS_SHARE(ts_doctor_share(doctor, group->impact_ps)));
	finding->title = ts_doctor_text(doctor);
	rules_fusion_put_pairs(doctor, fusion, group);
	finding->evidence = ts_doctor_text(doctor);
	for (size_t i = 0; i < group->best.nr; i++) {
		const struct ts_fusion_pair *pair = &fusion->pairs[group->best.row[i]];

		rules_fusion_add_where(doctor, &ops, pair->module, pair->producer);
		rules_fusion_add_where(doctor, &ops, pair->module, pair->consumer);
	}
	ts_doctor_where(doctor, finding, &ops);
}

static void rules_fusion_check_unfused(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_fusion_facts *fusion = ts_fusion_facts(doctor->ctx);
	struct unfused groups[MAX_REASONS];
	size_t nr = group_pairs(fusion, groups);

	for (size_t i = 0; i < nr; i++)
		if (ts_doctor_share(doctor, groups[i].impact_ps) * 100 >
		    doctor->ctx->settings->unfused_high)
			report_unfused(doctor, rule, fusion, &groups[i]);
}

static bool was_reported(const struct ts_doctor *doctor, const char *rule)
{
	for (size_t i = 0; i < doctor->nr_drafts; i++)
		if (strcmp(doctor->drafts[i].finding.rule, rule) == 0)
			return true;
	return false;
}

static void describe_chains(struct ts_doctor *doctor, struct ts_finding *finding,
			    const struct ts_fusion_facts *fusion, double share)
{
	struct ts_selection ops = { .nr = 0 };

	finding->title = TS_SENTENCE(doctor, "Chains of tiny ops take {share} of device time",
				     TS_SHARE(share));
	TS_PUT(doctor, "{count} series of ops that are each too short to fill the core: ",
	       TS_COUNT(fusion->nr_chains));
	for (size_t i = 0; i < TS_MIN(fusion->nr_chains, TS_MAX_BEST); i++) {
		const struct ts_fusion_chain *chain = &fusion->chains[i];

		ts_put(doctor, i > 0 ? ", " : "");
		TS_PUT(doctor, "{count} ops from {name} to {name} ({core})",
		       TS_COUNT(chain->nr_ops),
		       TS_NAME(rules_fusion_name_of(chain->module, chain->first)),
		       TS_NAME(rules_fusion_name_of(chain->module, chain->last)),
		       TS_CORE(chain->time_ps));
		rules_fusion_add_where(doctor, &ops, chain->module, chain->first);
		rules_fusion_add_where(doctor, &ops, chain->module, chain->last);
	}
	ts_put(doctor, ".");
	finding->evidence = ts_doctor_text(doctor);
	ts_doctor_where(doctor, finding, &ops);
}

/* Where tiny ops have a finding already, their series are a part of it. */
static void check_op_chains(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_fusion_facts *fusion = ts_fusion_facts(doctor->ctx);
	struct ts_finding *finding;
	int64_t time_ps = 0;
	double share;

	for (size_t i = 0; i < fusion->nr_chains; i++)
		time_ps = ts_i64_add(time_ps, fusion->chains[i].time_ps);
	share = ts_doctor_share(doctor, time_ps);
	if (!(share * 100 > doctor->ctx->settings->op_chains_high) ||
	    was_reported(doctor, "small_ops"))
		return;
	finding = ts_doctor_report_run(doctor, rule, time_ps);
	describe_chains(doctor, finding, fusion, share);
}

const struct ts_rule ts_rule_unfused = {
	.name = "unfused",
	.confidence = TS_LIKELY,
	.is_headroom = true,
	.check = rules_fusion_check_unfused,
	.classes = TS_CLASSES_OF_WORK,
	.ceiling = "the time that the arrays between these ops take to HBM and back",
};
const struct ts_rule ts_rule_op_chains = {
	.name = "op_chains",
	.confidence = TS_POSSIBLE,
	.is_headroom = true,
	.check = check_op_chains,
	.classes = TS_CLASSES_OF_WORK,
	.ceiling = "the time of the ops in series; the work in them stays",
};
