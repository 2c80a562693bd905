check_PROGRAMS += tests/hw/chips_test tests/hw/roofline_test
TESTS += tests/hw/chips_test tests/hw/roofline_test
tests_hw_chips_test_SOURCES = tests/hw/chips_test.c
tests_hw_chips_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_hw_chips_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_hw_roofline_test_SOURCES = tests/hw/roofline_test.c
tests_hw_roofline_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_hw_roofline_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
