unit_tests += tests/analysis/needs_test
unit_tests += tests/analysis/settings_test
unit_tests += tests/analysis/states_test
EXTRA_DIST += tests/analysis/facts_given.h
EXTRA_DIST += tests/analysis/feed.h
EXTRA_DIST += tests/analysis/given.h
include tests/analysis/run/files.mk
include tests/analysis/ops/files.mk
include tests/analysis/time/files.mk
include tests/analysis/matrix/files.mk
include tests/analysis/traffic/files.mk
include tests/analysis/capacity/files.mk
include tests/analysis/waits/files.mk
include tests/analysis/compile/files.mk
include tests/analysis/gpu/files.mk
include tests/analysis/doctor/files.mk
include tests/analysis/draw/files.mk
