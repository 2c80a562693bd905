# SPDX-License-Identifier: MIT
# The licence, and the notices of what others made: `tpusight --licenses` prints them, and they are installed as one text.
EXTRA_DIST += LICENSE SECURITY.md notices
notices_inputs = $(srcdir)/notices/text.sh $(srcdir)/notices/list $(srcdir)/LICENSE $(wildcard $(srcdir)/notices/*.txt)

src/cli/notices.c: $(notices_inputs)
	$(AM_V_GEN)$(MKDIR_P) src/cli && $(SHELL) $(srcdir)/notices/text.sh --c >$@.new && mv -f $@.new $@
cli_made += src/cli/notices.c

THIRD-PARTY-NOTICES: $(notices_inputs)
	$(AM_V_GEN)$(SHELL) $(srcdir)/notices/text.sh >$@.new && mv -f $@.new $@
dist_doc_DATA = LICENSE NEWS README.md
nodist_doc_DATA = THIRD-PARTY-NOTICES
CLEANFILES += THIRD-PARTY-NOTICES
