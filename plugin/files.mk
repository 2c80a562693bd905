# SPDX-License-Identifier: MIT
# The page: bundled by npm's esbuild where npm is there, else taken as it came in the tarball, else left out (configure
# says which). Its bytes go into the program, so that one file can be moved anywhere.
page_sources = \
	plugin/page/build.mjs plugin/page/glossary.mjs plugin/page/units.mjs plugin/page/package.json plugin/page/package-lock.json \
	plugin/page/src/address.js plugin/page/src/array.js plugin/page/src/array.jsx plugin/page/src/bench.css plugin/page/src/chart.jsx \
	plugin/page/src/clipboard.js plugin/page/src/colors.js plugin/page/src/compare.js plugin/page/src/contents.jsx \
	plugin/page/src/dots.js plugin/page/src/drawer.jsx plugin/page/src/executions.jsx plugin/page/src/fit.js plugin/page/src/gaps.js plugin/page/src/format.js plugin/page/src/glossary.js \
	plugin/page/src/graph.js plugin/page/src/heat.jsx plugin/page/src/held.js plugin/page/src/lanes.jsx plugin/page/src/later.jsx plugin/page/src/layout.js \
	plugin/page/src/line.jsx plugin/page/src/links.jsx plugin/page/src/live.js plugin/page/src/main.jsx plugin/page/src/mesh.jsx \
	plugin/page/src/middle.jsx plugin/page/src/moments.jsx plugin/page/src/op.jsx plugin/page/src/opdata.js plugin/page/src/open.jsx \
	plugin/page/src/overview.css plugin/page/src/overview.js plugin/page/src/page.css plugin/page/src/parts.jsx plugin/page/src/path.js \
	plugin/page/src/perfetto.js plugin/page/src/phone.css plugin/page/src/place.js plugin/page/src/place.jsx plugin/page/src/pod.js \
	plugin/page/src/print.css plugin/page/src/rail.jsx plugin/page/src/roofline.js plugin/page/src/runs.js plugin/page/src/search.js plugin/page/src/search.jsx \
	plugin/page/src/several.css plugin/page/src/several.jsx plugin/page/src/slices.js plugin/page/src/source.js \
	plugin/page/src/sources.js plugin/page/src/state.js plugin/page/src/steps.jsx plugin/page/src/steptimes.jsx \
	plugin/page/src/stored.jsx plugin/page/src/strip.jsx plugin/page/src/table.jsx plugin/page/src/theme.js \
	plugin/page/src/timeaxis.jsx plugin/page/src/timescale.js plugin/page/src/tracks.jsx plugin/page/src/views/cache.jsx \
	plugin/page/src/views/compare.jsx plugin/page/src/views/hta_critical_path.jsx plugin/page/src/views/doctor.jsx plugin/page/src/views/flame.jsx \
	plugin/page/src/views/flame_tree.js plugin/page/src/views/fusion.jsx plugin/page/src/views/generic.jsx \
	plugin/page/src/views/index.js plugin/page/src/views/live.jsx plugin/page/src/views/memory.jsx plugin/page/src/views/ops.jsx plugin/page/src/views/overview.jsx \
	plugin/page/src/views/padding.jsx plugin/page/src/views/pod.jsx plugin/page/src/views/roofline.jsx plugin/page/src/views/runs.jsx \
	plugin/page/src/views/slices.jsx plugin/page/src/views/sources.jsx plugin/page/src/views/systolic.jsx \
	plugin/page/src/views/time.jsx plugin/page/src/views/traces.jsx plugin/page/src/views/trend.jsx plugin/page/src/wide.css \
	plugin/page/src/words.jsx
page_inputs = $(page_sources) src/base/units_list.h docs/glossary.md
EXTRA_DIST += $(page_sources) plugin/page/embed.sh
# What looks over the sources (tests/lint.sh); a build needs none of it.
EXTRA_DIST += plugin/page/devel/package.json plugin/page/devel/package-lock.json plugin/page/devel/eslint.config.js \
	plugin/page/devel/tsconfig.json plugin/page/devel/loader.mjs plugin/page/src/report.d.ts plugin/page/src/results.d.ts plugin/page/src/units.d.ts
EXTRA_DIST += plugin/pyproject.toml plugin/setup.py plugin/README.md \
	plugin/tensorboard_plugin_tpusight/__init__.py plugin/tensorboard_plugin_tpusight/loader.py \
	plugin/tensorboard_plugin_tpusight/plugin.py plugin/tensorboard_plugin_tpusight/remote.py plugin/tensorboard_plugin_tpusight/reports.py \
	plugin/tensorboard_plugin_tpusight/ranks.py plugin/tensorboard_plugin_tpusight/runs.py plugin/tensorboard_plugin_tpusight/served.py plugin/tensorboard_plugin_tpusight/traces.py \
	plugin/tensorboard_plugin_tpusight/static/index.js
EXTRA_DIST += plugin/tpusight/__init__.py plugin/tpusight/__main__.py plugin/tpusight/__init__.pyi plugin/tpusight/_results.pyi plugin/tpusight/_capture.py plugin/tpusight/_environment.py plugin/tpusight/_fields.py plugin/tpusight/_forms.py \
	plugin/tpusight/_jax.py plugin/tpusight/_notebook.py plugin/tpusight/_place.py plugin/tpusight/_program.py plugin/tpusight/_server.py plugin/tpusight/_steps.py \
	plugin/tpusight/_telling.py \
	plugin/tpusight/_version.py plugin/tpusight/_wrap.py plugin/tpusight/benchmark.py plugin/tpusight/dashboard.py plugin/tpusight/helpers.py \
	plugin/tpusight/py.typed plugin/tpusight/live.py plugin/tpusight/profiler.py plugin/tpusight/session.py
EXTRA_DIST += plugin/tpusight/_answer.py plugin/tpusight/_temporary.py plugin/tpusight/_trace.py plugin/tpusight/_unknown.py plugin/tpusight/_whole.py plugin/tpusight/flame_graph.py plugin/tpusight/hta.py \
	plugin/tpusight/memory.py plugin/tpusight/timeline.py plugin/tpusight/torch_compile.py plugin/tpusight/_torch.py \
	plugin/tpusight/unified.py plugin/tpusight/visualization/__init__.py plugin/tpusight/visualization/live_dashboard.py \
	plugin/tpusight/words.py plugin/tpusight/_plot.py plugin/tpusight/_show.py plugin/tpusight/table.py
EXTRA_DIST += plugin/tpusight/agent/__init__.py plugin/tpusight/agent/answers.py plugin/tpusight/agent/kept.py \
	plugin/tpusight/agent/main.py plugin/tpusight/agent/query.py plugin/tpusight/agent/report.py plugin/tpusight/agent/runs.py plugin/tpusight/agent/sql.py
EXTRA_DIST += plugin/tpusight/aot/__init__.py plugin/tpusight/aot/activations.py plugin/tpusight/aot/child.py plugin/tpusight/aot/chips.py \
	plugin/tpusight/aot/files.py plugin/tpusight/aot/gate.py plugin/tpusight/aot/hlo.py \
	plugin/tpusight/aot/job.py plugin/tpusight/aot/libraries.py plugin/tpusight/aot/main.py plugin/tpusight/aot/result.py \
	plugin/tpusight/aot/same.py plugin/tpusight/aot/scaling.py plugin/tpusight/aot/shapes.py plugin/tpusight/aot/shardings.py \
	plugin/tpusight/aot/summary.py plugin/tpusight/aot/tries.py plugin/tpusight/aot/upgrade.py plugin/tpusight/aot/whatif.py
EXTRA_DIST += plugin/tpusight/pod/__init__.py plugin/tpusight/pod/conductor.py plugin/tpusight/pod/engine.py plugin/tpusight/pod/main.py \
	plugin/tpusight/pod/rounds.py plugin/tpusight/pod/sessions.py plugin/tpusight/pod/store.py plugin/tpusight/pod/worker.py
EXTRA_DIST += plugin/tpusight/remote/__init__.py plugin/tpusight/remote/__main__.py plugin/tpusight/remote/az.py \
	plugin/tpusight/remote/gs.py plugin/tpusight/remote/main.py plugin/tpusight/remote/plain.py plugin/tpusight/remote/protocol.py \
	plugin/tpusight/remote/requests.py plugin/tpusight/remote/s3.py plugin/tpusight/remote/store.py plugin/tpusight/remote/trouble.py
page_bundle =

if HAVE_PAGE
page_bundle += plugin/page/dist/page.js plugin/page/dist/page.css plugin/page/dist/page.csp
EXTRA_DIST += $(page_bundle)
endif

# Made in a copy: the source folder may be read-only, and stays clean. The copy has the folders of the sources, because the
# page reads the table of units of C. A bundle that came with the sources is newer than they are, and this does not run.
plugin/page/dist/page.js: $(page_inputs)
	$(AM_V_GEN)work=plugin/page/work && for f in $(page_inputs); do \
		to=$$work/$$f && $(MKDIR_P) `dirname $$to` && cp -f $(srcdir)/$$f $$to || exit 1; done && \
	cd $$work/plugin/page && { $(NPM) ci --ignore-scripts --no-audit --no-fund --loglevel=error && \
	$(NPM) run --silent build -- --outdir=../../../dist; } >npm.log 2>&1 || { cat npm.log >&2; exit 1; }
plugin/page/dist/page.css plugin/page/dist/page.csp: plugin/page/dist/page.js

.PHONY: page
page: $(page_bundle)

src/write/page_data.c: plugin/page/embed.sh $(page_bundle) $(notices_inputs)
	$(AM_V_GEN)$(MKDIR_P) src/write && \
	$(SHELL) $(srcdir)/plugin/page/embed.sh $(filter %.js %.css %.csp,$^) >$@.new && mv -f $@.new $@
nodist_libtpusight_a_SOURCES += src/write/page_data.c
CLEANFILES += src/write/page_data.c
clean-local: clean-page
.PHONY: clean-page
clean-page:
	rm -rf plugin/page/work
	test "$(srcdir)" = . || rm -rf plugin/page/dist
