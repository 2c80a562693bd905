libtpusight_a_SOURCES += \
	src/codec/csv.c src/codec/csv.h \
	src/codec/html.c src/codec/html.h \
	src/codec/json.c src/codec/json.h \
	src/codec/jtok.c src/codec/jtok.h \
	src/codec/pb.c src/codec/pb.h \
	src/codec/pbw.c src/codec/pbw.h \
	src/codec/record.c src/codec/record.h \
	src/codec/term.c src/codec/term.h \
	src/codec/utf8.c src/codec/utf8.h \
	src/codec/xspace.h
