/* SPDX-License-Identifier: MIT */
/*
 * A flame graph for the console: what the result says of itself with the heaviest paths, then the tree
 * from the top, of each frame its share, cut where it is too light for a line. A frame with one child
 * that has nearly all of its time is followed without going deeper to the right.
 */
#include "write/flame.h"

#include "base/map.h"
#include "base/units.h"
#include "codec/term.h"
#include "base/order.h"

#define WIDTH	      100
#define MAX_LINES     60
#define MAX_INDENT    30
#define TOTAL_WIDTH   9
#define SHARE_WIDTH   8
#define SELF_WIDTH    9
#define NUMBERS_WIDTH (TOTAL_WIDTH + 1 + SHARE_WIDTH + 1 + SELF_WIDTH + 2)

/* The total that a frame needs for a line: the smallest one with which all of them are few. */
static int flame_text_by_total(const void *a, const void *b)
{
	return ts_i64_order(b, a);
}

static enum ts_status find_least(const struct flame_graph *tree, enum flame_weight weight,
				 int64_t *least, struct ts_error *err)
{
	int64_t *totals = calloc(tree->nr + 1, sizeof(*totals));

	if (!totals)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < tree->nr; i++)
		totals[i] = tree->frames[i].total[weight];
	if (tree->nr > 0)
		qsort(totals, tree->nr, sizeof(*totals), flame_text_by_total);
	*least = tree->nr > MAX_LINES ? totals[MAX_LINES] + 1 : 1;
	free(totals);
	return TS_OK;
}

static const char *amount(char text[TS_UNIT_MAX], enum flame_weight weight, int64_t value)
{
	return weight == FLAME_COUNT ? ts_fmt_count(text, (double)value) : ts_fmt_ps(text, value);
}

static void flame_text_put_numbers(struct ts_buf *out, const char *total, const char *share,
				   const char *self)
{
	ts_term_cell(out, ts_bytes_of(total), TOTAL_WIDTH, TS_TERM_RIGHT);
	ts_buf_putc(out, ' ');
	ts_term_cell(out, ts_bytes_of(share), SHARE_WIDTH, TS_TERM_RIGHT);
	ts_buf_putc(out, ' ');
	ts_term_cell(out, ts_bytes_of(self), SELF_WIDTH, TS_TERM_RIGHT);
	ts_buf_puts(out, "  ");
}

static void flame_text_put_line(struct ts_buf *out, const struct flame_graph *tree,
				enum flame_weight weight, const struct flame_frame *frame,
				size_t width)
{
	char total[TS_UNIT_MAX], share[TS_UNIT_MAX], self[TS_UNIT_MAX];
	size_t indent = TS_MIN(frame->depth, MAX_INDENT);

	flame_text_put_numbers(out, amount(total, weight, frame->total[weight]),
			       ts_fmt_pct(share, 100 * (double)frame->total[weight] /
							 (double)TS_MAX(tree->total[weight], 1)),
			       frame->self[weight] > 0 ? amount(self, weight, frame->self[weight])
						       : "");
	ts_buf_pad(out, ' ', indent);
	ts_term_cut(out, frame->name, width - NUMBERS_WIDTH - indent);
	ts_buf_putc(out, '\n');
}

static void flame_text_put_tree(struct ts_buf *out, const struct flame_graph *tree,
				enum flame_weight weight, int64_t least, size_t width)
{
	size_t nr_left = 0;

	ts_buf_printf(out, "\nCall tree (%s, by %s)\n", tree->kind, ts_flame_weights[weight]);
	flame_text_put_numbers(out, "total", "share", "self");
	ts_buf_puts(out, "frame\n");
	for (size_t i = 0; i < tree->nr; i++)
		if (tree->frames[i].total[weight] >= least)
			flame_text_put_line(out, tree, weight, &tree->frames[i], width);
		else
			nr_left += tree->frames[i].total[weight] > 0;
	if (nr_left > 0)
		ts_buf_printf(out,
			      "  ... and %zu lighter frames (--format html, folded or "
			      "speedscope has them)\n",
			      nr_left);
}

static enum ts_status flame_text_emit(struct ts_buf *out, const struct ts_results *results,
				      const struct ts_report *report, struct ts_error *err)
{
	struct ts_report form = *report;
	const char *kind = ts_flame_graph_kind(results, report, err);
	struct flame_graph tree;
	enum flame_weight weight;
	int64_t least = 1;
	enum ts_status st;

	if (!kind)
		return TS_USAGE;
	form.view = "flame";
	form.width = report->width >= WIDTH ? report->width : WIDTH;
	st = ts_output_find("text")->emit(out, results, &form, err);
	if (st)
		return st;
	st = ts_flame_graph_read(&tree, results, kind, report, err);
	weight = ts_flame_graph_weight(&tree, report);
	if (st == TS_OK)
		st = find_least(&tree, weight, &least, err);
	if (st == TS_OK)
		flame_text_put_tree(out, &tree, weight, least, form.width);
	ts_flame_graph_release(&tree);
	return st == TS_OK && out->failed ? ts_fail_nomem(err) : st;
}

const struct ts_output ts_output_flame_text = {
	.name = "text",
	.extension = "txt",
	.emit = flame_text_emit,
};
