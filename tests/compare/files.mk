check_PROGRAMS += tests/compare/rank_test
TESTS += tests/compare/rank_test
tests_compare_rank_test_SOURCES = tests/compare/rank_test.c
tests_compare_rank_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_compare_rank_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
