EXTRA_DIST +=
include tests/hw/files.mk
include tests/codec/files.mk
include tests/io/files.mk
include tests/result/files.mk
include tests/write/files.mk
include tests/flow/files.mk
include tests/analysis/files.mk
