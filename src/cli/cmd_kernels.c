/* SPDX-License-Identifier: MIT */
/* kernels: what each kernel took, and who launched it. */
#include "cli/suite.h"
#include "result/schema/kernels.def"

static const struct ts_suite suite = { .results = { &ts_schema_kernels } };

const struct ts_command ts_command_kernels = {
	.name = "kernels",
	.summary = "Print what each kernel of a GPU took (of a TPU: each op), and who launched it.",
	.arguments = "PATH...",
	.help = "PATH is a trace of PyTorch's or JAX's profiler (.json, .json.gz), or whatever "
		"report takes.",
	.options = ts_suite_options,
	.own_size = sizeof(struct ts_print_options),
	.has_thresholds = true,
	.suite = &suite,
	.run = ts_suite_run,
};
