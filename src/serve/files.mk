libtpusight_a_SOURCES += \
	src/serve/answer.c src/serve/answer.h \
	src/serve/api.c src/serve/api.h \
	src/serve/latest.c src/serve/latest.h \
	src/serve/news.c src/serve/news.h \
	src/serve/reports.c src/serve/reports.h \
	src/serve/server.c src/serve/server.h
