libtpusight_a_SOURCES += \
	src/analysis/compile/cache.c src/analysis/compile/cache.h \
	src/analysis/compile/cache_bucket.c src/analysis/compile/cache_family.c \
	src/analysis/compile/cache_match.c src/analysis/compile/cache_report.c \
	src/analysis/compile/cache_thread.c src/analysis/compile/compile.c \
	src/analysis/compile/compile.h src/analysis/compile/compile_breaks.c \
	src/analysis/compile/compile_devices.c src/analysis/compile/compile_fusion.c \
	src/analysis/compile/compile_log.c src/analysis/compile/compile_report.c \
	src/analysis/compile/compile_thread.c src/analysis/compile/compile_xla.c
