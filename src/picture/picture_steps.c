/* SPDX-License-Identifier: MIT */
/* Pictures of the whole run and of two of its steps, for a page without a server. */
#include "picture/picture.h"

#include "base/check.h"
#include "analysis/kit/run_steps.h"
#include "codec/jtok.h"
#include "model/block.h"
#include "model/outline.h"

#define FINEST 65536 /* places */

/* How many slices lanes have where there is room for all. */
struct counts {
	size_t *items, nr, cap;
};

static enum ts_status count_lane(void *ctx, const struct ts_lane *lane, struct ts_error *err)
{
	struct counts *counts = ctx;

	if (!ts_grow(&counts->items, &counts->cap, counts->nr + 1, sizeof(*counts->items)))
		return ts_fail_nomem(err);
	counts->items[counts->nr++] = lane->nr;
	return TS_OK;
}

static size_t sum_at(const struct counts *counts, size_t width)
{
	size_t sum = 0;

	for (size_t i = 0; i < counts->nr; i++)
		sum += TS_MIN(counts->items[i], width);
	return sum;
}

/* The most places at which all lanes together have no more than MOST slices. */
static size_t widest(const struct counts *counts, size_t most)
{
	size_t low = TS_PICTURE_LEAST, high = FINEST + 1;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (sum_at(counts, middle) <= most)
			low = middle;
		else
			high = middle;
	}
	return low;
}

struct stretch {
	const char *kind;
	uint32_t host;
	uint64_t number; /* of the step; TS_NO_NUMBER: of none */
	int64_t from_ps, to_ps;
	size_t max_slices;
};

static enum ts_status put_stretch(struct ts_json *json, struct ts_picture *picture,
				  const struct stretch *stretch, struct ts_error *err)
{
	struct counts counts = { .nr = 0 };
	enum ts_status st;

	picture->max_slices = stretch->max_slices;
	picture->wanted = (struct ts_slices_wanted){
		.part = { .from_ps = stretch->from_ps, .to_ps = stretch->to_ps },
		.width = FINEST,
	};
	st = ts_slices_read(picture->index, &picture->wanted, count_lane, &counts, err);
	picture->wanted.width = widest(&counts, stretch->max_slices);
	free(counts.items);
	if (st || counts.nr == 0)
		return st;
	ts_json_object(json);
	ts_json_put_text(json, "kind", stretch->kind);
	ts_json_key(json, "step");
	if (stretch->number == TS_NO_NUMBER)
		ts_json_null(json);
	else
		ts_json_i64(json, (int64_t)stretch->number);
	ts_json_put_string(json, "host", picture->profile->hosts[stretch->host].name);
	ts_json_key(json, "picture");
	st = ts_picture_put(json, picture, err);
	ts_json_object_end(json);
	return st;
}

/* --- which steps */

struct chosen {
	uint32_t mean, slowest; /* rows; TS_NONE: no step ran */
	uint64_t mean_number, slowest_number;
};

static enum ts_status mean_duration(const struct ts_steps *steps, int64_t *mean_ps,
				    struct ts_error *err)
{
	struct ts_steps_walk walk;
	struct ts_run_step step;
	int64_t sum_ps = 0, nr = 0;
	enum ts_status st;

	st = ts_steps_walk_open(&walk, steps, err);
	if (st)
		return st;
	while (ts_steps_walk_next(&walk, &step))
		if (step.cores > 0) {
			sum_ps = ts_i64_add(sum_ps, ts_run_step_duration(&step));
			nr++;
		}
	ts_steps_walk_close(&walk);
	*mean_ps = sum_ps / TS_MAX(nr, 1);
	return TS_OK;
}

static int64_t picture_steps_distance(int64_t a, int64_t b)
{
	return a > b ? ts_i64_sub(a, b) : ts_i64_sub(b, a);
}

/* Of steps that are alike, the first. */
static enum ts_status picture_steps_choose(const struct ts_steps *steps, struct chosen *chosen,
					   struct ts_error *err)
{
	struct ts_steps_walk walk;
	struct ts_run_step step;
	int64_t mean_ps = 0, nearest_ps = INT64_MAX, longest_ps = -1;
	enum ts_status st;

	*chosen = (struct chosen){ TS_NONE, TS_NONE, 0, 0 };
	st = mean_duration(steps, &mean_ps, err);
	if (st)
		return st;
	st = ts_steps_walk_open(&walk, steps, err);
	if (st)
		return st;
	for (uint32_t row = 0; ts_steps_walk_next(&walk, &step); row++) {
		int64_t ps = ts_run_step_duration(&step);

		if (step.cores == 0)
			continue;
		if (picture_steps_distance(ps, mean_ps) < nearest_ps) {
			nearest_ps = picture_steps_distance(ps, mean_ps);
			chosen->mean = row;
			chosen->mean_number = step.number;
		}
		if (ps > longest_ps) {
			longest_ps = ps;
			chosen->slowest = row;
			chosen->slowest_number = step.number;
		}
	}
	ts_steps_walk_close(&walk);
	return TS_OK;
}

/* From where the first core of the host begins the step to where the last one ends it. */
static void set_hull(struct stretch *stretch, const struct ts_profile *profile,
		     const struct ts_steps *steps, uint32_t row)
{
	stretch->from_ps = INT64_MAX;
	stretch->to_ps = INT64_MIN;
	for (uint32_t d = 0; d < steps->nr_devices; d++) {
		const struct ts_device_steps *of;

		if (profile->devices[d].host != stretch->host)
			continue;
		of = ts_steps_of(steps, d);
		for (size_t i = 0; i < of->nr; i++)
			if (ts_device_steps_row(of, i) == row) {
				stretch->from_ps = TS_MIN(stretch->from_ps, of->items[i].start_ps);
				stretch->to_ps = TS_MAX(stretch->to_ps, of->items[i].end_ps);
			}
	}
}

static enum ts_status picture_steps_put_step(struct ts_json *json, struct ts_picture *picture,
					     const struct ts_steps *steps, uint32_t row,
					     struct stretch stretch, struct ts_error *err)
{
	if (row == TS_NONE)
		return TS_OK;
	set_hull(&stretch, picture->profile, steps, row);
	if (stretch.from_ps >= stretch.to_ps)
		return TS_OK;
	return put_stretch(json, picture, &stretch, err);
}

/* Of a profile that does not say how long it is, to the end of what the outline has seen. */
static int64_t picture_steps_end_of(const struct ts_profile *profile,
				    const struct ts_outline *outline)
{
	int64_t end_ps = TS_MAX(outline->host_last_ps, 0), from_ps, until_ps;

	if (profile->capture_ps > 0)
		return profile->capture_ps;
	for (size_t d = 0; d < outline->steps.nr_devices; d++) {
		ts_device_steps_hull(&outline->steps.devices[d], &from_ps, &until_ps);
		end_ps = TS_MAX(end_ps, until_ps);
	}
	return end_ps;
}

static enum ts_status picture_steps_put_host(struct ts_json *json, struct ts_picture *picture,
					     const struct ts_outline *outline,
					     const struct chosen *chosen, uint32_t host,
					     struct ts_error *err)
{
	const size_t nr_hosts = TS_MIN(picture->profile->nr_hosts, TS_PICTURE_HOSTS);
	const struct ts_steps *steps = &outline->steps;
	const struct stretch whole = { .kind = "whole",
				       .host = host,
				       .number = TS_NO_NUMBER,
				       .to_ps = picture_steps_end_of(picture->profile, outline),
				       .max_slices = TS_PICTURE_WHOLE / nr_hosts };
	struct stretch step = { .kind = "mean",
				.host = host,
				.number = chosen->mean_number,
				.max_slices = TS_PICTURE_STEP / nr_hosts };
	enum ts_status st = TS_OK;

	if (whole.to_ps > 0)
		st = put_stretch(json, picture, &whole, err);
	if (st == TS_OK)
		st = picture_steps_put_step(json, picture, steps, chosen->mean, step, err);
	step.kind = "slowest";
	step.number = chosen->slowest_number;
	if (st == TS_OK && chosen->slowest != chosen->mean)
		st = picture_steps_put_step(json, picture, steps, chosen->slowest, step, err);
	return st;
}

enum ts_status ts_picture_steps(struct ts_buf *out, const struct ts_profile *profile,
				const struct ts_outline *outline, uint32_t first, uint32_t nr,
				size_t nr_threads, struct ts_error *err)
{
	struct ts_json json = ts_json_of(out, TS_JSON_COMPACT);
	struct chosen chosen;
	enum ts_status st = TS_OK;

	TS_ASSERT(out && profile && outline && first + nr <= profile->nr_hosts);
	st = picture_steps_choose(&outline->steps, &chosen, err);
	if (st)
		return st;
	ts_json_array(&json);
	for (uint32_t host = first; host < TS_MIN(first + nr, TS_PICTURE_HOSTS) && !st; host++) {
		struct ts_slices_index *index = NULL;
		struct ts_picture picture = { .profile = profile, .max_name = TS_PICTURE_NAME };

		st = ts_slices_index_new(&index, profile, host, nr_threads, err);
		picture.index = index;
		if (st == TS_OK)
			st = picture_steps_put_host(&json, &picture, outline, &chosen, host, err);
		ts_slices_index_free(index);
	}
	ts_json_array_end(&json);
	return st == TS_OK && out->failed ? ts_fail_nomem(err) : st;
}

enum ts_status ts_picture_join(struct ts_buf *all, struct ts_bytes list, struct ts_error *err)
{
	TS_ASSERT(all && list.p);
	/* A list as it stands in a page, where a '<' could begin an element. */
	if (!(list.n >= 2 && list.p[0] == '[' && !memchr(list.p, '<', list.n) &&
	      ts_jtok_value_end(list.p, list.p + list.n) == list.p + list.n))
		return ts_fail(err, TS_FORMAT, "the pictures in it are not a list");
	if (all->n == 0)
		ts_buf_putc(all, '[');
	else
		all->n--; /* its bracket */
	if (all->n > 1 && list.n > 2)
		ts_buf_putc(all, ',');
	ts_buf_put(all, ts_bytes_cut(list, 1, list.n - 2));
	ts_buf_putc(all, ']');
	return all->failed ? ts_fail_nomem(err) : TS_OK;
}
