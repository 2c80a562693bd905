check_PROGRAMS += tests/analysis/padding_test tests/analysis/systolic_test
TESTS += tests/analysis/padding_test tests/analysis/systolic_test
tests_analysis_padding_test_SOURCES = tests/analysis/padding_test.c tests/analysis/feed.h
tests_analysis_padding_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_padding_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_analysis_systolic_test_SOURCES = tests/analysis/systolic_test.c tests/analysis/feed.h
tests_analysis_systolic_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_systolic_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
