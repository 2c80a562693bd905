libtpusight_a_SOURCES += \
	src/compare/gate.c src/compare/gate.h \
	src/compare/rank.c src/compare/rank.h \
	src/compare/side.c src/compare/side.h
