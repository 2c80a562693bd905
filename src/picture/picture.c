/* SPDX-License-Identifier: MIT */
/* Slices as JSON. */
#include "picture/picture.h"

#include "base/check.h"

struct writing {
	struct ts_json *json;
	const struct ts_picture *picture;
	uint32_t *names; /* op -> its place in the list of names, or TS_NONE */
	uint32_t *ops;	 /* in the order of that list */
	size_t nr_names;
	size_t nr_slices, nr_left_out; /* lanes */
};

static int64_t picture_name_of(struct writing *writing, uint32_t op)
{
	if (op == TS_NONE)
		return -1;
	if (writing->names[op] == TS_NONE) {
		writing->names[op] = (uint32_t)writing->nr_names;
		writing->ops[writing->nr_names++] = op;
	}
	return (int64_t)(writing->picture->nr_findings + writing->names[op]);
}

static void picture_put_slice(struct writing *writing, const struct ts_lane_slice *slice)
{
	struct ts_json *json = writing->json;

	ts_json_i64(json, ts_i64_sub(slice->start_ps, writing->picture->wanted.part.from_ps));
	ts_json_i64(json, ts_i64_sub(slice->end_ps, slice->start_ps));
	ts_json_i64(json, ts_lane_slice_class(slice));
	ts_json_i64(json, picture_name_of(writing, slice->op));
	ts_json_i64(json, (int64_t)slice->nr_events);
	ts_json_i64(json, ts_lane_slice_idle(slice));
}

struct head {
	const char *kind;
	struct ts_bytes host; /* .p NULL: of none */
	uint32_t device;      /* TS_NONE: of none */
	struct ts_bytes name;
};

static void put_lane_head(struct ts_json *json, const struct head *head)
{
	ts_json_put_text(json, "kind", head->kind);
	ts_json_key(json, "host");
	if (head->host.p)
		ts_json_string(json, head->host);
	else
		ts_json_null(json);
	ts_json_key(json, "device");
	if (head->device == TS_NONE)
		ts_json_null(json);
	else
		ts_json_i64(json, head->device);
	ts_json_put_string(json, "name", head->name);
	ts_json_key(json, "slices");
}

static enum ts_status picture_put_lane(void *ctx, const struct ts_lane *lane, struct ts_error *err)
{
	struct writing *writing = ctx;
	const struct ts_profile *profile = writing->picture->profile;
	const struct ts_line *line = &profile->lines[lane->line];
	const struct ts_plane *plane = &profile->planes[line->plane];
	const struct head head = { ts_lane_names[lane->kind], profile->hosts[plane->host].name,
				   plane->device, line->name };
	struct ts_json *json = writing->json;
	size_t most = writing->picture->max_slices;

	if (most > 0 && writing->nr_slices + lane->nr > most) {
		writing->nr_left_out++;
		return TS_OK;
	}
	writing->nr_slices += lane->nr;
	ts_json_object(json);
	put_lane_head(json, &head);
	ts_json_array(json);
	for (size_t i = 0; i < lane->nr; i++)
		picture_put_slice(writing, &lane->slices[i]);
	ts_json_array_end(json);
	ts_json_object_end(json);
	return json->out->failed ? ts_fail_nomem(err) : TS_OK;
}

/* --- findings */

static void picture_put_place(struct ts_json *json, const struct ts_picture *picture,
			      const struct ts_span *place, size_t name, size_t nr)
{
	ts_json_i64(json, ts_i64_sub(place->start_ps, picture->wanted.part.from_ps));
	ts_json_i64(json, ts_i64_sub(place->end_ps, place->start_ps));
	ts_json_i64(json, TS_SLICES_NO_CLASS);
	ts_json_i64(json, (int64_t)name);
	ts_json_i64(json, (int64_t)nr);
	ts_json_i64(json, 0);
}

/* What of PLACE is in the picture; false: nothing. */
static bool clip(const struct ts_part *part, struct ts_span *place)
{
	place->start_ps = TS_MAX(place->start_ps, part->from_ps);
	place->end_ps = TS_MIN(place->end_ps, part->to_ps);
	return place->start_ps < place->end_ps;
}

/* Those that are together narrower than a place of the picture are one. */
static void picture_put_places(struct ts_json *json, const struct ts_picture *picture, size_t at)
{
	const struct ts_part *part = &picture->wanted.part;
	const struct ts_spans *places = &picture->findings[at].places;
	int64_t place_ps = ts_i64_sub(part->to_ps, part->from_ps) / (int64_t)picture->wanted.width;
	struct ts_span last = { 0, 0 };
	size_t nr = 0;

	for (size_t i = 0; i < places->nr; i++) {
		struct ts_span place = places->items[i];

		if (!clip(part, &place))
			continue;
		if (nr > 0 && ts_i64_sub(place.end_ps, last.start_ps) > place_ps) {
			picture_put_place(json, picture, &last, at, nr);
			nr = 0;
		}
		last.start_ps = nr > 0 ? last.start_ps : place.start_ps;
		last.end_ps = place.end_ps;
		nr++;
	}
	if (nr > 0)
		picture_put_place(json, picture, &last, at, nr);
}

static bool is_in_sight(const struct ts_picture *picture, const struct ts_picture_finding *finding)
{
	bool any = false;

	for (size_t i = 0; i < finding->places.nr && !any; i++) {
		struct ts_span place = finding->places.items[i];

		any = clip(&picture->wanted.part, &place);
	}
	return any;
}

static void picture_put_findings(struct ts_json *json, const struct ts_picture *picture)
{
	for (size_t i = 0; i < picture->nr_findings; i++) {
		const struct ts_picture_finding *finding = &picture->findings[i];
		const struct head head = { .kind = "findings",
					   .device = finding->device,
					   .name = finding->id };

		if (!is_in_sight(picture, finding))
			continue;
		ts_json_object(json);
		put_lane_head(json, &head);
		ts_json_array(json);
		picture_put_places(json, picture, i);
		ts_json_array_end(json);
		ts_json_object_end(json);
	}
}

/* --- names */

static struct ts_bytes picture_cut(const struct writing *writing, struct ts_bytes name)
{
	size_t most = writing->picture->max_name;

	return most > 0 ? ts_bytes_cut(name, 0, most) : name;
}

static void picture_put_module(struct writing *writing, const struct ts_op *op)
{
	if (op->module == TS_NONE)
		ts_json_null(writing->json);
	else
		ts_json_string(
			writing->json,
			picture_cut(writing, writing->picture->profile->modules[op->module].name));
}

static void picture_put_names(struct writing *writing)
{
	const struct ts_picture *picture = writing->picture;
	const struct ts_op *ops = picture->profile->ops;

	ts_json_key(writing->json, "names");
	ts_json_array(writing->json);
	for (size_t i = 0; i < picture->nr_findings; i++)
		ts_json_string(writing->json, picture->findings[i].title);
	for (size_t i = 0; i < writing->nr_names; i++)
		ts_json_string(writing->json, picture_cut(writing, ops[writing->ops[i]].name));
	ts_json_array_end(writing->json);
	ts_json_key(writing->json, "modules");
	ts_json_array(writing->json);
	for (size_t i = 0; i < picture->nr_findings; i++)
		ts_json_null(writing->json);
	for (size_t i = 0; i < writing->nr_names; i++)
		picture_put_module(writing, &ops[writing->ops[i]]);
	ts_json_array_end(writing->json);
}

static void picture_put_head(struct writing *writing)
{
	const struct ts_part *part = &writing->picture->wanted.part;
	struct ts_json *json = writing->json;

	ts_json_put_i64(json, "from_ps", part->from_ps);
	ts_json_put_i64(json, "to_ps", part->to_ps);
	ts_json_key(json, "classes");
	ts_json_array(json);
	for (enum ts_bucket b = 0; b < TS_NR_BUCKETS; b++)
		ts_json_text(json, ts_bucket_name(b));
	ts_json_null(json); /* of what ran on no device */
	ts_json_array_end(json);
}

static enum ts_status write_picture(struct writing *writing, struct ts_error *err)
{
	struct ts_json *json = writing->json;
	enum ts_status st;

	ts_json_object(json);
	picture_put_head(writing);
	ts_json_key(json, "lanes");
	ts_json_array(json);
	picture_put_findings(json, writing->picture);
	st = ts_slices_read(writing->picture->index, &writing->picture->wanted, picture_put_lane,
			    writing, err);
	ts_json_array_end(json);
	ts_json_put_i64(json, "left_out", (int64_t)writing->nr_left_out);
	picture_put_names(writing);
	ts_json_object_end(json);
	return st;
}

enum ts_status ts_picture_put(struct ts_json *json, const struct ts_picture *picture,
			      struct ts_error *err)
{
	const size_t nr_ops = picture->profile->nr_ops + 1;
	struct writing writing = { .json = json, .picture = picture };
	enum ts_status st;

	TS_ASSERT(json && picture->profile && picture->index);
	writing.names = malloc(nr_ops * sizeof(*writing.names));
	writing.ops = malloc(nr_ops * sizeof(*writing.ops));
	if (writing.names && writing.ops) {
		memset(writing.names, 0xff, nr_ops * sizeof(*writing.names));
		st = write_picture(&writing, err);
	} else {
		st = ts_fail_nomem(err);
	}
	free(writing.names);
	free(writing.ops);
	return st;
}
