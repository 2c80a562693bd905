/* SPDX-License-Identifier: MIT */
/* tpusight-annotate: the main command by itself. */
#include "cli/cli.h"

extern const struct ts_command ts_command_annotate;

int main(int argc, char **argv)
{
	return ts_main("tpusight-annotate", &ts_command_annotate, argc, argv);
}
