# SPDX-License-Identifier: MIT
# How programs and the tarball are built. What a test needs is in the build folder.
EXTRA_DIST += tests/build/same_tarball.sh tests/build/sbom.py

# What the release is made of, as CycloneDX.
.PHONY: sbom
sbom:
	$(AM_V_GEN)$(PYTHON) $(srcdir)/tests/build/sbom.py $(srcdir) >tpusight-$(PACKAGE_VERSION).cdx.json.new && \
	mv -f tpusight-$(PACKAGE_VERSION).cdx.json.new tpusight-$(PACKAGE_VERSION).cdx.json
CLEANFILES += tpusight-$(PACKAGE_VERSION).cdx.json
tests/build/sbom_test.log: bin/tpusight$(EXEEXT)
tests/build/notices_test.log: $(bin_PROGRAMS)
tests/build/hardening_test.log: $(bin_PROGRAMS)
tests/build/install_test.log: $(bin_PROGRAMS)
tests/build/lto_test.log: $(bin_PROGRAMS)
