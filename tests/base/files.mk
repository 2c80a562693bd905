check_PROGRAMS += tests/base/arena_test \
	tests/base/bytes_test \
	tests/base/map_test \
	tests/base/siphash_test \
	tests/base/spans_test \
	tests/base/units_test \
	tests/base/work_test
TESTS += tests/base/arena_test \
	tests/base/bytes_test \
	tests/base/map_test \
	tests/base/siphash_test \
	tests/base/spans_test \
	tests/base/units_test \
	tests/base/work_test
tests_base_arena_test_SOURCES = tests/base/arena_test.c
tests_base_arena_test_CPPFLAGS = $(AM_CPPFLAGS) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_base_arena_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_base_bytes_test_SOURCES = tests/base/bytes_test.c
tests_base_bytes_test_CPPFLAGS = $(AM_CPPFLAGS) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_base_bytes_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_base_map_test_SOURCES = tests/base/map_test.c
tests_base_map_test_CPPFLAGS = $(AM_CPPFLAGS) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_base_map_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_base_siphash_test_SOURCES = tests/base/siphash_test.c
tests_base_siphash_test_CPPFLAGS = $(AM_CPPFLAGS) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_base_siphash_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_base_spans_test_SOURCES = tests/base/spans_test.c
tests_base_spans_test_CPPFLAGS = $(AM_CPPFLAGS) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_base_spans_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_base_units_test_SOURCES = tests/base/units_test.c
tests_base_units_test_CPPFLAGS = $(AM_CPPFLAGS) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_base_units_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_base_work_test_SOURCES = tests/base/work_test.c
tests_base_work_test_CPPFLAGS = $(AM_CPPFLAGS) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_base_work_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/base/closest_test
TESTS += tests/base/closest_test
tests_base_closest_test_SOURCES = tests/base/closest_test.c
tests_base_closest_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_base_closest_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
