libtpusight_a_SOURCES += \
	src/compare/cells.c src/compare/compare.c src/compare/compare.h \
	src/compare/compile_modes.c src/compare/modes.h \
	src/compare/fair.c \
	src/compare/gate.c src/compare/gate.h \
	src/compare/match.c \
	src/compare/modules.c \
	src/compare/ops.c \
	src/compare/parts.h \
	src/compare/rank.c src/compare/rank.h \
	src/compare/measured.c src/compare/measured.h \
	src/compare/times.c
