# The interface; each family of analyses lists its own sources.
libtpusight_a_SOURCES += \
	src/analysis/analysis.h src/analysis/list.h src/analysis/registry.c \
	src/analysis/settings.c src/analysis/settings.h src/analysis/settings_list.h src/analysis/share.c
include src/analysis/facts/files.mk
include src/analysis/kit/files.mk
include src/analysis/advice/files.mk
include src/analysis/run/files.mk
include src/analysis/ops/files.mk
include src/analysis/time/files.mk
include src/analysis/matrix/files.mk
include src/analysis/traffic/files.mk
include src/analysis/capacity/files.mk
include src/analysis/waits/files.mk
include src/analysis/compile/files.mk
include src/analysis/gpu/files.mk
include src/analysis/doctor/files.mk
include src/analysis/draw/files.mk
