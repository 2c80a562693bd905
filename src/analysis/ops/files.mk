libtpusight_a_SOURCES += src/analysis/ops/custom_calls.c
libtpusight_a_SOURCES += src/analysis/ops/ops.c
libtpusight_a_SOURCES += src/analysis/ops/rates.c
libtpusight_a_SOURCES += src/analysis/ops/roofline.c
libtpusight_a_SOURCES += src/analysis/ops/roofline.h
libtpusight_a_SOURCES += src/analysis/ops/roofline_report.c
libtpusight_a_SOURCES += src/analysis/ops/roofline_row.c
