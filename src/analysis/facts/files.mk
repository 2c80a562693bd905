libtpusight_a_SOURCES += src/analysis/facts/gaps.h src/analysis/facts/ops.h src/analysis/facts/time.h
