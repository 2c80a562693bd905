/* Runs side by side: puts the parts of a comparison together. */
#include "compare/parts.h"

#define LABEL_MAX 40 /* of a run; longer, it loses folders */

const char *compare_state_name(enum state state)
{
	static const char *const names[NR_STATES] = { NULL,   "same",	"new",
						      "gone", "slower", "faster" };

	return names[state];
}

enum state compare_state(double base, double other, double time_ps)
{
	double change = other - base;

	if (isnan(base))
		return isnan(other) ? STATE_NONE : STATE_NEW;
	if (isnan(other))
		return STATE_GONE;
	if (!(fabs(change) >= COMPARE_SAME * base) || fabs(change) < COMPARE_SPECK * time_ps)
		return STATE_SAME;
	return change > 0 ? STATE_SLOWER : STATE_FASTER;
}

struct ts_value compare_ps(double ps)
{
	return fabs(ps) < 9e18 ? ts_int(llround(ps)) : ts_null();
}

static bool is_of_others(const struct ts_column *column)
{
	return ts_bytes_starts(ts_bytes_of(column->name), "_change") ||
	       ts_bytes_is(ts_bytes_of(column->name), "_state");
}

static const char *column_name(struct comparing *comparing, size_t run, const char *rest)
{
	return (const char *)ts_result_text(comparing->result, "run_%zu%s", run, rest).p;
}

struct compare_table compare_table(struct comparing *comparing, const char *name, const char *title,
				   const struct ts_column *fixed, size_t nr_fixed,
				   const struct ts_column *each, size_t nr_each)
{
	struct compare_table made = { NULL, nr_fixed, nr_each, 0 };
	struct ts_arena *arena = &comparing->result->owner->arena;
	struct ts_column *columns, *at;

	for (size_t i = 0; i < nr_each; i++)
		made.nr_base += !is_of_others(&each[i]);
	columns = ts_arena_array(arena, nr_fixed + comparing->nr * nr_each, sizeof(*columns));
	if (!columns) {
		comparing->result->owner->failed = true;
		return made;
	}
	memcpy(columns, fixed, nr_fixed * sizeof(*columns));
	at = columns + nr_fixed;
	for (size_t run = 0; run < comparing->nr; run++)
		for (size_t i = 0; i < nr_each; i++) {
			if (run == 0 && is_of_others(&each[i]))
				continue;
			*at = each[i];
			at->name = column_name(comparing, run, each[i].name);
			if (at->label && at->label[0] == '\0')
				at->label = comparing->labels[run];
			if (!at++->name)
				return made; /* the arena knows */
		}
	made.table =
		ts_result_table(comparing->result, name, title, columns, (size_t)(at - columns));
	return made;
}

struct ts_value *compare_cells(const struct compare_table *table, struct ts_value *row, size_t run)
{
	return row + table->nr_fixed + (run == 0 ? 0 : table->nr_base + (run - 1) * table->nr_each);
}

/* Where the names begin to differ, at the start of a part between slashes. */
static size_t common_prefix(const struct comparing *comparing)
{
	struct ts_bytes first = comparing->runs[0].name;
	size_t n = first.n;

	for (size_t r = 1; r < comparing->nr; r++) {
		struct ts_bytes name = comparing->runs[r].name;
		size_t same = 0;

		while (same < n && same < name.n && name.p[same] == first.p[same])
			same++;
		n = same;
	}
	while (n > 0 && first.p[n - 1] != '/')
		n--;
	return n;
}

/* Without what all have in front; of a long path the last folders. */
static struct ts_bytes short_name(const struct comparing *comparing, size_t run, size_t skip)
{
	struct ts_bytes name = comparing->runs[run].name;

	name = ts_bytes_cut(name, skip, name.n);
	while (name.n > LABEL_MAX) {
		size_t slash = ts_bytes_find(name, "/");

		if (slash + 1 >= name.n)
			break;
		name = ts_bytes_cut(name, slash + 1, name.n);
	}
	return name;
}

enum ts_status compare_labels(struct comparing *comparing, struct ts_error *err)
{
	size_t skip = common_prefix(comparing);

	for (size_t r = 0; r < comparing->nr; r++) {
		struct ts_bytes rest = short_name(comparing, r, skip);
		size_t twins = 0;

		for (size_t i = 0; i < r; i++)
			twins += ts_bytes_eq(short_name(comparing, i, skip), rest);
		rest = twins ? ts_result_text(comparing->result, "%.*s (%zu)", TS_ARG(rest),
					      twins + 1)
			     : ts_result_text(comparing->result, "%.*s", TS_ARG(rest));
		if (!rest.p)
			return ts_fail_nomem(err);
		comparing->labels[r] = (const char *)rest.p;
	}
	return TS_OK;
}

static enum ts_status open_sides(struct comparing *comparing, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	comparing->by_step = true;
	for (size_t r = 0; st == TS_OK && r < comparing->nr; r++) {
		st = ts_side_init(&comparing->sides[r], comparing->runs[r].results, true, err);
		comparing->by_step &= comparing->sides[r].by_step;
	}
	for (size_t r = 0; st == TS_OK && !comparing->by_step && r < comparing->nr; r++) {
		ts_side_release(&comparing->sides[r]);
		st = ts_side_init(&comparing->sides[r], comparing->runs[r].results, false, err);
	}
	return st;
}

static const struct ts_column gate_columns[] = {
	{ "gate", TS_DERIVED, "gate" },	  { "run", TS_DERIVED, "run" },
	{ "value", TS_DERIVED, "value" }, { "limit", TS_DERIVED, "limit" },
	{ "state", TS_DERIVED, "state" },
};

static enum ts_status judge(struct comparing *comparing, const struct ts_gate *gate, size_t run,
			    struct ts_table *table, size_t *nr_failed, struct ts_error *err)
{
	double value[2] = { NAN, NAN }; /* of the baseline, of the run */
	struct ts_gate_verdict verdict;
	struct ts_value *row = ts_table_row(comparing->result, table);
	bool known = false;

	if (!row)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < 2; i++) { /* by its own steps, whatever the others have */
		const struct ts_results *results = comparing->runs[i ? run : 0].results;
		struct ts_side side;
		enum ts_status st = ts_side_init(&side, results, true, err);

		if (st)
			return st;
		known = ts_side_value(&side, results, gate->path, &value[i]);
		ts_side_release(&side);
	}
	verdict = ts_gate_judge(gate, known, value[1], value[0]);
	row[0] = ts_text(gate->text);
	row[1] = ts_text(ts_bytes_of(comparing->labels[run]));
	row[2] = ts_real(verdict.value);
	row[3] = ts_real(verdict.limit);
	row[4] = ts_text(ts_bytes_of(ts_gate_state_name(verdict.state)));
	*nr_failed += verdict.state != TS_GATE_HOLDS;
	return TS_OK;
}

static enum ts_status judge_all(struct comparing *comparing,
				const struct ts_compare_request *request, size_t *nr_failed,
				struct ts_error *err)
{
	struct ts_table *table = ts_result_table(comparing->result, "gates", "Gates", gate_columns,
						 TS_NELEM(gate_columns));
	enum ts_status st = table ? TS_OK : ts_fail_nomem(err);

	for (size_t g = 0; g < request->nr_gates; g++)
		for (size_t r = comparing->nr > 1; st == TS_OK && r < comparing->nr; r++)
			st = judge(comparing, &request->gates[g], r, table, nr_failed, err);
	if (table)
		table->text_rows = TS_MAX(table->nr_rows, 1);
	return st;
}

static enum ts_status compare_all(struct comparing *comparing,
				  const struct ts_compare_request *request, size_t *nr_failed,
				  struct ts_error *err)
{
	enum ts_status st = judge_all(comparing, request, nr_failed, err);

	if (st == TS_OK)
		st = compare_times(comparing, err);
	if (st == TS_OK && comparing->nr > 1)
		st = compare_fairness(comparing, err);
	if (st)
		return st;
	compare_figures(comparing);
	compare_buckets(comparing);
	if (comparing->nr == 1)
		return TS_OK;
	st = compare_ops(comparing, err);
	if (st == TS_OK)
		st = compare_modules(comparing, err);
	return st ? st : compare_findings(comparing, err);
}

const char *const ts_compare_views[] = { "gates",      "runs", "differences", "figures",  "buckets",
					 "difference", "ops",  "modules",     "findings", NULL };

enum ts_status ts_compare(const struct ts_compare_request *request, struct ts_results *into,
			  size_t *nr_failed, struct ts_error *err)
{
	struct comparing comparing = {
		.runs = request->runs,
		.nr = request->nr_runs,
		.scratch = TS_ARENA_INIT,
		.result = ts_results_add(into, "compare", "Comparison"),
	};
	enum ts_status st = comparing.result ? TS_OK : ts_fail_nomem(err);

	*nr_failed = 0;
	if (st == TS_OK)
		st = compare_labels(&comparing, err);
	if (st == TS_OK)
		st = open_sides(&comparing, err);
	if (st == TS_OK)
		st = compare_all(&comparing, request, nr_failed, err);
	if (st == TS_OK && (into->failed || comparing.scratch.failed || into->arena.failed))
		st = ts_fail_nomem(err);
	for (size_t r = 0; r < comparing.nr; r++)
		ts_side_release(&comparing.sides[r]);
	ts_arena_release(&comparing.scratch);
	return st;
}
