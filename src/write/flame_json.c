/* SPDX-License-Identifier: MIT */
/* Nested: name, value and children, as d3-flame-graph and its like read them. */
#include "write/flame.h"

#include "base/map.h"
#include "write/json_head.h"
#include "result/schema/flame.def"

/* Opens the frame's object and its children's array. */
static void open_frame(struct ts_json *json, const struct flame_frame *frame,
		       enum flame_weight weight)
{
	ts_json_object(json);
	ts_json_put_string(json, "name", frame->name);
	ts_json_put_i64(json, "value", frame->total[weight]);
	ts_json_put_i64(json, "self", frame->self[weight]);
	ts_json_put_text(json, "category", frame->category);
	ts_json_put_i64(json, "count", frame->self[FLAME_COUNT]);
	ts_json_put_i64(json, "cpu_ps", frame->total[FLAME_CPU]);
	ts_json_put_i64(json, "device_ps", frame->total[FLAME_GPU]);
	ts_json_key(json, "children");
	ts_json_array(json);
}

static void close_frames(struct ts_json *json, size_t nr)
{
	while (nr-- > 0) {
		ts_json_array_end(json);
		ts_json_object_end(json);
	}
}

static void flame_json_put_frames(struct ts_json *json, const struct flame_graph *tree,
				  enum flame_weight weight)
{
	size_t depth = 0; /* objects that are open */

	for (size_t i = 0; i < tree->nr; i++) {
		const struct flame_frame *frame = &tree->frames[i];

		if (frame->total[weight] == 0)
			continue;
		close_frames(json, depth - frame->depth);
		open_frame(json, frame, weight);
		depth = frame->depth + 1;
	}
	close_frames(json, depth);
}

/* The fields of the result: totals in ms for scripts, and in ps. */
static void flame_json_put_fields(struct ts_json *json, const struct ts_result *flame)
{
	for (size_t i = 0; i < flame->nr_fields; i++) {
		struct ts_value value = flame->fields[i].value;

		ts_json_key(json, flame->fields[i].name);
		if (value.type == TS_VALUE_INT)
			ts_json_i64(json, value.as.i);
		else
			ts_json_double(json, ts_value_number(value));
	}
}

static void flame_json_put_root(struct ts_json *json, const struct flame_graph *tree,
				const struct ts_result *flame, const struct ts_report *report)
{
	enum flame_weight weight = ts_flame_graph_weight(tree, report);

	ts_json_object(json);
	ts_json_head(json, report);
	ts_json_put_text(json, "kind", tree->kind);
	ts_json_put_text(json, "weight", ts_flame_weights[weight]);
	ts_json_put_text(json, "unit", weight == FLAME_COUNT ? "calls" : "ps");
	flame_json_put_fields(json, flame);
	ts_json_key(json, "notes");
	ts_json_array(json);
	for (size_t i = 0; i < flame->nr_notes; i++)
		ts_json_string(json, flame->notes[i]);
	ts_json_array_end(json);
	ts_json_put_text(json, "name", "all");
	ts_json_put_i64(json, "value", tree->total[weight]);
	ts_json_key(json, "children");
	ts_json_array(json);
	flame_json_put_frames(json, tree, weight);
	ts_json_array_end(json);
	ts_json_object_end(json);
	ts_buf_putc(json->out, '\n');
}

static enum ts_status flame_json_emit(struct ts_buf *out, const struct ts_results *results,
				      const struct ts_report *report, struct ts_error *err)
{
	struct ts_json json = ts_json_of(out, TS_JSON_COMPACT);
	const char *kind = ts_flame_graph_kind(results, report, err);
	struct flame_graph tree;
	enum ts_status st;

	if (!kind)
		return TS_USAGE;
	st = ts_flame_graph_read(&tree, results, kind, report, err);
	if (st == TS_OK)
		flame_json_put_root(&json, &tree, TS_FIND(results, flame), report);
	ts_flame_graph_release(&tree);
	return st == TS_OK && out->failed ? ts_fail_nomem(err) : st;
}

const struct ts_output ts_output_flame_json = {
	.name = "json",
	.extension = "json",
	.emit = flame_json_emit,
};
