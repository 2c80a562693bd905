/* SPDX-License-Identifier: MIT */
/* The rows of a tree of call paths, and what is cut from it. */
#include "write/flame.h"

#include "base/arena.h"
#include "base/check.h"
#include "base/map.h"
#include "result/schema/flame.def"

const char *const ts_flame_kinds[FLAME_NR_KINDS] = { TS_TABLE_NAME(flame, stacks),
						     TS_TABLE_NAME(flame, modules),
						     TS_TABLE_NAME(flame, scopes) };
const char *const ts_flame_weights[FLAME_NR_WEIGHTS] = { "cpu", "device", "count" };

const char *ts_flame_tree(size_t index)
{
	return index < FLAME_NR_KINDS ? ts_flame_kinds[index] : NULL;
}

const char *ts_flame_weight(size_t index)
{
	return index < FLAME_NR_WEIGHTS ? ts_flame_weights[index] : NULL;
}

static const struct ts_table *table_of(const struct ts_results *results, const char *kind)
{
	const struct ts_result *flame = TS_FIND(results, flame);

	return flame ? ts_result_find_table(flame, kind) : NULL;
}

const char *ts_flame_graph_kind(const struct ts_results *results, const struct ts_report *report,
				struct ts_error *err)
{
	TS_ASSERT(results && report);
	if (report->tree && table_of(results, report->tree))
		return report->tree;
	for (size_t i = 0; !report->tree && i < FLAME_NR_KINDS; i++)
		if (table_of(results, ts_flame_kinds[i]))
			return ts_flame_kinds[i];
	if (report->tree)
		ts_fail(err, TS_USAGE, "the profile has no %s", report->tree);
	else
		ts_fail(err, TS_USAGE, "the profile has no call stacks, modules or scopes");
	return NULL;
}

enum flame_weight ts_flame_graph_weight(const struct flame_graph *tree,
					const struct ts_report *report)
{
	bool is_cpu =
		strcmp(tree->kind, ts_sheet_flame_stacks.name) == 0 && tree->total[FLAME_CPU] > 0;

	TS_ASSERT(tree && report);
	TS_ASSERT(tree->kind || tree->nr == 0);
	for (int i = 0; report->weight && i < FLAME_NR_WEIGHTS; i++)
		if (strcmp(ts_flame_weights[i], report->weight) == 0)
			return i;
	return is_cpu || tree->total[FLAME_GPU] == 0 ? FLAME_CPU : FLAME_GPU;
}

/* --- the rows as frames */

static const char *flame_graph_category_of(struct ts_bytes text)
{
	static const char *const known[] = { "python", "op",	"annotation", "runtime", "kernel",
					     "module", "scope", "group",      "host" };

	for (size_t i = 0; i < TS_NELEM(known); i++)
		if (ts_bytes_is(text, known[i]))
			return known[i];
	return "host";
}

static struct flame_frame flame_graph_frame_of(const struct ts_flame_stacks_row *row)
{
	struct ts_bytes category = ts_value_text(row->category);
	int64_t parent = ts_value_int(row->parent);

	return (struct flame_frame){
		.name = ts_value_text(row->name),
		.parent = parent < 0 ? TS_NONE : (uint32_t)parent,
		.category = flame_graph_category_of(category),
		.self = { [FLAME_CPU] = TS_MAX(ts_value_int(row->cpu_self_ps), 0),
			  [FLAME_GPU] = TS_MAX(ts_value_int(row->device_self_ps), 0),
			  [FLAME_COUNT] = TS_MAX(ts_value_int(row->count), 0) },
	};
}

static enum ts_status flame_graph_read_rows(struct flame_graph *tree, const struct ts_table *table,
					    struct ts_error *err)
{
	if (!ts_grow(&tree->frames, &tree->cap, table->nr_rows + 1, sizeof(*tree->frames)))
		return ts_fail_nomem(err);
	for (size_t i = 0; i < table->nr_rows; i++) {
		struct flame_frame *frame = &tree->frames[i];

		*frame = flame_graph_frame_of(TS_ROW(table, flame_stacks, i));
		TS_ASSERT_HOT(frame->parent == TS_NONE || frame->parent < i); /* parents first */
		frame->depth = frame->parent == TS_NONE ? 0 : tree->frames[frame->parent].depth + 1;
	}
	tree->nr = table->nr_rows;
	return TS_OK;
}

static void flame_graph_sum_up(struct flame_graph *tree)
{
	memset(tree->total, 0, sizeof(tree->total));
	for (size_t i = 0; i < tree->nr; i++)
		memcpy(tree->frames[i].total, tree->frames[i].self, sizeof(tree->total));
	for (size_t i = tree->nr; i-- > 0;) {
		const struct flame_frame *frame = &tree->frames[i];
		int64_t *above =
			frame->parent == TS_NONE ? tree->total : tree->frames[frame->parent].total;

		for (int w = 0; w < FLAME_NR_WEIGHTS; w++)
			above[w] = ts_i64_add(above[w], frame->total[w]);
	}
}

/* --- what is cut */

enum fate { FATE_KEPT, FATE_CUT, FATE_GROUPED };

static enum fate fate_of(const struct flame_frame *frame, const struct ts_report *report)
{
	/* Whatever is below a frame that is too deep or too short is, too. */
	if (report->max_depth > 0 && frame->depth >= report->max_depth)
		return FATE_CUT;
	/* A kernel whose executions are too short, each. */
	if (report->group_small && strcmp(frame->category, "kernel") == 0 &&
	    frame->self[FLAME_GPU] / TS_MAX(frame->self[FLAME_COUNT], 1) < report->min_duration_ps)
		return FATE_GROUPED;
	return TS_MAX(frame->total[FLAME_CPU], frame->total[FLAME_GPU]) < report->min_duration_ps
		       ? FATE_CUT
		       : FATE_KEPT;
}

/*
 * One pass over the rows: a frame that is kept moves down to its new place; one that is not adds its own
 * weights to its parent's, or to the frame that stands for the small ones below that parent. A frame that
 * is new stands where the first of those that it stands for did, so the order stays.
 */
struct cutting {
	struct flame_graph *tree, *from;
	uint32_t *moved;  /* where each row went; TS_NONE: to nowhere, it was a root */
	uint32_t *groups; /* of each row that was kept: its frame for small ones, or TS_NONE */
	uint32_t root_group, root_rest;
};

static uint32_t flame_graph_append(struct flame_graph *tree, struct flame_frame frame,
				   uint32_t parent)
{
	TS_ASSERT_HOT(tree->nr < tree->cap);
	TS_ASSERT_HOT(parent == TS_NONE || parent < tree->nr);
	memset(frame.total, 0, sizeof(frame.total));
	frame.parent = parent;
	frame.depth = parent == TS_NONE ? 0 : tree->frames[parent].depth + 1;
	tree->frames[tree->nr] = frame;
	return (uint32_t)tree->nr++;
}

/* The frame that stands for others below PARENT, made with the first of them. */
static uint32_t stand_in(struct cutting *cutting, uint32_t *place, uint32_t parent,
			 struct flame_frame empty)
{
	if (*place == TS_NONE)
		*place = flame_graph_append(cutting->tree, empty, parent);
	return *place;
}

static void cut_row(struct cutting *cutting, size_t row, enum fate fate)
{
	static const struct flame_frame small = { .category = "kernel" },
					rest = { .category = "group" };
	const struct flame_frame *frame = &cutting->from->frames[row];
	uint32_t above = frame->parent == TS_NONE ? TS_NONE : cutting->moved[frame->parent];
	uint32_t at = above;
	struct flame_frame empty = fate == FATE_GROUPED ? small : rest;
	uint32_t *place = above == TS_NONE ? &cutting->root_group : &cutting->groups[above];

	if (fate == FATE_KEPT) {
		cutting->moved[row] = flame_graph_append(cutting->tree, *frame, above);
		return;
	}
	empty.name = fate == FATE_GROUPED ? TS_LIT("(small kernels)") : TS_LIT("(short)");
	if (fate == FATE_GROUPED)
		at = stand_in(cutting, place, above, empty);
	else if (above == TS_NONE)
		at = stand_in(cutting, &cutting->root_rest, TS_NONE, empty);
	TS_ASSERT_HOT(at < cutting->tree->nr);
	for (int w = 0; w < FLAME_NR_WEIGHTS; w++)
		cutting->tree->frames[at].self[w] =
			ts_i64_add(cutting->tree->frames[at].self[w], frame->self[w]);
	cutting->moved[row] = at;
}

/* Each row gives a frame or adds to one, so none is more than there were rows. */
static enum ts_status flame_graph_cut(struct flame_graph *tree, const struct ts_report *report,
				      struct ts_error *err)
{
	struct flame_graph small = { .kind = tree->kind };
	struct cutting cutting = {
		.tree = &small, .from = tree, .root_group = TS_NONE, .root_rest = TS_NONE
	};
	enum ts_status st = TS_OK;

	cutting.moved = calloc(tree->nr + 1, sizeof(*cutting.moved));
	cutting.groups = malloc((tree->nr + 1) * sizeof(*cutting.groups));
	if (!cutting.moved || !cutting.groups ||
	    !ts_grow(&small.frames, &small.cap, tree->nr + 1, sizeof(*small.frames)))
		st = ts_fail_nomem(err);
	for (size_t i = 0; st == TS_OK && i <= tree->nr; i++)
		cutting.groups[i] = TS_NONE;
	for (size_t i = 0; st == TS_OK && i < tree->nr; i++)
		cut_row(&cutting, i, fate_of(&tree->frames[i], report));
	free(cutting.moved);
	free(cutting.groups);
	ts_flame_graph_release(st == TS_OK ? tree : &small);
	if (st == TS_OK)
		*tree = small;
	return st;
}

enum ts_status ts_flame_graph_read(struct flame_graph *tree, const struct ts_results *results,
				   const char *kind, const struct ts_report *report,
				   struct ts_error *err)
{
	const struct ts_table *table = table_of(results, kind);
	enum ts_status st = TS_OK;

	TS_ASSERT(tree && results && kind && report);
	*tree = (struct flame_graph){ .kind = kind };
	if (table)
		st = flame_graph_read_rows(tree, table, err);
	if (st == TS_OK) {
		flame_graph_sum_up(tree);
		st = flame_graph_cut(tree, report, err);
	}
	if (st == TS_OK) {
		flame_graph_sum_up(tree);
		return TS_OK;
	}
	ts_flame_graph_release(tree);
	return st;
}

void ts_flame_graph_release(struct flame_graph *tree)
{
	TS_ASSERT(tree);
	free(tree->frames);
	tree->frames = NULL;
	tree->nr = tree->cap = 0;
}
