libtpusight_a_SOURCES += \
	src/overlay/tail.c \
	src/overlay/xplane.c src/overlay/xplane.h src/overlay/xspace.h
