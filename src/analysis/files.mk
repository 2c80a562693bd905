libtpusight_a_SOURCES += \
	src/analysis/analysis.h src/analysis/list.h \
	src/analysis/ops.c \
	src/analysis/overview.c \
	src/analysis/rates.c \
	src/analysis/registry.c \
	src/analysis/time.c src/analysis/time.h src/analysis/time_report.c
