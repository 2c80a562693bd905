libtpusight_a_SOURCES += src/analysis/facts/fusion.h
libtpusight_a_SOURCES += src/analysis/facts/gaps.h
libtpusight_a_SOURCES += src/analysis/facts/memory.h
libtpusight_a_SOURCES += src/analysis/facts/ops.h
libtpusight_a_SOURCES += src/analysis/facts/rates.h
libtpusight_a_SOURCES += src/analysis/facts/reason.h
libtpusight_a_SOURCES += src/analysis/facts/remat.h
libtpusight_a_SOURCES += src/analysis/facts/time.h
