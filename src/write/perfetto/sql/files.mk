# SPDX-License-Identifier: Apache-2.0
# The SQL package for queries of our traces, and a summary of a trace for CI that uses it: put into the program, and installed.
EXTRA_DIST += src/write/perfetto/sql/embed.sh
tpusightsqldir = $(pkgdatadir)/perfetto/tpusight
dist_tpusightsql_DATA = src/write/perfetto/sql/classes.sql src/write/perfetto/sql/findings.sql src/write/perfetto/sql/ops.sql \
	src/write/perfetto/sql/padding.sql src/write/perfetto/sql/rows.sql src/write/perfetto/sql/steps.sql
tpusightspecdir = $(pkgdatadir)/perfetto
dist_tpusightspec_DATA = src/write/perfetto/sql/tpusight.textproto

src/write/perfetto/sql_data.c: src/write/perfetto/sql/embed.sh $(dist_tpusightsql_DATA)
	$(AM_V_GEN)$(MKDIR_P) src/write/perfetto && \
	$(SHELL) $(srcdir)/src/write/perfetto/sql/embed.sh $(srcdir)/src/write/perfetto/sql >$@.new && mv -f $@.new $@
nodist_libtpusight_a_SOURCES += src/write/perfetto/sql_data.c
CLEANFILES += src/write/perfetto/sql_data.c
