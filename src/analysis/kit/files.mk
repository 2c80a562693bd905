libtpusight_a_SOURCES += \
	src/analysis/kit/advice.c src/analysis/kit/advice.h \
	src/analysis/kit/cells.h src/analysis/kit/needs.h src/analysis/kit/table.h
libtpusight_a_SOURCES += src/analysis/kit/torch.c src/analysis/kit/torch.h
libtpusight_a_SOURCES += src/analysis/kit/keyed.c src/analysis/kit/keyed.h
libtpusight_a_SOURCES += src/analysis/kit/lists.c src/analysis/kit/lists.h
libtpusight_a_SOURCES += src/analysis/kit/source.h
