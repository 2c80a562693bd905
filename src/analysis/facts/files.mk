libtpusight_a_SOURCES += \
	src/analysis/facts/gaps.h src/analysis/facts/hta.h src/analysis/facts/kernels.h \
	src/analysis/facts/ops.h src/analysis/facts/time.h src/analysis/facts/timeline.h
