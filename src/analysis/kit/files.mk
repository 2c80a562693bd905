libtpusight_a_SOURCES += \
	src/analysis/kit/cells.h
