EXTRA_DIST += tests/overlay/folder.h tests/overlay/sample.h tests/overlay/xprof_test.py \
	tests/overlay/annotated_test.py

TESTS += tests/overlay/annotated_test.py

# Asks the real XProf; without it, or without profiles, it is skipped.
TESTS += tests/overlay/xprof_test.py

check_PROGRAMS += tests/overlay/apply_test tests/overlay/cache_test tests/overlay/suggestions_test \
	tests/overlay/xplane_test
TESTS += tests/overlay/apply_test tests/overlay/cache_test tests/overlay/suggestions_test \
	tests/overlay/xplane_test
tests_overlay_apply_test_SOURCES = tests/overlay/apply_test.c
tests_overlay_apply_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_overlay_apply_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_overlay_cache_test_SOURCES = tests/overlay/cache_test.c
tests_overlay_cache_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_overlay_cache_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_overlay_suggestions_test_SOURCES = tests/overlay/suggestions_test.c
tests_overlay_suggestions_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_overlay_suggestions_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_overlay_xplane_test_SOURCES = tests/overlay/xplane_test.c
tests_overlay_xplane_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_overlay_xplane_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/overlay/copies_test
TESTS += tests/overlay/copies_test
tests_overlay_copies_test_SOURCES = tests/overlay/copies_test.c
tests_overlay_copies_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_overlay_copies_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
