/* SPDX-License-Identifier: MIT */
/* Runs side by side: puts the parts of a comparison together. */
#include "compare/parts.h"

#include "base/check.h"

static enum ts_status compare_measure_all(struct comparing *comparing, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	comparing->by_step = true;
	for (size_t r = 0; st == TS_OK && r < comparing->nr; r++) {
		st = ts_measured_init(&comparing->measured[r], comparing->runs[r].results, true,
				      err);
		comparing->by_step &= comparing->measured[r].by_step;
	}
	for (size_t r = 0; st == TS_OK && !comparing->by_step && r < comparing->nr; r++) {
		ts_measured_release(&comparing->measured[r]);
		st = ts_measured_init(&comparing->measured[r], comparing->runs[r].results, false,
				      err);
	}
	return st;
}

#define GATE_CELLS(X) \
	X(gate, ts_text(gate->text)) \
	X(run, ts_text(ts_bytes_of(comparing->labels[run]))) \
	X(value, ts_real(verdict.value)) \
	X(limit, ts_real(verdict.limit)) \
	X(state, ts_text(ts_bytes_of(ts_gate_state_name(verdict.state))))

static enum ts_status compare_judge(struct comparing *comparing, const struct ts_gate *gate,
				    size_t run, struct ts_table *table, size_t *nr_failed,
				    struct ts_error *err)
{
	double value[2] = { NAN, NAN }; /* of the baseline, of the run */
	struct ts_gate_verdict verdict;
	bool known = false;

	for (size_t i = 0; i < 2; i++) { /* by its own steps, whatever the others have */
		const struct ts_results *results = comparing->runs[i ? run : 0].results;
		struct ts_measured measured;
		enum ts_status st = ts_measured_init(&measured, results, true, err);

		if (st)
			return st;
		known = ts_measured_value(&measured, results, gate->path, &value[i]);
		ts_measured_release(&measured);
	}
	verdict = ts_gate_judge(gate, known, value[1], value[0]);
	TS_CELLS(comparing->result, table, compare_gates, GATE_CELLS);
	*nr_failed += verdict.state != TS_GATE_HOLDS;
	return TS_OK;
}

static enum ts_status judge_all(struct comparing *comparing,
				const struct ts_compare_request *request, size_t *nr_failed,
				struct ts_error *err)
{
	struct ts_table *table = TS_TABLE(comparing->result, compare_gates);
	enum ts_status st = TS_OK;

	for (size_t g = 0; g < request->nr_gates; g++)
		for (size_t r = comparing->nr > 1; st == TS_OK && r < comparing->nr; r++)
			st = compare_judge(comparing, &request->gates[g], r, table, nr_failed, err);
	table->text_rows = TS_MAX(table->nr_rows, 1);
	return st;
}

static enum ts_status compare_all(struct comparing *comparing,
				  const struct ts_compare_request *request, size_t *nr_failed,
				  struct ts_error *err)
{
	enum ts_status st = judge_all(comparing, request, nr_failed, err);

	if (st == TS_OK)
		st = ts_compare_times(comparing, err);
	if (st == TS_OK && comparing->nr > 1)
		st = ts_compare_fairness(comparing, err);
	if (st)
		return st;
	ts_compare_figures(comparing);
	ts_compare_buckets(comparing);
	if (comparing->nr == 1)
		return TS_OK;
	st = ts_compare_histogram(comparing, err);
	if (st == TS_OK)
		st = ts_compare_ops(comparing, err);
	if (st == TS_OK)
		st = ts_compare_operators(comparing, err);
	if (st == TS_OK)
		st = ts_compare_modules(comparing, err);
	return st ? st : ts_compare_findings(comparing, err);
}

const char *const ts_compare_views[] = {
	"gates", "runs",      "differences",	 "figures", "buckets",	"histogram", "difference",
	"ops",	 "operators", "operator_shapes", "modules", "findings", NULL
};

enum ts_status ts_compare(const struct ts_compare_request *request, struct ts_results *into,
			  size_t *nr_failed, struct ts_error *err)
{
	struct comparing comparing = {
		.runs = request->runs,
		.nr = request->nr_runs,
		.scratch = TS_ARENA_INIT,
		.result = TS_ADD(into, compare),
	};
	enum ts_status st = comparing.result ? TS_OK : ts_fail_nomem(err);

	TS_ASSERT(request && into && nr_failed);
	TS_ASSERT(request->nr_runs >= 1 && request->nr_runs <= TS_COMPARE_MAX);
	TS_ASSERT(request->runs && (request->gates || request->nr_gates == 0));
	*nr_failed = 0;
	if (st == TS_OK)
		st = ts_compare_labels(&comparing, err);
	if (st == TS_OK)
		st = compare_measure_all(&comparing, err);
	if (st == TS_OK)
		st = compare_all(&comparing, request, nr_failed, err);
	if (st == TS_OK && (into->failed || comparing.scratch.failed || into->arena.failed))
		st = ts_fail_nomem(err);
	for (size_t r = 0; r < comparing.nr; r++)
		ts_measured_release(&comparing.measured[r]);
	ts_arena_release(&comparing.scratch);
	return st;
}
