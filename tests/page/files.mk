# SPDX-License-Identifier: MIT
# The page in a real browser and its servers; each exits 77 where a tool is missing (npm ci in tests/viewers).
EXTRA_DIST += tests/page/browser.mjs tests/page/cell.mjs tests/page/compare.mjs tests/page/doors.py tests/page/expect.py tests/page/habits.mjs tests/page/hostile.mjs \
	tests/page/hostile.py tests/page/live.mjs tests/page/media.mjs tests/page/overview.mjs tests/page/page.mjs tests/page/perfetto.mjs \
	tests/page/pictures.mjs tests/page/points.mjs tests/page/predicted.mjs tests/page/profiles.py tests/page/readme.mjs tests/page/readme.py \
	tests/page/sessions.mjs tests/page/sessions.py tests/page/several.mjs tests/page/sights.js tests/page/task.mjs \
	tests/page/timeline.mjs tests/page/token.mjs tests/page/views.mjs tests/page/words.mjs
# The README's pictures, one of each view: made anew by hand, when the page has changed.
.PHONY: pictures
pictures: bin/tpusight
	TPUSIGHT=bin/tpusight $(PYTHON) $(srcdir)/tests/page/readme.py $(srcdir)/docs/pictures
tests/page/live_stream_test.log tests/page/live_test.log: tests/live/fake_server$(EXEEXT)
# Of the sources themselves: npm test in plugin/page (tests/lint.sh).
EXTRA_DIST += tests/page/unit
