/*
 * Rules about what was not fused: arrays that pass through HBM between two ops, a finding a reason,
 * and tiny ops in series.
 */
#include "analysis/doctor/doctor.h"

#define MAX_REASONS 32

/* All rows of fusion.unfused with one reason. */
struct unfused {
	struct ts_bytes code, words, advice, confidence;
	int64_t impact_ps;
	size_t nr;
	struct ts_best best;
};

/* These have rules of their own, which know more. */
static bool has_own_rule(struct ts_bytes code)
{
	return ts_bytes_is(code, "host_transfer") || ts_bytes_is(code, "layout") ||
	       ts_bytes_is(code, "copy");
}

static struct unfused *unfused_of(struct unfused *groups, size_t *nr, struct ts_bytes code)
{
	for (size_t i = 0; i < *nr; i++)
		if (ts_bytes_eq(groups[i].code, code))
			return &groups[i];
	if (*nr == MAX_REASONS)
		return NULL;
	groups[*nr] = (struct unfused){ .code = code };
	return &groups[(*nr)++];
}

static size_t group_pairs(const struct ts_table *table, struct unfused *groups)
{
	size_t nr = 0;

	for (size_t i = 0; i < table->nr_rows; i++) {
		struct ts_bytes code = ts_cell_text(table, i, "reason_code");
		struct ts_bytes advice = ts_cell_text(table, i, "advice");
		int64_t impact_ps = ts_cell_int(table, i, "impact_ps");
		struct unfused *group;

		if (impact_ps <= 0 || advice.n == 0 || has_own_rule(code))
			continue;
		group = unfused_of(groups, &nr, code);
		if (!group)
			continue;
		group->words = ts_cell_text(table, i, "reason");
		group->advice = advice;
		group->confidence = ts_cell_text(table, i, "confidence");
		group->impact_ps = ts_i64_add(group->impact_ps, impact_ps);
		group->nr++;
		ts_best_add(&group->best, i, impact_ps);
	}
	return nr;
}

static void add_where(struct ts_doctor *doctor, struct ts_selection *ops, struct ts_bytes module,
		      struct ts_bytes name)
{
	const struct ts_op_fact *fact = ts_doctor_fact(doctor, module, name);

	for (size_t i = 0; i < ops->nr; i++)
		if (ops->items[i] == fact)
			return;
	if (fact && ops->nr < TS_MAX_WHERE) {
		ops->items[ops->nr++] = fact;
		ops->nr_all++;
	}
}

static void put_pair(struct ts_doctor *doctor, const struct ts_table *table, size_t row)
{
	TS_PUT(doctor, "{name} to {name} ({time}, {bytes} each time)",
	       TS_NAME(ts_cell_text(table, row, "producer")),
	       TS_NAME(ts_cell_text(table, row, "consumer")),
	       TS_TIME(ts_cell_int(table, row, "impact_ps")),
	       TS_BYTES(ts_cell_int(table, row, "bytes")));
}

static void put_pairs(struct ts_doctor *doctor, const struct ts_table *table,
		      const struct unfused *group)
{
	TS_PUT(doctor, "{count} pair{s} of ops pass arrays through HBM: {text}. Most in ",
	       TS_COUNT(group->nr), TS_TEXT(group->words));
	for (size_t i = 0; i < group->best.nr; i++) {
		ts_put(doctor, i > 0 ? ", " : "");
		put_pair(doctor, table, group->best.row[i]);
	}
	ts_put(doctor, ".");
}

static enum ts_confidence confidence_of(struct ts_bytes name)
{
	for (int i = 0; i < TS_NR_CONFIDENCES; i++)
		if (ts_bytes_is(name, ts_confidence_name((enum ts_confidence)i)))
			return (enum ts_confidence)i;
	return TS_POSSIBLE;
}

static void put_title(struct ts_doctor *doctor, const struct unfused *group)
{
	TS_PUT(doctor, "{share} of core time may go with ops that were not fused (",
	       TS_SHARE(ts_doctor_share(doctor, group->impact_ps)));
	for (size_t i = 0; i < group->code.n; i++)
		ts_buf_putc(&doctor->text, group->code.p[i] == '_' ? ' ' : (char)group->code.p[i]);
	ts_put(doctor, ")");
}

/* Some reasons have a piece of code of their own: unfused_two_products. */
static const struct ts_advice *advice_of(const struct ts_doctor *doctor, struct ts_bytes code)
{
	char name[64];

	snprintf(name, sizeof(name), "unfused_%.*s", TS_ARG(code));
	return ts_advice_find(doctor->framework, name);
}

static void report_unfused(struct ts_doctor *doctor, const struct ts_rule *rule,
			   const struct ts_table *table, const struct unfused *group)
{
	struct ts_bytes none = { NULL, 0 };
	struct ts_finding *finding =
		ts_doctor_report(doctor, rule, none, group->code, group->impact_ps);
	const struct ts_advice *own = advice_of(doctor, group->code);
	struct ts_selection ops = { .nr = 0 };

	if (own->code[0])
		finding->code = ts_bytes_of(own->code);
	finding->confidence = confidence_of(group->confidence);
	finding->advice = group->advice;
	put_title(doctor, group);
	finding->title = ts_doctor_text(doctor);
	put_pairs(doctor, table, group);
	finding->evidence = ts_doctor_text(doctor);
	for (size_t i = 0; i < group->best.nr; i++) {
		size_t row = group->best.row[i];
		struct ts_bytes module = ts_cell_text(table, row, "module");

		add_where(doctor, &ops, module, ts_cell_text(table, row, "producer"));
		add_where(doctor, &ops, module, ts_cell_text(table, row, "consumer"));
	}
	ts_doctor_where(doctor, finding, &ops);
}

static void check_unfused(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_table *table = ts_result_find_table(doctor->fusion, "unfused");
	struct unfused groups[MAX_REASONS];
	size_t nr = table ? group_pairs(table, groups) : 0;

	for (size_t i = 0; i < nr; i++)
		if (ts_doctor_share(doctor, groups[i].impact_ps) * 100 >
		    doctor->ctx->settings->unfused_high)
			report_unfused(doctor, rule, table, &groups[i]);
}

static bool was_reported(const struct ts_doctor *doctor, const char *rule)
{
	for (size_t i = 0; i < doctor->nr_drafts; i++)
		if (strcmp(doctor->drafts[i].finding.rule, rule) == 0)
			return true;
	return false;
}

static void put_chain(struct ts_doctor *doctor, const struct ts_table *table, size_t row)
{
	TS_PUT(doctor, "{count} ops from {name} to {name} ({time})",
	       TS_COUNT(ts_cell_int(table, row, "ops")), TS_NAME(ts_cell_text(table, row, "first")),
	       TS_NAME(ts_cell_text(table, row, "last")),
	       TS_TIME(ts_cell_int(table, row, "time_ps")));
}

static void describe_chains(struct ts_doctor *doctor, struct ts_finding *finding,
			    const struct ts_table *table, double share)
{
	struct ts_selection ops = { .nr = 0 };

	finding->title =
		TS_SENTENCE(doctor, "{share} of core time is in tiny ops that follow each other",
			    TS_SHARE(share));
	TS_PUT(doctor, "{count} series of ops that are each too short to fill the core: ",
	       TS_COUNT(table->nr_rows));
	for (size_t i = 0; i < TS_MIN(table->nr_rows, TS_MAX_BEST); i++) {
		struct ts_bytes module = ts_cell_text(table, i, "module");

		ts_put(doctor, i > 0 ? ", " : "");
		put_chain(doctor, table, i);
		add_where(doctor, &ops, module, ts_cell_text(table, i, "first"));
		add_where(doctor, &ops, module, ts_cell_text(table, i, "last"));
	}
	ts_put(doctor, ".");
	finding->evidence = ts_doctor_text(doctor);
	ts_doctor_where(doctor, finding, &ops);
}

/* Where tiny ops have a finding already, their series are a part of it. */
static void check_op_chains(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_table *table = ts_result_find_table(doctor->fusion, "chains");
	struct ts_finding *finding;
	int64_t time_ps = 0;
	double share;

	for (size_t i = 0; table && i < table->nr_rows; i++)
		time_ps = ts_i64_add(time_ps, ts_cell_int(table, i, "time_ps"));
	share = ts_doctor_share(doctor, time_ps);
	if (!(share * 100 > doctor->ctx->settings->op_chains_high) ||
	    was_reported(doctor, "small_ops"))
		return;
	finding = ts_doctor_report_run(doctor, rule, time_ps);
	describe_chains(doctor, finding, table, share);
}

const struct ts_rule ts_rule_unfused = {
	.name = "unfused",
	.confidence = TS_LIKELY,
	.check = check_unfused,
	.ceiling = "the time that the arrays between these ops take to HBM and back",
};
const struct ts_rule ts_rule_op_chains = {
	.name = "op_chains",
	.confidence = TS_POSSIBLE,
	.check = check_op_chains,
	.ceiling = "the time of the ops in series; the work in them stays",
};
