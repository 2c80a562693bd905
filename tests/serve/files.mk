check_PROGRAMS += tests/serve/news_test tests/serve/latest_test
TESTS += tests/serve/news_test tests/serve/latest_test
tests_serve_news_test_SOURCES = tests/serve/news_test.c
tests_serve_news_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_serve_news_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_serve_latest_test_SOURCES = tests/serve/latest_test.c
tests_serve_latest_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_serve_latest_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
