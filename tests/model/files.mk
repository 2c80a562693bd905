check_PROGRAMS += tests/model/cost_test tests/model/shape_test
TESTS += tests/model/cost_test tests/model/shape_test
tests_model_cost_test_SOURCES = tests/model/cost_test.c tests/read/hlo_make.h tests/read/corpus.h
tests_model_cost_test_CPPFLAGS = $(AM_CPPFLAGS) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_model_cost_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_model_shape_test_SOURCES = tests/model/shape_test.c tests/read/corpus.h
tests_model_shape_test_CPPFLAGS = $(AM_CPPFLAGS) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_model_shape_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/model/nest_test \
	tests/model/op_kind_test \
	tests/model/outline_test \
	tests/model/profile_test
TESTS += tests/model/nest_test \
	tests/model/op_kind_test \
	tests/model/outline_test \
	tests/model/profile_test
tests_model_nest_test_SOURCES = tests/model/nest_test.c
tests_model_nest_test_CPPFLAGS = $(AM_CPPFLAGS) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_model_nest_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_model_op_kind_test_SOURCES = tests/model/op_kind_test.c
tests_model_op_kind_test_CPPFLAGS = $(AM_CPPFLAGS) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_model_op_kind_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_model_outline_test_SOURCES = tests/model/outline_test.c
tests_model_outline_test_CPPFLAGS = $(AM_CPPFLAGS) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_model_outline_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_model_profile_test_SOURCES = tests/model/profile_test.c
tests_model_profile_test_CPPFLAGS = $(AM_CPPFLAGS) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_model_profile_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/model/host_event_test
TESTS += tests/model/host_event_test
tests_model_host_event_test_SOURCES = tests/model/host_event_test.c
tests_model_host_event_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_model_host_event_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
check_PROGRAMS += tests/model/traffic_test
TESTS += tests/model/traffic_test
tests_model_traffic_test_SOURCES = tests/model/traffic_test.c tests/read/hlo_make.h
tests_model_traffic_test_CPPFLAGS = $(AM_CPPFLAGS) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_model_traffic_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/model/step_pattern_test
TESTS += tests/model/step_pattern_test
tests_model_step_pattern_test_SOURCES = tests/model/step_pattern_test.c
tests_model_step_pattern_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_model_step_pattern_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/model/torch_event_test
TESTS += tests/model/torch_event_test
tests_model_torch_event_test_SOURCES = tests/model/torch_event_test.c
tests_model_torch_event_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_model_torch_event_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/model/sweep_test
TESTS += tests/model/sweep_test
tests_model_sweep_test_SOURCES = tests/model/sweep_test.c
tests_model_sweep_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_model_sweep_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
