/* SPDX-License-Identifier: MIT */
/* The routes: each is a row of a table. */
#include "serve/api.h"

#include "base/check.h"
#include "base/halt.h"
#include "serve/comparison.h"
#include "serve/extension.h"
#include "serve/listing.h"
#include "serve/query.h"
#include "serve/slices.h"
#include "serve/traces.h"
#include "result/schema/allocators.def"
#include "result/schema/cache.def"
#include "result/schema/capacity.def"
#include "result/schema/compile.def"
#include "result/schema/custom_calls.def"
#include "result/schema/flame.def"
#include "result/schema/hta.def"
#include "result/schema/kernels.def"
#include "result/schema/memory.def"
#include "result/schema/memory_timeline.def"
#include "result/schema/operators.def"
#include "result/schema/ops.def"
#include "result/schema/overview.def"
#include "result/schema/time.def"
#include "result/schema/timeline.def"
#include "write/page.h"

enum part { PART_PAGE, PART_SCRIPT, PART_STYLE, PART_MANIFEST, PART_MACROS, PART_SQL, NR_PARTS };

struct ts_api {
	struct ts_reports *reports;
	struct ts_listing *listing;
	struct ts_pictures *pictures;
	struct ts_latest *latest;
	struct ts_news *news;
	struct ts_held *figures;
	struct ts_traces_options traces;
	struct ts_body *parts[NR_PARTS];
};

static const char shell[] =
	"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n<title>TPUsight</title>\n"
	"<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" "
	"href=\"page.css\">\n</head>\n"
	"<body data-runs=\"api/runs\" data-report=\"api/report\"%s%s>\n<div "
	"id=\"tpusight\"></div>\n"
	"<script src=\"page.js\"></script>\n</body>\n</html>\n";
static const char live[] = " data-events=\"api/live\"";
static const char traces[] = " data-traces=\"api/traces\" data-trace=\"api/trace\"";

static struct ts_answer api_give(struct ts_api *api, enum part part, const char *type)
{
	TS_ASSERT(part < NR_PARTS && api->parts[part] != NULL);
	return (struct ts_answer){ .status = 200,
				   .type = type,
				   .body = ts_body_use(api->parts[part]) };
}

static struct ts_answer get_page(struct ts_api *api, const struct ts_request *request)
{
	if (ts_page.script.n == 0)
		return ts_answer_error(404, "this program was built without its page (install npm "
					    "and build it again); /api/runs is there");
	return api_give(api, PART_PAGE, "text/html; charset=utf-8");
}

static struct ts_answer get_script(struct ts_api *api, const struct ts_request *request)
{
	return api_give(api, PART_SCRIPT, "text/javascript; charset=utf-8");
}

static struct ts_answer get_style(struct ts_api *api, const struct ts_request *request)
{
	return api_give(api, PART_STYLE, "text/css; charset=utf-8");
}

static struct ts_answer get_runs(struct ts_api *api, const struct ts_request *request)
{
	return api->latest ? ts_latest_list(api->latest) : ts_listing_runs(api->listing);
}

static struct ts_answer no_runs(void)
{
	return ts_answer_error(404, "a sample has no runs beside it (tpusight serve has those of "
				    "a folder)");
}

static struct ts_answer get_trend(struct ts_api *api, const struct ts_request *request)
{
	if (api->latest)
		return no_runs();
	return ts_listing_trend(api->listing, request);
}

static bool api_is_gone(void *ctx)
{
	const struct ts_request *request = ctx;

	return request->is_gone(request);
}

/* An answer that nobody takes any more is not made. */
static struct ts_halt halt_of(const struct ts_request *request)
{
	return (struct ts_halt){ api_is_gone, (void *)(uintptr_t)request };
}

static struct ts_answer get_comparison(struct ts_api *api, const struct ts_request *request)
{
	const struct ts_halt halt = halt_of(request);

	if (api->latest)
		return no_runs();
	return ts_comparison_get(api->reports, request->argument(request, "runs"), &halt);
}

static struct ts_answer get_slices(struct ts_api *api, const struct ts_request *request)
{
	const struct ts_halt halt = halt_of(request);

	if (api->latest)
		return ts_answer_error(404,
				       "the events of a sample are not kept (tpusight serve has "
				       "those of a folder)");
	return ts_pictures_get(api->pictures, request, &halt);
}

static struct ts_answer get_report(struct ts_api *api, const struct ts_request *request)
{
	const struct ts_halt halt = halt_of(request);
	struct ts_error err = TS_ERROR_INIT;
	struct ts_part of;

	if (ts_query_part(request, &of, &err))
		return ts_answer_error(400, "%s", err.text);
	if (api->latest && !ts_part_is_all(&of))
		return ts_answer_error(404, "a sample has no parts (/api/report?run=" TS_LATEST_ID
					    " is the whole report)");
	if (api->latest)
		return ts_latest_get(api->latest, request->argument(request, "run"));
	return ts_reports_get(api->reports, &ts_reports_whole, &of,
			      request->argument(request, "run"), &halt);
}

static struct ts_answer list_traces(void *ctx, const struct ts_session *session)
{
	const struct ts_api *api = ctx;

	return ts_traces_list(&api->traces, session);
}

static struct ts_answer no_traces(void)
{
	return ts_answer_error(404, "a sample has no trace (tpusight live --repository keeps "
				    "sessions, which have)");
}

static struct ts_answer get_traces(struct ts_api *api, const struct ts_request *request)
{
	if (api->latest)
		return no_traces();
	return ts_reports_ask(api->reports, request->argument(request, "run"), list_traces, api);
}

struct trace_request {
	const struct ts_api *api;
	const char *file;
};

static struct ts_answer give_trace(void *ctx, const struct ts_session *session)
{
	const struct trace_request *wanted = ctx;

	return ts_traces_get(&wanted->api->traces, session, wanted->file);
}

static struct ts_answer get_trace(struct ts_api *api, const struct ts_request *request)
{
	struct trace_request wanted = { api, request->argument(request, "file") };

	if (api->latest)
		return no_traces();
	return ts_reports_ask(api->reports, request->argument(request, "run"), give_trace, &wanted);
}

static struct ts_answer nothing_is_watched(void)
{
	return ts_answer_error(404,
			       "nothing is watched here (tpusight live --serve watches a job)");
}

static struct ts_answer get_news(struct ts_api *api, const struct ts_request *request)
{
	if (!api->news)
		return nothing_is_watched();
	return ts_news_answer(api->news, request);
}

static struct ts_answer get_figures(struct ts_api *api, const struct ts_request *request)
{
	if (!api->figures)
		return nothing_is_watched();
	return ts_held_answer(api->figures);
}

#define PROFILER   "/api/profiler/"
#define FLAME_ROWS 20000 /* of each flame graph's tree */

/* The views of the profiling suite. */
static const char *const memory[] = { TS_RESULT_NAME(memory_timeline), TS_RESULT_NAME(memory),
				      TS_RESULT_NAME(capacity), TS_RESULT_NAME(allocators), NULL };
static const char *const timeline[] = { TS_RESULT_NAME(timeline), TS_RESULT_NAME(time),
					TS_RESULT_NAME(overview), NULL };
static const char *const hta[] = { TS_RESULT_NAME(hta), NULL };
static const char *const kernels[] = { TS_RESULT_NAME(kernels), TS_RESULT_NAME(operators),
				       TS_RESULT_NAME(ops), TS_RESULT_NAME(custom_calls), NULL };
static const char *const compile[] = { TS_RESULT_NAME(compile), TS_RESULT_NAME(cache), NULL };
static const char *const flame[] = { TS_RESULT_NAME(flame), NULL };
static const struct ts_reports_part parts[] = {
	{ .name = "hta", .results = hta, .has_tracks = true, .interleave = true },
	{ .name = "memory", .results = memory, .has_tracks = true },
	{ .name = "timeline", .results = timeline, .has_tracks = true, .interleave = true },
	{ .name = "kernels", .results = kernels, .interleave = true },
	{ .name = "compile", .results = compile },
	{ .name = "flame", .results = flame, .tree_rows = FLAME_ROWS, .interleave = true },
};

static struct ts_answer get_part(struct ts_api *api, const struct ts_request *request)
{
	const char *name = request->path + strlen(PROFILER);
	const struct ts_halt halt = halt_of(request);

	if (api->latest)
		return ts_answer_error(404, "a sample has no parts (/api/report?run=" TS_LATEST_ID
					    " is the whole report)");
	for (size_t i = 0; i < TS_NELEM(parts); i++)
		if (strcmp(name, parts[i].name) == 0)
			return ts_reports_get(api->reports, &parts[i], NULL,
					      request->argument(request, "run"), &halt);
	return ts_answer_error(404, "no such view (there are hta, memory, timeline, kernels, "
				    "compile and flame)");
}

static const struct route {
	const char *path;
	struct ts_answer (*get)(struct ts_api *api, const struct ts_request *request);
} routes[] = {
	{ "/", get_page },
	{ "/index.html", get_page },
	{ "/page.js", get_script },
	{ "/page.css", get_style },
	{ "/api/runs", get_runs },
	{ "/api/report", get_report },
	{ "/api/live", get_news },
	{ "/metrics", get_figures },
	{ "/api/traces", get_traces },
	{ "/api/trace", get_trace },
	{ "/api/trend", get_trend },
	{ "/api/compare", get_comparison },
	{ "/api/slices", get_slices },
};

/* For pages of ui.perfetto.dev, too. */
static const struct shared {
	const char *path;
	enum part part;
	void (*make)(struct ts_buf *out);
} shared[] = {
	{ TS_EXTENSION_PATH "manifest", PART_MANIFEST, ts_extension_manifest },
	{ TS_EXTENSION_PATH "modules/default/macros", PART_MACROS, ts_extension_macros },
	{ TS_EXTENSION_PATH "modules/default/sql_modules", PART_SQL, ts_extension_sql },
};

struct ts_answer ts_api_answer(void *ctx, const struct ts_request *request)
{
	TS_ASSERT(ctx != NULL && request != NULL);
	TS_ASSERT(request->path != NULL && request->argument != NULL);
	for (size_t i = 0; i < TS_NELEM(routes); i++)
		if (strcmp(request->path, routes[i].path) == 0)
			return routes[i].get(ctx, request);
	for (size_t i = 0; i < TS_NELEM(shared); i++)
		if (strcmp(request->path, shared[i].path) == 0) {
			struct ts_answer answer = api_give(ctx, shared[i].part, "application/json");

			answer.is_shared = true;
			return answer;
		}
	if (strncmp(request->path, PROFILER, strlen(PROFILER)) == 0)
		return get_part(ctx, request);
	return ts_answer_error(404, "nothing is here (/ is the page, /api/runs the runs)");
}

static struct ts_body *api_part_of(struct ts_bytes bytes)
{
	struct ts_buf text = TS_BUF_INIT;

	ts_buf_put(&text, bytes);
	return ts_body_new(&text, true);
}

static struct ts_body *api_page_of(const struct ts_api *api)
{
	struct ts_buf text = TS_BUF_INIT;

	ts_buf_printf(&text, shell, api->news ? live : "", api->latest ? "" : traces);
	return ts_body_new(&text, true);
}

static bool api_make_parts(struct ts_api *api)
{
	bool good = true;

	api->parts[PART_PAGE] = api_page_of(api);
	api->parts[PART_SCRIPT] = api_part_of(ts_page.script);
	api->parts[PART_STYLE] = api_part_of(ts_page.style);
	for (size_t i = 0; i < TS_NELEM(shared); i++) {
		struct ts_buf text = TS_BUF_INIT;

		shared[i].make(&text);
		api->parts[shared[i].part] = ts_body_new(&text, true);
	}
	for (size_t i = 0; i < NR_PARTS; i++)
		good &= api->parts[i] != NULL;
	return good;
}

struct ts_api *ts_api_new(const struct ts_api_options *options)
{
	TS_ASSERT(options != NULL);

	struct ts_api *api = calloc(1, sizeof(*api));

	if (!api)
		return NULL;
	api->reports = ts_reports_new(&options->reports);
	if (api->reports)
		api->listing = ts_listing_new(api->reports);
	if (api->listing)
		api->pictures = ts_pictures_new(api->reports);
	api->latest = options->latest;
	api->news = options->news;
	api->figures = options->figures;
	api->traces = (struct ts_traces_options){ .paths = options->reports.paths,
						  .nr_paths = options->reports.nr_paths,
						  .ui = options->perfetto_ui };
	if (api_make_parts(api) && api->pictures)
		return api;
	ts_api_free(api);
	return NULL;
}

void ts_api_free(struct ts_api *api)
{
	if (!api)
		return;
	ts_pictures_free(api->pictures);
	ts_listing_free(api->listing);
	ts_reports_free(api->reports);
	for (size_t i = 0; i < NR_PARTS; i++)
		ts_body_drop(api->parts[i]);
	free(api);
}
