libtpusight_a_SOURCES += \
	src/analysis/traffic/fusion.c src/analysis/traffic/fusion.h \
	src/analysis/traffic/fusion_chains.c src/analysis/traffic/fusion_pairs.c \
	src/analysis/traffic/fusion_reason.c src/analysis/traffic/memory.c \
	src/analysis/traffic/memory.h src/analysis/traffic/memory_layout.c \
	src/analysis/traffic/memory_report.c src/analysis/traffic/memory_upcast.c \
	src/analysis/traffic/remat.c src/analysis/traffic/remat.h \
	src/analysis/traffic/remat_module.c
