check_PROGRAMS += tests/cli/deeds_test
TESTS += tests/cli/deeds_test
tests_cli_deeds_test_SOURCES = tests/cli/deeds_test.c src/cli/console.c src/cli/deeds.c
tests_cli_deeds_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_cli_deeds_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
