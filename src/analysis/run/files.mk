libtpusight_a_SOURCES += \
	src/analysis/run/capture.c src/analysis/run/capture.h src/analysis/run/capture_causes.c \
	src/analysis/run/overview.c
