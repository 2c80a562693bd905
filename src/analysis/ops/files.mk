libtpusight_a_SOURCES += \
	src/analysis/ops/custom_calls.c src/analysis/ops/ops.c src/analysis/ops/rates.c \
	src/analysis/ops/roofline.c src/analysis/ops/roofline.h src/analysis/ops/roofline_row.c
