libtpusight_a_SOURCES += \
	src/analysis/matrix/padding.c src/analysis/matrix/padding.h \
	src/analysis/matrix/padding_advice.c src/analysis/matrix/padding_arrays.c \
	src/analysis/matrix/padding_bytes.c src/analysis/matrix/systolic.c \
	src/analysis/matrix/systolic.h src/analysis/matrix/systolic_flops.c \
	src/analysis/matrix/systolic_ops.c src/analysis/matrix/systolic_sums.c
