# SPDX-License-Identifier: MIT
# What findings advise, a Python file each: embed.sh makes C of all that it finds there, so that nothing lists them.
EXTRA_DIST += src/analysis/advice
advice_files = $(wildcard $(srcdir)/src/analysis/advice/*/*.py $(srcdir)/src/analysis/advice/*/*/*.py)

src/analysis/kit/advice_list.c: src/analysis/advice/embed.sh $(advice_files)
	$(AM_V_GEN)$(MKDIR_P) src/analysis/kit && \
	$(SHELL) $(srcdir)/src/analysis/advice/embed.sh $(srcdir)/src/analysis/advice >$@.new && mv -f $@.new $@
nodist_libtpusight_a_SOURCES += src/analysis/kit/advice_list.c
CLEANFILES += src/analysis/kit/advice_list.c
