EXTRA_DIST += tests/cases

# The folder as it stands in the build tree comes along, with the logs of a check before it.
dist-hook:
	rm -f $(distdir)/tests/cases/*.log $(distdir)/tests/cases/*.trs

.PHONY: golden
golden: bin/tpusight bin/tpusight-annotate
	srcdir=$(srcdir) $(SHELL) $(srcdir)/tests/cases/run.sh --golden
