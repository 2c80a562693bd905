/* SPDX-License-Identifier: MIT */
/*
 * For a target without a line FUZZ_MUTATOR(): the library's functions of these names are linked only
 * where somebody asks for them and the target has none, which is in NAME_replay. libFuzzer then has
 * its own way.
 */
#include "tests/fuzz/mutate/mutator.h"

FUZZ_MUTATOR(bytes)
