/* SPDX-License-Identifier: MIT */
/* Any text as a config file. */
#include "cli/config.h"

#include "analysis/settings.h"
#include "analysis/settings_list.h"
#include "base/arena.h"
#include "tests/fuzz/mutate/mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_MUTATOR(json)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct ts_arena arena = TS_ARENA_INIT;
	struct ts_settings settings;
	struct ts_error err = TS_ERROR_INIT;

	ts_settings_init(&settings);
	ts_config_apply((struct ts_bytes){ data, n }, &settings, &arena, &err);
	ts_arena_release(&arena);
	return 0;
}
