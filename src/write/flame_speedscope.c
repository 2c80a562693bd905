/* SPDX-License-Identifier: MIT */
/*
 * speedscope's own format (https://www.speedscope.app/file-format-schema.json): a profile of type
 * `sampled` a tree and weight, a sample a path with time of its own. Its times may have fractions.
 */
#include "write/flame.h"

#include "base/map.h"
#include "codec/json.h"

struct scope { /* what a file is written from */
	struct ts_json json;
	struct flame_graph trees[FLAME_NR_KINDS];
	size_t nr_trees;
	struct ts_strmap frames; /* name -> index, over all trees */
	size_t nr_frames;
	uint32_t *path; /* of the frame at hand */
};

static enum ts_status put_frame_names(struct scope *scope, const struct flame_graph *tree,
				      struct ts_error *err)
{
	for (size_t i = 0; i < tree->nr; i++) {
		struct ts_bytes name = tree->frames[i].name;

		if (ts_strmap_find(&scope->frames, name) != TS_NONE)
			continue;
		if (!ts_strmap_set(&scope->frames, name, (uint32_t)scope->nr_frames))
			return ts_fail_nomem(err);
		scope->nr_frames++;
		ts_json_object(&scope->json);
		ts_json_put_string(&scope->json, "name", name);
		ts_json_object_end(&scope->json);
	}
	return TS_OK;
}

static void flame_speedscope_put_sample(struct scope *scope, const struct flame_graph *tree,
					uint32_t at)
{
	size_t depth = tree->frames[at].depth + 1;

	for (size_t i = depth; i-- > 0; at = tree->frames[at].parent)
		scope->path[i] = ts_strmap_find(&scope->frames, tree->frames[at].name);
	ts_json_array(&scope->json);
	for (size_t i = 0; i < depth; i++)
		ts_json_i64(&scope->json, scope->path[i]);
	ts_json_array_end(&scope->json);
}

static void flame_speedscope_put_value(struct scope *scope, enum flame_weight weight, int64_t value)
{
	if (weight == FLAME_COUNT)
		ts_json_i64(&scope->json, value);
	else
		ts_json_double(&scope->json, (double)value / 1000); /* ns */
}

static void put_profile(struct scope *scope, const struct flame_graph *tree,
			enum flame_weight weight)
{
	static const char *const names[FLAME_NR_WEIGHTS] = { "CPU time", "device time", "calls" };
	struct ts_json *json = &scope->json;
	struct ts_buf name = TS_BUF_INIT;

	ts_buf_printf(&name, "%s: %s", tree->kind, names[weight]);
	json->out->failed |= name.failed;
	ts_json_object(json);
	ts_json_put_text(json, "type", "sampled");
	ts_json_put_string(json, "name", ts_buf_bytes(&name));
	ts_json_put_text(json, "unit", weight == FLAME_COUNT ? "none" : "nanoseconds");
	ts_json_put_i64(json, "startValue", 0);
	ts_json_key(json, "endValue");
	flame_speedscope_put_value(scope, weight, tree->total[weight]);
	ts_json_key(json, "samples");
	ts_json_array(json);
	for (uint32_t i = 0; i < tree->nr; i++)
		if (tree->frames[i].self[weight] > 0)
			flame_speedscope_put_sample(scope, tree, i);
	ts_json_array_end(json);
	ts_json_key(json, "weights");
	ts_json_array(json);
	for (size_t i = 0; i < tree->nr; i++)
		if (tree->frames[i].self[weight] > 0)
			flame_speedscope_put_value(scope, weight, tree->frames[i].self[weight]);
	ts_json_array_end(json);
	ts_json_object_end(json);
	ts_buf_release(&name);
}

/* The weight that is wanted, or both times. */
static bool wants_weight(const struct flame_graph *tree, enum flame_weight weight,
			 const struct ts_report *report)
{
	if (report->weight)
		return strcmp(report->weight, ts_flame_weights[weight]) == 0;
	return weight != FLAME_COUNT && tree->total[weight] > 0;
}

static enum ts_status flame_speedscope_put_all(struct scope *scope, const struct ts_report *report,
					       struct ts_error *err)
{
	struct ts_json *json = &scope->json;
	enum ts_status st = TS_OK;

	ts_json_object(json);
	ts_json_put_text(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	ts_json_put_text(json, "exporter", report->generator);
	ts_json_put_text(json, "name", "flame graph");
	ts_json_put_i64(json, "activeProfileIndex", 0);
	ts_json_key(json, "shared");
	ts_json_object(json);
	ts_json_key(json, "frames");
	ts_json_array(json);
	for (size_t i = 0; i < scope->nr_trees && st == TS_OK; i++)
		st = put_frame_names(scope, &scope->trees[i], err);
	if (st)
		return st;
	ts_json_array_end(json);
	ts_json_object_end(json);
	ts_json_key(json, "profiles");
	ts_json_array(json);
	for (size_t i = 0; i < scope->nr_trees; i++)
		for (int w = 0; w < FLAME_NR_WEIGHTS; w++)
			if (wants_weight(&scope->trees[i], w, report))
				put_profile(scope, &scope->trees[i], w);
	ts_json_array_end(json);
	ts_json_object_end(json);
	ts_buf_putc(json->out, '\n');
	return TS_OK;
}

/* The tree that is wanted, or all there are; room for the longest path of any. */
static enum ts_status read_trees(struct scope *scope, const struct ts_results *results,
				 const struct ts_report *report, struct ts_error *err)
{
	size_t longest = 0;

	for (size_t i = 0; i < FLAME_NR_KINDS; i++) {
		struct flame_graph *tree = &scope->trees[scope->nr_trees];
		enum ts_status st;

		if (report->tree && strcmp(report->tree, ts_flame_kinds[i]) != 0)
			continue;
		st = ts_flame_graph_read(tree, results, ts_flame_kinds[i], report, err);
		if (st)
			return st;
		scope->nr_trees++;
		longest = TS_MAX(longest, tree->nr);
	}
	scope->path = calloc(longest + 1, sizeof(*scope->path));
	return scope->path ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status flame_speedscope_emit(struct ts_buf *out, const struct ts_results *results,
					    const struct ts_report *report, struct ts_error *err)
{
	struct scope scope = { .json = ts_json_of(out, TS_JSON_COMPACT) };
	enum ts_status st = TS_OK;

	if (!ts_flame_graph_kind(results, report, err))
		return TS_USAGE;
	st = read_trees(&scope, results, report, err);
	if (st == TS_OK)
		st = flame_speedscope_put_all(&scope, report, err);
	for (size_t i = 0; i < scope.nr_trees; i++)
		ts_flame_graph_release(&scope.trees[i]);
	free(scope.path);
	ts_strmap_release(&scope.frames);
	return st == TS_OK && out->failed ? ts_fail_nomem(err) : st;
}

const struct ts_output ts_output_flame_speedscope = {
	.name = "speedscope",
	.extension = "speedscope.json",
	.emit = flame_speedscope_emit,
};
