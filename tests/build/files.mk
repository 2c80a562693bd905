# How programs and the tarball are built. What a test needs is in the build folder.
tests/build/hardening_test.log: $(bin_PROGRAMS)
