/* SPDX-License-Identifier: MIT */
/*
 * What lines mark stays packed (run/outline_marks.h), and a host's steps are made of it each time that they are asked
 * for: to count them, to find which are one step, and to put them down.
 */
#include "pod/reduce_steps.h"

#include "analysis/kit/run_steps.h"
#include "base/check.h"
#include "pod/parcel.h"
#include "pod/saved.h"
#include "model/step_pairing.h"

struct reducing {
	struct ts_steps *steps;
	struct ts_outline_steps finding;
	struct ts_step_pairing pairing;
	struct ts_steps_bringer bringer;
	bool is_paired;
	enum ts_status st; /* of what was brought, whose story is in .err */
	struct ts_error *err;
};

/* What stays of a device whose steps are not in memory. */
static void put_away(struct ts_device_steps *device)
{
	if (device->nr == 0)
		return;
	ts_device_steps_hull(device, &device->from_ps, &device->until_ps);
	device->nr_elsewhere = device->nr;
	ts_device_steps_release(device);
}

static enum ts_status reduce_steps_make(struct reducing *reducing, uint32_t index)
{
	struct ts_device_steps *device = &reducing->steps->devices[index];
	enum ts_status st;

	device->nr_elsewhere = 0;
	device->from_ps = device->until_ps = 0;
	st = ts_outline_steps_make(&reducing->finding, index, reducing->steps, reducing->err);
	if (st || !reducing->is_paired)
		return st;
	return ts_step_pairing_apply(&reducing->pairing, reducing->steps, index, reducing->err);
}

static void reduce_steps_bring(void *ctx, uint32_t host)
{
	struct reducing *reducing = ctx;
	struct ts_steps *steps = reducing->steps;

	for (uint32_t d = 0; d < steps->nr_devices; d++) {
		if (steps->devices[d].host == reducing->bringer.host)
			put_away(&steps->devices[d]);
		if (steps->devices[d].host == host && reducing->st == TS_OK)
			reducing->st = reduce_steps_make(reducing, d);
	}
	reducing->bringer.host = host;
}

/* Which steps of devices are one; first of all how many each device has. */
static enum ts_status pair(struct reducing *reducing)
{
	struct ts_steps *steps = reducing->steps;

	for (uint32_t d = 0; d < steps->nr_devices; d++)
		ts_steps_of(steps, d);
	reduce_steps_bring(reducing, TS_NONE);
	if (reducing->st == TS_OK)
		reducing->st = ts_step_pairing_find(&reducing->pairing, steps, reducing->err);
	reducing->is_paired = reducing->st == TS_OK;
	reduce_steps_bring(reducing, TS_NONE);
	return reducing->st;
}

static void reduce_steps_add_rows(struct ts_run_step *rows, const struct ts_device_steps *device)
{
	for (size_t i = 0; i < device->nr; i++)
		ts_run_step_add(&rows[ts_device_steps_row(device, i)], &device->items[i],
				ts_device_steps_work(device, i));
}

static enum ts_status reduce_steps_put_host(struct reducing *reducing, uint32_t host,
					    struct ts_buf *section, struct ts_buf *out,
					    struct ts_error *err)
{
	struct ts_steps *steps = reducing->steps;

	reduce_steps_bring(reducing, host);
	if (reducing->st)
		return reducing->st;
	ts_buf_clear(section);
	ts_saved_put_steps(section, steps, host);
	if (section->failed)
		return ts_fail_nomem(err);
	for (size_t d = 0; d < steps->nr_devices; d++)
		if (steps->devices[d].host == host)
			reduce_steps_add_rows(steps->rows, &steps->devices[d]);
	return ts_parcel_put(out, ts_buf_bytes(section), err);
}

static enum ts_status reduce_steps_put_hosts(struct reducing *reducing, size_t nr_hosts,
					     struct ts_buf *out, struct ts_error *err)
{
	struct ts_steps *steps = reducing->steps;
	struct ts_buf section = TS_BUF_INIT;
	enum ts_status st = TS_OK;

	steps->rows = calloc(steps->nr_steps + 1, sizeof(*steps->rows));
	if (!steps->rows)
		return ts_fail_nomem(err);
	for (uint32_t host = 0; host < nr_hosts && st == TS_OK; host++)
		st = reduce_steps_put_host(reducing, host, &section, out, err);
	reduce_steps_bring(reducing, TS_NONE);
	steps->nr_rows = steps->nr_steps;
	ts_buf_release(&section);
	return st;
}

enum ts_status ts_reduce_steps(struct ts_profile *profile, struct ts_outline_lines *lines,
			       struct ts_steps *steps, struct ts_buf *out, struct ts_error *err)
{
	struct outline_marks **marks = ts_outline_marks_of(lines);
	struct reducing reducing = { .steps = steps, .err = err };
	enum ts_status st;

	TS_ASSERT(profile && lines && steps && out);
	reducing.bringer = (struct ts_steps_bringer){ &reducing, reduce_steps_bring, TS_NONE };
	st = marks ? ts_outline_steps_open(&reducing.finding, profile, marks, steps, err)
		   : ts_fail_nomem(err);
	if (st == TS_OK) {
		steps->bringer = &reducing.bringer;
		st = pair(&reducing);
		if (st == TS_OK)
			st = reduce_steps_put_hosts(&reducing, profile->nr_hosts, out, err);
		steps->bringer = NULL;
	}
	ts_step_pairing_release(&reducing.pairing);
	ts_outline_steps_close(&reducing.finding);
	for (size_t l = 0; marks && l < lines->nr; l++)
		ts_outline_marks_release(marks[l]);
	free(marks);
	return st;
}
