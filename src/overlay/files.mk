libtpusight_a_SOURCES += \
	src/overlay/apply.c src/overlay/apply.h \
	src/overlay/cache.c src/overlay/cache.h \
	src/overlay/copy.c \
	src/overlay/report.c \
	src/overlay/suggestions.c src/overlay/suggestions.h \
	src/overlay/tail.c \
	src/overlay/trace.c \
	src/overlay/work.c src/overlay/work.h \
	src/overlay/xplane.c src/overlay/xplane.h src/overlay/xspace.h
