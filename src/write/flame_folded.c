/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks: a line a path, its frames parted by ';' and a number behind it, as flamegraph.pl,
 * inferno and speedscope read them (github.com/brendangregg/FlameGraph). The format cannot quote: a ';'
 * in a name becomes ':', a line end a space, and what would steer a terminal U+FFFD.
 *
 * Numbers are whole nanoseconds, as not all readers take fractions; what rounding leaves over goes to
 * the next line, so the sum is right to the nanosecond.
 */
#include "write/flame.h"

#include "base/map.h"
#include "base/units.h"
#include "codec/term.h"

static void flame_folded_put_name(struct ts_buf *out, struct ts_bytes name)
{
	if (name.n == 0)
		ts_buf_puts(out, "(no name)");
	while (name.n > 0) {
		size_t n = ts_bytes_find(name, ";");

		ts_term_text(out, ts_bytes_cut(name, 0, n));
		ts_buf_puts(out, n < name.n ? ":" : "");
		name = ts_bytes_cut(name, n + 1, name.n);
	}
}

/* The frames' texts so far, with the length of each depth: a path is its parent's and a name. */
struct paths {
	struct ts_buf text;
	size_t *ends; /* of the text, by depth */
};

static void flame_folded_put_lines(struct ts_buf *out, const struct flame_graph *tree,
				   enum flame_weight weight, struct paths *paths)
{
	int64_t unit = weight == FLAME_COUNT ? 1 : TS_PS_PER_NS, rest = 0;

	for (size_t i = 0; i < tree->nr; i++) {
		const struct flame_frame *frame = &tree->frames[i];
		int64_t self = frame->self[weight], value;

		paths->text.n = frame->depth ? paths->ends[frame->depth - 1] : 0;
		if (frame->depth)
			ts_buf_putc(&paths->text, ';');
		flame_folded_put_name(&paths->text, frame->name);
		paths->ends[frame->depth] = paths->text.n;
		if (self == 0)
			continue;
		value = ts_i64_add(self, rest) / unit;
		rest = ts_i64_add(self, rest) % unit;
		if (value == 0)
			continue;
		ts_buf_put(out, ts_buf_bytes(&paths->text));
		ts_buf_printf(out, " %lld\n", (long long)value);
	}
}

/* No line at all would be taken for a program that did nothing. */
static enum ts_status flame_folded_put_all(struct ts_buf *out, const struct flame_graph *tree,
					   enum flame_weight weight, struct paths *paths,
					   struct ts_error *err)
{
	size_t before = out->n;

	flame_folded_put_lines(out, tree, weight, paths);
	if (out->n > before || out->failed || paths->text.failed)
		return TS_OK;
	return ts_fail(err, TS_NOTFOUND,
		       "no frame of the %s has a %s of its own, so there are no folded stacks "
		       "(another --kind or --weight has)",
		       tree->kind, weight == FLAME_COUNT ? "count" : "nanosecond");
}

static enum ts_status flame_folded_emit(struct ts_buf *out, const struct ts_results *results,
					const struct ts_report *report, struct ts_error *err)
{
	const char *kind = ts_flame_graph_kind(results, report, err);
	struct paths paths = { TS_BUF_INIT, NULL };
	struct flame_graph tree;
	enum ts_status st;

	if (!kind)
		return TS_USAGE;
	st = ts_flame_graph_read(&tree, results, kind, report, err);
	paths.ends = calloc(tree.nr + 1, sizeof(*paths.ends));
	if (st == TS_OK && !paths.ends)
		st = ts_fail_nomem(err);
	if (st == TS_OK)
		st = flame_folded_put_all(out, &tree, ts_flame_graph_weight(&tree, report), &paths,
					  err);
	if (st == TS_OK && (out->failed || paths.text.failed))
		st = ts_fail_nomem(err);
	free(paths.ends);
	ts_buf_release(&paths.text);
	ts_flame_graph_release(&tree);
	return st;
}

const struct ts_output ts_output_flame_folded = {
	.name = "folded",
	.extension = "folded",
	.emit = flame_folded_emit,
};
