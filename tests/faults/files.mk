# SPDX-License-Identifier: MIT
# Faults of the system: calls that fail, kills, power cuts, full disks (tests/faults/scenes.py says what must hold). The library
# is for LD_PRELOAD, and neither it nor the tracer has anything of ours in it.
EXTRA_DIST += tests/faults/fail.c tests/faults/scenes.py
CLEANFILES += tests/faults/fail.so
tests/faults/fail.so: tests/faults/fail.c
	@$(MKDIR_P) tests/faults
	$(AM_V_CC)$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -shared -o $@ $(srcdir)/tests/faults/fail.c -ldl
tests/faults/fault_test.log: tests/faults/fail.so

EXTRA_PROGRAMS += tests/faults/tracer
tests_faults_tracer_LDADD =
tests/faults/kill_test.log tests/faults/crash_test.log: tests/faults/tracer$(EXEEXT)

# `make check` tries some of the faults, others each day; this tries each: an hour.
fault_tests = tests/faults/fault_test.py tests/faults/kill_test.py tests/faults/crash_test.py tests/faults/full_test.py
.PHONY: check-faults
check-faults:
	TS_TURNS=all $(MAKE) $(AM_MAKEFLAGS) check TESTS="$(fault_tests)"
