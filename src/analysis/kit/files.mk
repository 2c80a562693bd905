libtpusight_a_SOURCES += \
	src/analysis/kit/advice.c src/analysis/kit/advice.h \
	src/analysis/kit/cells.h src/analysis/kit/needs.h src/analysis/kit/spread.c \
	src/analysis/kit/spread.h src/analysis/kit/table.h
libtpusight_a_SOURCES += src/analysis/kit/source.h
