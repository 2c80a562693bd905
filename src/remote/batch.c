/* SPDX-License-Identifier: MIT */
/* A ring of calls: the oldest is waited for. */
#include "remote/inside.h"

#include "base/check.h"

size_t ts_remote_jobs(const struct ts_remote *remote, struct ts_client *client,
		      struct ts_error *err)
{
	size_t nr = ts_client_jobs(client, err);
	size_t most = remote->options.nr_jobs;

	return most > 0 && nr > 0 ? TS_MIN(most, TS_REMOTE_MAX_JOBS) : nr;
}

/* Which URL a failure is of, DONE knows. */
static enum ts_status batch_finish(const struct ts_batch *batch, size_t index,
				   struct ts_remote_call *call, struct ts_error *err)
{
	struct ts_remote_request request = { .op = NULL };
	enum ts_status st;

	batch->make(batch->ctx, index, &request);
	st = ts_client_wait(batch->client, call, request.url, err);
	st = batch->done(batch->ctx, index, call, st, err);
	ts_remote_call_release(call);
	return st;
}

enum ts_status ts_batch_run(const struct ts_batch *batch, struct ts_error *err)
{
	struct ts_remote_call *calls = calloc(batch->nr_jobs, sizeof(*calls));
	struct ts_error story = TS_ERROR_INIT;
	size_t nr_sent = 0, nr_done = 0;
	enum ts_status st = calls ? TS_OK : ts_fail_nomem(err);

	TS_ASSERT(batch->client && batch->nr_jobs > 0);
	while (st == TS_OK ? nr_done < batch->nr : nr_done < nr_sent) {
		while (st == TS_OK && nr_sent < batch->nr && nr_sent - nr_done < batch->nr_jobs) {
			struct ts_remote_call *call = &calls[nr_sent % batch->nr_jobs];
			struct ts_remote_request request = { .op = NULL };

			*call = (struct ts_remote_call)TS_REMOTE_CALL_INIT;
			batch->make(batch->ctx, nr_sent++, &request);
			ts_client_send(batch->client, call, &request);
		}
		if (batch_finish(batch, nr_done, &calls[nr_done % batch->nr_jobs], &story) && !st) {
			st = story.status; /* the first one */
			if (err)
				*err = story;
		}
		nr_done++;
	}
	free(calls);
	return st;
}
