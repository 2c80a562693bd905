# --wrap is GNU ld's and lld's; elsewhere configure leaves this test out.
if HAVE_WRAP
check_PROGRAMS += tests/oom/oom_test
TESTS += tests/oom/oom_test
endif
tests_oom_oom_test_SOURCES = tests/oom/oom_test.c
tests_oom_oom_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_oom_oom_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_oom_oom_test_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
