check_PROGRAMS += tests/write/breakdown_test tests/write/report_csv_test \
	tests/write/report_json_test tests/write/report_text_test tests/write/summary_test
TESTS += tests/write/breakdown_test tests/write/report_csv_test \
	tests/write/report_json_test tests/write/report_text_test tests/write/summary_test
tests_write_breakdown_test_SOURCES = tests/write/breakdown_test.c
tests_write_breakdown_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_write_breakdown_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_write_report_csv_test_SOURCES = tests/write/report_csv_test.c tests/write/sample.h
tests_write_report_csv_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_write_report_csv_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_write_report_json_test_SOURCES = tests/write/report_json_test.c tests/write/sample.h
tests_write_report_json_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_write_report_json_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_write_report_text_test_SOURCES = tests/write/report_text_test.c tests/write/sample.h
tests_write_report_text_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_write_report_text_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_write_summary_test_SOURCES = tests/write/summary_test.c tests/write/sample.h
tests_write_summary_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_write_summary_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
check_PROGRAMS += tests/write/perfetto_test
TESTS += tests/write/perfetto_test
tests_write_perfetto_test_SOURCES = tests/write/perfetto_test.c
tests_write_perfetto_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_write_perfetto_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/write/perfetto_pb_test
TESTS += tests/write/perfetto_pb_test
tests_write_perfetto_pb_test_SOURCES = tests/write/perfetto_pb_test.c
tests_write_perfetto_pb_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_write_perfetto_pb_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/write/brief_test
TESTS += tests/write/brief_test
tests_write_brief_test_SOURCES = tests/write/brief_test.c tests/write/sample.h
tests_write_brief_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_write_brief_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
check_PROGRAMS += tests/write/report_html_test tests/write/report_tracks_test
TESTS += tests/write/report_html_test tests/write/report_tracks_test
tests_write_report_html_test_SOURCES = tests/write/report_html_test.c tests/write/sample.h
tests_write_report_html_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_write_report_html_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_write_report_tracks_test_SOURCES = tests/write/report_tracks_test.c
tests_write_report_tracks_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_write_report_tracks_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
