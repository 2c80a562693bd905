# SPDX-License-Identifier: MIT
# Schemas: our own subsets, compiled by protoc-c in the build tree. Only read/hlo/ sees that of modules; that of suggestions, which
# overlay/ writes without it, is for its test alone.
EXTRA_DIST += proto/hlo.proto proto/suggestion.proto
hlo_generated = proto/hlo.pb-c.c proto/hlo.pb-c.h
suggestion_generated = proto/suggestion.pb-c.c proto/suggestion.pb-c.h
nodist_libtpusight_a_SOURCES += $(hlo_generated)
tests_overlay_suggestions_test_SOURCES = tests/overlay/suggestions_test.c
nodist_tests_overlay_suggestions_test_SOURCES = $(suggestion_generated)
BUILT_SOURCES += $(hlo_generated) $(suggestion_generated)
CLEANFILES += $(hlo_generated) $(suggestion_generated)

proto/%.pb-c.c: proto/%.proto
	$(AM_V_GEN)$(MKDIR_P) proto && $(PROTOC_C) -I$(srcdir)/proto --c_out=proto $<
proto/%.pb-c.h: proto/%.pb-c.c
	@test -f $@ || { rm -f $<; $(MAKE) $(AM_MAKEFLAGS) $<; }
