/* SPDX-License-Identifier: MIT */
/* hta: what a run's GPUs did and waited for, by the rules of HolisticTraceAnalysis. */
#include "cli/suite.h"
#include "result/schema/hta.def"

static const struct ts_suite suite = { .results = { &ts_schema_hta } };

const struct ts_command ts_command_hta = {
	.name = "hta",
	.summary = "Print what the GPUs of a trace did, waited for, and how they were fed.",
	.arguments = "PATH...",
	.help = "PATH is a trace of PyTorch's profiler (.json, .json.gz), a folder of those of all "
		"ranks, or whatever report takes. The figures are those of HolisticTraceAnalysis.",
	.options = ts_suite_options,
	.own_size = sizeof(struct ts_print_options),
	.has_thresholds = true,
	.suite = &suite,
	.run = ts_suite_run,
};
