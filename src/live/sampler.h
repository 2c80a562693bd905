/*
 * Sampling: the profiler's servers of a job's hosts, asked together, again and again.
 *
 * Each host has a thread and a connection that is kept. A round asks all hosts that are not waiting
 * to be tried again, and ends when they have answered, or some time after the first did: a host that
 * is late misses the round, what it says then is dropped, and it is asked again in the next one. While
 * nobody at all answers a round comes back empty now and then, and goes on with the next call.
 * A host that fails is tried again after 0.5 s, 1 s, ... 8 s; what it had compiled is forgotten then,
 * it may be another process. It is taken for one when it could not be reached, or has closed the
 * connection on which it answered before, even if it is back by the next round.
 *
 * All functions but ts_sampler_stop() are for one thread. What a round gives is good until the next.
 */
#ifndef TS_LIVE_SAMPLER_H
#define TS_LIVE_SAMPLER_H

#include "flow/run.h"

struct ts_sampler;

enum ts_hlo_choice {
	TS_HLO_ONCE, /* in a host's first two samples, then when there are programs not known */
	TS_HLO_ALWAYS,
	TS_HLO_NEVER,
};

struct ts_sampler_options {
	const char *const *addresses; /* HOST:PORT; copied */
	size_t nr_addresses;
	int64_t sample_ms, timeout_ms; /* the timeout is of an answer, beyond the sample's time */
	enum ts_hlo_choice hlo;
	size_t max_bytes; /* of an answer */
	const char *
		repository; /* an absolute path that both see, for servers that write files; NULL: none */
};

enum ts_service_state {
	TS_SERVICE_NEW, /* not asked yet */
	TS_SERVICE_UP,
	TS_SERVICE_BUSY, /* another profiler is at work in the job */
	TS_SERVICE_LATE, /* has not answered in time yet */
	TS_SERVICE_DOWN,
	TS_NR_SERVICE_STATES
};

/* What is known of a host. */
struct ts_service {
	const char *address;
	enum ts_service_state state;
	struct ts_error problem; /* of the last round; text empty: none */
	uint64_t nr_samples, nr_failed;
	uint64_t nr_restarts; /* times it answered again after it was gone */
	size_t nr_bytes;      /* of the last sample */
	int64_t took_ms;      /* from asking to the answer, of the last sample */
	bool has_modules;     /* all that it has compiled is in it, asked for now or before */
};

struct ts_round {
	int64_t start_ms, end_ms;   /* by ts_now_ms() */
	struct ts_run_bytes *items; /* a host that answered; may be none */
	size_t nr;
	bool is_stopped;
	bool goes_on; /* it is empty, and the next one is the same */
};

enum ts_status ts_sampler_new(struct ts_sampler **sampler, const struct ts_sampler_options *options,
			      struct ts_error *err);
void ts_sampler_free(struct ts_sampler *sampler); /* NULL is fine */

/* One sample of all hosts, or news of one that takes long; who has not answered by UNTIL_MS is late. TS_NOMEM; all else is in the
 * services. */
enum ts_status ts_sampler_round(struct ts_sampler *sampler, int64_t until_ms,
				struct ts_round *round, struct ts_error *err);
/* Programs ran that are not among the modules: the next round asks for them. Seldom, when it does
 * not help. */
void ts_sampler_want_hlo(struct ts_sampler *sampler);
const struct ts_service *ts_sampler_services(const struct ts_sampler *sampler, size_t *nr);

/* Waits until UNTIL_MS by ts_now_ms(). False: it was stopped. */
bool ts_sampler_wait(struct ts_sampler *sampler, int64_t until_ms);
/* From any thread: a round under way and every wait end at once. */
void ts_sampler_stop(struct ts_sampler *sampler);

const char *ts_service_state_name(enum ts_service_state state); /* "up" */

#endif
