libtpusight_a_SOURCES += \
	src/flow/annotate.c src/flow/annotate.h \
	src/flow/merge.c src/flow/merge.h \
	src/flow/outline.c src/flow/outline.h \
	src/flow/outline_steps.c src/flow/outline_steps.h \
	src/flow/pass.c src/flow/pass.h \
	src/flow/state.c src/flow/state.h \
	src/flow/stream.c src/flow/stream.h
libtpusight_a_SOURCES += src/flow/run.c src/flow/run.h \
	src/flow/trace.c src/flow/trace.h \
	src/flow/trace_pack.c src/flow/trace_pack.h \
	src/flow/trace_plan.c src/flow/trace_plan.h \
	src/flow/trace_row.c src/flow/trace_row.h \
	src/flow/trace_tracks.c src/flow/trace_tracks.h \
	src/flow/annotated.c src/flow/annotated.h
