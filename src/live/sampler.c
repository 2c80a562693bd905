/* SPDX-License-Identifier: MIT */
/*
 * Each host has a thread; there is one lock. A host is IDLE, ASKED (its thread is at work) or DONE
 * (its answer waits for the next round). While it is ASKED only its thread touches the answer,
 * otherwise only the sampler's caller does.
 */
#include "live/sampler.h"

#include <pthread.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "io/rpc.h"
#include "live/kept_modules.h"
#include "live/profiler.h"
#include "live/repository.h"

#define CONNECT_MS	 3000
#define FIRST_PAUSE_MS	 500
#define MAX_PAUSE_MS	 8000
#define FILE_MS		 2000  /* until a file that the server has written must be seen here */
#define OLD_PAUSE_MS	 60000 /* before a server that sends no profile is asked again */
#define LATE_MS		 2000  /* how long others are waited for at least, after an answer */
#define LATE_TIMES	 4     /* or so many times the first host's own time, without the sample */
#define PATIENCE_MS	 2000  /* after the sample's length, until a round comes back empty */
#define HLO_SAMPLES	 2     /* the second one shows whether programs are still added */
#define HLO_PAUSE_MS	 1000  /* between requests for modules; doubled each time, up to: */
#define HLO_MAX_PAUSE_MS 60000

enum phase { IDLE, ASKED, DONE };

struct host {
	struct ts_sampler *sampler;
	struct ts_service service;
	char *address;
	struct ts_rpc *rpc;
	pthread_t thread;
	bool has_thread;
	pthread_cond_t asked;
	enum phase phase;
	bool with_hlo; /* the request asks for modules */
	char session[64];
	struct ts_buf request;
	struct ts_rpc_answer answer; /* what came, with the members that follow */
	struct ts_error problem;
	struct ts_bytes xspace;
	bool has_xspace;
	bool is_gone; /* since its last sample: the next answer counts as that of another process */
	int64_t asked_ms, done_ms, again_ms, pause_ms;
	int64_t sample_ms; /* of the request */
	unsigned nr_with_hlo;
	struct ts_kept_modules modules;
};

struct ts_sampler {
	struct ts_sampler_options options;
	struct host *hosts;
	struct ts_service *services; /* the copies that the caller sees */
	struct ts_run_bytes *items;
	size_t nr;
	pthread_mutex_t lock;
	pthread_cond_t done;
	bool stopped;
	bool wants_hlo;
	/* modules are not asked for before hlo_ms; the pause after that */
	int64_t hlo_ms, hlo_pause_ms;
	uint64_t nr_rounds;
	int64_t start_ms;  /* of the present round */
	int64_t sample_ms; /* likewise */
	int64_t long_ms;   /* of the next round; 0: as the options say */
	bool goes_on;	   /* no host has answered in this round yet */
};

const char *ts_service_state_name(enum ts_service_state state)
{
	static const char *const names[] = { "new", "up", "busy", "late", "down" };

	TS_ASSERT(state < TS_NR_SERVICE_STATES);
	return names[state];
}

#define OLD_WAYS                                                            \
	"name a folder that it and this machine see with --repository, or " \
	"capture in the job and watch its log directory: tpusight live LOGDIR"

/* Takes the profile of a server that does not send it from a file. */
static enum ts_status fetch_file(struct host *host, struct ts_error *err)
{
	const struct ts_sampler_options *options = &host->sampler->options;
	struct ts_repository at = { options->repository, host->session, host->address,
				    options->max_bytes };
	enum ts_status st;

	if (!options->repository)
		return ts_fail(err, TS_UNSUPPORTED,
			       "%s: the server's answer has no profile (" OLD_WAYS ")",
			       host->address);
	st = ts_repository_take(&at, FILE_MS, &host->answer.body, err);
	if (st)
		return ts_fail_at(err, st, "%s: the server wrote no profile that can be read here",
				  host->address);
	host->xspace = ts_buf_bytes(&host->answer.body);
	host->has_xspace = true;
	return TS_OK;
}

/* Called on the host's thread, without the lock. */
static enum ts_status fetch(struct host *host, struct ts_error *err)
{
	const struct ts_sampler_options *options = &host->sampler->options;
	struct ts_rpc_limits limits = { CONNECT_MS, host->sample_ms + options->timeout_ms,
					options->max_bytes };
	struct ts_profiler_answer found;
	enum ts_status st;

	host->has_xspace = false;
	st = ts_rpc_call(host->rpc, TS_PROFILER_METHOD, ts_buf_bytes(&host->request), limits,
			 &host->answer, err);
	if (host->answer.fault == TS_RPC_REFUSED && !options->repository &&
	    ts_profiler_wants_folder(err->text)) {
		host->answer.fault = TS_RPC_NONE; /* it will refuse again: it is not busy */
		return ts_fail(
			err, TS_UNSUPPORTED,
			"%s: this job's profiler server is older than XLA's emit_xspace and can "
			"only write into a folder (" OLD_WAYS ")",
			host->address);
	}
	if (st)
		return st;
	st = ts_profiler_read(host->answer.message, &found, err);
	if (st)
		host->answer.fault = TS_RPC_GARBLED;
	if (st)
		return ts_fail_at(err, st, "%s", host->address);
	if (!found.has_xspace)
		return fetch_file(host, err);
	host->xspace = found.xspace;
	host->has_xspace = true;
	return TS_OK;
}

static void *serve_host(void *arg)
{
	struct host *host = arg;
	struct ts_sampler *sampler = host->sampler;

	pthread_mutex_lock(&sampler->lock);
	for (;;) {
		struct ts_error problem = TS_ERROR_INIT;

		while (host->phase != ASKED && !sampler->stopped)
			pthread_cond_wait(&host->asked, &sampler->lock);
		if (sampler->stopped)
			break;
		pthread_mutex_unlock(&sampler->lock);
		fetch(host, &problem);
		pthread_mutex_lock(&sampler->lock);
		host->problem = problem;
		host->is_gone |= host->answer.peer_left || host->answer.fault == TS_RPC_UNREACHABLE;
		host->done_ms = ts_now_ms();
		host->phase = DONE;
		pthread_cond_broadcast(&sampler->done);
	}
	pthread_mutex_unlock(&sampler->lock);
	return NULL;
}

static enum ts_status start_host(struct ts_sampler *sampler, const char *address,
				 struct ts_error *err)
{
	struct host *host = &sampler->hosts[sampler->nr];
	enum ts_status st = ts_rpc_new(&host->rpc, address, err);

	if (st)
		return st;
	host->sampler = sampler;
	host->answer = (struct ts_rpc_answer)TS_RPC_ANSWER_INIT;
	host->pause_ms = FIRST_PAUSE_MS;
	host->address = strdup(address);
	host->service.address = host->address;
	if (!host->address || pthread_cond_init(&host->asked, NULL) != 0) {
		free(host->address);
		ts_rpc_free(host->rpc);
		return ts_fail_nomem(err);
	}
	sampler->nr++; /* from here on ts_sampler_free() releases it */
	host->has_thread = pthread_create(&host->thread, NULL, serve_host, host) == 0;
	return host->has_thread ? TS_OK : ts_fail(err, TS_IO, "%s: no thread can be made", address);
}

enum ts_status ts_sampler_new(struct ts_sampler **out, const struct ts_sampler_options *options,
			      struct ts_error *err)
{
	TS_ASSERT(out != NULL && options != NULL);
	TS_ASSERT(options->addresses != NULL && options->nr_addresses > 0);
	TS_ASSERT(options->sample_ms >= 1 && options->timeout_ms >= 0);
	TS_ASSERT(options->max_bytes > 0 && options->hlo <= TS_HLO_NEVER);

	struct ts_sampler *sampler = calloc(1, sizeof(*sampler));
	enum ts_status st = TS_OK;

	TS_ASSERT(!options->repository || options->repository[0] == '/');
	*out = NULL;
	if (!sampler)
		return ts_fail_nomem(err);
	sampler->options = *options;
	sampler->hlo_pause_ms = HLO_PAUSE_MS;
	sampler->hosts = calloc(options->nr_addresses + 1, sizeof(*sampler->hosts));
	sampler->services = calloc(options->nr_addresses + 1, sizeof(*sampler->services));
	sampler->items = calloc(options->nr_addresses + 1, sizeof(*sampler->items));
	if (pthread_mutex_init(&sampler->lock, NULL) != 0 ||
	    pthread_cond_init(&sampler->done, NULL) != 0 || !sampler->hosts || !sampler->services ||
	    !sampler->items)
		st = ts_fail_nomem(err);
	for (size_t i = 0; i < options->nr_addresses && st == TS_OK; i++)
		st = start_host(sampler, options->addresses[i], err);
	if (st) {
		ts_sampler_free(sampler);
		return st;
	}
	*out = sampler;
	return TS_OK;
}

void ts_sampler_stop(struct ts_sampler *sampler)
{
	TS_ASSERT(sampler != NULL);

	pthread_mutex_lock(&sampler->lock);
	sampler->stopped = true;
	for (size_t i = 0; i < sampler->nr; i++) {
		ts_rpc_cancel(sampler->hosts[i].rpc);
		pthread_cond_broadcast(&sampler->hosts[i].asked);
	}
	pthread_cond_broadcast(&sampler->done);
	pthread_mutex_unlock(&sampler->lock);
}

static void release_host(struct host *host)
{
	if (host->has_thread)
		pthread_join(host->thread, NULL);
	pthread_cond_destroy(&host->asked);
	ts_rpc_free(host->rpc);
	ts_buf_release(&host->request);
	ts_buf_release(&host->answer.body);
	ts_kept_modules_release(&host->modules);
	free(host->address);
}

void ts_sampler_free(struct ts_sampler *sampler)
{
	if (!sampler)
		return;
	ts_sampler_stop(sampler);
	for (size_t i = 0; i < sampler->nr; i++)
		release_host(&sampler->hosts[i]);
	pthread_cond_destroy(&sampler->done);
	pthread_mutex_destroy(&sampler->lock);
	free(sampler->hosts);
	free(sampler->services);
	free(sampler->items);
	free(sampler);
}

bool ts_sampler_wait(struct ts_sampler *sampler, int64_t until_ms)
{
	bool goes_on;

	TS_ASSERT(sampler != NULL);
	pthread_mutex_lock(&sampler->lock);
	while (!sampler->stopped && ts_now_ms() < until_ms)
		ts_doze(&sampler->done, &sampler->lock, until_ms);
	goes_on = !sampler->stopped;
	pthread_mutex_unlock(&sampler->lock);
	return goes_on;
}

static bool asks_for_hlo(const struct ts_sampler *sampler, const struct host *host)
{
	if (sampler->sample_ms != sampler->options.sample_ms)
		return true;
	if (sampler->options.hlo != TS_HLO_ONCE)
		return sampler->options.hlo == TS_HLO_ALWAYS;
	return host->nr_with_hlo < HLO_SAMPLES || host->modules.is_too_large || sampler->wants_hlo;
}

static enum ts_status sampler_make_request(struct ts_sampler *sampler, struct host *host,
					   struct ts_error *err)
{
	TS_ASSERT(host->phase == IDLE);

	const char *folder = sampler->options.repository;
	struct ts_profiler_request request = { .duration_ms = sampler->sample_ms,
					       .hlo = host->with_hlo,
					       .session = host->session,
					       .host = host->address,
					       .repository =
						       folder ? folder : TS_PROFILER_NO_FOLDER };

	snprintf(host->session, sizeof(host->session), "tpusight_live_%ld_%llu", (long)getpid(),
		 (unsigned long long)sampler->nr_rounds);
	ts_buf_clear(&host->request);
	ts_profiler_put_request(&host->request, &request);
	return host->request.failed ? ts_fail_nomem(err) : TS_OK;
}

/* Asks every host that is free and whose pause is over. */
static enum ts_status ask_all(struct ts_sampler *sampler, int64_t now_ms, struct ts_error *err)
{
	bool wants_hlo = sampler->wants_hlo;
	enum ts_status st;

	sampler->nr_rounds++;
	for (size_t i = 0; i < sampler->nr; i++) {
		struct host *host = &sampler->hosts[i];

		if (host->phase != IDLE || now_ms < host->again_ms)
			continue;
		host->with_hlo = asks_for_hlo(sampler, host);
		st = sampler_make_request(sampler, host, err);
		if (st)
			return st;
		host->asked_ms = now_ms;
		host->sample_ms = sampler->sample_ms;
		host->phase = ASKED;
		pthread_cond_signal(&host->asked);
	}
	sampler->wants_hlo = false;
	if (wants_hlo) {
		sampler->hlo_ms = now_ms + sampler->hlo_pause_ms;
		sampler->hlo_pause_ms = TS_MIN(sampler->hlo_pause_ms * 2, HLO_MAX_PAUSE_MS);
	}
	return TS_OK;
}

/* Waits for the hosts that were asked at NOW_MS; for the others not much longer than the first
 * one took. */
static void wait_all(struct ts_sampler *sampler, int64_t now_ms, int64_t last_ms)
{
	int64_t until_ms = TS_MIN(ts_now_ms() + sampler->sample_ms + PATIENCE_MS, last_ms);

	while (!sampler->stopped) {
		int64_t first_ms = INT64_MAX;
		bool is_waiting = false;

		for (size_t i = 0; i < sampler->nr; i++) {
			const struct host *host = &sampler->hosts[i];

			is_waiting |= host->phase == ASKED && host->asked_ms == now_ms;
			if (host->phase == DONE && host->has_xspace)
				first_ms = TS_MIN(first_ms, host->done_ms);
		}
		if (!is_waiting || ts_now_ms() >= until_ms)
			return;
		if (first_ms < INT64_MAX) {
			int64_t own_ms = first_ms - now_ms - sampler->sample_ms;

			until_ms = TS_MIN(first_ms + TS_MAX(LATE_MS, own_ms * LATE_TIMES), last_ms);
		}
		ts_doze(&sampler->done, &sampler->lock, until_ms);
	}
}

/* The sample, with the kept modules behind it. */
static enum ts_status complete(struct host *host, struct ts_run_bytes *item, struct ts_error *err)
{
	TS_ASSERT(host->has_xspace && host->xspace.p >= host->answer.body.p);
	TS_ASSERT(host->xspace.n <= host->answer.body.n);

	struct ts_buf *body = &host->answer.body;
	size_t at = (size_t)(host->xspace.p - body->p);
	enum ts_status st = TS_OK;

	if (host->with_hlo)
		st = ts_kept_modules_take(&host->modules, host->xspace, err);
	if (st)
		return st;
	if (host->modules.planes.n > 0 && !ts_xspace_has_modules(host->xspace)) {
		body->n = at + host->xspace.n; /* what stands behind the sample is not used */
		ts_buf_put(body, ts_buf_bytes(&host->modules.planes));
		if (body->failed)
			return ts_fail_nomem(err);
		host->xspace = ts_bytes_cut(ts_buf_bytes(body), at, body->n);
	}
	*item = (struct ts_run_bytes){ .bytes = host->xspace,
				       .file = ts_bytes_of(host->address),
				       .host = ts_bytes_of(host->address),
				       .reader = "xplane" };
	return TS_OK;
}

static void came_back(struct host *host)
{
	TS_ASSERT(host->has_xspace);

	struct ts_service *service = &host->service;

	if (host->is_gone && service->nr_samples > 0)
		service->nr_restarts++;
	host->is_gone = false;
	service->state = TS_SERVICE_UP;
	service->nr_samples++;
	service->nr_bytes = host->xspace.n;
	service->took_ms = host->done_ms - host->asked_ms;
	service->answered_ms = host->done_ms;
	service->is_fresh = host->with_hlo;
	service->has_modules = service->is_fresh || host->modules.planes.n > 0;
	host->nr_with_hlo += host->with_hlo;
	host->pause_ms = FIRST_PAUSE_MS;
}

/* The next answer may come from another process. */
static void sampler_forget(struct host *host)
{
	host->nr_with_hlo = 0;
	ts_kept_modules_forget(&host->modules);
}

static void sampler_failed(struct host *host, int64_t now_ms)
{
	TS_ASSERT(!host->has_xspace && host->pause_ms > 0);

	struct ts_service *service = &host->service;
	bool is_busy = host->answer.fault == TS_RPC_REFUSED;

	service->nr_failed++;
	service->state = is_busy ? TS_SERVICE_BUSY : TS_SERVICE_DOWN;
	if (is_busy)
		return;
	host->again_ms = now_ms + host->pause_ms;
	host->pause_ms = TS_MIN(host->pause_ms * 2, MAX_PAUSE_MS);
	if (host->problem.status == TS_UNSUPPORTED)
		host->again_ms = now_ms + OLD_PAUSE_MS;
	sampler_forget(host);
}

static enum ts_status sampler_gather(struct ts_sampler *sampler, struct ts_round *round,
				     struct ts_error *err)
{
	for (size_t i = 0; i < sampler->nr; i++) {
		struct host *host = &sampler->hosts[i];
		enum ts_status st;

		if (host->phase == ASKED)
			host->service.state = TS_SERVICE_LATE;
		if (host->phase != DONE)
			continue;
		host->phase = IDLE; /* its answer stays until it is asked again */
		host->service.problem = host->problem;
		if (host->is_gone) /* it may be back already: between two rounds that is not seen */
			sampler_forget(host);
		if (!host->has_xspace) {
			sampler_failed(host, round->end_ms);
			continue;
		}
		st = complete(host, &round->items[round->nr], err);
		if (st)
			return st;
		round->nr++;
		came_back(host);
	}
	return TS_OK;
}

/* Hosts are at work for this round, and there is no answer that would grow old. */
static bool is_unanswered(const struct ts_sampler *sampler)
{
	bool is_waiting = false;

	for (size_t i = 0; i < sampler->nr; i++) {
		const struct host *host = &sampler->hosts[i];

		if (host->phase == DONE && host->has_xspace)
			return false;
		is_waiting |= host->phase == ASKED && host->asked_ms == sampler->start_ms;
	}
	return is_waiting;
}

/* A round that goes on asks the hosts whose pause is over by now. */
static enum ts_status begin_round(struct ts_sampler *sampler, struct ts_error *err)
{
	int64_t now_ms = ts_now_ms();

	if (!sampler->goes_on) {
		/* answers to a round that did not wait for them are dropped */
		for (size_t i = 0; i < sampler->nr; i++)
			if (sampler->hosts[i].phase == DONE)
				sampler->hosts[i].phase = IDLE;
		sampler->start_ms = now_ms;
		sampler->sample_ms =
			sampler->long_ms > 0 ? sampler->long_ms : sampler->options.sample_ms;
		sampler->long_ms = 0;
	}
	return ask_all(sampler, now_ms, err);
}

enum ts_status ts_sampler_round(struct ts_sampler *sampler, int64_t until_ms,
				struct ts_round *round, struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(sampler != NULL && round != NULL);
	memset(round, 0, sizeof(*round));
	round->items = sampler->items;
	pthread_mutex_lock(&sampler->lock);
	st = begin_round(sampler, err);
	if (st == TS_OK)
		wait_all(sampler, sampler->start_ms, until_ms);
	round->start_ms = sampler->start_ms;
	round->is_long = sampler->sample_ms != sampler->options.sample_ms;
	round->end_ms = ts_now_ms();
	round->is_stopped = sampler->stopped;
	round->goes_on = sampler->goes_on = is_unanswered(sampler);
	if (st == TS_OK && !sampler->stopped)
		st = sampler_gather(sampler, round, err);
	for (size_t i = 0; i < sampler->nr; i++)
		sampler->services[i] = sampler->hosts[i].service;
	pthread_mutex_unlock(&sampler->lock);
	return st;
}

void ts_sampler_want_hlo(struct ts_sampler *sampler)
{
	TS_ASSERT(sampler != NULL);
	if (ts_now_ms() >= sampler->hlo_ms)
		sampler->wants_hlo = true;
}

void ts_sampler_want_long(struct ts_sampler *sampler, int64_t sample_ms)
{
	TS_ASSERT(sampler != NULL && sample_ms > 0);
	sampler->long_ms = sample_ms;
}

const struct ts_service *ts_sampler_services(const struct ts_sampler *sampler, size_t *nr)
{
	TS_ASSERT(sampler != NULL && nr != NULL);
	*nr = sampler->nr;
	return sampler->services;
}
