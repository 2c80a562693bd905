/* SPDX-License-Identifier: MIT */
/* What the states of the critical path are made of. */
#include "analysis/gpu/hta_critical_path.h"

#include "base/record.h"

#define TS_SELF struct cp_node
static bool is_node(const void *self)
{
	const struct cp_node *node = self;

	return node->kind < CP_NR_KINDS;
}
static TS_RECORD_WITH(node, TS_VALID_IF(is_node), TS_NUMBER(1, at_ps, TS_BY_HAND),
		      TS_NUMBER(2, long_ps, TS_BY_HAND), TS_NUMBER(3, before, TS_BY_HAND),
		      TS_INDEX_KNOWN(4, op, TS_BY_OP, TS_BY_HAND), TS_NUMBER(5, kind, TS_BY_HAND),
		      TS_NUMBER(6, beside, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct cp_open
static bool is_open(const void *self)
{
	const struct cp_open *open = self;

	return open->kind < CP_NR_KINDS && open->sync < CP_NR_SYNCS && open->told < CP_NR_SYNCS;
}
static TS_RECORD_WITH(open, TS_VALID_IF(is_open), TS_NUMBER(1, start_ps, TS_BY_HAND),
		      TS_NUMBER(2, end_ps, TS_BY_HAND), TS_INDEX_KNOWN(3, op, TS_BY_OP, TS_BY_HAND),
		      TS_NUMBER(4, kind, TS_BY_HAND), TS_NUMBER(5, sync, TS_BY_HAND),
		      TS_NUMBER(6, told, TS_BY_HAND),
		      TS_INDEX(7, what.line, TS_BY_LINE, TS_BY_HAND),
		      TS_NUMBER(8, what.before_ps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct cp_lane
static bool is_lane(const void *self)
{
	const struct cp_lane *lane = self;

	return lane->nr_open == 0 || lane->last != TS_NONE;
}
static TS_RECORD_WITH(lane, TS_VALID_IF(is_lane), TS_INDEX_KNOWN(1, line, TS_BY_LINE, TS_BY_HAND),
		      TS_NUMBER(2, last, TS_BY_HAND), TS_NUMBER(3, is_thread, TS_BY_HAND),
		      TS_LIST(4, open, open_record, TS_BY_HAND), TS_SCRATCH(waits));
#undef TS_SELF

#define TS_SELF struct cp_graph
/* Each node comes after the one before it on its path, and is not nearer; and after the one beside it. */
static bool is_graph(const void *self)
{
	const struct cp_graph *graph = self;

	for (size_t i = 0; i < graph->nr_nodes; i++) {
		uint32_t before = graph->nodes[i].before, beside = graph->nodes[i].beside;

		if (beside != TS_NONE && beside >= i)
			return false;
		if (before != TS_NONE &&
		    (before >= i || graph->nodes[before].long_ps > graph->nodes[i].long_ps))
			return false;
	}
	for (size_t i = 0; i < graph->nr_lanes; i++)
		if (graph->lanes[i].last != TS_NONE && graph->lanes[i].last >= graph->nr_nodes)
			return false;
	return graph->nr_nodes <= CP_NODES;
}
static TS_RECORD_WITH(graph, TS_VALID_IF(is_graph), TS_NUMBER(1, number, TS_BY_HAND),
		      TS_NUMBER(2, id, TS_BY_HAND), TS_NUMBER(3, start_ps, TS_BY_HAND),
		      TS_NUMBER(4, until_ps, TS_BY_HAND),
		      TS_LIST(5, nodes, node_record, TS_BY_HAND),
		      TS_LIST(6, lanes, lane_record, TS_BY_HAND), TS_NUMBER(7, is_cut, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct cp_row
static bool hta_critical_path_state_is_row(const void *self)
{
	const struct cp_row *row = self;

	return row->kind < CP_NR_KINDS;
}
static TS_RECORD_WITH(row, TS_VALID_IF(hta_critical_path_state_is_row),
		      TS_INDEX(1, op, TS_BY_OP, TS_BY_HAND), TS_NUMBER(2, kind, TS_BY_HAND),
		      TS_NUMBER(3, time_ps, TS_BY_HAND), TS_NUMBER(4, nr, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct cp_path
static bool hta_critical_path_state_is_path(const void *self)
{
	const struct cp_path *path = self;

	for (size_t i = 0; i < path->nr_rows && path->nr_rows <= CP_ROWS; i++)
		if (path->rows[i].op == TS_NONE)
			return false;
	return path->nr_rows <= CP_ROWS;
}
static TS_RECORD_WITH(path, TS_VALID_IF(hta_critical_path_state_is_path),
		      TS_INDEX_KNOWN(1, host, TS_BY_HOST, TS_BY_HAND),
		      TS_NUMBER(2, number, TS_BY_HAND), TS_NUMBER(3, nr_nodes, TS_BY_HAND),
		      TS_NUMBER(4, start_ps, TS_BY_HAND), TS_NUMBER(5, end_ps, TS_BY_HAND),
		      TS_NUMBERS(6, kind_ps, TS_BY_HAND), TS_NUMBERS(7, nr_edges, TS_BY_HAND),
		      TS_STRUCT(8, rows, row_record), TS_NUMBER(9, nr_rows, TS_BY_HAND),
		      TS_NUMBER(10, others_ps, TS_BY_HAND), TS_NUMBER(11, nr_others, TS_BY_HAND),
		      TS_NUMBER(12, is_cut, TS_BY_HAND), TS_NUMBER(13, nr_other_rows, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct cp_state
TS_RECORD_AS(ts_hta_critical_path_record, hta_critical_path, ,
	     TS_INDEX(1, host, TS_BY_HOST, TS_BY_HAND), TS_LIST(2, live, graph_record, TS_BY_HAND),
	     TS_LIST(3, paths, path_record, TS_BY_HAND), TS_NUMBER(4, nr_dropped, TS_BY_HAND),
	     TS_SCRATCH(sides), TS_SCRATCH(kinds), TS_SCRATCH(syncs), TS_SCRATCH(kernels),
	     TS_SCRATCH(streams), TS_SCRATCH(busy_ps), TS_SCRATCH(launches.slots));
#undef TS_SELF
