/* SPDX-License-Identifier: MIT */
/* Rules about shardings: a constraint that costs collectives which another one would not. */
#include "analysis/doctor/doctor.h"

#include "analysis/facts/resharding.h"

/* What one constraint costs. */
struct constraint {
	const struct ts_resharding_op *first; /* the longest of its collectives */
	struct ts_selection ops;	      /* those that ran, and what nothing hid */
	size_t nr;
	int64_t bytes;
};

static bool is_of(const struct ts_resharding_op *op, const struct ts_resharding_op *first)
{
	return op->is_suspicious && op->module == first->module &&
	       op->cause_instr == first->cause_instr && op->cause == first->cause;
}

static void add_time(const struct ts_doctor *doctor, struct constraint *constraint, uint32_t op)
{
	const struct ts_op *of = op == TS_NONE ? NULL : &doctor->ctx->profile->ops[op];
	const struct ts_op_fact *fact = of ? ts_op_fact_of(ts_ops_facts(doctor->ctx), op) : NULL;

	if (fact)
		ts_selection_add(&constraint->ops, fact, TS_MAX(fact->exclusive_ps, 0));
	if (of && of->async == TS_ASYNC_START && of->partner != TS_NONE)
		add_time(doctor, constraint, of->partner);
}

static struct constraint gather_constraint(const struct ts_doctor *doctor,
					   const struct ts_resharding_facts *facts, size_t first)
{
	struct constraint found = { .first = &facts->items[first] };

	for (size_t i = first; i < facts->nr; i++) {
		if (!is_of(&facts->items[i], found.first))
			continue;
		found.nr++;
		found.bytes = ts_i64_add(found.bytes, facts->items[i].bytes);
		add_time(doctor, &found, facts->items[i].op);
	}
	return found;
}

static const char *words_of(enum ts_cause_kind cause)
{
	static const char *const words[] = {
		[TS_CAUSE_UNKNOWN] = "The sharding of the program",
		[TS_CAUSE_CONSTRAINT] = "A sharding constraint",
		[TS_CAUSE_ARGUMENT] = "The sharding of an argument",
		[TS_CAUSE_RESULT] = "The sharding of the result",
		[TS_CAUSE_OP] = "An op that cannot be split",
	};

	return words[cause];
}

static void report_constraint(struct ts_doctor *doctor, const struct ts_rule *rule,
			      struct constraint *constraint)
{
	const struct ts_resharding_op *first = constraint->first;
	const struct ts_hlo_module *module = &doctor->ctx->profile->modules[first->module];
	int64_t ps = constraint->ops.nr > 0 ? constraint->ops.exclusive_ps : -1;
	struct ts_finding *finding =
		ts_doctor_report(doctor, rule, module->name, module->instrs[first->instr].name, ps);

	if (ps < 0)
		ts_doctor_keep(doctor);
	finding->title = TS_SENTENCE(doctor, "{text}[ at {name}] costs {count} collective{s}",
				     TS_STRING(words_of(first->cause)),
				     TS_NAME(first->cause_source), TS_COUNT(constraint->nr));
	TS_PUT(doctor, "[{core} of {core}: ]{bytes} of each execution, most in {name}",
	       TS_WHEN(ps >= 0, TS_CORE(ps)), TS_CORE(doctor->total_ps),
	       TS_BYTES(constraint->bytes), TS_NAME(module->instrs[first->instr].name));
	TS_PUT(doctor, "[ along {text}][, from {text} to {text}].", TS_PLAIN(first->axes),
	       TS_PLAIN(first->from), TS_PLAIN(first->to));
	TS_PUT(doctor, " It is put in by the partitioner: {text}.", TS_PLAIN(first->reason));
	TS_PUT(doctor, "[ By itself the array that is constrained is split as {text}.]",
	       TS_PLAIN(first->mend));
	finding->evidence = ts_doctor_text(doctor);
	ts_doctor_where(doctor, finding, &constraint->ops);
	if (first->mend.n > 0)
		finding->advice = TS_SENTENCE(doctor, "Ask for {text} there. {text}",
					      TS_PLAIN(first->mend), TS_PLAIN(finding->advice));
}

#define MAX_CONSTRAINTS 3

static void check_resharding(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_resharding_facts *facts = ts_resharding_facts(doctor->ctx);
	size_t nr = 0;

	for (size_t i = 0; i < facts->nr && nr < MAX_CONSTRAINTS; i++) {
		struct constraint constraint;
		bool is_known = !facts->items[i].is_suspicious;

		for (size_t k = 0; k < i && !is_known; k++)
			is_known = is_of(&facts->items[k], &facts->items[i]);
		if (is_known)
			continue;
		constraint = gather_constraint(doctor, facts, i);
		report_constraint(doctor, rule, &constraint);
		nr++;
	}
}

const struct ts_rule ts_rule_resharding = {
	.name = "resharding",
	.confidence = TS_LIKELY,
	.check = check_resharding,
	.ceiling = "the core time of these collectives that nothing hides",
};
