check_PROGRAMS += tests/cli/deeds_test
TESTS += tests/cli/deeds_test
tests_cli_deeds_test_SOURCES = tests/cli/deeds_test.c src/cli/console.c src/cli/deeds.c
tests_cli_deeds_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_cli_deeds_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/cli/options_test
TESTS += tests/cli/options_test
tests_cli_options_test_SOURCES = tests/cli/options_test.c src/cli/option.h src/cli/values.c
tests_cli_options_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_cli_options_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
