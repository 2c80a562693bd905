/* SPDX-License-Identifier: MIT */
/* tpusight: all commands. */
#include "cli/cli.h"

int main(int argc, char **argv)
{
	return ts_main("tpusight", NULL, argc, argv);
}
