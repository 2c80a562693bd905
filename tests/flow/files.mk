check_PROGRAMS += tests/flow/trace_test
TESTS += tests/flow/trace_test
tests_flow_trace_test_SOURCES = tests/flow/trace_test.c tests/flow/trace_run.h
tests_flow_trace_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_flow_trace_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/flow/steps_test
TESTS += tests/flow/steps_test
tests_flow_steps_test_SOURCES = tests/flow/steps_test.c tests/flow/memory_run.h \
	tests/read/corpus.h tests/read/xplane_make.h
tests_flow_steps_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_flow_steps_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/flow/merge_test
TESTS += tests/flow/merge_test
tests_flow_merge_test_SOURCES = tests/flow/merge_test.c tests/flow/memory_run.h
tests_flow_merge_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_flow_merge_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/flow/annotated_test
TESTS += tests/flow/annotated_test
tests_flow_annotated_test_SOURCES = tests/flow/annotated_test.c tests/flow/memory_run.h \
	tests/read/corpus.h
tests_flow_annotated_test_CPPFLAGS = $(AM_CPPFLAGS) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_flow_annotated_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
