/* flame: flame graphs. */
#include "cli/suite.h"
#include "write/flame_outputs.h"

static enum ts_status set_tree(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	cli->tree = value;
	return ts_flame_is_tree(value)
		       ? TS_OK
		       : ts_fail(err, TS_USAGE, "%s is no tree (stacks, modules, scopes)", value);
}

static enum ts_status set_weight(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	cli->weight = value;
	return ts_flame_is_weight(value)
		       ? TS_OK
		       : ts_fail(err, TS_USAGE, "%s is no weight (cpu, device, count)", value);
}

static enum ts_status set_max_depth(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	uint64_t depth;

	if (!ts_bytes_u64(ts_bytes_of(value), &depth) || depth > SIZE_MAX)
		return ts_fail(err, TS_USAGE, "%s is no depth", value);
	cli->max_depth = (size_t)depth;
	return TS_OK;
}

static enum ts_status set_group(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	(void)value;
	(void)err;
	cli->group_small = true;
	return TS_OK;
}

static const struct ts_option options[] = {
	TS_SUITE_OPTIONS,
	{ "kind", 0, "TREE", "of stacks (calls), modules (nn.Module), or scopes (of device ops)",
	  set_tree },
	{ "weight", 0, "WEIGHT", "cpu (time), device (time) or count (of calls)", set_weight },
	{ "min-duration-us", 0, "N",
	  "frames that take less in all count as their parent's (default 10)",
	  ts_set_min_duration },
	{ "max-depth", 0, "N", "deeper frames likewise (default 0: no limit)", set_max_depth },
	{ "group-small-kernels", 0, NULL,
	  "kernels that take less than that each as one frame, below each parent", set_group },
	{ NULL, 0, NULL, NULL, NULL },
};

const struct ts_command ts_command_flame = {
	.name = "flame",
	.summary = "Print flame graphs: CPU and device time by call stack, module or scope.",
	.arguments = "PATH...",
	.help = "PATH is a trace of PyTorch's or JAX's profiler (.json, .json.gz), or whatever "
		"report "
		"takes.\n"
		"Formats beside text, json (nested, for d3-flame-graph), html (interactive) and "
		"csv: "
		"folded (for\n"
		"flamegraph.pl) and speedscope.",
	.options = options,
	.run = ts_suite_run,
};
