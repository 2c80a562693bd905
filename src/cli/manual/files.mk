# SPDX-License-Identifier: MIT
# Manual pages and completions: the program prints them. A tarball has them, no older than its sources, so that a program for
# another machine, which cannot run here, is installed with them. From a checkout MANUAL_BY names one of the same sources that runs.
MANUAL_BY = bin/tpusight$(EXEEXT)
manual_inputs = $(cli_sources) $(libtpusight_a_SOURCES)
manual_pages = $(shell sed -n 's/^\tX(\([a-z]*\)).*/manual\/tpusight-\1.1/p' $(srcdir)/src/cli/list.h)
bashcompdir = $(datadir)/bash-completion/completions
zshcompdir = $(datadir)/zsh/site-functions
fishcompdir = $(datadir)/fish/vendor_completions.d
dist_man1_MANS = manual/tpusight.1 $(manual_pages)
dist_bashcomp_DATA = manual/bash/tpusight manual/bash/tpusight-annotate
dist_zshcomp_DATA = manual/_tpusight
dist_fishcomp_DATA = manual/tpusight.fish manual/tpusight-annotate.fish
MAINTAINERCLEANFILES = $(dist_man1_MANS) $(dist_bashcomp_DATA) $(dist_zshcomp_DATA) $(dist_fishcomp_DATA)

print_manual = $(AM_V_GEN)$(MKDIR_P) $(@D) && $(MANUAL_BY) manual -o $@
$(dist_man1_MANS) $(dist_bashcomp_DATA) $(dist_zshcomp_DATA) $(dist_fishcomp_DATA): $(manual_inputs) | $(MANUAL_BY)
manual/tpusight.1:
	$(print_manual)
manual/tpusight-%.1:
	$(print_manual) $*
manual/bash/%:
	$(print_manual) --completion=bash
manual/_%:
	$(print_manual) --completion=zsh
manual/%.fish:
	$(print_manual) --completion=fish

# What the program prints of its schema stands in the sources: the page and the Python package are made without it.
# tests/house/glossary_test.py says when it is old.
EXTRA_DIST += src/cli/manual/pages.py
.PHONY: schema
schema: bin/tpusight$(EXEEXT)
	bin/tpusight schema -o $(srcdir)/docs/glossary.md
	bin/tpusight schema --format tables | $(PYTHON) $(srcdir)/src/cli/manual/pages.py $(srcdir)/docs/*.md $(srcdir)/docs/analyses/*/*.md
	bin/tpusight schema -o $(srcdir)/plugin/page/src/results.d.ts
	bin/tpusight schema -o $(srcdir)/plugin/tpusight/_results.pyi
