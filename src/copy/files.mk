libtpusight_a_SOURCES += \
	src/copy/names.c src/copy/names.h \
	src/copy/out.c src/copy/out.h \
	src/copy/pairs.c src/copy/pairs.h \
	src/copy/redact.h src/copy/redact_hlo.c src/copy/redact_json.c \
	src/copy/redact_trace.c src/copy/redact_xplane.c \
	src/copy/trim.c src/copy/trim.h \
	src/copy/trim_trace.c src/copy/trim_xplane.c \
	src/copy/words.c src/copy/words.h
