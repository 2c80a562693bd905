libtpusight_a_SOURCES += \
	src/analysis/capacity/allocators.c src/analysis/capacity/capacity.c \
	src/analysis/capacity/capacity.h src/analysis/capacity/capacity_assigned.c \
	src/analysis/capacity/capacity_donate.c src/analysis/capacity/capacity_facts.c \
	src/analysis/capacity/capacity_join.c src/analysis/capacity/capacity_lines.c \
	src/analysis/capacity/capacity_peak.c src/analysis/capacity/capacity_ranges.c \
	src/analysis/capacity/capacity_ranges.h src/analysis/capacity/capacity_report.c \
	src/analysis/capacity/capacity_sites.c \
	src/analysis/capacity/memory_timeline.c src/analysis/capacity/memory_timeline.h \
	src/analysis/capacity/memory_timeline_blocks.c \
	src/analysis/capacity/memory_timeline_holders.c \
	src/analysis/capacity/memory_timeline_owner.c \
	src/analysis/capacity/memory_timeline_report.c
