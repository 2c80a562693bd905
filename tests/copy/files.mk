check_PROGRAMS += tests/copy/trim_test tests/copy/redact_test
TESTS += tests/copy/trim_test tests/copy/redact_test tests/copy/redacted_test.py
EXTRA_DIST += tests/copy/redacted_test.py
tests_copy_trim_test_SOURCES = tests/copy/trim_test.c tests/copy/trimmed.h tests/io/tmpdir.h \
	tests/read/xplane_make.h tests/read/mutate.h tests/flow/memory_run.h tests/base/rng.h
tests_copy_trim_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_copy_trim_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_copy_redact_test_SOURCES = tests/copy/redact_test.c tests/copy/trimmed.h \
	tests/read/xplane_make.h tests/read/mutate.h tests/flow/memory_run.h tests/base/rng.h
tests_copy_redact_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_copy_redact_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
