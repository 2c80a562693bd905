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
