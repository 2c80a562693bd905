# A target per reader of foreign bytes. With --enable-fuzz (clang) they are libFuzzer programs for `make
# fuzz-smoke` and `make fuzz`; with any compiler the same targets replay their seeds in `make check`.
fuzz_targets = xplane chrome trace hlo shape overlay gunzip archive config pb pprof torch_trace copy live
fuzz_replays = tests/fuzz/xplane_replay \
	tests/fuzz/chrome_replay \
	tests/fuzz/trace_replay \
	tests/fuzz/hlo_replay \
	tests/fuzz/shape_replay \
	tests/fuzz/overlay_replay \
	tests/fuzz/gunzip_replay \
	tests/fuzz/archive_replay \
	tests/fuzz/config_replay \
	tests/fuzz/pb_replay \
	tests/fuzz/pprof_replay \
	tests/fuzz/torch_trace_replay \
	tests/fuzz/copy_replay \
	tests/fuzz/live_replay

check_PROGRAMS += $(fuzz_replays)
TESTS += $(fuzz_replays)
EXTRA_DIST += tests/base/rng.h tests/read/mutate.h tests/flow/memory_run.h tests/read/hlo_walk.h \
	tests/read/pprof_walk.h 	tests/fuzz/make_seeds.py tests/fuzz/fuzz.sh tests/fuzz/seeds
fuzz_cppflags = $(AM_CPPFLAGS) -DTS_SRCDIR='"$(srcdir)"'

tests_fuzz_xplane_replay_SOURCES = tests/fuzz/xplane.c tests/fuzz/replay.c
tests_fuzz_xplane_replay_CPPFLAGS = $(fuzz_cppflags) -DFUZZ_TARGET='"xplane"'
tests_fuzz_xplane_replay_LDADD = libtpusight.a
tests_fuzz_xplane_replay_LDFLAGS = $(AM_LDFLAGS)

tests_fuzz_chrome_replay_SOURCES = tests/fuzz/chrome.c tests/fuzz/replay.c
tests_fuzz_chrome_replay_CPPFLAGS = $(fuzz_cppflags) -DFUZZ_TARGET='"chrome"'
tests_fuzz_chrome_replay_LDADD = libtpusight.a
tests_fuzz_chrome_replay_LDFLAGS = $(AM_LDFLAGS)

tests_fuzz_trace_replay_SOURCES = tests/fuzz/trace.c tests/fuzz/replay.c
tests_fuzz_trace_replay_CPPFLAGS = $(fuzz_cppflags) -DFUZZ_TARGET='"trace"'
tests_fuzz_trace_replay_LDADD = libtpusight.a
tests_fuzz_trace_replay_LDFLAGS = $(AM_LDFLAGS)

tests_fuzz_hlo_replay_SOURCES = tests/fuzz/hlo.c tests/fuzz/replay.c
tests_fuzz_hlo_replay_CPPFLAGS = $(fuzz_cppflags) -DFUZZ_TARGET='"hlo"'
tests_fuzz_hlo_replay_LDADD = libtpusight.a
tests_fuzz_hlo_replay_LDFLAGS = $(AM_LDFLAGS)

tests_fuzz_shape_replay_SOURCES = tests/fuzz/shape.c tests/fuzz/replay.c
tests_fuzz_shape_replay_CPPFLAGS = $(fuzz_cppflags) -DFUZZ_TARGET='"shape"'
tests_fuzz_shape_replay_LDADD = libtpusight.a
tests_fuzz_shape_replay_LDFLAGS = $(AM_LDFLAGS)

tests_fuzz_overlay_replay_SOURCES = tests/fuzz/overlay.c tests/fuzz/replay.c
tests_fuzz_overlay_replay_CPPFLAGS = $(fuzz_cppflags) -DFUZZ_TARGET='"overlay"'
tests_fuzz_overlay_replay_LDADD = libtpusight.a
tests_fuzz_overlay_replay_LDFLAGS = $(AM_LDFLAGS)

tests_fuzz_gunzip_replay_SOURCES = tests/fuzz/gunzip.c tests/fuzz/replay.c
tests_fuzz_gunzip_replay_CPPFLAGS = $(fuzz_cppflags) -DFUZZ_TARGET='"gunzip"'
tests_fuzz_gunzip_replay_LDADD = libtpusight.a
tests_fuzz_gunzip_replay_LDFLAGS = $(AM_LDFLAGS)

tests_fuzz_archive_replay_SOURCES = tests/fuzz/archive.c tests/fuzz/replay.c
tests_fuzz_archive_replay_CPPFLAGS = $(fuzz_cppflags) -DFUZZ_TARGET='"archive"'
tests_fuzz_archive_replay_LDADD = libtpusight.a
tests_fuzz_archive_replay_LDFLAGS = $(AM_LDFLAGS)

tests_fuzz_config_replay_SOURCES = tests/fuzz/config.c tests/fuzz/replay.c src/cli/config.c
tests_fuzz_config_replay_CPPFLAGS = $(fuzz_cppflags) -DFUZZ_TARGET='"config"'
tests_fuzz_config_replay_LDADD = libtpusight.a
tests_fuzz_config_replay_LDFLAGS = $(AM_LDFLAGS)

tests_fuzz_pb_replay_SOURCES = tests/fuzz/pb.c tests/fuzz/replay.c
tests_fuzz_pb_replay_CPPFLAGS = $(fuzz_cppflags) -DFUZZ_TARGET='"pb"'
tests_fuzz_pb_replay_LDADD = libtpusight.a
tests_fuzz_pb_replay_LDFLAGS = $(AM_LDFLAGS)

tests_fuzz_pprof_replay_SOURCES = tests/fuzz/pprof.c tests/fuzz/replay.c
tests_fuzz_pprof_replay_CPPFLAGS = $(fuzz_cppflags) -DFUZZ_TARGET='"pprof"'
tests_fuzz_pprof_replay_LDADD = libtpusight.a
tests_fuzz_pprof_replay_LDFLAGS = $(AM_LDFLAGS)

tests_fuzz_torch_trace_replay_SOURCES = tests/fuzz/torch_trace.c tests/fuzz/replay.c
tests_fuzz_torch_trace_replay_CPPFLAGS = $(fuzz_cppflags) -DFUZZ_TARGET='"torch_trace"'
tests_fuzz_torch_trace_replay_LDADD = libtpusight.a
tests_fuzz_torch_trace_replay_LDFLAGS = $(AM_LDFLAGS)

tests_fuzz_copy_replay_SOURCES = tests/fuzz/copy.c tests/fuzz/replay.c tests/copy/trimmed.h
tests_fuzz_copy_replay_CPPFLAGS = $(fuzz_cppflags) -DFUZZ_TARGET='"copy"'
tests_fuzz_copy_replay_LDADD = libtpusight.a
tests_fuzz_copy_replay_LDFLAGS = $(AM_LDFLAGS)

tests_fuzz_live_replay_SOURCES = tests/fuzz/live.c tests/fuzz/replay.c
tests_fuzz_live_replay_CPPFLAGS = $(fuzz_cppflags) -DFUZZ_TARGET='"live"'
tests_fuzz_live_replay_LDADD = libtpusight.a
tests_fuzz_live_replay_LDFLAGS = $(AM_LDFLAGS)

FUZZ_SECONDS = 15
.PHONY: fuzz-smoke fuzz
if ENABLE_FUZZ
fuzz_programs = tests/fuzz/xplane_fuzz \
	tests/fuzz/chrome_fuzz \
	tests/fuzz/trace_fuzz \
	tests/fuzz/hlo_fuzz \
	tests/fuzz/shape_fuzz \
	tests/fuzz/overlay_fuzz \
	tests/fuzz/gunzip_fuzz \
	tests/fuzz/archive_fuzz \
	tests/fuzz/config_fuzz \
	tests/fuzz/pb_fuzz \
	tests/fuzz/pprof_fuzz \
	tests/fuzz/torch_trace_fuzz \
	tests/fuzz/copy_fuzz \
	tests/fuzz/live_fuzz
noinst_PROGRAMS = $(fuzz_programs)

tests_fuzz_xplane_fuzz_SOURCES = tests/fuzz/xplane.c
tests_fuzz_xplane_fuzz_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_xplane_fuzz_LDADD = libtpusight.a
tests_fuzz_xplane_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer

tests_fuzz_chrome_fuzz_SOURCES = tests/fuzz/chrome.c
tests_fuzz_chrome_fuzz_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_chrome_fuzz_LDADD = libtpusight.a
tests_fuzz_chrome_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer

tests_fuzz_trace_fuzz_SOURCES = tests/fuzz/trace.c
tests_fuzz_trace_fuzz_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_trace_fuzz_LDADD = libtpusight.a
tests_fuzz_trace_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer

tests_fuzz_hlo_fuzz_SOURCES = tests/fuzz/hlo.c
tests_fuzz_hlo_fuzz_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_hlo_fuzz_LDADD = libtpusight.a
tests_fuzz_hlo_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer

tests_fuzz_shape_fuzz_SOURCES = tests/fuzz/shape.c
tests_fuzz_shape_fuzz_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_shape_fuzz_LDADD = libtpusight.a
tests_fuzz_shape_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer

tests_fuzz_overlay_fuzz_SOURCES = tests/fuzz/overlay.c
tests_fuzz_overlay_fuzz_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_overlay_fuzz_LDADD = libtpusight.a
tests_fuzz_overlay_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer

tests_fuzz_gunzip_fuzz_SOURCES = tests/fuzz/gunzip.c
tests_fuzz_gunzip_fuzz_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_gunzip_fuzz_LDADD = libtpusight.a
tests_fuzz_gunzip_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer

tests_fuzz_archive_fuzz_SOURCES = tests/fuzz/archive.c
tests_fuzz_archive_fuzz_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_archive_fuzz_LDADD = libtpusight.a
tests_fuzz_archive_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer

tests_fuzz_config_fuzz_SOURCES = tests/fuzz/config.c src/cli/config.c
tests_fuzz_config_fuzz_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_config_fuzz_LDADD = libtpusight.a
tests_fuzz_config_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer

tests_fuzz_pb_fuzz_SOURCES = tests/fuzz/pb.c
tests_fuzz_pb_fuzz_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_pb_fuzz_LDADD = libtpusight.a
tests_fuzz_pb_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer

tests_fuzz_pprof_fuzz_SOURCES = tests/fuzz/pprof.c
tests_fuzz_pprof_fuzz_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_pprof_fuzz_LDADD = libtpusight.a
tests_fuzz_pprof_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer

tests_fuzz_torch_trace_fuzz_SOURCES = tests/fuzz/torch_trace.c
tests_fuzz_torch_trace_fuzz_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_torch_trace_fuzz_LDADD = libtpusight.a
tests_fuzz_torch_trace_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer

tests_fuzz_copy_fuzz_SOURCES = tests/fuzz/copy.c tests/copy/trimmed.h
tests_fuzz_copy_fuzz_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_copy_fuzz_LDADD = libtpusight.a
tests_fuzz_copy_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer

tests_fuzz_live_fuzz_SOURCES = tests/fuzz/live.c
tests_fuzz_live_fuzz_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_live_fuzz_LDADD = libtpusight.a
tests_fuzz_live_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer


fuzz-smoke: $(fuzz_programs)
	srcdir=$(srcdir) $(SHELL) $(srcdir)/tests/fuzz/fuzz.sh $(FUZZ_SECONDS) $(fuzz_targets)
fuzz: $(fuzz_programs)
	srcdir=$(srcdir) $(SHELL) $(srcdir)/tests/fuzz/fuzz.sh 600 $(fuzz_targets)
else
fuzz-smoke fuzz:
	@echo "fuzzing needs clang: ./configure CC=clang --enable-fuzz --enable-sanitize" >&2; exit 1
endif
