/*
 * Labels of the marks: the ops that findings name, and the ops that carry padding. A click on a slice
 * shows the label's args. Texts come from the profile and are data: outputs escape them.
 */
#include "analysis/draw/marks.h"

#include "base/units.h"
#include "model/cost.h"

#define MAX_PADDED	256 /* ops of the padding row: the costliest */
#define MIN_PADDING_PCT 5.0 /* less is not worth a slice */
#define MAX_ARGS	10

static enum ts_status add(struct mark_labels *labels, enum mark_row row, struct mark_label label,
			  struct ts_error *err)
{
	if (labels->nr[row] >= MARK_NONE)
		return TS_OK;
	if (!ts_grow(&labels->items[row], &labels->cap[row], labels->nr[row] + 1, sizeof(label)))
		return ts_fail_nomem(err);
	labels->items[row][labels->nr[row]++] = label;
	return TS_OK;
}

static bool has_op(const struct mark_labels *labels, enum mark_row row, uint32_t op)
{
	for (size_t i = 0; i < labels->nr[row]; i++)
		if (labels->items[row][i].op == op)
			return true;
	return false;
}

/* An op that two findings name shows the larger one: findings are ordered. */
static enum ts_status list_finding(const struct ts_context *ctx, struct mark_labels *labels,
				   const struct ts_finding *finding, uint32_t at,
				   struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < finding->nr_where && st == TS_OK; i++) {
		uint32_t op = finding->where[i].op_index;

		if (op < ctx->profile->nr_ops && !has_op(labels, MARK_FINDINGS, op))
			st = add(labels, MARK_FINDINGS, (struct mark_label){ op, at, (uint32_t)i },
				 err);
	}
	return st;
}

static double waste_pct(const struct ts_table *table, size_t row)
{
	return fmax(ts_cell_number(table, row, "waste_bytes_pct"),
		    ts_cell_number(table, row, "waste_flops_pct"));
}

static struct ts_bytes module_of(const struct ts_profile *profile, const struct ts_op *op)
{
	return op->module < profile->nr_modules ? profile->modules[op->module].name
						: (struct ts_bytes){ NULL, 0 };
}

static uint64_t place(struct ts_bytes module, struct ts_bytes op)
{
	return ts_hash(op, ts_hash(module, 1));
}

/* The rows worth a slice, by place. False: no memory. */
static bool map_padding(const struct ts_table *table, struct ts_map *rows, size_t *nr_left_out)
{
	for (size_t i = 0; table && i < table->nr_rows; i++) {
		uint64_t key =
			place(ts_cell_text(table, i, "module"), ts_cell_text(table, i, "op"));

		if (!(waste_pct(table, i) >= MIN_PADDING_PCT) || ts_map_find(rows, key) != TS_NONE)
			continue;
		if (rows->nr >= MAX_PADDED)
			++*nr_left_out;
		else if (!ts_map_set(rows, key, (uint32_t)i))
			return false;
	}
	return true;
}

static enum ts_status list_padding(const struct ts_context *ctx, struct mark_labels *labels,
				   struct ts_error *err)
{
	const struct ts_table *table =
		ts_result_find_table(ts_results_find(ctx->results, "padding"), "ops");
	const struct ts_profile *profile = ctx->profile;
	struct ts_map rows = { NULL, 0, 0 };
	enum ts_status st = TS_OK;

	if (!map_padding(table, &rows, &labels->nr_left_out))
		st = ts_fail_nomem(err);
	for (uint32_t i = 0; rows.nr > 0 && i < profile->nr_ops && st == TS_OK; i++) {
		const struct ts_op *op = &profile->ops[i];
		uint32_t row = ts_map_find(&rows, place(module_of(profile, op), op->name));

		if (row != TS_NONE && ts_bytes_eq(ts_cell_text(table, row, "op"), op->name) &&
		    op->kind != TS_OP_MODULE && op->kind != TS_OP_STEP)
			st = add(labels, MARK_PADDING, (struct mark_label){ i, row, 0 }, err);
	}
	ts_map_release(&rows);
	return st;
}

enum ts_status ts_marks_list(const struct ts_context *ctx, struct mark_labels *labels,
			     struct ts_error *err)
{
	const struct ts_doctor_facts *doctor = ts_doctor_facts(ctx);
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < doctor->nr_findings && st == TS_OK; i++)
		st = list_finding(ctx, labels, &doctor->findings[i], (uint32_t)i, err);
	return st ? st : list_padding(ctx, labels, err);
}

void ts_marks_list_release(struct mark_labels *labels)
{
	for (int row = 0; row < NR_MARK_ROWS; row++)
		free(labels->items[row]);
}

/* Args in the making. */
struct args {
	struct ts_arg items[MAX_ARGS];
	size_t nr;
};

static void put(struct args *args, const char *key, struct ts_bytes value)
{
	if (value.n > 0 && args->nr < MAX_ARGS)
		args->items[args->nr++] = (struct ts_arg){ key, value };
}

static bool keep(struct ts_result *result, const struct args *args, struct ts_label *label)
{
	struct ts_arg *copy =
		ts_arena_array(&result->owner->arena, TS_MAX(args->nr, 1), sizeof(*copy));

	if (!copy)
		return false;
	memcpy(copy, args->items, args->nr * sizeof(*copy));
	label->args = copy;
	label->nr_args = args->nr;
	return true;
}

static struct ts_bytes impact_text(struct ts_result *result, const struct ts_finding *finding)
{
	char time[TS_UNIT_MAX], share[TS_UNIT_MAX];

	if (finding->impact_ps < 0)
		return TS_LIT("unknown");
	if (isnan(finding->impact_share))
		return ts_result_text(result, "at most %s", ts_fmt_ps(time, finding->impact_ps));
	return ts_result_text(result, "at most %s, %s of core time",
			      ts_fmt_ps(time, finding->impact_ps),
			      ts_fmt_pct(share, finding->impact_share * 100));
}

static void put_finding(struct args *args, struct ts_result *result,
			const struct ts_finding *finding)
{
	put(args, "evidence", finding->evidence);
	put(args, "advice", finding->advice);
	put(args, "impact", impact_text(result, finding));
	put(args, "severity", ts_bytes_of(ts_severity_name(finding->severity)));
	put(args, "confidence", ts_bytes_of(ts_confidence_name(finding->confidence)));
	put(args, "finding", finding->id);
}

static bool label_finding(const struct ts_context *ctx, const struct mark_label *mark,
			  struct ts_result *result, struct ts_label *label)
{
	const struct ts_finding *finding = &ts_doctor_facts(ctx)->findings[mark->at];
	const struct ts_where *where = &finding->where[mark->where];
	struct args args = { .nr = 0 };

	label->name = finding->title;
	put_finding(&args, result, finding);
	put(&args, "op", where->op);
	put(&args, "module", where->module);
	put(&args, "source", where->source);
	return keep(result, &args, label);
}

static void put_bytes(struct args *args, struct ts_result *result, const char *key, int64_t bytes)
{
	char text[TS_UNIT_MAX];

	if (bytes >= 0)
		put(args, key, ts_result_text(result, "%s", ts_fmt_bytes(text, (double)bytes)));
}

static void put_time(struct args *args, struct ts_result *result, const char *key, double ps)
{
	char text[TS_UNIT_MAX];

	if (ps >= 0)
		put(args, key,
		    ts_result_text(result, "%s", ts_fmt_ps(text, (int64_t)fmin(ps, 9e18))));
}

/* "padding 40 % fusion.3": the op's bytes are kept, also those that end a C string. */
static struct ts_bytes padding_name(struct ts_result *result, double pct, struct ts_bytes op)
{
	struct ts_buf buf = TS_BUF_INIT;
	struct ts_bytes name;

	ts_buf_printf(&buf, "padding %.0f %% ", pct);
	ts_buf_put(&buf, op);
	name = ts_arena_copy(&result->owner->arena, ts_buf_bytes(&buf));
	if (buf.failed)
		name.p = NULL;
	ts_buf_release(&buf);
	return name;
}

static bool label_padding(const struct ts_context *ctx, const struct mark_label *mark,
			  struct ts_result *result, struct ts_label *label)
{
	const struct ts_table *table =
		ts_result_find_table(ts_results_find(ctx->results, "padding"), "ops");
	const struct ts_op *op = &ctx->profile->ops[mark->op];
	struct args args = { .nr = 0 };
	char pct[TS_UNIT_MAX];

	label->name = padding_name(result, waste_pct(table, mark->at), op->name);
	if (ts_op_instr(ctx->profile, op)) {
		struct ts_padding padding =
			ts_hlo_padding(&ctx->profile->modules[op->module], op->instr);

		put_bytes(&args, result, "logical bytes", padding.logical_bytes);
		put_bytes(&args, result, "allocated bytes", padding.allocated_bytes);
	}
	if (ts_cell_number(table, mark->at, "waste_flops_pct") > 0)
		put(&args, "FLOPs that are padding",
		    ts_result_text(
			    result, "%s",
			    ts_fmt_pct(pct, ts_cell_number(table, mark->at, "waste_flops_pct"))));
	put_time(&args, result, "time lost", ts_cell_number(table, mark->at, "waste_ps"));
	put(&args, "suggestion", ts_cell_text(table, mark->at, "suggestion"));
	put_time(&args, result, "predicted gain",
		 ts_cell_number(table, mark->at, "predicted_gain_ps"));
	put(&args, "op", op->name);
	put(&args, "module", module_of(ctx->profile, op));
	return label->name.p && keep(result, &args, label);
}

const struct ts_label *ts_marks_labels(const struct ts_context *ctx,
				       const struct mark_labels *labels, enum mark_row row,
				       struct ts_result *result)
{
	struct ts_label *made =
		ts_arena_array(&result->owner->arena, TS_MAX(labels->nr[row], 1), sizeof(*made));

	for (size_t i = 0; made && i < labels->nr[row]; i++) {
		const struct mark_label *mark = &labels->items[row][i];
		bool good = row == MARK_FINDINGS ? label_finding(ctx, mark, result, &made[i])
						 : label_padding(ctx, mark, result, &made[i]);

		if (!good)
			return NULL;
	}
	return made;
}

const struct ts_label *ts_marks_finding_labels(const struct ts_doctor_facts *doctor,
					       struct ts_result *result)
{
	struct ts_label *made = ts_arena_array(&result->owner->arena,
					       TS_MAX(doctor->nr_findings, 1), sizeof(*made));

	for (size_t i = 0; made && i < doctor->nr_findings; i++) {
		struct args args = { .nr = 0 };

		made[i].name = doctor->findings[i].title;
		put_finding(&args, result, &doctor->findings[i]);
		if (!keep(result, &args, &made[i]))
			return NULL;
	}
	return made;
}
