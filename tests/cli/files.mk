unit_tests += tests/cli/deeds_test
tests_cli_deeds_test_SOURCES = tests/cli/deeds_test.c src/cli/console.c src/cli/deeds.c
