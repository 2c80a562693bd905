/* SPDX-License-Identifier: MIT */
/* The outline's small parts, and steps by time. */
#include "model/outline.h"

#include "base/check.h"

void ts_device_steps_release(struct ts_device_steps *steps)
{
	TS_ASSERT(steps);
	free(steps->items);
	free(steps->rows);
	free(steps->works);
	steps->items = NULL;
	steps->rows = steps->works = NULL;
	steps->nr = steps->cap = steps->nr_rows = steps->nr_works = steps->cap_works = 0;
	steps->work = TS_NO_WORK;
}

enum ts_status ts_device_steps_reserve(struct ts_device_steps *steps, size_t nr,
				       struct ts_error *err)
{
	TS_ASSERT(steps);
	if (!ts_grow(&steps->items, &steps->cap, nr, sizeof(*steps->items)))
		return ts_fail_nomem(err);
	return TS_OK;
}

void ts_steps_release(struct ts_steps *steps)
{
	TS_ASSERT(steps);
	for (size_t i = 0; i < steps->nr_devices; i++)
		ts_device_steps_release(&steps->devices[i]);
	free(steps->devices);
	free(steps->rows);
	free(steps->works);
	memset(steps, 0, sizeof(*steps));
}

enum ts_status ts_device_steps_add(struct ts_device_steps *steps, int64_t start_ps, int64_t end_ps,
				   uint64_t number, struct ts_error *err)
{
	TS_ASSERT_HOT(steps);
	if (steps->nr > 0)
		steps->items[steps->nr - 1].end_ps =
			TS_MIN(steps->items[steps->nr - 1].end_ps, start_ps);
	if (!ts_grow(&steps->items, &steps->cap, steps->nr + 1, sizeof(*steps->items)))
		return ts_fail_nomem(err);
	steps->items[steps->nr++] = (struct ts_step){ start_ps, end_ps, number };
	return TS_OK;
}

/* The place of WORK among those of STEPS; found from the last one on, as what steps do changes seldom. False: no memory. */
static bool outline_place_of(struct ts_steps *steps, const struct ts_step_work *work,
			     uint32_t *place)
{
	*place = TS_NO_WORK;
	for (size_t i = steps->nr_works; i > 0 && *place == TS_NO_WORK; i--)
		if (memcmp(&steps->works[i - 1], work, sizeof(*work)) == 0)
			*place = (uint32_t)i;
	if (*place != TS_NO_WORK || steps->nr_works == TS_WORKS_MAX)
		return true;
	if (!ts_grow(&steps->works, &steps->cap_works, steps->nr_works + 1, sizeof(*steps->works)))
		return false;
	steps->works[steps->nr_works++] = *work;
	*place = (uint32_t)steps->nr_works;
	return true;
}

/* From its last step on each says what it does. */
static bool outline_spread_work(struct ts_device_steps *device)
{
	if (!ts_grow(&device->works, &device->cap_works, device->nr, sizeof(*device->works)))
		return false;
	for (size_t i = 0; i + 1 < device->nr; i++)
		device->works[i] = device->work;
	device->nr_works = device->nr - 1;
	return true;
}

enum ts_status ts_steps_note_work(struct ts_steps *steps, struct ts_device_steps *device,
				  const struct ts_step_work *work, struct ts_error *err)
{
	uint32_t place;

	TS_ASSERT_HOT(steps && device && work && device->nr > 0);
	if (!outline_place_of(steps, work, &place))
		return ts_fail_nomem(err);
	if (device->nr == 1)
		device->work = place;
	if (device->nr_works == 0 && place == device->work)
		return TS_OK;
	if (device->nr_works == 0 && !outline_spread_work(device))
		return ts_fail_nomem(err);
	if (!ts_grow(&device->works, &device->cap_works, device->nr, sizeof(*device->works)))
		return ts_fail_nomem(err);
	device->works[device->nr_works++] = place;
	return TS_OK;
}

void ts_host_spans_divide(const struct ts_host_spans *host, int64_t from_ps, int64_t to_ps,
			  int64_t left_ps, int64_t ps[TS_NR_PAUSES])
{
	const struct ts_spans *spans[] = { &host->compile, &host->input, &host->launch };

	TS_ASSERT_HOT(host && ps);
	for (size_t i = 0; i < TS_NELEM(spans); i++) {
		size_t hint = 0;

		ps[i] = TS_MIN(ts_spans_covered(spans[i], from_ps, to_ps, &hint), left_ps);
		left_ps -= ps[i];
	}
	ps[TS_NELEM(spans)] = left_ps;
}

void ts_outline_release(struct ts_outline *outline)
{
	TS_ASSERT(outline);
	ts_steps_release(&outline->steps);
	for (size_t i = 0; i < outline->nr_hosts; i++) {
		ts_spans_release(&outline->hosts[i].compile);
		ts_spans_release(&outline->hosts[i].input);
		ts_spans_release(&outline->hosts[i].launch);
	}
	free(outline->hosts);
	outline->hosts = NULL;
	outline->nr_hosts = 0;
	ts_spans_release(&outline->compile);
	free(outline->host_activity);
	outline->host_activity = NULL;
	free(outline->launching);
	outline->launching = NULL;
	outline->nr_launching = 0;
	ts_steps_release(&outline->host_steps);
	ts_scopes_release(&outline->scopes);
}

bool ts_outline_launches(const struct ts_outline *outline, uint32_t line)
{
	TS_ASSERT(outline);
	for (size_t i = 0; i < outline->nr_launching; i++)
		if (outline->launching[i] == line)
			return true;
	return false;
}

void ts_device_steps_hull(const struct ts_device_steps *steps, int64_t *from_ps, int64_t *until_ps)
{
	TS_ASSERT_HOT(steps && from_ps && until_ps);
	*from_ps = steps->nr > 0 ? steps->items[0].start_ps : steps->from_ps;
	*until_ps = steps->nr > 0 ? steps->items[steps->nr - 1].end_ps : steps->until_ps;
}

uint32_t ts_steps_at(const struct ts_device_steps *steps, int64_t t, size_t *hint)
{
	size_t lo = 0, hi = steps->nr;

	TS_ASSERT_HOT(steps);
	if (*hint < steps->nr && steps->items[*hint].start_ps <= t) {
		for (lo = *hint; lo < steps->nr && lo < *hint + 4; lo++)
			if (steps->items[lo].end_ps > t)
				goto found;
	}
	while (lo < hi) { /* the first step that ends after T */
		size_t mid = lo + (hi - lo) / 2;

		if (steps->items[mid].end_ps <= t)
			lo = mid + 1;
		else
			hi = mid;
	}
found:
	*hint = lo;
	return lo < steps->nr && steps->items[lo].start_ps <= t ? (uint32_t)lo : TS_NONE;
}

int64_t ts_steps_number_at(const struct ts_steps *steps, uint32_t device, int64_t t)
{
	const struct ts_device_steps *of;
	size_t hint = 0;
	uint32_t step;

	if (t < 0 || device >= steps->nr_devices)
		return -1;
	of = ts_steps_of(steps, device);
	step = ts_steps_at(of, t, &hint);
	return step == TS_NONE ? -1 : (int64_t)of->items[step].number;
}
