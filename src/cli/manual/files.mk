# SPDX-License-Identifier: Apache-2.0
# Manual pages and completions. They are kept in docs/, so that a program for another machine, which cannot run here, is installed
# with them; `make manual` writes them anew, and tests/cli/manual_test.py says when they are old.
commands_with_pages = $(shell sed -n 's/^\tX(\([a-z]*\)).*/\1/p' $(srcdir)/src/cli/list.h)
bashcompdir = $(datadir)/bash-completion/completions
zshcompdir = $(datadir)/zsh/site-functions
fishcompdir = $(datadir)/fish/vendor_completions.d

.PHONY: manual
manual: bin/tpusight$(EXEEXT)
	rm -f $(srcdir)/docs/man/*.1 && $(MKDIR_P) $(srcdir)/docs/man $(srcdir)/docs/completions
	bin/tpusight manual -o $(srcdir)/docs/man/tpusight.1
	for name in $(commands_with_pages); do \
		bin/tpusight manual $$name -o $(srcdir)/docs/man/tpusight-$$name.1 || exit 1; done
	bin/tpusight manual --completion=bash -o $(srcdir)/docs/completions/tpusight.bash
	bin/tpusight manual --completion=zsh -o $(srcdir)/docs/completions/_tpusight
	bin/tpusight manual --completion=fish -o $(srcdir)/docs/completions/tpusight.fish

install-data-local:
	$(MKDIR_P) $(DESTDIR)$(mandir)/man1 $(DESTDIR)$(bashcompdir) $(DESTDIR)$(zshcompdir) $(DESTDIR)$(fishcompdir)
	$(INSTALL_DATA) $(srcdir)/docs/man/*.1 $(DESTDIR)$(mandir)/man1
	for name in tpusight tpusight-annotate; do \
		$(INSTALL_DATA) $(srcdir)/docs/completions/tpusight.bash $(DESTDIR)$(bashcompdir)/$$name && \
		$(INSTALL_DATA) $(srcdir)/docs/completions/tpusight.fish $(DESTDIR)$(fishcompdir)/$$name.fish || exit 1; done
	$(INSTALL_DATA) $(srcdir)/docs/completions/_tpusight $(DESTDIR)$(zshcompdir)

uninstall-local:
	cd $(srcdir)/docs/man && for page in *.1; do rm -f $(DESTDIR)$(mandir)/man1/$$page; done
	for name in tpusight tpusight-annotate; do \
		rm -f $(DESTDIR)$(bashcompdir)/$$name $(DESTDIR)$(fishcompdir)/$$name.fish; done
	rm -f $(DESTDIR)$(zshcompdir)/_tpusight
