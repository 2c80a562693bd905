libtpusight_a_SOURCES += src/analysis/facts/capture.h
libtpusight_a_SOURCES += src/analysis/facts/custom_calls.h
libtpusight_a_SOURCES += src/analysis/facts/doctor.h
libtpusight_a_SOURCES += src/analysis/facts/gaps.h
libtpusight_a_SOURCES += src/analysis/facts/ops.h
libtpusight_a_SOURCES += src/analysis/facts/time.h
libtpusight_a_SOURCES += src/analysis/facts/padding.h
libtpusight_a_SOURCES += src/analysis/facts/systolic.h
