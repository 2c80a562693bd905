libtpusight_a_SOURCES += \
	src/analysis/draw/heatmap.c src/analysis/draw/marks.c src/analysis/draw/marks.h \
	src/analysis/draw/marks_labels.c
