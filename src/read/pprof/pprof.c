/* SPDX-License-Identifier: MIT */
/*
 * Memory profiles: pprof's profile.proto, plain or in gzip, as jax.profiler.save_device_memory_profile()
 * writes it: a sample a call stack, kind and device, with how many arrays it holds and their bytes.
 *
 * Facts: github.com/google/pprof, proto/profile.proto; the labels kind and device: openxla/xla,
 * PjRt's heap profile. Any pprof profile with a value in bytes is read; where there are several
 * (Go's alloc_space, inuse_space), the last, as pprof's own tools show. Left out: mappings, addresses
 * without a function, and labels other than those two.
 *
 * Sizes are bounded (base/limits.h). A reference to what is not there is damage:
 * without it half a profile would be taken for a whole one.
 */
#include "base/limits.h"
#include "codec/pb.h"
#include "io/gzip.h"
#include "read/reader.h"

#define UNPACK_BYTES   (256u << 10)
#define HEAD_BYTES     64 /* enough to recognise the format */
#define NO_VALUE       SIZE_MAX

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
};
enum value_type_field { TYPE_NAME = 1, TYPE_UNIT = 2 };
enum sample_field { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum label_field { LABEL_KEY = 1, LABEL_STR = 2 };
enum location_field { LOCATION_ID = 1, LOCATION_LINE = 4 };
enum line_field { LINE_FUNCTION = 1, LINE_NUMBER = 2 };
enum function_field { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_FILE = 4 };

struct string {
	struct ts_bytes text;
	bool is_kept; /* a copy in the profile's arena, not a view into the input */
};

struct function {
	uint64_t name, file; /* strings */
};

struct location {
	struct ts_bytes body;
	uint32_t first_frame, nr_frames;
};

struct pprof {
	struct ts_profile *profile;
	struct ts_bytes file, text;
	struct ts_pb_error damage; /* in the text */
	struct string *strings;
	struct function *functions;
	struct location *locations;
	uint64_t *units; /* strings, of each value of a sample */
	size_t nr_strings, cap_strings, nr_functions, cap_functions;
	size_t nr_locations, cap_locations, nr_units, cap_units;
	struct ts_map functions_by_id, locations_by_id;
	size_t bytes_at, count_at; /* which values of a sample; count_at: NO_VALUE for no count */
};

/* Of the text up to where it was read. */
static enum ts_status pprof_check(const struct pprof *pprof, struct ts_error *err)
{
	if (!pprof->damage.cause)
		return TS_OK;
	return ts_fail(err, TS_FORMAT, "damaged at byte %zu of its text: %s (save it again)",
		       (size_t)(pprof->damage.at - pprof->text.p), pprof->damage.cause);
}

static enum ts_status pprof_damaged(const struct pprof *pprof, struct ts_pb *pb, const char *cause,
				    struct ts_error *err)
{
	ts_pb_fail(pb, pb->data, cause);
	return pprof_check(pprof, err);
}

static enum ts_status add_string(struct pprof *pprof, struct ts_pb *pb, struct ts_error *err)
{
	if (!ts_grow(&pprof->strings, &pprof->cap_strings, pprof->nr_strings + 1,
		     sizeof(*pprof->strings)))
		return ts_fail_nomem(err);
	pprof->strings[pprof->nr_strings++] = (struct string){ ts_pb_bytes(pb), false };
	return TS_OK;
}

static enum ts_status add_type(struct pprof *pprof, struct ts_pb *pb, struct ts_error *err)
{
	struct ts_pb type = ts_pb_enter(pb);
	uint64_t unit = 0;

	while (ts_pb_next(&type))
		if (type.field == TYPE_UNIT)
			unit = ts_pb_u64(&type);
	if (!ts_grow(&pprof->units, &pprof->cap_units, pprof->nr_units + 1, sizeof(*pprof->units)))
		return ts_fail_nomem(err);
	pprof->units[pprof->nr_units++] = unit;
	return TS_OK;
}

static enum ts_status pprof_add_function(struct pprof *pprof, struct ts_pb *pb,
					 struct ts_error *err)
{
	struct ts_pb body = ts_pb_enter(pb);
	struct function function = { 0, 0 };
	uint64_t id = 0;

	while (ts_pb_next(&body)) {
		switch (body.field) {
		case FUNCTION_ID:   id = ts_pb_u64(&body); break;
		case FUNCTION_NAME: function.name = ts_pb_u64(&body); break;
		case FUNCTION_FILE: function.file = ts_pb_u64(&body); break;
		default:	    break;
		}
	}
	if (!ts_grow(&pprof->functions, &pprof->cap_functions, pprof->nr_functions + 1,
		     sizeof(*pprof->functions)) ||
	    !ts_map_set(&pprof->functions_by_id, id, (uint32_t)pprof->nr_functions))
		return ts_fail_nomem(err);
	pprof->functions[pprof->nr_functions++] = function;
	return TS_OK;
}

/* Its lines are read once all functions are known. */
static enum ts_status add_location(struct pprof *pprof, struct ts_pb *pb, struct ts_error *err)
{
	struct ts_pb body = ts_pb_enter(pb);
	uint64_t id = 0;

	while (ts_pb_next(&body))
		if (body.field == LOCATION_ID)
			id = ts_pb_u64(&body);
	if (!ts_grow(&pprof->locations, &pprof->cap_locations, pprof->nr_locations + 1,
		     sizeof(*pprof->locations)) ||
	    !ts_map_set(&pprof->locations_by_id, id, (uint32_t)pprof->nr_locations))
		return ts_fail_nomem(err);
	pprof->locations[pprof->nr_locations++] = (struct location){ .body = ts_pb_bytes(pb) };
	return TS_OK;
}

static enum ts_status add_field(struct pprof *pprof, struct ts_pb *pb, struct ts_error *err)
{
	if (TS_MAX(TS_MAX(pprof->nr_strings, pprof->nr_functions),
		   TS_MAX(pprof->nr_locations, pprof->nr_units)) >= TS_LIMIT_PPROF_ENTRIES)
		return pprof_damaged(pprof, pb,
				     "a table that is too long " TS_OVER(TS_LIMIT_PPROF_ENTRIES),
				     err);
	switch (pb->field) {
	case PROFILE_SAMPLE_TYPE: return add_type(pprof, pb, err);
	case PROFILE_LOCATION:	  return add_location(pprof, pb, err);
	case PROFILE_FUNCTION:	  return pprof_add_function(pprof, pb, err);
	case PROFILE_STRING:	  return add_string(pprof, pb, err);
	default:		  return TS_OK; /* samples are read when all else is known */
	}
}

/* The string, kept for as long as the profile. */
static enum ts_status pprof_take_string(struct pprof *pprof, struct ts_pb *pb, uint64_t index,
					struct ts_bytes *text, struct ts_error *err)
{
	struct string *string;

	*text = (struct ts_bytes){ NULL, 0 };
	if (index == 0)
		return TS_OK; /* nothing is said */
	if (index >= pprof->nr_strings)
		return pprof_damaged(pprof, pb, "a text that is not in the table of strings", err);
	string = &pprof->strings[index];
	if (!string->is_kept) {
		string->text = ts_arena_copy(&pprof->profile->arena,
					     ts_bytes_cut(string->text, 0, TS_LIMIT_PPROF_NAME));
		if (!string->text.p)
			return ts_fail_nomem(err);
		string->is_kept = true;
	}
	*text = string->text;
	return TS_OK;
}

static enum ts_status add_frame(struct pprof *pprof, struct ts_pb *pb, struct location *location,
				struct ts_error *err)
{
	struct ts_pb line = ts_pb_enter(pb);
	struct ts_frame frame = { .line = TS_UNKNOWN };
	struct function function = { 0, 0 };
	enum ts_status st;
	uint64_t id = 0;
	uint32_t at;

	while (ts_pb_next(&line)) {
		if (line.field == LINE_FUNCTION)
			id = ts_pb_u64(&line);
		else if (line.field == LINE_NUMBER)
			frame.line = ts_pb_i64(&line) > 0 ? ts_pb_i64(&line) : TS_UNKNOWN;
	}
	at = id ? ts_map_find(&pprof->functions_by_id, id) : TS_NONE;
	if (id && at == TS_NONE)
		return pprof_damaged(pprof, pb, "a function that is not in the table", err);
	if (at != TS_NONE)
		function = pprof->functions[at];
	st = pprof_take_string(pprof, pb, function.name, &frame.function, err);
	if (st == TS_OK)
		st = pprof_take_string(pprof, pb, function.file, &frame.file, err);
	if (st)
		return st;
	if (pprof->profile->nr_frames >= TS_LIMIT_PPROF_ENTRIES)
		return pprof_damaged(pprof, pb, "too many places " TS_OVER(TS_LIMIT_PPROF_ENTRIES),
				     err);
	location->nr_frames++;
	return ts_profile_add_frame(pprof->profile, &frame, err);
}

static enum ts_status pprof_read_location(struct pprof *pprof, struct location *location,
					  struct ts_error *err)
{
	struct ts_pb body = ts_pb_of(location->body, &pprof->damage);
	enum ts_status st = TS_OK;

	location->first_frame = (uint32_t)pprof->profile->nr_frames;
	while (st == TS_OK && ts_pb_next(&body))
		if (body.field == LOCATION_LINE)
			st = add_frame(pprof, &body, location, err);
	return st ? st : pprof_check(pprof, err);
}

struct sample {
	struct pprof *pprof;
	struct ts_site site;
	size_t nr_values;
};

/* What is done with a number of a repeated field. */
typedef enum ts_status take_number(struct sample *sample, struct ts_pb *pb, uint64_t number,
				   struct ts_error *err);

/* A repeated field comes packed or one by one. */
static enum ts_status each_number(struct sample *sample, struct ts_pb *pb, take_number *take,
				  struct ts_error *err)
{
	const uint8_t *p = pb->data, *end;
	enum ts_status st = TS_OK;
	uint64_t number;

	if (pb->wire != TS_PB_BYTES)
		return take(sample, pb, ts_pb_u64(pb), err);
	end = p + pb->len;
	while (st == TS_OK && p < end) {
		if (ts_pb_varint(&p, end, &number)) {
			st = take(sample, pb, number, err);
		} else {
			ts_pb_fail(pb, p, "a bad number");
			st = pprof_check(sample->pprof, err);
		}
	}
	return st;
}

static enum ts_status take_location(struct sample *sample, struct ts_pb *pb, uint64_t id,
				    struct ts_error *err)
{
	struct pprof *pprof = sample->pprof;
	uint32_t at = ts_map_find(&pprof->locations_by_id, id);
	const struct location *location;
	enum ts_status st;

	if (at == TS_NONE)
		return pprof_damaged(pprof, pb, "a place that is not in the table of locations",
				     err);
	location = &pprof->locations[at];
	for (uint32_t i = 0;
	     i < location->nr_frames && sample->site.nr_frames < TS_LIMIT_PPROF_STACK; i++) {
		if (pprof->profile->nr_stacked >= TS_LIMIT_PPROF_STACKED)
			return pprof_damaged(
				pprof, pb, "too many stacks " TS_OVER(TS_LIMIT_PPROF_STACKED), err);
		st = ts_profile_stack_frame(pprof->profile, location->first_frame + i, err);
		if (st)
			return st;
		sample->site.nr_frames++;
	}
	return TS_OK;
}

static enum ts_status pprof_take_value(struct sample *sample, struct ts_pb *pb, uint64_t number,
				       struct ts_error *err)
{
	size_t at = sample->nr_values++;

	if (number > INT64_MAX)
		return pprof_damaged(sample->pprof, pb,
				     "a size below zero (the difference of two profiles?)", err);
	if (at == sample->pprof->bytes_at)
		sample->site.nr_bytes = (int64_t)number;
	if (at == sample->pprof->count_at)
		sample->site.nr_objects = (int64_t)number;
	return TS_OK;
}

static enum ts_status take_label(struct sample *sample, struct ts_pb *pb, struct ts_error *err)
{
	struct pprof *pprof = sample->pprof;
	struct ts_pb label = ts_pb_enter(pb);
	struct ts_bytes name = { NULL, 0 };
	uint64_t key = 0, value = 0;

	while (ts_pb_next(&label)) {
		if (label.field == LABEL_KEY)
			key = ts_pb_u64(&label);
		else if (label.field == LABEL_STR)
			value = ts_pb_u64(&label);
	}
	if (key >= pprof->nr_strings)
		return pprof_damaged(pprof, pb, "a text that is not in the table of strings", err);
	if (key > 0) /* the first string is empty, whatever stands there */
		name = pprof->strings[key].text;
	if (ts_bytes_is(name, "kind"))
		return pprof_take_string(pprof, pb, value, &sample->site.kind, err);
	if (ts_bytes_is(name, "device"))
		return pprof_take_string(pprof, pb, value, &sample->site.device, err);
	return TS_OK;
}

static enum ts_status pprof_take_part(struct sample *sample, struct ts_pb *pb, struct ts_error *err)
{
	switch (pb->field) {
	case SAMPLE_LOCATION: return each_number(sample, pb, take_location, err);
	case SAMPLE_VALUE:    return each_number(sample, pb, pprof_take_value, err);
	case SAMPLE_LABEL:    return take_label(sample, pb, err);
	default:	      return TS_OK;
	}
}

static enum ts_status read_sample(struct pprof *pprof, struct ts_pb *pb, struct ts_error *err)
{
	struct ts_pb body = ts_pb_enter(pb);
	struct sample sample = { .pprof = pprof, .site = { .file = pprof->file } };
	enum ts_status st = TS_OK;

	sample.site.nr_bytes = sample.site.nr_objects = TS_UNKNOWN;
	sample.site.first_frame = (uint32_t)pprof->profile->nr_stacked;
	if (pprof->profile->nr_sites >= TS_LIMIT_PPROF_SAMPLES)
		return pprof_damaged(pprof, pb, "too many samples " TS_OVER(TS_LIMIT_PPROF_SAMPLES),
				     err);
	while (st == TS_OK && ts_pb_next(&body))
		st = pprof_take_part(&sample, &body, err);
	if (st == TS_OK)
		st = pprof_check(pprof, err);
	if (st)
		return st;
	if (sample.site.nr_bytes == TS_UNKNOWN)
		return pprof_damaged(pprof, pb, "a sample without its size", err);
	return ts_profile_add_site(pprof->profile, &sample.site, err);
}

/* Which values of a sample are bytes and objects. False: there is no value in bytes. */
static bool find_values(struct pprof *pprof)
{
	pprof->bytes_at = pprof->count_at = NO_VALUE;
	for (size_t i = 0; i < pprof->nr_units; i++) {
		struct ts_bytes unit = { NULL, 0 };

		if (pprof->units[i] > 0 && pprof->units[i] < pprof->nr_strings)
			unit = pprof->strings[pprof->units[i]].text;
		if (ts_bytes_is(unit, "bytes"))
			pprof->bytes_at = i;
		else if (ts_bytes_is(unit, "count"))
			pprof->count_at = i;
	}
	return pprof->bytes_at != NO_VALUE;
}

static enum ts_status read_tables(struct pprof *pprof, struct ts_error *err)
{
	struct ts_pb pb = ts_pb_of(pprof->text, &pprof->damage);
	enum ts_status st = TS_OK;

	while (st == TS_OK && ts_pb_next(&pb))
		st = add_field(pprof, &pb, err);
	if (st == TS_OK)
		st = pprof_check(pprof, err);
	for (size_t i = 0; i < pprof->nr_locations && st == TS_OK; i++)
		st = pprof_read_location(pprof, &pprof->locations[i], err);
	return st;
}

static enum ts_status read_samples(struct pprof *pprof, struct ts_error *err)
{
	struct ts_pb pb = ts_pb_of(pprof->text, &pprof->damage);
	enum ts_status st = TS_OK;

	while (st == TS_OK && ts_pb_next(&pb))
		if (pb.field == PROFILE_SAMPLE)
			st = read_sample(pprof, &pb, err);
	return st ? st : pprof_check(pprof, err);
}

static enum ts_status pprof_read_text(struct pprof *pprof, struct ts_bytes text,
				      struct ts_error *err)
{
	enum ts_status st;

	pprof->text = text;
	st = read_tables(pprof, err);
	if (st)
		return st;
	if (!find_values(pprof))
		return ts_fail(err, TS_UNSUPPORTED,
			       "a pprof profile, but not of memory: nothing in it is in bytes "
			       "(give the file of jax.profiler.save_device_memory_profile)");
	return read_samples(pprof, err);
}

static enum ts_status pprof_unpack(struct ts_bytes bytes, struct ts_buf *text, struct ts_error *err)
{
	struct ts_gunzip gz = TS_GUNZIP_INIT;
	enum ts_status st = ts_gunzip_open(&gz, bytes, err);
	size_t got = 1;

	while (st == TS_OK && got > 0 && text->n <= TS_LIMIT_PPROF_BYTES) {
		if (!ts_buf_room(text, UNPACK_BYTES)) {
			st = ts_fail_nomem(err);
			break;
		}
		st = ts_gunzip_read(&gz, text->p + text->n, UNPACK_BYTES, &got, err);
		text->n += got;
	}
	ts_gunzip_release(&gz);
	return st;
}

static enum ts_status pprof_read(struct ts_profile *profile, const struct ts_read_request *request,
				 struct ts_error *err)
{
	struct pprof pprof = { .profile = profile, .file = request->file };
	struct ts_buf unpacked = TS_BUF_INIT;
	struct ts_bytes text = request->bytes;
	size_t nr_sites = profile->nr_sites;
	enum ts_status st = TS_OK;

	if (ts_gzip_probe(text)) {
		st = pprof_unpack(text, &unpacked, err);
		text = ts_buf_bytes(&unpacked);
	}
	if (st == TS_OK && text.n > TS_LIMIT_PPROF_BYTES)
		st = ts_fail(err, TS_LIMIT,
			     "a text too long for a memory profile " TS_OVER(TS_LIMIT_PPROF_BYTES));
	if (st == TS_OK)
		st = pprof_read_text(&pprof, text, err);
	if (st)
		profile->nr_sites = nr_sites; /* part of a profile would pass for the whole */
	free(pprof.strings);
	free(pprof.functions);
	free(pprof.locations);
	free(pprof.units);
	ts_map_release(&pprof.functions_by_id);
	ts_map_release(&pprof.locations_by_id);
	ts_buf_release(&unpacked);
	return st;
}

/* Does a type of samples stand in front, as all writers put it: two numbers, and nothing else? */
static bool begins_with_type(struct ts_bytes text)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(text, &error), type;
	unsigned seen = 0;

	if (!ts_pb_next(&pb) || pb.field != PROFILE_SAMPLE_TYPE || pb.wire != TS_PB_BYTES)
		return false;
	for (type = ts_pb_enter(&pb); ts_pb_next(&type);) {
		if (type.field > TYPE_UNIT || type.wire != TS_PB_VARINT)
			return false;
		seen |= 1u << type.field;
	}
	return !error.cause && seen == (1u << TYPE_NAME | 1u << TYPE_UNIT);
}

/* An XSpace begins with a plane: its second field is a text, not a number. */
static int pprof_probe(struct ts_bytes file, struct ts_bytes bytes)
{
	struct ts_buf head = TS_BUF_INIT;
	enum ts_status st;
	bool is_ours;

	if (!ts_gzip_probe(bytes))
		return begins_with_type(bytes) ? 95 : 0;
	st = ts_gunzip_head(bytes, &head, HEAD_BYTES, NULL);
	if (st == TS_NOMEM) {
		ts_buf_release(&head);
		return 1; /* it may be one: read() will report that memory is out */
	}
	is_ours = begins_with_type(ts_buf_bytes(&head)); /* a match before any damage is enough */
	ts_buf_release(&head);
	return is_ours ? 95 : 0;
}

const struct ts_reader ts_reader_pprof = {
	.name = "pprof",
	.title = "Memory profile (memory_profile.prof)",
	.is_extra = true,
	.probe = pprof_probe,
	.read = pprof_read,
};
