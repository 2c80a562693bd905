# Seen by people and by check.sh: each exits 77 where its tool is missing.
EXTRA_DIST += tests/requirements.txt tests/requirements-lint.txt tests/viewers/xprof_answers.py tests/viewers/run_chromium.py \
	tests/viewers/chromium.mjs tests/viewers/package.json tests/viewers/package-lock.json \
	tests/viewers/perfetto_check.py tests/viewers/perfetto_check_test.py \
	tests/viewers/pftrace_test.py tests/viewers/viewers_test.py tests/viewers/planted_xprof_test.py tests/viewers/capacity_xprof_test.py \
	tests/viewers/copies_xprof_test.py tests/viewers/quiet.py
TESTS += tests/viewers/perfetto_check_test.py tests/viewers/pftrace_test.py tests/viewers/viewers_test.py \
	tests/viewers/planted_xprof_test.py tests/viewers/capacity_xprof_test.py tests/viewers/copies_xprof_test.py
EXTRA_DIST += tests/viewers/speedscope_test.py tests/viewers/speedscope.mjs
TESTS += tests/viewers/speedscope_test.py
TEST_EXTENSIONS = .py
PY_LOG_COMPILER = $(PYTHON)
