/* compile: what was compiled, what it became, and what went past the compiler. */
#include "cli/suite.h"

const struct ts_command ts_command_compile = {
	.name = "compile",
	.summary = "Print what compilers made of a run: regions, graph breaks, fusion.",
	.arguments = "PATH...",
	.help = "PATH is a trace of PyTorch's profiler (.json, .json.gz) with code of torch.compile in it, "
		"or whatever report takes.",
	.options = ts_suite_options,
	.run = ts_suite_run,
};
