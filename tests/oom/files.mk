# SPDX-License-Identifier: MIT
# --wrap is GNU ld's and lld's; elsewhere configure leaves these tests out.
if HAVE_WRAP
endif
oom_ldflags = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
tests_oom_oom_test_LDFLAGS = $(oom_ldflags)
tests_oom_live_test_LDFLAGS = $(oom_ldflags)
tests_oom_watch_test_LDFLAGS = $(oom_ldflags)

# `make check` fails one allocation of some, others each day; this fails each: minutes.
.PHONY: check-oom
check-oom:
	TS_TURNS=all $(MAKE) $(AM_MAKEFLAGS) check TESTS="tests/oom/oom_test tests/oom/live_test tests/oom/watch_test"
