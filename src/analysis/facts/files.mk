libtpusight_a_SOURCES += src/analysis/facts/gaps.h
libtpusight_a_SOURCES += src/analysis/facts/ops.h
libtpusight_a_SOURCES += src/analysis/facts/time.h
libtpusight_a_SOURCES += src/analysis/facts/padding.h
libtpusight_a_SOURCES += src/analysis/facts/systolic.h
libtpusight_a_SOURCES += src/analysis/facts/async.h
libtpusight_a_SOURCES += src/analysis/facts/collectives.h
libtpusight_a_SOURCES += src/analysis/facts/sparsecore.h
