/* timeline: when the host and the devices worked, alone and at once. */
#include "cli/suite.h"

static enum ts_status set_no_python(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	(void)value;
	(void)err;
	cli->no_python = true;
	return TS_OK;
}

static const struct ts_option options[] = {
	TS_SUITE_OPTIONS,
	{ "no-python", 0, NULL, "frames of Python's tracer are no activity", set_no_python },
	{ NULL, 0, NULL, NULL, NULL },
};

const struct ts_command ts_command_timeline = {
	.name = "timeline",
	.summary = "Print when the CPU and the GPU (or TPU) were active, alone and at once.",
	.arguments = "PATH...",
	.help = "PATH is a trace of PyTorch's or JAX's profiler (.json, .json.gz), or whatever report "
		"takes.\n"
		"Each step's time is parted into Kernel, Memcpy, Memset, Communication, Runtime,\n"
		"DataLoader, CPU Exec and Other, which sum to it.",
	.options = options,
	.run = ts_suite_run,
};
