check_PROGRAMS += tests/codec/json_test
TESTS += tests/codec/json_test
tests_codec_json_test_SOURCES = tests/codec/json_test.c
tests_codec_json_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_codec_json_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/codec/pbw_test
TESTS += tests/codec/pbw_test
tests_codec_pbw_test_SOURCES = tests/codec/pbw_test.c
tests_codec_pbw_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_codec_pbw_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/codec/csv_test
TESTS += tests/codec/csv_test
tests_codec_csv_test_SOURCES = tests/codec/csv_test.c
tests_codec_csv_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_codec_csv_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/codec/pb_test
TESTS += tests/codec/pb_test
tests_codec_pb_test_SOURCES = tests/codec/pb_test.c
tests_codec_pb_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_codec_pb_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/codec/text_test
TESTS += tests/codec/text_test
tests_codec_text_test_SOURCES = tests/codec/text_test.c
tests_codec_text_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_codec_text_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/codec/record_test
TESTS += tests/codec/record_test
tests_codec_record_test_SOURCES = tests/codec/record_test.c
tests_codec_record_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_codec_record_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
