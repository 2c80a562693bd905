check_PROGRAMS += tests/read/hlo_test
TESTS += tests/read/hlo_test
tests_read_hlo_test_SOURCES = tests/read/hlo_test.c tests/read/hlo_make.h tests/read/hlo_walk.h \
	tests/read/corpus.h
tests_read_hlo_test_CPPFLAGS = $(AM_CPPFLAGS) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_read_hlo_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/read/xplane_test
TESTS += tests/read/xplane_test
tests_read_xplane_test_SOURCES = tests/read/xplane_test.c tests/read/xplane_make.h \
	tests/read/hlo_make.h tests/read/mutate.h tests/flow/memory_run.h tests/base/rng.h
tests_read_xplane_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_read_xplane_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/read/pprof_test
TESTS += tests/read/pprof_test
tests_read_pprof_test_SOURCES = tests/read/pprof_test.c tests/read/pprof_make.h tests/read/pprof_walk.h \
	tests/read/mutate.h tests/flow/memory_run.h tests/base/rng.h
tests_read_pprof_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_read_pprof_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/read/chrome_test
TESTS += tests/read/chrome_test
tests_read_chrome_test_SOURCES = tests/read/chrome_test.c tests/read/mutate.h tests/read/corpus.h \
	tests/flow/memory_run.h tests/base/rng.h
tests_read_chrome_test_CPPFLAGS = $(AM_CPPFLAGS) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_read_chrome_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/read/hta_test
TESTS += tests/read/hta_test
tests_read_hta_test_SOURCES = tests/read/hta_test.c tests/read/corpus.h tests/flow/memory_run.h
tests_read_hta_test_CPPFLAGS = $(AM_CPPFLAGS) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_read_hta_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/read/torch_trace_test
TESTS += tests/read/torch_trace_test
tests_read_torch_trace_test_SOURCES = tests/read/torch_trace_test.c tests/read/mutate.h tests/read/corpus.h \
	tests/flow/memory_run.h tests/base/rng.h
tests_read_torch_trace_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_read_torch_trace_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
