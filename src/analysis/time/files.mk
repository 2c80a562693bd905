libtpusight_a_SOURCES += \
	src/analysis/time/gaps.c src/analysis/time/gaps.h src/analysis/time/gaps_report.c \
	src/analysis/time/time.c src/analysis/time/time.h src/analysis/time/time_facts.c \
	src/analysis/time/time_outliers.c src/analysis/time/time_report.c \
	src/analysis/time/time_slow.c src/analysis/time/time_spread.c src/analysis/time/time_steps.c
