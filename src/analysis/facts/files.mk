libtpusight_a_SOURCES += src/analysis/facts/gaps.h
libtpusight_a_SOURCES += src/analysis/facts/ops.h
libtpusight_a_SOURCES += src/analysis/facts/time.h
libtpusight_a_SOURCES += src/analysis/facts/cache.h
libtpusight_a_SOURCES += src/analysis/facts/compile.h
libtpusight_a_SOURCES += src/analysis/facts/compile_devices.h
