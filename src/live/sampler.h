/* SPDX-License-Identifier: MIT */
/*
 * Sampling: the profiler servers of a job's hosts are asked together, again and again.
 *
 * Each host has a thread and a connection that stays open. A round asks all hosts that are not
 * waiting to be tried again. It ends when they have answered, or some time after the first one did:
 * a host that is late misses the round, its answer is dropped, and it is asked again in the next
 * round. While no host answers at all, a round comes back empty now and then and goes on with the
 * next call.
 *
 * A host that fails is tried again after 0.5 s, 1 s, ... 8 s. Its modules are forgotten then, as
 * another process may answer next. A host counts as another process when it could not be reached,
 * or when it has closed the connection on which it answered before, even if it is back by the next
 * round.
 *
 * All functions except ts_sampler_stop() are for one thread. The result of a round is good until
 * the next round.
 */
#ifndef TS_LIVE_SAMPLER_H
#define TS_LIVE_SAMPLER_H

#include "run/run.h"

struct ts_sampler;

enum ts_hlo_choice {
	TS_HLO_ONCE, /* in a host's first two samples, and when a program runs that is not known */
	TS_HLO_ALWAYS,
	TS_HLO_NEVER,
};

struct ts_sampler_options {
	const char *const *addresses; /* HOST:PORT; copied */
	size_t nr_addresses;
	/* the timeout is for an answer, after the length of the sample */
	int64_t sample_ms, timeout_ms;
	enum ts_hlo_choice hlo;
	size_t max_bytes; /* of one answer */
	/* an absolute path that both see, for servers that write files; NULL: none */
	const char *repository;
};

enum ts_service_state {
	TS_SERVICE_NEW, /* it was not asked yet */
	TS_SERVICE_UP,
	TS_SERVICE_BUSY, /* another profiler is at work in the job */
	TS_SERVICE_LATE, /* it has not answered in time */
	TS_SERVICE_DOWN,
	TS_NR_SERVICE_STATES
};

/* What is known about a host. */
struct ts_service {
	const char *address;
	enum ts_service_state state;
	struct ts_error problem; /* in the last round; an empty text: there is none */
	uint64_t nr_samples, nr_failed;
	uint64_t nr_restarts; /* how often it answered again after it was gone */
	size_t nr_bytes;      /* of the last sample */
	int64_t took_ms;      /* from the request to the answer, for the last sample */
	int64_t answered_ms;  /* when the last sample came, by ts_now_ms() */
	bool has_modules;     /* the sample has all modules of the process, from now or before */
	bool is_fresh;	      /* it has those of now */
};

struct ts_round {
	int64_t start_ms, end_ms;   /* by ts_now_ms() */
	struct ts_run_bytes *items; /* one for each host that answered */
	size_t nr;
	bool is_stopped;
	bool goes_on; /* it is empty, and the next call goes on with it */
	bool is_long; /* it was asked for by ts_sampler_want_long() */
};

enum ts_status ts_sampler_new(struct ts_sampler **sampler, const struct ts_sampler_options *options,
			      struct ts_error *err);
void ts_sampler_free(struct ts_sampler *sampler); /* NULL is fine */

/* One sample of all hosts, or an empty round while a sample takes long. A host that has not
 * answered by UNTIL_MS is late. TS_NOMEM; all other problems are in the services. */
enum ts_status ts_sampler_round(struct ts_sampler *sampler, int64_t until_ms,
				struct ts_round *round, struct ts_error *err);
/* Programs ran that are not among the modules: the next round asks for modules. Where that does not
 * help, it is done less and less often. */
void ts_sampler_want_hlo(struct ts_sampler *sampler);
/* The next round that begins is of so many ms, with modules. */
void ts_sampler_want_long(struct ts_sampler *sampler, int64_t sample_ms);
const struct ts_service *ts_sampler_services(const struct ts_sampler *sampler, size_t *nr);

/* Waits until UNTIL_MS by ts_now_ms(). False: ts_sampler_stop() was called. */
bool ts_sampler_wait(struct ts_sampler *sampler, int64_t until_ms);
/* May be called from any thread. The present round and every wait end at once. */
void ts_sampler_stop(struct ts_sampler *sampler);

const char *ts_service_state_name(enum ts_service_state state); /* "up" */

#endif
