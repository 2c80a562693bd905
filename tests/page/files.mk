# The page in a real browser and its servers; each exits 77 where a tool is missing (npm ci in tests/viewers).
EXTRA_DIST += tests/page/page.mjs tests/page/doors.py tests/page/expect.py tests/page/profiles.py \
	tests/page/browser.mjs tests/page/live.mjs \
	tests/page/page_test.py tests/page/plugin_test.py tests/page/serve_test.py \
	tests/page/live_test.py tests/page/live_stream_test.py
# Of the sources themselves: npm test in plugin/page (tests/lint.sh).
EXTRA_DIST += tests/page/unit/page.mjs tests/page/unit/chart.test.mjs tests/page/unit/flame_tree.test.mjs \
	tests/page/unit/format.test.mjs tests/page/unit/live.test.mjs tests/page/unit/source.test.mjs \
	tests/page/unit/state.test.mjs tests/page/unit/table.test.mjs tests/page/unit/units.test.mjs
TESTS += tests/page/serve_test.py tests/page/live_stream_test.py tests/page/live_test.py tests/page/page_test.py tests/page/plugin_test.py
