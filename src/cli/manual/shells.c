/* SPDX-License-Identifier: MIT */
/* The shells that can complete. */
#include "cli/manual/manual.h"

const struct ts_shell ts_shells[] = {
	{ "bash", ts_complete_bash },
	{ "zsh", ts_complete_zsh },
	{ "fish", ts_complete_fish },
	{ .name = NULL },
};
