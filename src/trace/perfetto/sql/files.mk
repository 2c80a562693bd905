# SPDX-License-Identifier: MIT
# The SQL package for queries of our traces, and a summary of a trace for CI that uses it: put into the program, and installed.
EXTRA_DIST += src/trace/perfetto/sql/embed.sh
tpusightsqldir = $(pkgdatadir)/perfetto/tpusight
dist_tpusightsql_DATA = src/trace/perfetto/sql/classes.sql src/trace/perfetto/sql/findings.sql src/trace/perfetto/sql/gaps.sql \
	src/trace/perfetto/sql/ops.sql src/trace/perfetto/sql/padding.sql src/trace/perfetto/sql/path.sql src/trace/perfetto/sql/rows.sql src/trace/perfetto/sql/steps.sql
tpusightspecdir = $(pkgdatadir)/perfetto
dist_tpusightspec_DATA = src/trace/perfetto/sql/tpusight.textproto

src/trace/perfetto/sql_data.c: src/trace/perfetto/sql/embed.sh $(dist_tpusightsql_DATA)
	$(AM_V_GEN)$(MKDIR_P) src/trace/perfetto && \
	$(SHELL) $(srcdir)/src/trace/perfetto/sql/embed.sh $(srcdir)/src/trace/perfetto/sql >$@.new && mv -f $@.new $@
nodist_libtpusight_a_SOURCES += src/trace/perfetto/sql_data.c
CLEANFILES += src/trace/perfetto/sql_data.c
