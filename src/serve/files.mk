libtpusight_a_SOURCES += \
	src/serve/answer.c src/serve/answer.h \
	src/serve/api.c src/serve/api.h \
	src/serve/reports.c src/serve/reports.h \
	src/serve/server.c src/serve/server.h
