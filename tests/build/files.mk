# How programs and the tarball are built. What a test needs is in the build folder.
EXTRA_DIST += tests/build/same_tarball.sh
tests/build/hardening_test.log: $(bin_PROGRAMS)
