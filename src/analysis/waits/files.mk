libtpusight_a_SOURCES += \
	src/analysis/waits/async.c src/analysis/waits/async.h src/analysis/waits/async_cover.c \
	src/analysis/waits/async_facts.c src/analysis/waits/async_report.c \
	src/analysis/waits/collectives.c src/analysis/waits/collectives.h \
	src/analysis/waits/collectives_facts.c src/analysis/waits/collectives_groups.c \
	src/analysis/waits/collectives_op.c src/analysis/waits/collectives_report.c \
	src/analysis/waits/collectives_skew.c src/analysis/waits/sparsecore.c \
	src/analysis/waits/sparsecore.h src/analysis/waits/sparsecore_facts.c \
	src/analysis/waits/sparsecore_links.c src/analysis/waits/sparsecore_report.c
