libtpusight_a_SOURCES += \
	src/compare/rank.c src/compare/rank.h
