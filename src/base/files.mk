libtpusight_a_SOURCES += \
	src/base/arena.c src/base/arena.h \
	src/base/banned.h \
	src/base/buf.c src/base/buf.h \
	src/base/bytes.c src/base/bytes.h \
	src/base/check.h \
	src/base/closest.c src/base/closest.h \
	src/base/clock.c src/base/clock.h \
	src/base/map.c src/base/map.h \
	src/base/record.c src/base/record.h \
	src/base/siphash.c src/base/siphash.h \
	src/base/spans.c src/base/spans.h \
	src/base/status.c src/base/status.h \
	src/base/units.c src/base/units.h src/base/units_list.h \
	src/base/work.c src/base/work.h
