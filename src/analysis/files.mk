libtpusight_a_SOURCES += \
	src/analysis/allocators.c \
	src/analysis/analysis.h src/analysis/cells.h src/analysis/list.h \
	src/analysis/cache.c src/analysis/cache.h src/analysis/cache_bucket.c \
	src/analysis/cache_family.c src/analysis/cache_match.c src/analysis/cache_report.c \
	src/analysis/cache_thread.c \
	src/analysis/capture.c src/analysis/capture.h \
	src/analysis/capture_causes.c src/analysis/capture_fixes.c src/analysis/capture_fixes_torch.c \
	src/analysis/capacity.c src/analysis/capacity.h src/analysis/capacity_assigned.c \
	src/analysis/capacity_join.c src/analysis/capacity_live.c src/analysis/capacity_live.h \
	src/analysis/capacity_peak.c src/analysis/capacity_rows.c src/analysis/capacity_sites.c \
	src/analysis/collectives.c src/analysis/collectives.h \
	src/analysis/collectives_groups.c \
	src/analysis/collectives_op.c src/analysis/collectives_report.c src/analysis/collectives_skew.c \
	src/analysis/compile.c src/analysis/compile.h src/analysis/compile_breaks.c \
	src/analysis/compile_devices.c \
	src/analysis/compile_fusion.c src/analysis/compile_log.c \
	src/analysis/compile_report.c src/analysis/compile_thread.c src/analysis/compile_xla.c \
	src/analysis/custom_calls.c \
	src/analysis/flame.c src/analysis/flame.h src/analysis/flame_links.c \
	src/analysis/flame_names.c \
	src/analysis/flame_report.c src/analysis/flame_scopes.c src/analysis/flame_tree.c \
	src/analysis/fusion.c src/analysis/fusion.h \
	src/analysis/heatmap.c \
	src/analysis/fusion_chains.c src/analysis/fusion_pairs.c src/analysis/fusion_reason.c \
	src/analysis/async.c src/analysis/async.h src/analysis/async_cover.c src/analysis/async_report.c \
	src/analysis/gaps.c src/analysis/gaps.h src/analysis/gaps_report.c \
	src/analysis/memory_timeline.c src/analysis/memory_timeline.h \
	src/analysis/memory_timeline_blocks.c src/analysis/memory_timeline_owner.c \
	src/analysis/memory_timeline_holders.c src/analysis/memory_timeline_rows.c \
	src/analysis/hta.c src/analysis/hta.h src/analysis/hta_collectives.c \
	src/analysis/hta_launches.c src/analysis/hta_queue.c \
	src/analysis/hta_report.c src/analysis/hta_rows.c src/analysis/hta_sequences.c \
	src/analysis/hta_stats.c src/analysis/hta_times.c \
	src/analysis/kernels.c src/analysis/kernels.h \
	src/analysis/kernels_launch.c src/analysis/kernels_report.c \
	src/analysis/memory.c src/analysis/memory.h \
	src/analysis/memory_layout.c src/analysis/memory_report.c src/analysis/memory_upcast.c \
	src/analysis/ops.c \
	src/analysis/overview.c \
	src/analysis/padding.c src/analysis/padding.h \
	src/analysis/padding_advice.c \
	src/analysis/padding_arrays.c \
	src/analysis/rates.c \
	src/analysis/registry.c \
	src/analysis/remat.c src/analysis/remat.h src/analysis/remat_module.c \
	src/analysis/roofline.c src/analysis/roofline.h src/analysis/roofline_rows.c \
	src/analysis/sparsecore.c src/analysis/sparsecore.h \
	src/analysis/sparsecore_links.c src/analysis/sparsecore_report.c \
	src/analysis/systolic.c src/analysis/systolic.h \
	src/analysis/systolic_ops.c \
	src/analysis/systolic_sums.c \
	src/analysis/time.c src/analysis/time.h src/analysis/time_report.c \
	src/analysis/time_outliers.c src/analysis/time_steps.c \
	src/analysis/timeline.c src/analysis/timeline.h \
	src/analysis/timeline_report.c src/analysis/timeline_steps.c
libtpusight_a_SOURCES += \
	src/analysis/doctor/advice.c src/analysis/doctor/advice_torch.c \
	src/analysis/doctor/doctor.c src/analysis/doctor/doctor.h \
	src/analysis/doctor/facts.c src/analysis/doctor/health.c src/analysis/doctor/hosts.c \
	src/analysis/doctor/kpis.c src/analysis/doctor/places.c src/analysis/doctor/select.c \
	src/analysis/doctor/rules_async.c src/analysis/doctor/rules_sparsecore.c \
	src/analysis/doctor/rules_capture.c src/analysis/doctor/rules_fusion.c \
	src/analysis/doctor/rules_collectives.c src/analysis/doctor/rules_compile.c \
	src/analysis/doctor/rules_capacity.c src/analysis/doctor/rules_hta.c src/analysis/doctor/rules_kernels.c \
	src/analysis/doctor/rules_host.c src/analysis/doctor/rules_matrix.c \
	src/analysis/doctor/rules_memory.c src/analysis/doctor/rules_traffic.c src/analysis/doctor/rules_steps.c src/analysis/doctor/rules_time.c \
	src/analysis/doctor/rules_torch_compile.c src/analysis/doctor/rules_torch_memory.c src/analysis/doctor/rules_transfers.c \
	src/analysis/marks.c src/analysis/marks_labels.c src/analysis/marks.h \
	src/analysis/share.c \
	src/analysis/settings.c
