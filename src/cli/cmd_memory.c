/* memory: who uses it, how much, and when. */
#include "cli/suite.h"

const struct ts_command ts_command_memory = {
	.name = "memory",
	.summary = "Print what a run does with the memory of its devices.",
	.arguments = "PATH...",
	.help = "PATH is a trace of PyTorch's or JAX's profiler (.json, .json.gz), or whatever "
		"report "
		"takes.",
	.options = ts_suite_options,
	.run = ts_suite_run,
};
