/* SPDX-License-Identifier: MIT */
/* Texts of a row that are written once and referred to by numbers, in the order of first use. */
#include "trace/perfetto/pb.h"

struct ts_buf *ts_perfetto_pb_interning(struct ts_perfetto_interning *in)
{
	if (in->is_open)
		return in->out;
	in->is_open = true;
	in->packet = begin_row_packet(in->out, in->row);
	ts_pbw_u64(in->out, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
	in->data = ts_pbw_begin(in->out, PACKET_INTERNED_DATA);
	return in->out;
}

void ts_perfetto_pb_intern(struct ts_perfetto_interning *in, enum interned_field kind, uint64_t iid,
			   struct ts_bytes text)
{
	intern(ts_perfetto_pb_interning(in), kind, iid, text);
}

void ts_perfetto_pb_interned(struct ts_perfetto_interning *in)
{
	if (!in->is_open)
		return;
	ts_pbw_end(in->out, in->data);
	ts_pbw_end(in->out, in->packet);
	in->is_open = false;
}

/* Memory that runs out is the buffer's failure, as all of a form's. */
static bool pb_intern_is_kept(struct ts_perfetto_interning *in, bool was_set)
{
	in->out->failed |= !was_set;
	return was_set;
}

/* As ts_strmap_find(), without reading a text that lies where one was found before. */
static uint32_t pb_intern_find(struct ts_perfetto_seen *seen, const struct ts_strmap *map,
			       struct ts_bytes text)
{
	uintptr_t place = (uintptr_t)text.p;
	struct ts_perfetto_near *near = &seen->near[(place ^ place >> 6) % TS_PERFETTO_NEAR];
	uint32_t number;

	if (near->map == map && near->text.p == text.p && near->text.n == text.n)
		return near->number;
	number = ts_strmap_find(map, text);
	if (number != TS_NONE)
		*near = (struct ts_perfetto_near){ map, text, number };
	return number;
}

uint64_t ts_perfetto_pb_iid(struct ts_perfetto_interning *in, struct ts_strmap *map,
			    struct ts_bytes text, uint64_t first, bool *is_new)
{
	uint32_t number = pb_intern_find(in->row->seen, map, text);

	*is_new = number == TS_NONE;
	if (!*is_new)
		return first + number;
	number = (uint32_t)map->nr;
	*is_new = number < MAX_INTERNED && pb_intern_is_kept(in, ts_strmap_set(map, text, number));
	return *is_new ? first + number : 0;
}

void ts_perfetto_pb_name(struct ts_perfetto_interning *in, struct ts_buf *annotation,
			 struct ts_bytes name)
{
	bool is_new;
	uint64_t iid = ts_perfetto_pb_iid(in, &in->row->seen->names, name, IID_STATS, &is_new);

	if (is_new)
		ts_perfetto_pb_intern(in, INTERNED_ANNOTATION_NAMES, iid, name);
	if (iid)
		ts_pbw_u64(annotation, ANNOTATION_NAME_IID, iid);
	else
		ts_pbw_text(annotation, ANNOTATION_NAME, name);
}

/* The number of a text or an id that has none yet, KEPT in its map; where it cannot be, none. */
static void pb_intern_put_new(struct ts_perfetto_interning *in, struct ts_buf *annotation,
			      struct ts_bytes text, bool kept)
{
	if (!kept) {
		ts_pbw_text(annotation, ANNOTATION_STRING, text);
		return;
	}
	ts_perfetto_pb_intern(in, INTERNED_STRINGS, ++in->row->seen->nr_texts, text);
	ts_pbw_u64(annotation, ANNOTATION_STRING_IID, in->row->seen->nr_texts);
}

void ts_perfetto_pb_text(struct ts_perfetto_interning *in, struct ts_buf *annotation,
			 struct ts_bytes text)
{
	struct ts_perfetto_seen *seen = in->row->seen;
	uint32_t iid = pb_intern_find(seen, &seen->texts, text);

	if (iid != TS_NONE)
		ts_pbw_u64(annotation, ANNOTATION_STRING_IID, iid);
	else
		pb_intern_put_new(in, annotation, text,
				  seen->nr_texts < MAX_INTERNED &&
					  pb_intern_is_kept(in, ts_strmap_set(&seen->texts, text,
									      seen->nr_texts + 1)));
}

/* Ids are kept by their bits: of a negative one, and of a real, the text stands alone. */
void ts_perfetto_pb_id(struct ts_perfetto_interning *in, struct ts_buf *annotation,
		       const struct ts_stat *stat)
{
	struct ts_perfetto_seen *seen = in->row->seen;
	bool has_bits = stat->type == TS_STAT_INT && (stat->is_unsigned || stat->number >= 0);
	uint32_t iid = has_bits ? ts_map_find(&seen->ids, (uint64_t)stat->number) : TS_NONE;
	char text[TS_ID_MAX];

	if (iid != TS_NONE)
		ts_pbw_u64(annotation, ANNOTATION_STRING_IID, iid);
	else
		pb_intern_put_new(
			in, annotation, ts_perfetto_id(stat, text),
			has_bits && seen->nr_texts < MAX_INTERNED &&
				pb_intern_is_kept(in, ts_map_set(&seen->ids, (uint64_t)stat->number,
								 seen->nr_texts + 1)));
}
