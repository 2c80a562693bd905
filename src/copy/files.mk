libtpusight_a_SOURCES += \
	src/copy/events.c src/copy/events.h \
	src/copy/out.c src/copy/out.h \
	src/copy/pairs.c src/copy/pairs.h \
	src/copy/trim.c src/copy/trim.h \
	src/copy/trim_trace.c src/copy/trim_xplane.c
