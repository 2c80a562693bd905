TESTS += tests/cases/run.sh
EXTRA_DIST += tests/cases

.PHONY: golden
golden: bin/tpusight bin/tpusight-annotate
	srcdir=$(srcdir) $(SHELL) $(srcdir)/tests/cases/run.sh --golden
