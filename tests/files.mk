# SPDX-License-Identifier: MIT
# ./bootstrap lists the tests that there are (tests/lists.mk): NAME_test.c is a program, linked with the library and
# cmocka; NAME_test.py and NAME_test.sh are scripts. The files.mk of a folder has what more a test needs. A program is
# built when its test runs, so that `make check TESTS=tests/base/map_test` builds this one alone. TS_TEST='a_name*' runs
# some tests of a program.
unit_tests =
script_tests = tests/cases/run.sh tests/circles.py tests/names.py tests/layers.sh
TEST_EXTENSIONS = .py
PY_LOG_COMPILER = $(PYTHON)
LOG_DRIVER = $(SHELL) $(srcdir)/tests/driver.sh $(srcdir)/build-aux/test-driver
PY_LOG_DRIVER = $(LOG_DRIVER)
EXTRA_DIST += tests/driver.sh tests/slowest.sh tests/longest tests/coverage.sh tests/copy/library_names.py

# What all programs of tests are linked with; those that have a main() of their own take none of the first.
LDADD = $(cmocka_main) $(mutators) libtpusight.a $(CMOCKA_LIBS)
mutators =
EXTRA_LIBRARIES = tests/libmain.a
tests_libmain_a_SOURCES = tests/main.c
if HAVE_CMOCKA
cmocka_main = tests/libmain.a
endif

include tests/lists.mk
include tests/oom/files.mk
include tests/build/files.mk
include tests/faults/files.mk
include tests/cli/files.mk
include tests/data/files.mk
include tests/house/files.mk
include tests/fixtures/files.mk
include tests/truth/files.mk
include tests/fuzz/files.mk
include tests/cases/files.mk
include tests/viewers/files.mk
include tests/limits/files.mk
include tests/live/files.mk
include tests/packaging/files.mk
include tests/page/files.mk
include tests/pod/files.mk
include tests/python/files.mk
include tests/remote/files.mk
include tests/threads/files.mk

EXTRA_DIST += $(script_tests)
EXTRA_PROGRAMS += $(unit_tests) $(fuzz_replays)
CLEANFILES += $(EXTRA_PROGRAMS)
TESTS += $(script_tests) $(fuzz_replays)
if HAVE_CMOCKA
TESTS += $(unit_tests)
else
check-local:
	@echo "the unit tests are left out: cmocka is not installed (Debian: apt-get install libcmocka-dev)"
endif

# What is built for `make check`, where nothing shall run yet.
.PHONY: check-programs
check-programs: $(unit_tests) $(fuzz_replays) tests/live/fake_server$(EXEEXT)

# What the tests in C run of the code that reads foreign bytes, a table: tests/coverage.sh says how to configure.
.PHONY: coverage
coverage:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(unit_tests) $(fuzz_replays)'
	srcdir=$(srcdir) $(SHELL) $(srcdir)/tests/coverage.sh

# For check.sh. Quick: what most changes break. Other: the rest, but for slow tests in C and the seeds of fuzz targets, which are
# run where sanitizers look (live_test measures memory, and is here too). Sanitized: where memory and threads matter; what a test
# in Python or shell looks at are numbers, which are the same there. What takes long comes last, in the order that check.sh says.
long_tests =
slow_unit_tests = tests/oom/oom_test tests/oom/live_test tests/oom/watch_test tests/live/live_test tests/live/watch_test \
	tests/io/rpc_test tests/run/annotated_test tests/trace/file_test tests/read/chrome_test
quick_tests = tests/cases/run.sh tests/circles.py tests/names.py tests/layers.sh tests/layers_test.sh tests/house/house_test.py \
	$(filter-out $(slow_unit_tests),$(unit_tests))
slow_last = $(filter-out $(long_tests),$(1)) $(filter $(1),$(long_tests))
other_tests = $(call slow_last,$(filter-out $(quick_tests),$(script_tests)) tests/live/live_test)
sanitized_tests = $(call slow_last,$(unit_tests) $(fuzz_replays) tests/live/folder_test.py tests/live/service_test.py \
	tests/page/serve_test.py tests/cases/run.sh)
dist_tests = tests/cases/run.sh tests/layers.sh tests/build/lto_test.sh

test-suite.log: tell-slowest
.PHONY: tell-slowest
tell-slowest: $(TEST_LOGS)
	@$(SHELL) $(srcdir)/tests/slowest.sh $(TEST_LOGS)
