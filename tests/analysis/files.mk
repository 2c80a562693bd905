check_PROGRAMS += tests/analysis/padding_test tests/analysis/systolic_test
TESTS += tests/analysis/padding_test tests/analysis/systolic_test
tests_analysis_padding_test_SOURCES = tests/analysis/padding_test.c tests/analysis/feed.h
tests_analysis_padding_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_padding_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_analysis_systolic_test_SOURCES = tests/analysis/systolic_test.c tests/analysis/feed.h
tests_analysis_systolic_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_systolic_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/doctor_test tests/analysis/marks_test tests/analysis/settings_test
TESTS += tests/analysis/doctor_test tests/analysis/marks_test tests/analysis/settings_test
tests_analysis_doctor_test_SOURCES = tests/analysis/doctor_test.c tests/analysis/doctor_given.h
tests_analysis_doctor_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_doctor_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_analysis_marks_test_SOURCES = tests/analysis/marks_test.c tests/analysis/doctor_given.h
tests_analysis_marks_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_marks_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_analysis_settings_test_SOURCES = tests/analysis/settings_test.c tests/analysis/doctor_given.h
tests_analysis_settings_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_settings_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/time_test \
	tests/analysis/ops_test \
	tests/analysis/overview_test \
	tests/analysis/rates_test
TESTS += tests/analysis/time_test \
	tests/analysis/ops_test \
	tests/analysis/overview_test \
	tests/analysis/rates_test
analysis_given = tests/analysis/given.h tests/read/xplane_make.h tests/flow/memory_run.h
tests_analysis_time_test_SOURCES = tests/analysis/time_test.c $(analysis_given)
tests_analysis_time_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_time_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_analysis_ops_test_SOURCES = tests/analysis/ops_test.c $(analysis_given)
tests_analysis_ops_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_ops_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_analysis_overview_test_SOURCES = tests/analysis/overview_test.c $(analysis_given)
tests_analysis_overview_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_overview_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_analysis_rates_test_SOURCES = tests/analysis/rates_test.c $(analysis_given)
tests_analysis_rates_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_rates_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/roofline_test
TESTS += tests/analysis/roofline_test
tests_analysis_roofline_test_SOURCES = tests/analysis/roofline_test.c tests/analysis/feed.h
tests_analysis_roofline_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_roofline_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/custom_calls_test
TESTS += tests/analysis/custom_calls_test
tests_analysis_custom_calls_test_SOURCES = tests/analysis/custom_calls_test.c $(analysis_given)
tests_analysis_custom_calls_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_custom_calls_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/capture_test
TESTS += tests/analysis/capture_test
tests_analysis_capture_test_SOURCES = tests/analysis/capture_test.c $(analysis_given)
tests_analysis_capture_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_capture_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/collectives_test
TESTS += tests/analysis/collectives_test
tests_analysis_collectives_test_SOURCES = tests/analysis/collectives_test.c tests/analysis/feed.h
tests_analysis_collectives_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_collectives_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/fusion_test tests/analysis/rules_fusion_test
TESTS += tests/analysis/fusion_test tests/analysis/rules_fusion_test
tests_analysis_fusion_test_SOURCES = tests/analysis/fusion_test.c
tests_analysis_fusion_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_analysis_fusion_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_analysis_rules_fusion_test_SOURCES = tests/analysis/rules_fusion_test.c tests/analysis/doctor_given.h
tests_analysis_rules_fusion_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_rules_fusion_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/doctor_kpis_test tests/analysis/doctor_places_test tests/analysis/snippets
TESTS += tests/analysis/doctor_kpis_test tests/analysis/doctor_places_test tests/analysis/snippets_test.py \
	tests/analysis/findings_test.py
EXTRA_DIST += tests/analysis/snippets_test.py tests/analysis/findings_test.py
tests_analysis_doctor_places_test_SOURCES = tests/analysis/doctor_places_test.c tests/analysis/doctor_given.h
tests_analysis_doctor_places_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_doctor_places_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_analysis_doctor_kpis_test_SOURCES = tests/analysis/doctor_kpis_test.c tests/analysis/doctor_given.h
tests_analysis_doctor_kpis_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_doctor_kpis_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_analysis_snippets_SOURCES = tests/analysis/snippets.c
tests_analysis_snippets_LDADD = libtpusight.a
check_PROGRAMS += tests/analysis/gaps_test
TESTS += tests/analysis/gaps_test
tests_analysis_gaps_test_SOURCES = tests/analysis/gaps_test.c $(analysis_given)
tests_analysis_gaps_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_gaps_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/cache_test tests/analysis/cache_family_test
TESTS += tests/analysis/cache_test tests/analysis/cache_family_test
tests_analysis_cache_test_SOURCES = tests/analysis/cache_test.c $(analysis_given)
tests_analysis_cache_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_cache_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_analysis_cache_family_test_SOURCES = tests/analysis/cache_family_test.c
tests_analysis_cache_family_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_cache_family_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
check_PROGRAMS += tests/analysis/memory_test
TESTS += tests/analysis/memory_test
tests_analysis_memory_test_SOURCES = tests/analysis/memory_test.c tests/analysis/feed.h
tests_analysis_memory_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_memory_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/capacity_test tests/analysis/rules_capacity_test
TESTS += tests/analysis/capacity_test tests/analysis/rules_capacity_test
tests_analysis_capacity_test_SOURCES = tests/analysis/capacity_test.c tests/read/hlo_make.h
tests_analysis_capacity_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_capacity_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_analysis_rules_capacity_test_SOURCES = tests/analysis/rules_capacity_test.c tests/analysis/doctor_given.h
tests_analysis_rules_capacity_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_rules_capacity_test_LDADD = libtpusight.a $(CMOCKA_LIBS)


check_PROGRAMS += tests/analysis/doctor_random_test
TESTS += tests/analysis/doctor_random_test
tests_analysis_doctor_random_test_SOURCES = tests/analysis/doctor_random_test.c tests/analysis/doctor_given.h
tests_analysis_doctor_random_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_doctor_random_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
check_PROGRAMS += tests/analysis/rules_traffic_test
TESTS += tests/analysis/rules_traffic_test
tests_analysis_rules_traffic_test_SOURCES = tests/analysis/rules_traffic_test.c tests/analysis/doctor_given.h
tests_analysis_rules_traffic_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_rules_traffic_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
check_PROGRAMS += tests/analysis/remat_test
TESTS += tests/analysis/remat_test
tests_analysis_remat_test_SOURCES = tests/analysis/remat_test.c tests/analysis/feed.h
tests_analysis_remat_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_remat_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/async_test
TESTS += tests/analysis/async_test
tests_analysis_async_test_SOURCES = tests/analysis/async_test.c tests/analysis/feed.h
tests_analysis_async_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_async_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
check_PROGRAMS += tests/analysis/allocators_test
TESTS += tests/analysis/allocators_test
tests_analysis_allocators_test_SOURCES = tests/analysis/allocators_test.c $(analysis_given)
tests_analysis_allocators_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_allocators_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/memory_timeline_test
TESTS += tests/analysis/memory_timeline_test
tests_analysis_memory_timeline_test_SOURCES = tests/analysis/memory_timeline_test.c $(analysis_given)
tests_analysis_memory_timeline_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_memory_timeline_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/sparsecore_test
TESTS += tests/analysis/sparsecore_test
tests_analysis_sparsecore_test_SOURCES = tests/analysis/sparsecore_test.c $(analysis_given)
tests_analysis_sparsecore_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_sparsecore_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/heatmap_test
TESTS += tests/analysis/heatmap_test
tests_analysis_heatmap_test_SOURCES = tests/analysis/heatmap_test.c tests/analysis/feed.h
tests_analysis_heatmap_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_heatmap_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/compile_test
TESTS += tests/analysis/compile_test
tests_analysis_compile_test_SOURCES = tests/analysis/compile_test.c $(analysis_given)
tests_analysis_compile_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_compile_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/kernels_test
TESTS += tests/analysis/kernels_test
tests_analysis_kernels_test_SOURCES = tests/analysis/kernels_test.c $(analysis_given)
tests_analysis_kernels_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_kernels_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/timeline_test
TESTS += tests/analysis/timeline_test
tests_analysis_timeline_test_SOURCES = tests/analysis/timeline_test.c tests/read/corpus.h \
	tests/flow/memory_run.h
tests_analysis_timeline_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_analysis_timeline_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
check_PROGRAMS += tests/analysis/hta_test
TESTS += tests/analysis/hta_test
tests_analysis_hta_test_SOURCES = tests/analysis/hta_test.c $(analysis_given)
tests_analysis_hta_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_hta_test_LDADD = libtpusight.a $(CMOCKA_LIBS)


check_PROGRAMS += tests/analysis/flame_test
TESTS += tests/analysis/flame_test
tests_analysis_flame_test_SOURCES = tests/analysis/flame_test.c tests/flow/memory_run.h
tests_analysis_flame_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) $(CMOCKA_CFLAGS)
tests_analysis_flame_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
