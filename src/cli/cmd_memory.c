/* SPDX-License-Identifier: MIT */
/* memory: who uses it, how much, and when. */
#include "cli/suite.h"
#include "result/schema/memory_timeline.def"
#include "result/schema/memory.def"
#include "result/schema/capacity.def"
#include "result/schema/allocators.def"

static const struct ts_suite suite = { .results = { &ts_schema_memory_timeline, &ts_schema_memory,
						    &ts_schema_capacity, &ts_schema_allocators } };

const struct ts_command ts_command_memory = {
	.name = "memory",
	.summary = "Print what a run does with the memory of its devices.",
	.arguments = "PATH...",
	.help = "PATH is a trace of PyTorch's or JAX's profiler (.json, .json.gz), or whatever "
		"report takes.",
	.options = ts_suite_options,
	.own_size = sizeof(struct ts_print_options),
	.has_thresholds = true,
	.suite = &suite,
	.run = ts_suite_run,
};
