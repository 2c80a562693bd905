libtpusight_a_SOURCES += src/analysis/kit/advice.c
libtpusight_a_SOURCES += src/analysis/kit/advice.h
libtpusight_a_SOURCES += src/analysis/kit/cells.h
libtpusight_a_SOURCES += src/analysis/kit/needs.h
libtpusight_a_SOURCES += src/analysis/kit/peaks.h
libtpusight_a_SOURCES += src/analysis/kit/source.h
libtpusight_a_SOURCES += src/analysis/kit/table.h
