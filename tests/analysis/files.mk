check_PROGRAMS += tests/analysis/matrix/padding_test tests/analysis/matrix/systolic_test
TESTS += tests/analysis/matrix/padding_test tests/analysis/matrix/systolic_test
tests_analysis_matrix_padding_test_SOURCES = tests/analysis/matrix/padding_test.c tests/analysis/feed.h
tests_analysis_matrix_padding_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_matrix_padding_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_analysis_matrix_systolic_test_SOURCES = tests/analysis/matrix/systolic_test.c tests/analysis/feed.h
tests_analysis_matrix_systolic_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_matrix_systolic_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/doctor/doctor_test tests/analysis/draw/marks_test tests/analysis/settings_test
TESTS += tests/analysis/doctor/doctor_test tests/analysis/draw/marks_test tests/analysis/settings_test
tests_analysis_doctor_doctor_test_SOURCES = tests/analysis/doctor/doctor_test.c tests/analysis/doctor/doctor_given.h
tests_analysis_doctor_doctor_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_doctor_doctor_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_analysis_draw_marks_test_SOURCES = tests/analysis/draw/marks_test.c tests/analysis/doctor/doctor_given.h
tests_analysis_draw_marks_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_draw_marks_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_analysis_settings_test_SOURCES = tests/analysis/settings_test.c tests/analysis/doctor/doctor_given.h
tests_analysis_settings_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_settings_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/time/time_test \
	tests/analysis/ops/ops_test \
	tests/analysis/run/overview_test \
	tests/analysis/ops/rates_test
TESTS += tests/analysis/time/time_test \
	tests/analysis/ops/ops_test \
	tests/analysis/run/overview_test \
	tests/analysis/ops/rates_test
analysis_given = tests/analysis/given.h tests/read/xplane_make.h tests/flow/memory_run.h
tests_analysis_time_time_test_SOURCES = tests/analysis/time/time_test.c $(analysis_given)
tests_analysis_time_time_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_time_time_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_analysis_ops_ops_test_SOURCES = tests/analysis/ops/ops_test.c $(analysis_given)
tests_analysis_ops_ops_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_ops_ops_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_analysis_run_overview_test_SOURCES = tests/analysis/run/overview_test.c $(analysis_given)
tests_analysis_run_overview_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_run_overview_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_analysis_ops_rates_test_SOURCES = tests/analysis/ops/rates_test.c $(analysis_given)
tests_analysis_ops_rates_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_ops_rates_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/ops/roofline_test
TESTS += tests/analysis/ops/roofline_test
tests_analysis_ops_roofline_test_SOURCES = tests/analysis/ops/roofline_test.c tests/analysis/feed.h
tests_analysis_ops_roofline_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_ops_roofline_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/ops/custom_calls_test
TESTS += tests/analysis/ops/custom_calls_test
tests_analysis_ops_custom_calls_test_SOURCES = tests/analysis/ops/custom_calls_test.c $(analysis_given)
tests_analysis_ops_custom_calls_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_ops_custom_calls_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/run/capture_test
TESTS += tests/analysis/run/capture_test
tests_analysis_run_capture_test_SOURCES = tests/analysis/run/capture_test.c $(analysis_given)
tests_analysis_run_capture_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_run_capture_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/waits/collectives_test
TESTS += tests/analysis/waits/collectives_test
tests_analysis_waits_collectives_test_SOURCES = tests/analysis/waits/collectives_test.c tests/analysis/feed.h
tests_analysis_waits_collectives_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_waits_collectives_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/traffic/fusion_test tests/analysis/doctor/rules/fusion_test
TESTS += tests/analysis/traffic/fusion_test tests/analysis/doctor/rules/fusion_test
tests_analysis_traffic_fusion_test_SOURCES = tests/analysis/traffic/fusion_test.c
tests_analysis_traffic_fusion_test_CPPFLAGS = $(AM_CPPFLAGS) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_analysis_traffic_fusion_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_analysis_doctor_rules_fusion_test_SOURCES = tests/analysis/doctor/rules/fusion_test.c tests/analysis/doctor/doctor_given.h
tests_analysis_doctor_rules_fusion_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_doctor_rules_fusion_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/doctor/doctor_kpis_test tests/analysis/doctor/doctor_places_test
TESTS += tests/analysis/doctor/doctor_kpis_test tests/analysis/doctor/doctor_places_test tests/analysis/doctor/snippets_test.py \
	tests/analysis/doctor/findings_test.py
EXTRA_DIST += tests/analysis/doctor/snippets_test.py tests/analysis/doctor/findings_test.py
tests_analysis_doctor_doctor_places_test_SOURCES = tests/analysis/doctor/doctor_places_test.c tests/analysis/doctor/doctor_given.h
tests_analysis_doctor_doctor_places_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_doctor_doctor_places_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_analysis_doctor_doctor_kpis_test_SOURCES = tests/analysis/doctor/doctor_kpis_test.c tests/analysis/doctor/doctor_given.h
tests_analysis_doctor_doctor_kpis_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_doctor_doctor_kpis_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
check_PROGRAMS += tests/analysis/time/gaps_test
TESTS += tests/analysis/time/gaps_test
tests_analysis_time_gaps_test_SOURCES = tests/analysis/time/gaps_test.c $(analysis_given)
tests_analysis_time_gaps_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_time_gaps_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/compile/cache_test tests/analysis/compile/cache_family_test
TESTS += tests/analysis/compile/cache_test tests/analysis/compile/cache_family_test
tests_analysis_compile_cache_test_SOURCES = tests/analysis/compile/cache_test.c $(analysis_given)
tests_analysis_compile_cache_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_compile_cache_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_analysis_compile_cache_family_test_SOURCES = tests/analysis/compile/cache_family_test.c
tests_analysis_compile_cache_family_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_compile_cache_family_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
check_PROGRAMS += tests/analysis/traffic/memory_test
TESTS += tests/analysis/traffic/memory_test
tests_analysis_traffic_memory_test_SOURCES = tests/analysis/traffic/memory_test.c tests/analysis/feed.h
tests_analysis_traffic_memory_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_traffic_memory_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/capacity/capacity_test tests/analysis/doctor/rules/capacity_test
TESTS += tests/analysis/capacity/capacity_test tests/analysis/doctor/rules/capacity_test
tests_analysis_capacity_capacity_test_SOURCES = tests/analysis/capacity/capacity_test.c tests/read/hlo_make.h
tests_analysis_capacity_capacity_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_capacity_capacity_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
tests_analysis_doctor_rules_capacity_test_SOURCES = tests/analysis/doctor/rules/capacity_test.c tests/analysis/doctor/doctor_given.h
tests_analysis_doctor_rules_capacity_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_doctor_rules_capacity_test_LDADD = libtpusight.a $(CMOCKA_LIBS)


check_PROGRAMS += tests/analysis/doctor/doctor_random_test
TESTS += tests/analysis/doctor/doctor_random_test
tests_analysis_doctor_doctor_random_test_SOURCES = tests/analysis/doctor/doctor_random_test.c tests/analysis/doctor/doctor_given.h
tests_analysis_doctor_doctor_random_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_doctor_doctor_random_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
check_PROGRAMS += tests/analysis/doctor/rules/traffic_test
TESTS += tests/analysis/doctor/rules/traffic_test
tests_analysis_doctor_rules_traffic_test_SOURCES = tests/analysis/doctor/rules/traffic_test.c tests/analysis/doctor/doctor_given.h
tests_analysis_doctor_rules_traffic_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_doctor_rules_traffic_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
check_PROGRAMS += tests/analysis/traffic/remat_test
TESTS += tests/analysis/traffic/remat_test
tests_analysis_traffic_remat_test_SOURCES = tests/analysis/traffic/remat_test.c tests/analysis/feed.h
tests_analysis_traffic_remat_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_traffic_remat_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/waits/async_test
TESTS += tests/analysis/waits/async_test
tests_analysis_waits_async_test_SOURCES = tests/analysis/waits/async_test.c tests/analysis/feed.h
tests_analysis_waits_async_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_waits_async_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
check_PROGRAMS += tests/analysis/capacity/allocators_test
TESTS += tests/analysis/capacity/allocators_test
tests_analysis_capacity_allocators_test_SOURCES = tests/analysis/capacity/allocators_test.c $(analysis_given)
tests_analysis_capacity_allocators_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_capacity_allocators_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/capacity/memory_timeline_test
TESTS += tests/analysis/capacity/memory_timeline_test
tests_analysis_capacity_memory_timeline_test_SOURCES = tests/analysis/capacity/memory_timeline_test.c $(analysis_given)
tests_analysis_capacity_memory_timeline_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_capacity_memory_timeline_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/waits/sparsecore_test
TESTS += tests/analysis/waits/sparsecore_test
tests_analysis_waits_sparsecore_test_SOURCES = tests/analysis/waits/sparsecore_test.c $(analysis_given)
tests_analysis_waits_sparsecore_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_waits_sparsecore_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/draw/heatmap_test
TESTS += tests/analysis/draw/heatmap_test
tests_analysis_draw_heatmap_test_SOURCES = tests/analysis/draw/heatmap_test.c tests/analysis/feed.h
tests_analysis_draw_heatmap_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_draw_heatmap_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/compile/compile_test
TESTS += tests/analysis/compile/compile_test
tests_analysis_compile_compile_test_SOURCES = tests/analysis/compile/compile_test.c $(analysis_given)
tests_analysis_compile_compile_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_compile_compile_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/gpu/kernels_test
TESTS += tests/analysis/gpu/kernels_test
tests_analysis_gpu_kernels_test_SOURCES = tests/analysis/gpu/kernels_test.c $(analysis_given)
tests_analysis_gpu_kernels_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_gpu_kernels_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/gpu/timeline_test
TESTS += tests/analysis/gpu/timeline_test
tests_analysis_gpu_timeline_test_SOURCES = tests/analysis/gpu/timeline_test.c tests/read/corpus.h \
	tests/flow/memory_run.h
tests_analysis_gpu_timeline_test_CPPFLAGS = $(AM_CPPFLAGS) -DTS_SRCDIR='"$(srcdir)"' $(CMOCKA_CFLAGS)
tests_analysis_gpu_timeline_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
check_PROGRAMS += tests/analysis/gpu/hta_test
TESTS += tests/analysis/gpu/hta_test
tests_analysis_gpu_hta_test_SOURCES = tests/analysis/gpu/hta_test.c $(analysis_given)
tests_analysis_gpu_hta_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_gpu_hta_test_LDADD = libtpusight.a $(CMOCKA_LIBS)


check_PROGRAMS += tests/analysis/gpu/flame_test
TESTS += tests/analysis/gpu/flame_test
tests_analysis_gpu_flame_test_SOURCES = tests/analysis/gpu/flame_test.c tests/flow/memory_run.h
tests_analysis_gpu_flame_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_gpu_flame_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/needs_test
TESTS += tests/analysis/needs_test
tests_analysis_needs_test_SOURCES = tests/analysis/needs_test.c
tests_analysis_needs_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_needs_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/analysis/kit/spread_test
TESTS += tests/analysis/kit/spread_test
tests_analysis_kit_spread_test_SOURCES = tests/analysis/kit/spread_test.c tests/base/rng.h
tests_analysis_kit_spread_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_analysis_kit_spread_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
