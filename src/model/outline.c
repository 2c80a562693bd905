/* The outline's small parts: steps by time, and those of several devices. */
#include "model/outline.h"

#include "base/check.h"

void ts_steps_release(struct ts_steps *steps)
{
	TS_ASSERT(steps);
	for (size_t i = 0; i < steps->nr_devices; i++)
		free(steps->devices[i].items);
	free(steps->devices);
	memset(steps, 0, sizeof(*steps));
}

bool ts_device_steps_add(struct ts_device_steps *steps, int64_t start_ps, int64_t end_ps,
			 uint64_t number)
{
	TS_ASSERT_HOT(steps);
	if (steps->nr > 0)
		steps->items[steps->nr - 1].end_ps =
			TS_MIN(steps->items[steps->nr - 1].end_ps, start_ps);
	if (!ts_grow(&steps->items, &steps->cap, steps->nr + 1, sizeof(*steps->items)))
		return false;
	steps->items[steps->nr++] = (struct ts_step){ start_ps, end_ps, number, 0 };
	return true;
}

void ts_outline_release(struct ts_outline *outline)
{
	TS_ASSERT(outline);
	ts_steps_release(&outline->steps);
	for (size_t i = 0; i < outline->nr_hosts; i++) {
		ts_spans_release(&outline->hosts[i].compile);
		ts_spans_release(&outline->hosts[i].input);
	}
	free(outline->hosts);
	outline->hosts = NULL;
	outline->nr_hosts = 0;
	ts_spans_release(&outline->compile);
	free(outline->host_activity);
	outline->host_activity = NULL;
	ts_steps_release(&outline->host_steps);
	ts_scopes_release(&outline->scopes);
}

static bool numbers_rise(const struct ts_steps *steps)
{
	for (size_t d = 0; d < steps->nr_devices; d++)
		for (size_t i = 1; i < steps->devices[d].nr; i++)
			if (steps->devices[d].items[i].number <=
			    steps->devices[d].items[i - 1].number)
				return false;
	return true;
}

/* Do all devices that have steps have the same ones? Nearly always. */
static bool numbers_agree(const struct ts_steps *steps)
{
	const struct ts_device_steps *first = NULL;

	for (size_t d = 0; d < steps->nr_devices; d++) {
		const struct ts_device_steps *device = &steps->devices[d];

		if (device->nr == 0)
			continue;
		first = first ? first : device;
		if (device->nr != first->nr)
			return false;
		for (size_t i = 0; i < device->nr; i++)
			if (device->items[i].number != first->items[i].number)
				return false;
	}
	return true;
}

static void pair_by_place(struct ts_steps *steps)
{
	steps->nr_steps = 0;
	for (size_t d = 0; d < steps->nr_devices; d++) {
		for (size_t i = 0; i < steps->devices[d].nr; i++)
			steps->devices[d].items[i].row = (uint32_t)i;
		steps->nr_steps = TS_MAX(steps->nr_steps, steps->devices[d].nr);
	}
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The numbers of all devices, each once, rising; how many there are. */
static size_t list_numbers(const struct ts_steps *steps, uint64_t *numbers)
{
	size_t nr = 0, nr_once = 0;

	for (size_t d = 0; d < steps->nr_devices; d++)
		for (size_t i = 0; i < steps->devices[d].nr; i++)
			numbers[nr++] = steps->devices[d].items[i].number;
	qsort(numbers, nr, sizeof(*numbers), by_value);
	for (size_t i = 0; i < nr; i++)
		if (i == 0 || numbers[i] != numbers[i - 1])
			numbers[nr_once++] = numbers[i];
	return nr_once;
}

static bool pair_by_number(struct ts_steps *steps)
{
	size_t nr = 0;
	uint64_t *numbers;

	for (size_t d = 0; d < steps->nr_devices; d++)
		nr += steps->devices[d].nr;
	numbers = malloc((nr + 1) * sizeof(*numbers));
	if (!numbers)
		return false;
	steps->nr_steps = list_numbers(steps, numbers);
	for (size_t d = 0; d < steps->nr_devices; d++) {
		uint32_t row = 0;

		for (size_t i = 0; i < steps->devices[d].nr; i++) {
			while (numbers[row] != steps->devices[d].items[i].number)
				row++; /* both rise */
			steps->devices[d].items[i].row = row;
		}
	}
	free(numbers);
	return true;
}

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

/* The device with most steps; the first of several. */
static const struct ts_device_steps *longest_device(const struct ts_steps *steps)
{
	const struct ts_device_steps *best = &steps->devices[0];

	for (size_t d = 1; d < steps->nr_devices; d++)
		if (steps->devices[d].nr > best->nr)
			best = &steps->devices[d];
	return best;
}

static bool pair_by_time(struct ts_steps *steps)
{
	const struct ts_device_steps *base = longest_device(steps);
	int64_t *shift = calloc(steps->nr_devices + 1, sizeof(*shift)), first = 0;

	if (!shift)
		return false;
	for (size_t d = 0; d < steps->nr_devices; d++) {
		if (steps->devices[d].nr > 0)
			shift[d] = shift_of(base, &steps->devices[d]);
		first = TS_MIN(first, shift[d]);
	}
	steps->nr_steps = 0;
	for (size_t d = 0; d < steps->nr_devices; d++)
		for (size_t i = 0; i < steps->devices[d].nr; i++) {
			uint32_t row = (uint32_t)((int64_t)i + shift[d] - first);

			steps->devices[d].items[i].row = row;
			steps->devices[d].items[i].number = row;
			steps->nr_steps = TS_MAX(steps->nr_steps, (size_t)row + 1);
		}
	free(shift);
	return true;
}

bool ts_steps_pair(struct ts_steps *steps)
{
	TS_ASSERT(steps);
	if (steps->source == TS_STEPS_MARKED && !numbers_agree(steps) && numbers_rise(steps))
		return pair_by_number(steps);
	if (steps->source == TS_STEPS_INFERRED && steps->nr_devices > 1)
		return pair_by_time(steps);
	pair_by_place(steps);
	return true;
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
