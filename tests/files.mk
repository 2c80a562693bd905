EXTRA_DIST +=
include tests/hw/files.mk
include tests/codec/files.mk
