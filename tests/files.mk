EXTRA_DIST += tests/layers.sh tests/circles.py
TESTS += tests/circles.py
include tests/base/files.mk
include tests/hw/files.mk
include tests/codec/files.mk
include tests/io/files.mk
include tests/result/files.mk
include tests/write/files.mk
include tests/compare/files.mk
include tests/flow/files.mk
include tests/analysis/files.mk
include tests/overlay/files.mk
include tests/copy/files.mk
include tests/cli/files.mk
include tests/data/files.mk
include tests/fixtures/files.mk
include tests/read/files.mk
include tests/model/files.mk
include tests/truth/files.mk
include tests/fuzz/files.mk
include tests/cases/files.mk
include tests/oom/files.mk
include tests/viewers/files.mk
include tests/live/files.mk
include tests/serve/files.mk
include tests/page/files.mk
include tests/python/files.mk
