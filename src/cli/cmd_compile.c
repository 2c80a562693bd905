/* compile: what was compiled, what it became, and what went past the compiler. */
#include "cli/suite.h"

static enum ts_status add_torch_log(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	if (cli->nr_torch_logs == TS_MAX_TORCH_LOGS)
		return ts_fail(err, TS_USAGE, "more than %d logs (name their folder)",
			       TS_MAX_TORCH_LOGS);
	cli->torch_logs[cli->nr_torch_logs++] = value;
	return TS_OK;
}

static const struct ts_option options[] = {
	TS_SUITE_OPTIONS,
	{ "torch-trace", 0, "PATH", "a log of TORCH_TRACE, or its folder: why graphs broke (repeatable)",
	  add_torch_log },
	{ NULL, 0, NULL, NULL, NULL },
};

const struct ts_command ts_command_compile = {
	.name = "compile",
	.summary = "Print what compilers made of a run: regions, graph breaks, fusion.",
	.arguments = "PATH...",
	.help = "PATH is a trace of PyTorch's profiler (.json, .json.gz) with code of torch.compile in it, "
		"or whatever report takes. Why a graph broke or was compiled again is in no trace: run "
		"once more with TORCH_TRACE=FOLDER and give the folder with --torch-trace; logs in a "
		"folder that is PATH are read along, and one can be given alone as PATH.",
	.options = options,
	.run = ts_suite_run,
};
