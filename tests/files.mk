EXTRA_DIST +=
include tests/hw/files.mk
