/* SPDX-License-Identifier: MIT */
/*
 * Numbers are gathered device by device: most devices have those of the first one, so what is kept grows
 * with the rows of the run.
 */
#include "model/step_pairing.h"

#include <float.h>
#include <math.h>

#include "base/check.h"
#include "base/units.h"
#include "base/order.h"

/* Steps of a device that are looked at beside those of others: a copy, where these are brought in their place. */
struct held {
	struct ts_device_steps steps;
	bool is_copy;
};

static enum ts_status step_pairing_hold(struct held *held, const struct ts_steps *all,
					uint32_t device, struct ts_error *err)
{
	const struct ts_device_steps *steps = ts_steps_of(all, device);

	held->steps = *steps;
	held->is_copy = all->bringer != NULL;
	if (!held->is_copy)
		return TS_OK;
	held->steps.items = malloc((steps->nr + 1) * sizeof(*steps->items));
	if (!held->steps.items)
		return ts_fail_nomem(err);
	if (steps->nr > 0)
		memcpy(held->steps.items, steps->items, steps->nr * sizeof(*steps->items));
	return TS_OK;
}

static void step_pairing_let_go(struct held *held)
{
	if (held->is_copy)
		free(held->steps.items);
}

/* ---- by number */

static bool numbers_rise(const struct ts_device_steps *steps)
{
	for (size_t i = 1; i < steps->nr; i++)
		if (steps->items[i].number <= steps->items[i - 1].number)
			return false;
	return true;
}

static bool numbers_are_those_of(const struct ts_device_steps *steps,
				 const struct ts_device_steps *others)
{
	if (steps->nr != others->nr)
		return false;
	for (size_t i = 0; i < steps->nr; i++)
		if (steps->items[i].number != others->items[i].number)
			return false;
	return true;
}

/* The first device that has steps, or 0. */
static uint32_t step_pairing_first_device(const struct ts_steps *steps)
{
	for (uint32_t d = 0; d < steps->nr_devices; d++)
		if (ts_device_steps_nr(&steps->devices[d]) > 0)
			return d;
	return 0;
}

/* Do devices that have steps have different ones, by numbers that rise? Nearly never. */
static enum ts_status numbers_tell(const struct ts_steps *steps, bool *tell, struct ts_error *err)
{
	bool agree = true, rise = true;
	struct held first;
	enum ts_status st = step_pairing_hold(&first, steps, step_pairing_first_device(steps), err);

	if (st)
		return st;
	for (uint32_t d = 0; d < steps->nr_devices && rise; d++) {
		const struct ts_device_steps *device = ts_steps_of(steps, d);

		rise = numbers_rise(device);
		agree = agree && (device->nr == 0 || numbers_are_those_of(device, &first.steps));
	}
	step_pairing_let_go(&first);
	*tell = rise && !agree;
	return TS_OK;
}

/* What is listed, sorted and each once, and behind it what came since. */
struct numbers {
	uint64_t *items;
	size_t nr, nr_sorted, cap;
};

static void sort_numbers(struct numbers *numbers)
{
	size_t nr = 0;

	if (numbers->nr == numbers->nr_sorted)
		return;
	TS_SORT(numbers->items, numbers->nr, ts_u64_order);
	for (size_t i = 0; i < numbers->nr; i++)
		if (i == 0 || numbers->items[i] != numbers->items[i - 1])
			numbers->items[nr++] = numbers->items[i];
	numbers->nr = numbers->nr_sorted = nr;
}

/* The place of the first of NR rising numbers that is not below NUMBER; tried at HINT first. */
static size_t step_pairing_place_of(const uint64_t *numbers, size_t nr, uint64_t number,
				    size_t hint)
{
	size_t lo = 0, hi = nr;

	if (hint < nr && numbers[hint] == number)
		return hint;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (numbers[mid] < number)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static enum ts_status list_device(struct numbers *numbers, const struct ts_device_steps *device,
				  struct ts_error *err)
{
	size_t at = 0;

	for (size_t i = 0; i < device->nr; i++) {
		uint64_t number = device->items[i].number;

		at = step_pairing_place_of(numbers->items, numbers->nr_sorted, number, at);
		if (at < numbers->nr_sorted && numbers->items[at] == number) {
			at++;
			continue;
		}
		if (!ts_grow(&numbers->items, &numbers->cap, numbers->nr + 1,
			     sizeof(*numbers->items)))
			return ts_fail_nomem(err);
		numbers->items[numbers->nr++] = number;
	}
	if (numbers->nr - numbers->nr_sorted >= numbers->nr_sorted)
		sort_numbers(numbers);
	return TS_OK;
}

static enum ts_status find_by_number(struct ts_step_pairing *pairing, struct ts_steps *steps,
				     struct ts_error *err)
{
	struct numbers numbers = { .nr = 0 };
	enum ts_status st = TS_OK;

	for (uint32_t d = 0; d < steps->nr_devices && st == TS_OK; d++)
		st = list_device(&numbers, ts_steps_of(steps, d), err);
	if (st == TS_OK)
		sort_numbers(&numbers);
	pairing->numbers = numbers.items;
	pairing->nr_numbers = steps->nr_steps = numbers.nr;
	return st;
}

static enum ts_status apply_by_number(const struct ts_step_pairing *pairing,
				      struct ts_device_steps *device, struct ts_error *err)
{
	const uint64_t *numbers = pairing->numbers;
	size_t nr = pairing->nr_numbers, first, last, at;

	if (device->nr == 0)
		return TS_OK;
	first = step_pairing_place_of(numbers, nr, device->items[0].number, 0);
	last = step_pairing_place_of(numbers, nr, device->items[device->nr - 1].number,
				     first + device->nr - 1);
	device->first_row = (uint32_t)first;
	if (last - first == device->nr - 1)
		return TS_OK;
	device->rows = malloc(device->nr * sizeof(*device->rows));
	if (!device->rows)
		return ts_fail_nomem(err);
	device->nr_rows = device->nr;
	at = first;
	for (size_t i = 0; i < device->nr_rows; i++) {
		at = step_pairing_place_of(numbers, nr, device->items[i].number, at);
		device->rows[i] = (uint32_t)at++;
	}
	return TS_OK;
}

/* ---- by time */

static int64_t overlap_ps(const struct ts_step *x, const struct ts_step *y)
{
	return TS_MAX(ts_i64_sub(TS_MIN(x->end_ps, y->end_ps), TS_MAX(x->start_ps, y->start_ps)),
		      0);
}

/* Time in which DEVICE's steps and those of BASE that stand SHIFT places further run together. */
static double together_ps(const struct ts_device_steps *base, const struct ts_device_steps *device,
			  int64_t shift)
{
	double sum = 0;

	for (size_t i = 0; i < device->nr; i++)
		if ((int64_t)i + shift >= 0 && (int64_t)i + shift < (int64_t)base->nr)
			sum += (double)overlap_ps(&base->items[(int64_t)i + shift],
						  &device->items[i]);
	return sum;
}

/* The step of STEPS that T is in, or else the next one. */
static size_t seek_step(const struct ts_device_steps *steps, int64_t t)
{
	size_t hint = 0;

	ts_steps_at(steps, t, &hint);
	return hint;
}

/* How many steps DEVICE began behind BASE: tried from its first, its middle and its last step. */
static int64_t shift_of(const struct ts_device_steps *base, const struct ts_device_steps *device)
{
	size_t asked[] = { 0, device->nr / 2, device->nr - 1 };
	double best_ps = together_ps(base, device, 0);
	int64_t best = 0;

	for (size_t a = 0; a < TS_NELEM(asked); a++) {
		const struct ts_step *step = &device->items[asked[a]];
		size_t at = seek_step(base, step->start_ps);

		for (int64_t near = -1; near <= 1; near++) {
			int64_t shift = (int64_t)at + near - (int64_t)asked[a];
			double ps = together_ps(base, device, shift);

			if (ps > best_ps * (1 + 1e-9)) {
				best_ps = ps;
				best = shift;
			}
		}
	}
	return best;
}

#define NEAR_PS	  (60 * TS_PS_PER_MS) /* clocks of hosts differ by less */
#define MAX_SHIFT 512		      /* steps on either side that are tried */
#define MIN_SHIFT 8
#define MIN_LIKE  4  /* steps whose lengths are compared */
#define LIKE	  64 /* at most */
#define DECISIVE  2  /* times as different are the lengths under the next best shift */
#define NOISE_PS  TS_PS_PER_US

/* From one step's start to the next one's. */
static int64_t step_pairing_length_ps(const struct ts_device_steps *steps, size_t i)
{
	return ts_i64_sub(steps->items[i + 1].start_ps, steps->items[i].start_ps);
}

/* How much the lengths of DEVICE's steps and those of BASE differ on average; DBL_MAX: too few are on
 * both. */
static double unlike_ps(const struct ts_device_steps *base, const struct ts_device_steps *device,
			int64_t shift)
{
	size_t each = device->nr / LIKE + 1, nr = 0, nr_looks = 0;
	double sum = 0;

	for (size_t i = 0; i + 1 < device->nr; i += each, nr_looks++) {
		int64_t at = (int64_t)i + shift;

		if (at < 0 || at + 1 >= (int64_t)base->nr)
			continue;
		nr++;
		sum += fabs((double)step_pairing_length_ps(base, (size_t)at) -
			    (double)step_pairing_length_ps(device, i));
	}
	return nr >= MIN_LIKE && nr * 4 >= nr_looks ? sum / (double)nr + NOISE_PS : DBL_MAX;
}

/* The shift that the lengths show: of those near SHIFT, which the clocks show; SHIFT where they do not tell. */
static int64_t shift_by_lengths(const struct ts_device_steps *base,
				const struct ts_device_steps *device, int64_t shift)
{
	int64_t all_ps =
		ts_i64_sub(device->items[device->nr - 1].start_ps, device->items[0].start_ps);
	int64_t mean_ps = TS_MAX(all_ps / (int64_t)device->nr, 1), best = shift;
	int64_t reach = TS_MIN(TS_MAX(NEAR_PS / mean_ps + 1, MIN_SHIFT), MAX_SHIFT);
	double best_ps = DBL_MAX, next_ps = DBL_MAX;

	for (int64_t tried = shift - reach; tried <= shift + reach; tried++) {
		double ps = unlike_ps(base, device, tried);

		if (ps < best_ps) {
			next_ps = best_ps;
			best_ps = ps;
			best = tried;
		} else {
			next_ps = TS_MIN(next_ps, ps);
		}
	}
	return best_ps < DBL_MAX && next_ps > DECISIVE * best_ps ? best : shift;
}

/* The device with most steps; the first of several. */
static uint32_t longest_device(const struct ts_steps *steps)
{
	uint32_t best = 0;

	for (uint32_t d = 1; d < steps->nr_devices; d++)
		if (ts_device_steps_nr(&steps->devices[d]) >
		    ts_device_steps_nr(&steps->devices[best]))
			best = d;
	return best;
}

static int64_t step_pairing_find_shift(const struct ts_device_steps *base,
				       const struct ts_device_steps *device)
{
	int64_t shift = device->nr > 0 ? shift_of(base, device) : 0;

	return device->nr > 0 && device->host != base->host ? shift_by_lengths(base, device, shift)
							    : shift;
}

static enum ts_status find_by_time(struct ts_step_pairing *pairing, struct ts_steps *steps,
				   struct ts_error *err)
{
	int64_t *shift = calloc(steps->nr_devices + 1, sizeof(*shift)), first = 0;
	struct held base = { .is_copy = false };
	enum ts_status st = TS_OK;

	steps->nr_steps = 0;
	pairing->first_rows = calloc(steps->nr_devices + 1, sizeof(*pairing->first_rows));
	if (!shift || !pairing->first_rows)
		st = ts_fail_nomem(err);
	if (st == TS_OK)
		st = step_pairing_hold(&base, steps, longest_device(steps), err);
	if (st)
		goto done;
	for (uint32_t d = 0; d < steps->nr_devices; d++) {
		shift[d] = step_pairing_find_shift(&base.steps, ts_steps_of(steps, d));
		first = TS_MIN(first, shift[d]);
	}
	for (size_t d = 0; d < steps->nr_devices; d++) {
		size_t nr = ts_device_steps_nr(&steps->devices[d]);

		pairing->first_rows[d] = (uint32_t)(shift[d] - first);
		if (nr > 0)
			steps->nr_steps = TS_MAX(steps->nr_steps, pairing->first_rows[d] + nr);
	}
done:
	step_pairing_let_go(&base);
	free(shift);
	return st;
}

/* ---- both, and by place */

enum ts_status ts_step_pairing_find(struct ts_step_pairing *pairing, struct ts_steps *steps,
				    struct ts_error *err)
{
	enum ts_status st = TS_OK;
	bool tell = false;

	TS_ASSERT(pairing && steps);
	if (steps->source == TS_STEPS_INFERRED && steps->nr_devices > 1)
		return find_by_time(pairing, steps, err);
	if (steps->source == TS_STEPS_MARKED && steps->nr_devices > 1)
		st = numbers_tell(steps, &tell, err);
	if (st)
		return st;
	if (tell)
		return find_by_number(pairing, steps, err);
	steps->nr_steps = 0;
	for (size_t d = 0; d < steps->nr_devices; d++)
		steps->nr_steps = TS_MAX(steps->nr_steps, ts_device_steps_nr(&steps->devices[d]));
	return TS_OK;
}

enum ts_status ts_step_pairing_apply(const struct ts_step_pairing *pairing, struct ts_steps *steps,
				     uint32_t device, struct ts_error *err)
{
	TS_ASSERT(pairing && device < steps->nr_devices);
	if (pairing->first_rows) {
		steps->devices[device].first_row = pairing->first_rows[device];
		for (size_t i = 0; i < steps->devices[device].nr; i++)
			steps->devices[device].items[i].number =
				ts_device_steps_row(&steps->devices[device], i);
	}
	if (pairing->numbers)
		return apply_by_number(pairing, &steps->devices[device], err);
	return TS_OK;
}

void ts_step_pairing_release(struct ts_step_pairing *pairing)
{
	TS_ASSERT(pairing);
	free(pairing->numbers);
	free(pairing->first_rows);
	memset(pairing, 0, sizeof(*pairing));
}

enum ts_status ts_steps_pair(struct ts_steps *steps, struct ts_error *err)
{
	struct ts_step_pairing pairing = { .nr_numbers = 0 };
	enum ts_status st = ts_step_pairing_find(&pairing, steps, err);

	for (uint32_t d = 0; d < steps->nr_devices && st == TS_OK; d++)
		st = ts_step_pairing_apply(&pairing, steps, d, err);
	ts_step_pairing_release(&pairing);
	return st;
}
