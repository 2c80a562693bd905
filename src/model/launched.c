/* SPDX-License-Identifier: MIT */
/* Launches to operators, and their kernels' parts of the work. */
#include "model/launched.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/check.h"

struct host_launches {
	struct ts_map calls_of; /* by link */
	struct ts_launched_call *calls;
	size_t nr, cap;
};

struct ts_launched {
	struct host_launches *hosts;
	size_t nr_hosts;
};

void ts_thread_launches_release(struct ts_thread_launches *launches)
{
	TS_ASSERT(launches);
	free(launches->items);
	free(launches->calls);
	*launches = (struct ts_thread_launches){ .items = NULL };
}

enum ts_status ts_thread_launch(struct ts_thread_launches *launches, int64_t start_ps,
				uint64_t link, struct ts_error *err)
{
	TS_ASSERT_HOT(launches);
	if (launches->nr >= TS_LAUNCHED_MAX)
		return TS_OK;
	if (!ts_grow(&launches->items, &launches->cap, launches->nr + 1, sizeof(*launches->items)))
		return ts_fail_nomem(err);
	launches->items[launches->nr++] = (struct ts_launch){ start_ps, link, TS_NONE };
	return TS_OK;
}

/* The first launch that began at START_PS or later: what ends now holds it and all behind it. */
static size_t first_since(const struct ts_thread_launches *launches, int64_t start_ps)
{
	size_t at = launches->nr;

	while (at > 0 && launches->items[at - 1].start_ps >= start_ps)
		at--;
	return at;
}

bool ts_thread_has_launched(const struct ts_thread_launches *launches, int64_t start_ps)
{
	TS_ASSERT_HOT(launches);
	for (size_t at = launches->nr; at > 0 && launches->items[at - 1].start_ps >= start_ps; at--)
		if (launches->items[at - 1].call == TS_NONE)
			return true;
	return false;
}

/* Operators inside that use matrix units did what this one is for: what it launches beside them is not known. */
static bool is_done_inside(const struct ts_thread_launches *launches, size_t from)
{
	for (size_t i = from; i < launches->nr; i++)
		if (launches->items[i].call != TS_NONE &&
		    launches->calls[launches->items[i].call].work.flops > 0)
			return true;
	return false;
}

static enum ts_status launched_add_call(struct ts_thread_launches *launches, size_t from,
					const struct ts_launched_call *call, struct ts_error *err)
{
	if (!ts_grow(&launches->calls, &launches->cap_calls, launches->nr_calls + 1, sizeof(*call)))
		return ts_fail_nomem(err);
	for (size_t i = from; i < launches->nr; i++)
		if (launches->items[i].call == TS_NONE)
			launches->items[i].call = (uint32_t)launches->nr_calls;
	launches->calls[launches->nr_calls++] = *call;
	return TS_OK;
}

enum ts_status ts_thread_again(struct ts_thread_launches *launches, int64_t start_ps,
			       struct ts_error *err)
{
	const struct ts_launched_call none = { .work = { NAN, NAN, NAN, TS_ATEN_UNKNOWN } };
	size_t from = first_since(launches, start_ps);
	enum ts_status st = TS_OK;

	TS_ASSERT_HOT(launches);
	if (ts_thread_has_launched(launches, start_ps))
		st = launched_add_call(launches, from, &none, err);
	for (size_t i = from; i < launches->nr && st == TS_OK; i++)
		launches->calls[launches->items[i].call].is_again = true;
	return st;
}

enum ts_status ts_thread_call(struct ts_thread_launches *launches, int64_t start_ps,
			      const struct ts_aten_work *work, struct ts_error *err)
{
	struct ts_launched_call call = { .work = *work, .has_kind = true };
	size_t from = first_since(launches, start_ps);

	TS_ASSERT_HOT(launches && work);
	if (work->flops > 0 && is_done_inside(launches, from))
		call.work.flops = call.work.bytes = NAN;
	return launched_add_call(launches, from, &call, err);
}

struct ts_launched *ts_launched_new(size_t nr_hosts)
{
	struct ts_launched *launched = calloc(1, sizeof(*launched));

	if (!launched)
		return NULL;
	launched->nr_hosts = nr_hosts;
	launched->hosts = calloc(nr_hosts + 1, sizeof(*launched->hosts));
	if (launched->hosts)
		return launched;
	free(launched);
	return NULL;
}

void ts_launched_free(struct ts_launched *launched)
{
	for (size_t i = 0; launched && i < launched->nr_hosts; i++) {
		ts_map_release(&launched->hosts[i].calls_of);
		free(launched->hosts[i].calls);
	}
	if (launched)
		free(launched->hosts);
	free(launched);
}

enum ts_status ts_launched_add(struct ts_launched *launched, uint32_t host,
			       struct ts_thread_launches *launches, struct ts_error *err)
{
	struct host_launches *of = &launched->hosts[host];
	size_t first = of->nr;

	TS_ASSERT(launched && host < launched->nr_hosts);
	if (launches->nr_calls > 0 &&
	    !ts_grow(&of->calls, &of->cap, first + launches->nr_calls, sizeof(*of->calls)))
		return ts_fail_nomem(err);
	for (size_t i = 0; i < launches->nr_calls; i++)
		of->calls[of->nr++] = launches->calls[i];
	for (size_t i = 0; i < launches->nr && of->calls_of.nr < TS_LAUNCHED_MAX; i++) {
		const struct ts_launch *launch = &launches->items[i];

		if (launch->call != TS_NONE &&
		    !ts_map_set(&of->calls_of, launch->link, (uint32_t)(first + launch->call)))
			return ts_fail_nomem(err);
	}
	ts_thread_launches_release(launches);
	return TS_OK;
}

bool ts_launched_has(const struct ts_launched *launched, uint32_t host)
{
	TS_ASSERT(launched && host < launched->nr_hosts);
	return launched->hosts[host].nr > 0;
}

void ts_launched_time(struct ts_launched *launched, uint32_t host, uint64_t link, int64_t dur_ps)
{
	struct host_launches *of = &launched->hosts[host];
	uint32_t call = ts_map_find(&of->calls_of, link);

	TS_ASSERT_HOT(host < launched->nr_hosts);
	if (call != TS_NONE && dur_ps > 0)
		of->calls[call].kernels_ps = ts_i64_add(of->calls[call].kernels_ps, dur_ps);
}

struct ts_kernel_work ts_launched_find(const struct ts_launched *launched, uint32_t host,
				       uint64_t link, int64_t dur_ps)
{
	const struct host_launches *of = &launched->hosts[host];
	uint32_t call = ts_map_find(&of->calls_of, link);
	struct ts_kernel_work work = { NAN, NAN, 0 };
	const struct ts_launched_call *found;
	double share;

	TS_ASSERT_HOT(host < launched->nr_hosts);
	if (call == TS_NONE)
		return work;
	found = &of->calls[call];
	work.how = (uint8_t)(found->work.type | (found->has_kind ? TS_HOW_KIND : 0) |
			     (found->is_again ? TS_HOW_AGAIN : 0));
	if (found->kernels_ps <= 0 || dur_ps <= 0)
		return work;
	share = (double)dur_ps / (double)found->kernels_ps;
	work.bytes = found->work.bytes * share;
	if (found->work.flops == 0)
		work.how |= TS_HOW_NO_MATRIX;
	else
		work.flops = found->work.flops * share;
	return work;
}
