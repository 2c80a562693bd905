/* SPDX-License-Identifier: MIT */
/*
 * Labels of the marks: the ops that findings name, and the ops that carry padding. A click on a slice
 * shows the label's args. Texts come from the profile and are data: outputs escape them.
 */
#include "analysis/draw/marks.h"

#include "base/check.h"
#include "base/units.h"
#include "model/cost.h"
#include "result/view.h"
#include "base/order.h"

#define MAX_PADDED	256 /* ops of the padding row: the costliest */
#define MIN_PADDING_PCT 5.0 /* less is not worth a slice */
#define MAX_ARGS	(TS_FINDING_ARGS + 7)

static enum ts_status marks_labels_add(struct mark_labels *labels, enum mark_row row,
				       struct mark_label label, struct ts_error *err)
{
	if (labels->nr[row] >= MARK_NONE)
		return TS_OK;
	if (!ts_grow(&labels->items[row], &labels->cap[row], labels->nr[row] + 1, sizeof(label)))
		return ts_fail_nomem(err);
	labels->items[row][labels->nr[row]++] = label;
	return TS_OK;
}

/* Has the finding this op already? Its labels are the last ones. */
static bool has_op(const struct mark_labels *labels, uint32_t op, uint32_t at)
{
	const struct mark_label *items = labels->items[MARK_FINDINGS];

	for (size_t i = labels->nr[MARK_FINDINGS]; i-- > 0 && items[i].at == at;)
		if (items[i].op == op)
			return true;
	return false;
}

/* An op that several findings name has a label of each, the larger one first: findings are ordered. */
static enum ts_status list_finding(const struct ts_context *ctx, struct mark_labels *labels,
				   const struct ts_finding *finding, uint32_t at,
				   struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < finding->nr_where && st == TS_OK; i++) {
		uint32_t op = finding->where[i].op_index;

		if (op < ctx->profile->nr_ops && !has_op(labels, op, at))
			st = marks_labels_add(labels, MARK_FINDINGS,
					      (struct mark_label){ op, at, (uint32_t)i }, err);
	}
	return st;
}

static double waste_pct(const struct ts_padded_op *padded)
{
	return 100 * ts_padded_share(padded);
}

TS_ORDER(marks_labels_by_op, struct mark_label, TS_UP(op))

static enum ts_status list_padding(const struct ts_context *ctx, struct mark_labels *labels,
				   struct ts_error *err)
{
	const struct ts_padding_facts *padding = ts_padding_facts(ctx);
	enum ts_status st = TS_OK;

	for (uint32_t i = 0; i < padding->nr && st == TS_OK; i++) {
		const struct ts_padded_op *padded = &padding->items[i];

		if (padded->op == TS_NONE || !(waste_pct(padded) >= MIN_PADDING_PCT))
			continue;
		if (labels->nr[MARK_PADDING] >= MAX_PADDED)
			labels->nr_left_out++;
		else
			st = marks_labels_add(labels, MARK_PADDING,
					      (struct mark_label){ padded->op, i, 0 }, err);
	}
	TS_SORT(labels->items[MARK_PADDING], labels->nr[MARK_PADDING], marks_labels_by_op);
	return st;
}

enum ts_status ts_marks_list(const struct ts_context *ctx, struct mark_labels *labels,
			     struct ts_error *err)
{
	const struct ts_doctor_facts *doctor = ts_doctor_facts(ctx);
	enum ts_status st = TS_OK;

	TS_ASSERT(labels->nr[MARK_FINDINGS] == 0 && labels->nr[MARK_PADDING] == 0);
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

static void marks_labels_put(struct args *args, const char *key, struct ts_value value)
{
	TS_ASSERT(args->nr < MAX_ARGS);
	if (value.type != TS_VALUE_NULL)
		args->items[args->nr++] = (struct ts_arg){ key, value };
}

static bool marks_labels_keep(struct ts_result *result, const struct args *args,
			      struct ts_label *label)
{
	struct ts_arg *copy =
		ts_arena_dup(&result->owner->arena, args->items, args->nr, sizeof(*copy));

	if (!copy)
		return false;
	label->args = copy;
	label->nr_args = args->nr;
	return true;
}

static void marks_labels_put_time(struct args *args, const char *key, int64_t ps)
{
	marks_labels_put(args, key, ps < 0 ? ts_null() : ts_int(ps / TS_PS_PER_NS));
}

/* The finding's sentence is of the run; these are the op's own. */
static void put_own(struct args *args, const struct ts_where *where)
{
	if (where->own_ps <= 0)
		return;
	marks_labels_put_time(args, "op_time_ns", where->own_ps);
	marks_labels_put(args, "op_time_pct", ts_share_pct(where->own_share));
	marks_labels_put(args, "op_mxu_pct", ts_share_pct(where->mxu_share));
	marks_labels_put(args, "op_hbm_pct", ts_share_pct(where->hbm_share));
}

/* "4.8 % of core time, 2.0 % of the matrix units' peak: fusion.3"; the title, where these are not known. The
 * figures come first: a viewer cuts what a slice has no room for, and names of kernels are long. */
static struct ts_bytes own_name(struct ts_result *result, const struct ts_where *where,
				struct ts_bytes title)
{
	struct ts_buf buf = TS_BUF_INIT;
	char share[TS_UNIT_MAX];
	struct ts_bytes name;

	if (where->own_ps <= 0 || where->op.n == 0)
		return title;
	ts_buf_printf(&buf, "%s of core time", ts_fmt_pct(share, 100 * where->own_share));
	if (where->mxu_share > 0)
		ts_buf_printf(&buf, ", %s of the matrix units' peak",
			      ts_fmt_pct(share, 100 * where->mxu_share));
	ts_buf_puts(&buf, ": ");
	ts_buf_put(&buf, where->op);
	name = ts_arena_copy(&result->owner->arena, ts_buf_bytes(&buf));
	if (buf.failed)
		name.p = NULL;
	ts_buf_release(&buf);
	return name;
}

static bool label_finding(const struct ts_context *ctx, const struct mark_label *mark,
			  struct ts_result *result, struct ts_label *label)
{
	const struct ts_finding *finding = &ts_doctor_facts(ctx)->findings[mark->at];
	const struct ts_where *where = &finding->where[mark->where];
	struct args args = { .nr = 0 };

	label->name = own_name(result, where, finding->title);
	args.nr = ts_finding_args(finding, (size_t)mark->at + 1, args.items);
	marks_labels_put(&args, "op", ts_text_or_null(where->op));
	marks_labels_put(&args, "module", ts_text_or_null(where->module));
	marks_labels_put(&args, "source", ts_text_or_null(where->source));
	put_own(&args, where);
	return label->name.p && marks_labels_keep(result, &args, label);
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
	const struct ts_padded_op *padded = &ts_padding_facts(ctx)->items[mark->at];
	const struct ts_op *op = &ctx->profile->ops[mark->op];
	struct args args = { .nr = 0 };

	label->name = padding_name(result, waste_pct(padded), op->name);
	if (ts_op_instr(ctx->profile, op)) {
		struct ts_padding padding =
			ts_hlo_padding(&ctx->profile->modules[op->module], op->instr);

		marks_labels_put(&args, "logical_bytes", ts_int_or_null(padding.logical_bytes));
		marks_labels_put(&args, "allocated_bytes", ts_int_or_null(padding.allocated_bytes));
	}
	if (padded->flops_share > 0)
		marks_labels_put(&args, "padded_flops_pct", ts_share_pct(padded->flops_share));
	marks_labels_put_time(&args, "time_lost_ns", padded->waste_ps);
	marks_labels_put(&args, "suggestion", ts_text_or_null(padded->best.text));
	marks_labels_put_time(&args, "gain_ns", padded->best.gain_ps);
	marks_labels_put(&args, "op", ts_text_or_null(op->name));
	marks_labels_put(&args, "module",
			 ts_text_or_null(op->module < ctx->profile->nr_modules
						 ? ctx->profile->modules[op->module].name
						 : (struct ts_bytes){ NULL, 0 }));
	return label->name.p && marks_labels_keep(result, &args, label);
}

const struct ts_label *ts_marks_labels(const struct ts_context *ctx,
				       const struct mark_labels *labels, enum mark_row row,
				       struct ts_result *result)
{
	struct ts_label *made =
		ts_arena_array(&result->owner->arena, TS_MAX(labels->nr[row], 1), sizeof(*made));

	TS_ASSERT(row < NR_MARK_ROWS);
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
		args.nr = ts_finding_args(&doctor->findings[i], i + 1, args.items);
		if (!marks_labels_keep(result, &args, &made[i]))
			return NULL;
	}
	return made;
}
