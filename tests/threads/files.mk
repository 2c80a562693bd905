# SPDX-License-Identifier: MIT
# ThreadSanitizer over whole commands; in a build without it these tests are passed over. check.sh has a part for them:
# `thread_tests` is what uses threads, with the unit tests of the same.
EXTRA_PROGRAMS += tests/threads/planted
CLEANFILES += tests/threads/planted
tests/threads/races_test.log: tests/threads/planted$(EXEEXT) tests/live/fake_server$(EXEEXT) $(bin_PROGRAMS)
thread_tests = tests/threads/races_test.py tests/base/work_test tests/run/interleave_test tests/io/rpc_test \
	tests/serve/latest_test tests/serve/news_test tests/live/live_test tests/live/alert_command_test \
	tests/page/serve_test.py tests/page/live_stream_test.py
