# --wrap is GNU ld's and lld's; elsewhere configure leaves this test out.
if HAVE_WRAP
check_PROGRAMS += tests/oom/oom_test tests/oom/live_test tests/oom/watch_test
TESTS += tests/oom/oom_test tests/oom/live_test tests/oom/watch_test
endif
oom_ldflags = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
tests_oom_oom_test_SOURCES = tests/oom/oom_test.c tests/oom/failing.h
tests_oom_oom_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_oom_oom_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_oom_oom_test_LDFLAGS = $(oom_ldflags)
tests_oom_live_test_SOURCES = tests/oom/live_test.c tests/oom/failing.h tests/live/fake_service.h
tests_oom_live_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_oom_live_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_oom_live_test_LDFLAGS = $(oom_ldflags)
tests_oom_watch_test_SOURCES = tests/oom/watch_test.c tests/oom/failing.h tests/overlay/folder.h
tests_oom_watch_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_oom_watch_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_oom_watch_test_LDFLAGS = $(oom_ldflags)
