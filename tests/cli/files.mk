# SPDX-License-Identifier: MIT
tests_cli_deeds_test_SOURCES = tests/cli/deeds_test.c src/cli/console.c src/cli/deeds.c
tests_cli_options_test_SOURCES = tests/cli/options_test.c src/cli/option.h src/cli/values.c
