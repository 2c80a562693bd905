live_tests = tests/live/alert_test tests/live/live_test tests/live/alert_command_test tests/live/history_test \
	tests/live/programs_test tests/live/look_test tests/live/watch_test tests/live/whole_test
check_PROGRAMS += $(live_tests) tests/live/fake_server
TESTS += $(live_tests) tests/live/service_test.py tests/live/folder_test.py tests/live/job_test.py
EXTRA_DIST += tests/live/folder_test.py tests/live/job.py tests/live/job_test.py tests/live/service_test.py
tests_live_alert_command_test_SOURCES = tests/live/alert_command_test.c
tests_live_alert_command_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_live_alert_command_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_live_alert_test_SOURCES = tests/live/alert_test.c
tests_live_alert_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_live_alert_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_live_live_test_SOURCES = tests/live/live_test.c tests/live/fake_service.h
tests_live_live_test_CPPFLAGS = $(AM_CPPFLAGS) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_live_live_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_live_fake_server_SOURCES = tests/live/fake_server.c tests/live/fake_service.h
tests_live_fake_server_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)
tests_live_fake_server_LDADD = libtpusight.a
tests_live_history_test_SOURCES = tests/live/history_test.c
tests_live_history_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_live_history_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_live_programs_test_SOURCES = tests/live/programs_test.c
tests_live_programs_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_live_programs_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_live_look_test_SOURCES = tests/live/look_test.c tests/flow/memory_run.h
tests_live_look_test_CPPFLAGS = $(AM_CPPFLAGS) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_live_look_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_live_watch_test_SOURCES = tests/live/watch_test.c tests/overlay/folder.h
tests_live_watch_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_live_watch_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_live_whole_test_SOURCES = tests/live/whole_test.c tests/overlay/folder.h
tests_live_whole_test_CPPFLAGS = $(AM_CPPFLAGS) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_live_whole_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
