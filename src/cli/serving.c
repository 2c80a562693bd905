/* SPDX-License-Identifier: MIT */
/* The server of `serve` and `live --serve`. */
#include "cli/serving.h"

#include "base/check.h"
#include "io/input.h"
#include "live/exposition.h"
#include "live/feed.h"
#include "serve/address.h"
#include "serve/guard.h"
#include "serve/traces.h"
#include "write/report_json.h"

#define ALERTS_KEPT   200
#define SESSIONS_KEPT 200
#define EMPTY_KEPT \
	20 /* samples without an answer: a job that is gone for long leaves its past alone */
#define LAST_WORDS_MS 300 /* for pages to take the last event */

struct ts_serving {
	const struct ts_cli *cli;
	struct ts_news *news;
	struct ts_latest *latest;
	struct ts_held *figures;
	struct ts_api *api;
	struct ts_server *server;
	struct ts_buf page; /* its address, a string */
};

/* The kinds of enum ts_feed_kind, with their names in the JSON, and samples that no host
 * answered. */
enum { KIND_EMPTY = TS_FEED_SESSION + 1 };
static const struct ts_news_kind kinds[] = {
	[TS_FEED_SAMPLE] = { "sample", TS_RING },
	[TS_FEED_ALERT] = { "alert", ALERTS_KEPT },
	[TS_FEED_END] = { "end", 1 },
	[TS_FEED_SESSION] = { "session", SESSIONS_KEPT },
	[KIND_EMPTY] = { "sample", EMPTY_KEPT },
};

enum ts_status ts_serving_add_host(void *arg, const char *value, struct ts_error *err)
{
	struct ts_serving_at *at = arg;

	TS_ASSERT(arg && value);
	if (!ts_guard_is_host(value))
		return ts_fail(err, TS_USAGE, "%s is not a host's name (gateway.example:8080)",
			       value);
	if (at->nr_hosts == TS_MAX_HOSTS)
		return ts_fail(err, TS_USAGE, "--allow-host is given more than %d times",
			       TS_MAX_HOSTS);
	at->hosts[at->nr_hosts++] = value;
	return TS_OK;
}

static enum ts_status read_token(struct ts_token *token, const char *path, struct ts_error *err)
{
	struct ts_input input = TS_INPUT_INIT;
	enum ts_status st = ts_input_open(&input, path, err);
	struct ts_bytes text = input.bytes;

	if (st)
		return st;
	while (text.n > 0 && strchr("\r\n", text.p[text.n - 1]))
		text.n--;
	st = ts_token_read(token, text, err);
	ts_input_release(&input);
	return st ? ts_fail_at(err, st, "%s", path) : TS_OK;
}

enum ts_status ts_serving_set_token(void *arg, const char *value, struct ts_error *err)
{
	struct ts_serving_at *at = arg;

	TS_ASSERT(arg && value);
	at->has_new_token = strcmp(value, "auto") == 0;
	if (at->has_new_token)
		return ts_token_new(&at->token, err);
	if (value[0] == '@')
		return read_token(&at->token, value + 1, err);
	return ts_token_read(&at->token, ts_bytes_of(value), err);
}

enum ts_status ts_serving_check(const struct ts_serving_at *at, struct ts_error *err)
{
	struct ts_address address;
	enum ts_status st;

	TS_ASSERT(at);
	st = ts_address_read(&address, at->address, at->port, err);
	if (st || at->token.text[0] || ts_address_is_loopback(&address))
		return st;
	return ts_fail(err, TS_USAGE,
		       "--host=%s: other machines can reach it, and there is no --token "
		       "(--token=auto makes one)",
		       at->address);
}

enum ts_status ts_serving_set_ui(void *arg, const char *value, struct ts_error *err)
{
	struct ts_serving_at *at = arg;

	TS_ASSERT(arg && value);
	if (!ts_traces_is_ui(value))
		return ts_fail(err, TS_USAGE,
			       "%s is not the address of a page (https://perfetto.example)", value);
	at->perfetto_ui = value;
	return TS_OK;
}

struct ts_server_options ts_serving_server(const struct ts_serving_at *at, struct ts_api *api)
{
	TS_ASSERT(at && api);
	return (struct ts_server_options){ .address = at->address,
					   .port = at->port,
					   .token = at->token.text,
					   .hosts = at->hosts,
					   .nr_hosts = at->nr_hosts,
					   .answer = ts_api_answer,
					   .ctx = api };
}

struct ts_reports_options ts_serving_reports(const struct ts_cli *cli)
{
	TS_ASSERT(cli);
	return (struct ts_reports_options){ .paths = cli->paths,
					    .nr_paths = cli->nr_paths,
					    .nr_threads = cli->nr_threads,
					    .settings = cli->settings,
					    .generator = "tpusight",
					    .version = PACKAGE_VERSION,
					    .max_track_items = TS_MAX_TRACK_ITEMS,
					    .join_sessions = cli->join_sessions,
					    .remote = cli->remote };
}

struct reach {
	bool is_open; /* other machines reach it */
	bool is_any;  /* at all addresses of this one */
};

/* The page's address; of all addresses of the machine, the one that is always there. */
static struct reach serving_put_page(struct ts_buf *out, const struct ts_serving_at *at,
				     uint16_t port)
{
	char text[TS_ADDRESS_CAP] = "127.0.0.1";
	struct ts_error err = TS_ERROR_INIT;
	struct reach reach = { .is_open = false };
	struct ts_address address;

	if (ts_address_read(&address, at->address, port, &err) == TS_OK) {
		reach.is_open = !ts_address_is_loopback(&address);
		reach.is_any = ts_address_is_any(&address);
		if (!reach.is_any)
			ts_address_write(&address, text);
	}
	ts_buf_printf(out, "http://%s:%u/%s%s", text, port, at->token.text[0] ? "?token=" : "",
		      at->token.text);
	return reach;
}

static void serving_put_place(struct ts_buf *line, const struct ts_serving_at *at, uint16_t port)
{
	struct reach reach;

	ts_buf_puts(line, "TPUsight at ");
	reach = serving_put_page(line, at, port);
	ts_buf_puts(line, " (Ctrl-C ends it)\n");
	if (reach.is_any)
		ts_buf_puts(line, "and at each other address of this machine (hostname -I lists "
				  "them)\n");
	if (reach.is_open)
		ts_buf_puts(line, "The token and the pages cross the network as they are, without "
				  "TLS; a tunnel hides them (ssh -L).\n");
}

void ts_serving_print(const struct ts_cli *cli, const struct ts_serving_at *at, uint16_t port,
		      bool json)
{
	struct ts_buf line = TS_BUF_INIT;

	TS_ASSERT(cli && at);
	if (cli->quiet && !at->has_new_token)
		return;
	serving_put_place(&line, at, port);
	if (json)
		fwrite(line.p, 1, line.n, stderr);
	else
		ts_print(ts_buf_bytes(&line));
	ts_buf_release(&line);
}

static enum ts_status serving_set_up(struct ts_serving *serving,
				     const struct ts_serving_options *own, struct ts_error *err)
{
	const struct ts_cli *cli = serving->cli;
	const struct ts_news_options about = { .kinds = kinds,
					       .nr_kinds = TS_NELEM(kinds),
					       .max_bytes = TS_NEWS_BYTES,
					       .max_readers = TS_NEWS_READERS,
					       .quiet_ms = TS_NEWS_QUIET_MS };
	struct ts_api_options options = { .reports = ts_serving_reports(cli),
					  .perfetto_ui = own->at->perfetto_ui };
	struct ts_server_options server;

	serving->news = ts_news_new(&about);
	serving->figures = ts_held_new(TS_EXPOSITION_TYPE);
	if (own->services)
		serving->latest = ts_latest_new(own->services, TS_LATEST_PATIENCE_MS);
	if (!serving->news || !serving->figures || (own->services && !serving->latest))
		return ts_fail_nomem(err);
	options.news = serving->news;
	options.latest = serving->latest;
	options.figures = serving->figures;
	serving->api = ts_api_new(&options);
	if (!serving->api)
		return ts_fail_nomem(err);
	server = ts_serving_server(own->at, serving->api);
	return ts_server_start(&serving->server, &server, err);
}

enum ts_status ts_serving_start(struct ts_serving **out, const struct ts_cli *cli,
				const struct ts_serving_options *options, struct ts_error *err)
{
	struct ts_serving *serving = calloc(1, sizeof(*serving));
	enum ts_status st;

	TS_ASSERT(out && cli && options);
	*out = NULL;
	if (!serving)
		return ts_fail_nomem(err);
	serving->cli = cli;
	st = serving_set_up(serving, options, err);
	if (st) {
		ts_serving_stop(serving);
		return st;
	}
	serving_put_page(&serving->page, options->at, ts_server_port(serving->server));
	ts_buf_putc(&serving->page, '\0');
	if (serving->page.failed) {
		ts_serving_stop(serving);
		return ts_fail_nomem(err);
	}
	ts_serving_print(cli, options->at, ts_server_port(serving->server), options->json);
	*out = serving;
	return TS_OK;
}

/* A reader waits for it; one that comes while it is made gets the next. */
static void give_report(struct ts_serving *serving, const struct ts_live_sample *sample)
{
	struct ts_report form = { .generator = "tpusight", .version = PACKAGE_VERSION };
	struct ts_buf text = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;

	if (ts_report_json(&text, sample->results, &form, &err) == TS_OK)
		ts_latest_give(serving->latest, &text);
	ts_buf_release(&text);
}

static void give_figures(struct ts_serving *serving, const struct ts_live_sample *sample)
{
	struct ts_buf text = TS_BUF_INIT;

	ts_exposition_put(&text, sample);
	ts_held_give(serving->figures, &text);
}

void ts_serving_event(void *arg, const struct ts_feed_event *event)
{
	struct ts_serving *serving = arg;

	TS_ASSERT(arg && event);
	TS_ASSERT(event->kind <= TS_FEED_SESSION);
	bool is_empty = event->kind == TS_FEED_SAMPLE && event->sample->nr_hosts == 0;

	(void)ts_news_add(serving->news, is_empty ? KIND_EMPTY : (size_t)event->kind, event->json,
			  NULL);
	if (event->kind == TS_FEED_SAMPLE || event->kind == TS_FEED_SESSION)
		give_figures(serving, event->sample);
	if (event->kind == TS_FEED_SAMPLE && event->sample->results && serving->latest &&
	    ts_latest_is_wanted(serving->latest))
		give_report(serving, event->sample);
}

void ts_serving_stop(struct ts_serving *serving)
{
	if (!serving)
		return;
	if (serving->latest)
		ts_latest_close(serving->latest);
	if (serving->news)
		ts_news_close(serving->news, LAST_WORDS_MS);
	ts_server_stop(serving->server);
	ts_api_free(serving->api);
	ts_latest_free(serving->latest);
	ts_news_free(serving->news);
	ts_held_free(serving->figures);
	ts_buf_release(&serving->page);
	free(serving);
}

const char *ts_serving_page(const struct ts_serving *serving)
{
	return serving ? (const char *)serving->page.p : NULL;
}
