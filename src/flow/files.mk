libtpusight_a_SOURCES += \
	src/flow/outline.c src/flow/outline.h \
	src/flow/pass.c src/flow/pass.h \
	src/flow/stream.c src/flow/stream.h
