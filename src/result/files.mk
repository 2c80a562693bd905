libtpusight_a_SOURCES += \
	src/result/bins.c \
	src/result/levels.c \
	src/result/result.c \
	src/result/result.h \
	src/result/slices.c \
	src/result/table.c \
	src/result/view.c \
	src/result/view.h
