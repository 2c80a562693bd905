libtpusight_a_SOURCES += \
	src/codec/pb.c src/codec/pb.h
