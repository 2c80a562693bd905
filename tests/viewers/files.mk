# SPDX-License-Identifier: MIT
# Seen by people and by check.sh: each exits 77 where its tool is missing.
EXTRA_DIST += tests/requirements.txt tests/requirements-lint.txt tests/viewers/chromium.mjs tests/viewers/frontend.mjs tests/viewers/package.json tests/viewers/package-lock.json \
	tests/viewers/perfetto_check.py tests/viewers/perfetto_tables.py tests/viewers/pftrace_tables.py tests/viewers/quiet.py tests/viewers/run_chromium.py tests/viewers/speedscope.mjs \
	tests/viewers/xprof_answers.py
