/* SPDX-License-Identifier: MIT */
/* Trees of call paths -> tables: a row a path, parents before their children, the heaviest
 * first. */
#include "analysis/gpu/flame.h"

#include "base/units.h"
#include "model/trace_class.h"
#include "base/order.h"
#include "result/schema/flame.def"

#define MAX_HOTTEST 20 /* of one weight */
#define PATH_FRAMES 2  /* of a path, from its end */
#define MODULE	    "nn.Module: "

static const struct ts_sheet *const sheets[FLAME_NR_KINDS] = {
	[FLAME_STACKS] = &ts_sheet_flame_stacks,
	[FLAME_MODULES] = &ts_sheet_flame_modules,
	[FLAME_SCOPES] = &ts_sheet_flame_scopes,
};

struct tree {
	const struct ts_context *ctx;
	enum flame_kind kind;
	const struct flame_tree *paths;
	const struct ts_bytes *texts; /* of names; NULL: names are ops */
	struct flame_totals *totals;
};

static struct ts_bytes flame_report_text_of(const struct tree *tree, uint32_t name)
{
	struct ts_bytes text;

	switch (name) {
	case FLAME_OTHERS:   return TS_LIT("(others)");
	case FLAME_OUTSIDE:  return TS_LIT("(outside modules)");
	case FLAME_LOST:     return TS_LIT("(no launch in the trace)");
	case FLAME_BACKWARD: return TS_LIT("(backward)");
	case FLAME_STEP:     return TS_LIT("ProfilerStep#*");
	default:	     break;
	}
	name &= ~FLAME_DEVICE;
	if (tree->texts)
		return tree->texts[name];
	text = tree->ctx->profile->ops[name].name;
	if (tree->kind == FLAME_MODULES && ts_bytes_starts(text, MODULE))
		return ts_bytes_cut(text, strlen(MODULE), text.n);
	return text;
}

static struct ts_bytes flame_report_shown(const struct tree *tree, struct ts_result *result,
					  uint32_t node)
{
	return ts_flame_name(result, flame_report_text_of(tree, tree->paths->nodes[node].name));
}

/* What a frame is, for colours and filters. */
static const char *flame_report_category_of(const struct tree *tree, uint32_t name)
{
	static const struct {
		enum ts_opcode category;
		const char *is;
	} rows[] = {
		{ TS_KINETO_PYTHON_FUNCTION, "python" },
		{ TS_KINETO_CPU_OP, "op" },
		{ TS_KINETO_FIRST_OPERATOR, "op" },
		{ TS_KINETO_USER_ANNOTATION, "annotation" },
	};
	const struct ts_op *op;

	if (name & FLAME_DEVICE)
		return "kernel";
	if (name >= FLAME_BACKWARD)
		return name == FLAME_STEP ? "annotation" : "group";
	if (tree->texts)
		return "scope";
	op = &tree->ctx->profile->ops[name];
	if (ts_bytes_starts(op->name, MODULE))
		return "module";
	for (size_t i = 0; i < TS_NELEM(rows); i++)
		if (op->category_id == rows[i].category)
			return rows[i].is;
	if (ts_trace_class_of_category(op->category_id) == TS_TRACE_RUNTIME)
		return "runtime";
	return op->name.n && op->name.p[0] == '$' ? "python" : "host";
}

/* --- order: children of one parent, the heaviest first */

struct ordered {
	double share;
	struct ts_bytes name;
	uint32_t parent, node;
};

static uint32_t roots_first(uint32_t parent)
{
	return parent + 1;
}

TS_ORDER(by_weight, struct ordered,
	 TS_UP_OF(roots_first, parent) TS_DOWN(share) TS_UP(name) TS_UP(node))

static struct ordered *sorted_nodes(const struct tree *tree)
{
	const struct flame_tree *paths = tree->paths;
	struct ordered *nodes = calloc(paths->nr + 1, sizeof(*nodes));

	for (size_t i = 0; nodes && i < paths->nr; i++)
		nodes[i] = (struct ordered){ ts_flame_share(&tree->totals[i],
							    &tree->totals[paths->nr]),
					     flame_report_text_of(tree, paths->nodes[i].name),
					     paths->nodes[i].parent, (uint32_t)i };
	if (nodes)
		TS_SORT(nodes, paths->nr, by_weight);
	return nodes;
}

/* --- the rows */

/* The parent of a root is null, of another node the parent's row. */
#define PATH_CELLS(X) \
	X(name, ts_text(flame_report_shown(tree, result, at))) \
	X(parent, node->parent == TS_NONE ? ts_null() : ts_int(row_of[node->parent])) \
	X(category, ts_text(ts_bytes_of(flame_report_category_of(tree, node->name)))) \
	X(count, count_of(node->count)) \
	X(cpu_self_ps, ts_int(node->cpu_ps)) \
	X(cpu_total_ps, ts_int(tree->totals[at].cpu_ps)) \
	X(device_self_ps, ts_int(node->device_ps)) \
	X(device_total_ps, ts_int(tree->totals[at].device_ps))

static struct ts_value count_of(uint64_t count)
{
	return ts_int((int64_t)TS_MIN(count, (uint64_t)INT64_MAX));
}

static void flame_report_put_row(const struct tree *tree, struct ts_result *result,
				 struct ts_table *table, uint32_t at, uint32_t *row_of)
{
	const struct flame_node *node = &tree->paths->nodes[at];

	row_of[at] = (uint32_t)table->nr_rows;
	TS_CELLS(result, table, flame_stacks, PATH_CELLS);
}

/* Depth first, without recursion: OPEN holds sorted places whose row is to come. */
static void flame_report_put_rows(const struct tree *tree, struct ts_result *result,
				  struct ts_table *table, const struct ordered *sorted,
				  uint32_t *scratch)
{
	size_t nr = tree->paths->nr, nr_open = 0;
	uint32_t *first = scratch, *row_of = first + nr + 2, *open = row_of + nr;

	/* Where the children of each node begin among the sorted ones: of the roots at [0], of node
	 * i at [i + 1]. */
	for (size_t i = 0; i <= nr + 1; i++)
		first[i] = TS_NONE;
	for (size_t i = nr; i-- > 0;)
		first[sorted[i].parent + 1] = (uint32_t)i;
	if (first[0] != TS_NONE)
		open[nr_open++] = first[0];
	while (nr_open > 0) {
		uint32_t place = open[--nr_open], node = sorted[place].node;

		flame_report_put_row(tree, result, table, node, row_of);
		if (place + 1 < nr && sorted[place + 1].parent == sorted[place].parent)
			open[nr_open++] = place + 1;
		if (first[node + 1] != TS_NONE)
			open[nr_open++] = first[node + 1];
	}
}

static enum ts_status flame_report_put_tree(const struct tree *tree, struct ts_result *result,
					    struct ts_error *err)
{
	struct ts_table *table = ts_result_sheet(result, sheets[tree->kind]);
	struct ordered *sorted = sorted_nodes(tree);
	uint32_t *scratch = calloc(3 * tree->paths->nr + 4, sizeof(*scratch));
	enum ts_status st = sorted && scratch ? TS_OK : ts_fail_nomem(err);

	if (st == TS_OK)
		flame_report_put_rows(tree, result, table, sorted, scratch);
	free(sorted);
	free(scratch);
	return st;
}

/* --- the heaviest */

struct weight {
	const char *name;
	int64_t (*self)(const struct flame_node *node);
	int64_t (*total)(const struct flame_totals *totals);
};

static int64_t device_self(const struct flame_node *node)
{
	return node->device_ps;
}
static int64_t device_total(const struct flame_totals *totals)
{
	return totals->device_ps;
}
static int64_t cpu_self(const struct flame_node *node)
{
	return node->cpu_ps;
}
static int64_t cpu_total(const struct flame_totals *totals)
{
	return totals->cpu_ps;
}
static const struct weight weights[] = {
	{ "device", device_self, device_total },
	{ "cpu", cpu_self, cpu_total },
};

/* Paths that end in the same frames: one call in all layers of a model, for instance. */
struct group {
	int64_t self_ps;
	uint64_t count;
	uint32_t node; /* the first of them */
};

static uint64_t end_of_path(const struct flame_tree *paths, uint32_t node)
{
	uint32_t names[PATH_FRAMES] = { 0 };

	for (size_t i = 0; i < PATH_FRAMES && node != TS_NONE; i++) {
		names[i] = paths->nodes[node].name + 1;
		node = paths->nodes[node].parent;
	}
	return ts_hash((struct ts_bytes){ (const uint8_t *)names, sizeof(names) }, 0);
}

static enum ts_status flame_report_add_to_group(struct group *groups, size_t *nr,
						struct ts_map *by_end, uint64_t end,
						struct group add, struct ts_error *err)
{
	uint32_t at = ts_map_find(by_end, end);

	if (at == TS_NONE) {
		at = (uint32_t)(*nr)++;
		groups[at] = (struct group){ .node = add.node };
		if (!ts_map_set(by_end, end, at))
			return ts_fail_nomem(err);
	}
	groups[at].self_ps = ts_i64_add(groups[at].self_ps, add.self_ps);
	groups[at].count = ts_u64_add(groups[at].count, add.count);
	return TS_OK;
}

TS_ORDER(flame_report_by_self, struct group, TS_DOWN(self_ps) TS_UP(node))

/* The heaviest first; the caller frees them, also where it failed. */
static enum ts_status flame_report_find_groups(const struct flame_tree *paths,
					       const struct weight *weight, struct group **into,
					       size_t *nr, struct ts_error *err)
{
	struct group *groups = calloc(paths->nr + 1, sizeof(*groups));
	struct ts_map by_end = { NULL, 0, 0 };
	enum ts_status st = groups ? TS_OK : ts_fail_nomem(err);

	*into = groups;
	*nr = 0;
	for (uint32_t i = 0; st == TS_OK && i < paths->nr; i++) {
		const struct flame_node *node = &paths->nodes[i];
		struct group add = { weight->self(node), node->count, i };

		if (add.self_ps > 0 && node->name != FLAME_OTHERS)
			st = flame_report_add_to_group(groups, nr, &by_end, end_of_path(paths, i),
						       add, err);
	}
	ts_map_release(&by_end);
	if (st == TS_OK)
		TS_SORT(groups, *nr, flame_report_by_self);
	return st;
}

static struct ts_value caller(const struct tree *tree, struct ts_result *result, uint32_t node)
{
	uint32_t parent = tree->paths->nodes[node].parent;

	return parent == TS_NONE ? ts_null() : ts_text(flame_report_shown(tree, result, parent));
}

#define HOTTEST_CELLS(X) \
	X(weight, ts_text(ts_bytes_of(weight->name))) \
	X(self_ps, ts_int(group->self_ps)) \
	X(share_pct, ts_share_pct((double)group->self_ps / whole)) \
	X(count, count_of(group->count)) \
	X(name, ts_text(flame_report_shown(tree, result, group->node))) \
	X(caller, caller(tree, result, group->node))

static enum ts_status put_hottest_of(const struct tree *tree, const struct weight *weight,
				     struct ts_result *result, struct ts_table *table,
				     struct ts_error *err)
{
	double whole = (double)TS_MAX(weight->total(&tree->totals[tree->paths->nr]), 1);
	struct group *groups;
	size_t nr;
	enum ts_status st = flame_report_find_groups(tree->paths, weight, &groups, &nr, err);

	for (size_t i = 0; st == TS_OK && i < TS_MIN(nr, MAX_HOTTEST); i++) {
		const struct group *group = &groups[i];

		TS_CELLS(result, table, flame_hottest, HOTTEST_CELLS);
	}
	free(groups);
	return st;
}

/* The first tree with time of this weight; NULL: no tree has any. */
static const struct tree *tree_with(const struct tree *trees, const struct weight *weight)
{
	for (size_t i = 0; i < FLAME_NR_KINDS; i++)
		if (weight->total(&trees[i].totals[trees[i].paths->nr]) > 0)
			return &trees[i];
	return NULL;
}

/* With scopes alone it would show people the same as the op table. */
static enum ts_status put_hottest(const struct tree *trees, struct ts_result *result,
				  struct ts_error *err)
{
	const char *title = trees[FLAME_STACKS].paths->nr > 0 ? "Heaviest paths" : NULL;
	struct ts_table *table = TS_TITLED_TABLE(result, flame_hottest, title);
	enum ts_status st = TS_OK;

	for (size_t i = 0; st == TS_OK && i < TS_NELEM(weights); i++) {
		const struct tree *tree = tree_with(trees, &weights[i]);

		if (tree)
			st = put_hottest_of(tree, &weights[i], result, table, err);
	}
	return st;
}

/* --- all of it */

static struct ts_value total_of(const struct tree *trees, const struct weight *weight)
{
	const struct tree *tree = tree_with(trees, weight);

	return tree ? ts_int(weight->total(&tree->totals[tree->paths->nr])) : ts_null();
}

static void flame_report_put_totals(struct ts_result *result, const struct tree *trees,
				    const struct flame_seen *seen)
{
	struct ts_value device = total_of(trees, &weights[0]), cpu = total_of(trees, &weights[1]);
	bool for_people = trees[FLAME_STACKS].paths->nr > 0;

	TS_SET(result, flame, cpu_time_ps, cpu)->label = for_people ? "CPU time of threads" : NULL;
	TS_SET(result, flame, cpu_time_ms, ts_real(ts_value_number(cpu) / (double)TS_PS_PER_MS));
	TS_SET(result, flame, device_time_ps, device)->label = for_people ? "device time" : NULL;
	TS_SET(result, flame, cuda_time_ms,
	       ts_real(ts_value_number(device) / (double)TS_PS_PER_MS));
	TS_SET(result, flame, thread_count,
	       for_people ? ts_int((int64_t)seen->nr_threads) : ts_null());
}

static void flame_report_put_notes(struct ts_result *result, const struct tree *trees,
				   const struct flame_seen *seen)
{
	if (trees[FLAME_STACKS].paths->nr > 0 && seen->nr_lost > 0)
		ts_result_note(result,
			       "the launches of %llu kernels are not in the trace: their time "
			       "stands under (no launch in the trace)",
			       (unsigned long long)seen->nr_lost);
	if (trees[FLAME_MODULES].paths->nr > 0 && !seen->has_modules)
		ts_result_note(result,
			       "modules are the ranges of record_function: the trace names no "
			       "nn.Module (profile with with_stack=True and with_modules=True)");
	for (size_t i = 0; i < FLAME_NR_KINDS; i++)
		if (trees[i].paths->nr_folded > 0)
			ts_result_note(
				result, "%s: the %llu lightest paths are in (others), one a parent",
				sheets[i]->name, (unsigned long long)trees[i].paths->nr_folded);
}

static enum ts_status put_trees(struct tree *trees, const struct flame_seen *seen,
				struct ts_result *result, struct ts_error *err)
{
	bool any = false;
	enum ts_status st;

	for (size_t i = 0; i < FLAME_NR_KINDS; i++)
		any |= trees[i].paths->nr > 0;
	if (!any)
		return TS_OK;
	flame_report_put_totals(result, trees, seen);
	st = put_hottest(trees, result, err);
	for (size_t i = 0; i < FLAME_NR_KINDS && st == TS_OK; i++)
		if (trees[i].paths->nr > 0)
			st = flame_report_put_tree(&trees[i], result, err);
	flame_report_put_notes(result, trees, seen);
	return st;
}

/* Half of the rows are for paths, as some paths get an (others) beside them. */
static enum ts_status flame_report_prepare(struct tree *tree, struct flame_tree *paths,
					   struct ts_error *err)
{
	uint32_t *moved = NULL;
	enum ts_status st =
		paths->nr <= tree->ctx->tree_rows
			? TS_OK
			: ts_flame_tree_shrink(paths, tree->ctx->tree_rows / 2, &moved, err);

	free(moved);
	tree->paths = paths;
	if (st)
		return st;
	tree->totals = ts_flame_tree_totals(paths);
	return tree->totals ? TS_OK : ts_fail_nomem(err);
}

enum ts_status ts_flame_report(const struct ts_context *ctx,
			       struct flame_tree paths[FLAME_NR_KINDS],
			       const struct ts_bytes *scopes, const struct flame_seen *seen,
			       struct ts_result *result, struct ts_error *err)
{
	struct tree trees[FLAME_NR_KINDS];
	enum ts_status st = TS_OK;

	for (int i = 0; i < FLAME_NR_KINDS; i++) {
		trees[i] = (struct tree){ .ctx = ctx, .kind = i };
		trees[i].texts = i == FLAME_SCOPES ? scopes : NULL;
		if (!st)
			st = flame_report_prepare(&trees[i], &paths[i], err);
	}
	if (!st)
		st = put_trees(trees, seen, result, err);
	for (size_t i = 0; i < FLAME_NR_KINDS; i++)
		free(trees[i].totals);
	return st;
}
