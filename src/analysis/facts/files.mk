libtpusight_a_SOURCES += src/analysis/facts/gaps.h
libtpusight_a_SOURCES += src/analysis/facts/hta.h
libtpusight_a_SOURCES += src/analysis/facts/kernels.h
libtpusight_a_SOURCES += src/analysis/facts/ops.h
libtpusight_a_SOURCES += src/analysis/facts/time.h
libtpusight_a_SOURCES += src/analysis/facts/timeline.h
