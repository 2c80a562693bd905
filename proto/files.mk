# SPDX-License-Identifier: Apache-2.0
# Schemas: our own subsets, compiled by protoc-c in the build tree. Only read/ and overlay/ see them.
protos = proto/hlo.proto proto/suggestion.proto
EXTRA_DIST += $(protos)
proto_generated = proto/hlo.pb-c.c proto/hlo.pb-c.h proto/suggestion.pb-c.c proto/suggestion.pb-c.h
nodist_libtpusight_a_SOURCES += $(proto_generated)
BUILT_SOURCES += $(proto_generated)
CLEANFILES += $(proto_generated)

proto/%.pb-c.c: proto/%.proto
	$(AM_V_GEN)$(MKDIR_P) proto && $(PROTOC_C) -I$(srcdir)/proto --c_out=proto $<
proto/%.pb-c.h: proto/%.pb-c.c
	@test -f $@ || { rm -f $<; $(MAKE) $(AM_MAKEFLAGS) $<; }
