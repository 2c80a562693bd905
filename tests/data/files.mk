sample_session = tests/data/sample/train_step_simulated/plugins/profile/2026_01_01_00_00_00
EXTRA_DIST += tests/data/README.md tests/data/sample_truth.json $(sample_session)/simulated-host.xplane.pb \
	tests/data/cpu_recompile.json tests/data/cpu_recompile.xplane.pb tests/data/cpu_steps.json \
	tests/data/cpu_steps.xplane.pb \
	tests/data/cpu_scopes.json tests/data/cpu_scopes.xplane.pb \
	tests/data/cpu_shapes.json tests/data/cpu_shapes.xplane.pb \
	tests/data/cpu_functions.json tests/data/cpu_functions.xplane.pb \
	tests/data/cpu_cache_cold.json tests/data/cpu_cache_cold.xplane.pb \
	tests/data/cpu_cache_warm.json tests/data/cpu_cache_warm.xplane.pb
planted = clean clean_prefetched clean_v5p collectives dominant_op gaps heads host_copies input layout_copies \
	padding recompiles remat ring slow_every_fifth slow_once small_ops two_hosts waits
EXTRA_DIST += $(planted:%=tests/data/planted/%.tar.gz) $(planted:%=tests/data/planted/%.json)
EXTRA_DIST += tests/data/traffic/libtpu.json tests/data/traffic/heads.hlo_proto.pb \
	tests/data/traffic/parts.hlo_proto.pb tests/data/traffic/steps.hlo_proto.pb \
	tests/data/traffic/turned.hlo_proto.pb tests/data/traffic/widened.hlo_proto.pb
EXTRA_DIST += tests/data/modules.tar.xz tests/data/pallas_v5e.hlo.pb tests/data/memory_profile.prof tests/data/memory_profile.json \
	tests/data/hand_made.pt.trace.json tests/data/hand_made_sync.pt.trace.json tests/data/torch_steps.json tests/data/hta_critical_path.json
torch = breaks stack old mode_eager mode_default mode_reduce-overhead mode_max-autotune
EXTRA_DIST += $(torch:%=tests/data/torch/%.pt.trace.json.gz) $(torch:%=tests/data/torch/%.json) \
	tests/data/torch/dedicated_log_torch_trace_breaks.log.gz
EXTRA_DIST += tests/data/torch_memory.pt.trace.json.gz tests/data/torch_memory.json \
	tests/data/torch_operators.pt.trace.json.gz tests/data/torch_operators.json tests/data/tracelens.json
resharded = hidden heads lookup parts columns_then_rows sequence sharded_weights
EXTRA_DIST += $(resharded:%=tests/data/resharding/%.hlo.pb) \
	$(resharded:%=tests/data/resharding/module_0000.jit_%.0000.before_spmd-partitioning.hlo.pb) \
	$(resharded:%=tests/data/resharding/module_0000.jit_%.0001.after_spmd-partitioning.hlo.pb)
