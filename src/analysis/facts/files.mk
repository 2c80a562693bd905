libtpusight_a_SOURCES += src/analysis/facts/allocators.h
libtpusight_a_SOURCES += src/analysis/facts/capacity.h
libtpusight_a_SOURCES += src/analysis/facts/gaps.h
libtpusight_a_SOURCES += src/analysis/facts/heap.h
libtpusight_a_SOURCES += src/analysis/facts/memory_timeline.h
libtpusight_a_SOURCES += src/analysis/facts/ops.h
libtpusight_a_SOURCES += src/analysis/facts/time.h
