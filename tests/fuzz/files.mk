# SPDX-License-Identifier: MIT
# A target per reader of foreign bytes, from one source: NAME_replay runs its seeds in `make check`, with any compiler;
# NAME_fuzz is a libFuzzer program for `make fuzz-smoke` and `make fuzz` (--enable-fuzz, with clang).
fuzz_replays =
fuzz_programs =
fuzz_replays += tests/fuzz/xplane_replay
fuzz_programs += tests/fuzz/xplane_fuzz
tests_fuzz_xplane_replay_SOURCES = tests/fuzz/xplane.c tests/fuzz/replay.c
tests_fuzz_xplane_fuzz_SOURCES = tests/fuzz/xplane.c
fuzz_replays += tests/fuzz/chrome_replay
fuzz_programs += tests/fuzz/chrome_fuzz
tests_fuzz_chrome_replay_SOURCES = tests/fuzz/chrome.c tests/fuzz/replay.c
tests_fuzz_chrome_fuzz_SOURCES = tests/fuzz/chrome.c
fuzz_replays += tests/fuzz/trace_replay
fuzz_programs += tests/fuzz/trace_fuzz
tests_fuzz_trace_replay_SOURCES = tests/fuzz/trace.c tests/fuzz/replay.c
tests_fuzz_trace_fuzz_SOURCES = tests/fuzz/trace.c
fuzz_replays += tests/fuzz/hlo_replay
fuzz_programs += tests/fuzz/hlo_fuzz
tests_fuzz_hlo_replay_SOURCES = tests/fuzz/hlo.c tests/fuzz/replay.c
tests_fuzz_hlo_fuzz_SOURCES = tests/fuzz/hlo.c
fuzz_replays += tests/fuzz/shape_replay
fuzz_programs += tests/fuzz/shape_fuzz
tests_fuzz_shape_replay_SOURCES = tests/fuzz/shape.c tests/fuzz/replay.c
tests_fuzz_shape_fuzz_SOURCES = tests/fuzz/shape.c
fuzz_replays += tests/fuzz/overlay_replay
fuzz_programs += tests/fuzz/overlay_fuzz
tests_fuzz_overlay_replay_SOURCES = tests/fuzz/overlay.c tests/fuzz/replay.c
tests_fuzz_overlay_fuzz_SOURCES = tests/fuzz/overlay.c
fuzz_replays += tests/fuzz/gunzip_replay
fuzz_programs += tests/fuzz/gunzip_fuzz
tests_fuzz_gunzip_replay_SOURCES = tests/fuzz/gunzip.c tests/fuzz/replay.c
tests_fuzz_gunzip_fuzz_SOURCES = tests/fuzz/gunzip.c
fuzz_replays += tests/fuzz/archive_replay
fuzz_programs += tests/fuzz/archive_fuzz
tests_fuzz_archive_replay_SOURCES = tests/fuzz/archive.c tests/fuzz/replay.c
tests_fuzz_archive_fuzz_SOURCES = tests/fuzz/archive.c
fuzz_replays += tests/fuzz/config_replay
fuzz_programs += tests/fuzz/config_fuzz
tests_fuzz_config_replay_SOURCES = tests/fuzz/config.c tests/fuzz/replay.c src/cli/config.c
tests_fuzz_config_fuzz_SOURCES = tests/fuzz/config.c src/cli/config.c
fuzz_replays += tests/fuzz/card_replay
fuzz_programs += tests/fuzz/card_fuzz
tests_fuzz_card_replay_SOURCES = tests/fuzz/card.c tests/fuzz/replay.c
tests_fuzz_card_fuzz_SOURCES = tests/fuzz/card.c
fuzz_replays += tests/fuzz/query_replay
fuzz_programs += tests/fuzz/query_fuzz
tests_fuzz_query_replay_SOURCES = tests/fuzz/query.c tests/fuzz/replay.c
tests_fuzz_query_fuzz_SOURCES = tests/fuzz/query.c
fuzz_replays += tests/fuzz/slices_replay
fuzz_programs += tests/fuzz/slices_fuzz
tests_fuzz_slices_replay_SOURCES = tests/fuzz/slices.c tests/fuzz/replay.c
tests_fuzz_slices_fuzz_SOURCES = tests/fuzz/slices.c
fuzz_replays += tests/fuzz/pb_replay
fuzz_programs += tests/fuzz/pb_fuzz
tests_fuzz_pb_replay_SOURCES = tests/fuzz/pb.c tests/fuzz/replay.c
tests_fuzz_pb_fuzz_SOURCES = tests/fuzz/pb.c
fuzz_replays += tests/fuzz/riegeli_replay
fuzz_programs += tests/fuzz/riegeli_fuzz
tests_fuzz_riegeli_replay_SOURCES = tests/fuzz/riegeli.c tests/fuzz/replay.c
tests_fuzz_riegeli_fuzz_SOURCES = tests/fuzz/riegeli.c

fuzz_replays += tests/fuzz/pprof_replay
fuzz_programs += tests/fuzz/pprof_fuzz
tests_fuzz_pprof_replay_SOURCES = tests/fuzz/pprof.c tests/fuzz/replay.c
tests_fuzz_pprof_fuzz_SOURCES = tests/fuzz/pprof.c
fuzz_replays += tests/fuzz/torch_trace_replay
fuzz_programs += tests/fuzz/torch_trace_fuzz
tests_fuzz_torch_trace_replay_SOURCES = tests/fuzz/torch_trace.c tests/fuzz/replay.c
tests_fuzz_torch_trace_fuzz_SOURCES = tests/fuzz/torch_trace.c
fuzz_replays += tests/fuzz/copy_replay
fuzz_programs += tests/fuzz/copy_fuzz
tests_fuzz_copy_replay_SOURCES = tests/fuzz/copy.c tests/fuzz/replay.c
tests_fuzz_copy_fuzz_SOURCES = tests/fuzz/copy.c
fuzz_replays += tests/fuzz/live_replay
fuzz_programs += tests/fuzz/live_fuzz
tests_fuzz_live_replay_SOURCES = tests/fuzz/live.c tests/fuzz/replay.c
tests_fuzz_live_fuzz_SOURCES = tests/fuzz/live.c
fuzz_replays += tests/fuzz/state_replay
fuzz_programs += tests/fuzz/state_fuzz
tests_fuzz_state_replay_SOURCES = tests/fuzz/state.c tests/fuzz/replay.c
tests_fuzz_state_fuzz_SOURCES = tests/fuzz/state.c
fuzz_replays += tests/fuzz/hostile_states_replay
fuzz_programs += tests/fuzz/hostile_states_fuzz
tests_fuzz_hostile_states_replay_SOURCES = tests/fuzz/hostile_states.c tests/fuzz/replay.c
tests_fuzz_hostile_states_fuzz_SOURCES = tests/fuzz/hostile_states.c
fuzz_replays += tests/fuzz/mapped_replay
fuzz_programs += tests/fuzz/mapped_fuzz
tests_fuzz_mapped_replay_SOURCES = tests/fuzz/mapped.c tests/fuzz/replay.c
tests_fuzz_mapped_fuzz_SOURCES = tests/fuzz/mapped.c
fuzz_replays += tests/fuzz/remote_replay
fuzz_programs += tests/fuzz/remote_fuzz
tests_fuzz_remote_replay_SOURCES = tests/fuzz/remote.c tests/fuzz/replay.c
tests_fuzz_remote_fuzz_SOURCES = tests/fuzz/remote.c
# Whole commands, run in this process.
fuzz_replays += tests/fuzz/undo_replay
fuzz_programs += tests/fuzz/undo_fuzz
tests_fuzz_undo_replay_SOURCES = tests/fuzz/undo.c tests/fuzz/replay.c $(cli_sources)
nodist_tests_fuzz_undo_replay_SOURCES = $(cli_made)
tests_fuzz_undo_fuzz_SOURCES = tests/fuzz/undo.c $(cli_sources)
nodist_tests_fuzz_undo_fuzz_SOURCES = $(cli_made)
fuzz_replays += tests/fuzz/again_replay
fuzz_programs += tests/fuzz/again_fuzz
tests_fuzz_again_replay_SOURCES = tests/fuzz/again.c tests/fuzz/replay.c $(cli_sources)
nodist_tests_fuzz_again_replay_SOURCES = $(cli_made)
tests_fuzz_again_fuzz_SOURCES = tests/fuzz/again.c $(cli_sources)
nodist_tests_fuzz_again_fuzz_SOURCES = $(cli_made)
fuzz_replays += tests/fuzz/commands_replay
fuzz_programs += tests/fuzz/commands_fuzz
tests_fuzz_commands_replay_SOURCES = tests/fuzz/commands.c tests/fuzz/replay.c $(cli_sources)
nodist_tests_fuzz_commands_replay_SOURCES = $(cli_made)
tests_fuzz_commands_fuzz_SOURCES = tests/fuzz/commands.c $(cli_sources)
nodist_tests_fuzz_commands_fuzz_SOURCES = $(cli_made)
fuzz_replays += tests/fuzz/packed_replay
fuzz_programs += tests/fuzz/packed_fuzz
tests_fuzz_packed_replay_SOURCES = tests/fuzz/packed.c tests/fuzz/replay.c $(cli_sources)
nodist_tests_fuzz_packed_replay_SOURCES = $(cli_made)
tests_fuzz_packed_fuzz_SOURCES = tests/fuzz/packed.c $(cli_sources)
nodist_tests_fuzz_packed_fuzz_SOURCES = $(cli_made)
# Our readers held against others': zlib's, cJSON's, and classes generated from the formats' schemas.
fuzz_replays += tests/fuzz/gunzip_zlib_replay
fuzz_programs += tests/fuzz/gunzip_zlib_fuzz
tests_fuzz_gunzip_zlib_replay_SOURCES = tests/fuzz/gunzip_zlib.c tests/fuzz/replay.c
tests_fuzz_gunzip_zlib_fuzz_SOURCES = tests/fuzz/gunzip_zlib.c
fuzz_replays += tests/fuzz/json_cjson_replay
fuzz_programs += tests/fuzz/json_cjson_fuzz
tests_fuzz_json_cjson_replay_SOURCES = tests/fuzz/json_cjson.c tests/fuzz/replay.c
tests_fuzz_json_cjson_fuzz_SOURCES = tests/fuzz/json_cjson.c
fuzz_replays += tests/fuzz/xplane_classes_replay
fuzz_programs += tests/fuzz/xplane_classes_fuzz
tests_fuzz_xplane_classes_replay_SOURCES = tests/fuzz/xplane_classes.c tests/fuzz/replay.c
tests_fuzz_xplane_classes_fuzz_SOURCES = tests/fuzz/xplane_classes.c
nodist_tests_fuzz_xplane_classes_replay_SOURCES = tests/fuzz/xspace.pb-c.c
nodist_tests_fuzz_xplane_classes_fuzz_SOURCES = tests/fuzz/xspace.pb-c.c
tests/fuzz/xplane_classes.$(OBJEXT): tests/fuzz/xspace.pb-c.c
fuzz_replays += tests/fuzz/pprof_classes_replay
fuzz_programs += tests/fuzz/pprof_classes_fuzz
tests_fuzz_pprof_classes_replay_SOURCES = tests/fuzz/pprof_classes.c tests/fuzz/replay.c
tests_fuzz_pprof_classes_fuzz_SOURCES = tests/fuzz/pprof_classes.c
nodist_tests_fuzz_pprof_classes_replay_SOURCES = tests/fuzz/pprof.pb-c.c
nodist_tests_fuzz_pprof_classes_fuzz_SOURCES = tests/fuzz/pprof.pb-c.c
tests/fuzz/pprof_classes.$(OBJEXT): tests/fuzz/pprof.pb-c.c
fuzz_schemas = tests/fuzz/xspace.proto tests/fuzz/pprof.proto
tests/fuzz/%.pb-c.c: tests/fuzz/%.proto
	$(AM_V_GEN)$(MKDIR_P) tests/fuzz && $(PROTOC_C) -I$(srcdir)/tests/fuzz --c_out=tests/fuzz $<
EXTRA_DIST += $(fuzz_schemas)
CLEANFILES += $(fuzz_schemas:.proto=.pb-c.c) $(fuzz_schemas:.proto=.pb-c.h)
EXTRA_PROGRAMS += $(fuzz_programs)
CLEANFILES += $(fuzz_programs:=.log)
EXTRA_DIST += tests/fuzz/make_seeds.py tests/fuzz/fuzz.sh tests/fuzz/inputs.sh tests/fuzz/campaign.sh tests/fuzz/seeds tests/fuzz/dict \
	tests/fuzz/oss-fuzz

# How inputs are changed; a target names its mutator in one line (tests/fuzz/mutate/mutator.h).
EXTRA_LIBRARIES += tests/fuzz/libmutate.a
tests_fuzz_libmutate_a_SOURCES = tests/fuzz/mutate/default.c tests/fuzz/mutate/hlo.c tests/fuzz/mutate/hook.c \
	tests/fuzz/mutate/json.c tests/fuzz/mutate/proto.c tests/fuzz/mutate/tar.c tests/fuzz/mutate/tree.c tests/fuzz/mutate/wrap.c
mutating = $(fuzz_replays) $(fuzz_programs) tests/fuzz/mutate/mutate_test$(EXEEXT)
$(mutating): mutators = tests/fuzz/libmutate.a
$(mutating): tests/fuzz/libmutate.a

FUZZ_SECONDS = 10
fuzz_targets = $(fuzz_replays:tests/fuzz/%_replay=%)
.PHONY: fuzz-smoke fuzz
if ENABLE_FUZZ
$(fuzz_programs): AM_LDFLAGS += -fsanitize=fuzzer
fuzz-smoke: $(fuzz_programs)
	srcdir=$(srcdir) $(SHELL) $(srcdir)/tests/fuzz/fuzz.sh $(FUZZ_SECONDS) $(fuzz_targets)
fuzz: $(fuzz_programs)
	srcdir=$(srcdir) $(SHELL) $(srcdir)/tests/fuzz/fuzz.sh 600 $(fuzz_targets)
else
fuzz-smoke fuzz:
	@echo "fuzzing needs clang: ./configure CC=clang --enable-fuzz --enable-sanitize" >&2; exit 1
endif
