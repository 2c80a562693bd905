libtpusight_a_SOURCES += \
	src/analysis/doctor/copies.c src/analysis/doctor/doctor.c src/analysis/doctor/doctor.h src/analysis/doctor/facts.c \
	src/analysis/doctor/health.c src/analysis/doctor/hosts.c src/analysis/doctor/kpis.c src/analysis/doctor/launches.c \
	src/analysis/doctor/places.c src/analysis/doctor/report.c src/analysis/doctor/rules/async.c \
	src/analysis/doctor/rules/capacity.c src/analysis/doctor/rules/capture.c \
	src/analysis/doctor/rules/collectives.c src/analysis/doctor/rules/compile.c \
	src/analysis/doctor/rules/fusion.c src/analysis/doctor/rules/host.c \
	src/analysis/doctor/rules/hta.c src/analysis/doctor/rules/kernels.c \
	src/analysis/doctor/rules/matrix.c src/analysis/doctor/rules/memory.c \
	src/analysis/doctor/rules/sparsecore.c src/analysis/doctor/rules/steps.c \
	src/analysis/doctor/rules/time.c src/analysis/doctor/rules/torch_compile.c \
	src/analysis/doctor/rules/torch_memory.c src/analysis/doctor/rules/traffic.c \
	src/analysis/doctor/rules/transfers.c src/analysis/doctor/select.c \
	src/analysis/doctor/waits.c src/analysis/doctor/words.c
