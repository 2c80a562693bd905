libtpusight_a_SOURCES += \
	src/hw/chips.c src/hw/chips.h \
	src/hw/roofline.c
