libtpusight_a_SOURCES += \
	src/model/alloc_call.c src/model/alloc_call.h \
	src/model/async.c src/model/async.h \
	src/model/block.h \
	src/model/bucket.c src/model/bucket.h \
	src/model/cost.c src/model/cost.h src/model/cost_parts.h \
	src/model/cost_fusion.c src/model/cost_matmul.c src/model/cost_rules.c \
	src/model/host_event.c src/model/host_event.h \
	src/model/hlo.c src/model/hlo.h src/model/hlo_text.c \
	src/model/kernels.c src/model/kernels.h \
	src/model/launches.c src/model/launches.h \
	src/model/merged.c src/model/merged.h \
	src/model/nest.c src/model/nest.h \
	src/model/op_kind.c src/model/op_kind.h \
	src/model/op_work.c src/model/op_work.h \
	src/model/outline.c src/model/outline.h \
	src/model/plane_kind.c src/model/plane_kind.h \
	src/model/profile.c src/model/profile.h \
	src/model/step_pattern.c src/model/step_pattern.h \
	src/model/steps.h \
	src/model/sweep.c src/model/sweep.h \
	src/model/tally.c src/model/tally.h \
	src/model/trace_class.c src/model/trace_class.h \
	src/model/torch_event.c src/model/torch_event.h src/model/aten_names.c \
	src/model/torch_log.c src/model/torch_log.h \
	src/model/traffic.c src/model/traffic.h
