# SPDX-License-Identifier: MIT
# What `tpusight explain` knows is made of the documents.
EXTRA_DIST += src/cli/explain/embed.sh
explained_pages = $(srcdir)/docs/words.md $(wildcard $(srcdir)/docs/analyses/*/*.md)

src/cli/explain/words.c: src/cli/explain/embed.sh $(explained_pages)
	$(AM_V_GEN)$(MKDIR_P) src/cli/explain && \
	$(SHELL) $(srcdir)/src/cli/explain/embed.sh $(srcdir)/docs >$@.new && mv -f $@.new $@
cli_made = src/cli/explain/words.c
nodist_bin_tpusight_SOURCES = $(cli_made)
nodist_bin_tpusight_annotate_SOURCES = $(cli_made)
CLEANFILES += $(cli_made)
