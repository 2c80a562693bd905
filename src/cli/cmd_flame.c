/* SPDX-License-Identifier: MIT */
/* flame: flame graphs. */
#include "cli/suite.h"
#include "write/flame_outputs.h"
#include "result/schema/flame.def"

static const struct ts_suite suite = {
	.results = { &ts_schema_flame },
	.outputs = { &ts_output_flame_text, &ts_output_flame_json, &ts_output_flame_folded,
		     &ts_output_flame_speedscope },
	.tree_rows = 65536,
};

static const char *tree_at(const struct ts_command *command, size_t index)
{
	return ts_flame_tree(index);
}

static const char *weight_at(const struct ts_command *command, size_t index)
{
	return ts_flame_weight(index);
}

struct flame_options {
	struct ts_print_options print;
};

static const struct flame_options defaults = {
	.print.form.min_duration_ps = 10 * TS_PS_PER_US,
};

#define OWN struct flame_options
static const struct ts_option options[] = {
	TS_SUITE_OUTPUT(OWN, print),
	TS_OPT_NAME(OWN, print.form.tree, "kind", 0, "TREE", tree_at, false,
		    "which tree: %s (of calls, nn.Module, device ops)"),
	TS_OPT_NAME(OWN, print.form.weight, "weight", 0, "WEIGHT", weight_at, false,
		    "what counts: %s (time of the CPU, of devices; calls)"),
	TS_MIN_DURATION(OWN, print,
			"frames that take less in all count as their parent's (default 10)"),
	TS_OPT_COUNT(OWN, print.form.max_depth, "max-depth", 0, "N", 0, TS_OPTION_ANY, "a depth",
		     .help = "deeper frames count as their parent's too (default 0: no limit)"),
	TS_OPT_FLAG(OWN, print.form.group_small, "group-small-kernels", 0,
		    "kernels that take less become one frame below each parent"),
	TS_OPT_END,
};

const struct ts_command ts_command_flame = {
	.name = "flame",
	.summary = "Print flame graphs: CPU and device time by call stack, module or scope.",
	.arguments = "PATH...",
	.help = "PATH is a trace of PyTorch's or JAX's profiler (.json, .json.gz), or whatever "
		"report takes.\n"
		"Formats beside text, json (nested, for d3-flame-graph), html (interactive) and "
		"csv: folded (for\n"
		"flamegraph.pl) and speedscope.",
	.options = options,
	.own_size = sizeof(OWN),
	.defaults = &defaults,
	.has_thresholds = true,
	.suite = &suite,
	.run = ts_suite_run,
};
