libtpusight_a_SOURCES += \
	src/analysis/gpu/flame.c src/analysis/gpu/flame.h src/analysis/gpu/flame_links.c \
	src/analysis/gpu/flame_names.c src/analysis/gpu/flame_report.c \
	src/analysis/gpu/flame_scopes.c src/analysis/gpu/flame_tree.c src/analysis/gpu/hta.c \
	src/analysis/gpu/hta.h src/analysis/gpu/hta_collectives.c \
	src/analysis/gpu/hta_collectives_report.c src/analysis/gpu/hta_facts.c \
	src/analysis/gpu/hta_kernels_report.c src/analysis/gpu/hta_launches.c \
	src/analysis/gpu/hta_launches_report.c src/analysis/gpu/hta_queue.c \
	src/analysis/gpu/hta_report.c src/analysis/gpu/hta_sequences.c \
	src/analysis/gpu/hta_state.c src/analysis/gpu/hta_times.c src/analysis/gpu/kernels.c \
	src/analysis/gpu/kernels.h src/analysis/gpu/kernels_launch.c \
	src/analysis/gpu/kernels_report.c src/analysis/gpu/timeline.c src/analysis/gpu/timeline.h \
	src/analysis/gpu/timeline_report.c src/analysis/gpu/timeline_state.c \
	src/analysis/gpu/timeline_steps.c
