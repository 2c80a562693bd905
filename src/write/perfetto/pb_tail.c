/* What slices refer to, interned, and what of them is the same each time. */
#include "write/perfetto/pb.h"

static uint64_t string_iid(uint32_t op, enum ts_perfetto_key key)
{
	return 1 + 2 * (uint64_t)op + (key == TS_KEY_SOURCE);
}

static bool is_interned(const struct ts_perfetto_arg *arg)
{
	return arg->key == TS_KEY_TF_OP || arg->key == TS_KEY_SOURCE;
}

/* Also as what slices have in common: viewers give those one colour, and show all when one is pointed at. */
static void intern_category(struct ts_buf *out, uint64_t iid, struct ts_bytes category)
{
	intern(out, INTERNED_CATEGORIES, iid, category);
	intern(out, INTERNED_CORRELATIONS, iid, category);
}

static void intern_op(struct ts_buf *out, const struct ts_perfetto_row *row, const struct ts_op *op,
		      uint32_t index, const struct ts_perfetto_arg *args, size_t nr_args)
{
	size_t packet = begin_row_packet(out, row), data;

	ts_pbw_u64(out, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
	data = ts_pbw_begin(out, PACKET_INTERNED_DATA);
	if (op->category.n)
		intern_category(out, (uint64_t)index + 1, ts_perfetto_cut(op->category));
	if (op->name.n)
		intern(out, INTERNED_EVENT_NAMES, (uint64_t)index + 1, ts_perfetto_cut(op->name));
	for (size_t i = 0; i < nr_args; i++)
		if (is_interned(&args[i]))
			intern(out, INTERNED_STRINGS, string_iid(index, args[i].key), args[i].text);
	ts_pbw_end(out, data);
	ts_pbw_end(out, packet);
}

static void put_annotation(struct ts_buf *out, uint32_t op, const struct ts_perfetto_arg *arg)
{
	size_t annotation = ts_pbw_begin(out, EVENT_ANNOTATIONS);

	ts_pbw_u64(out, ANNOTATION_NAME_IID, IID_KEYS + (uint64_t)arg->key);
	if (arg->type == TS_ARG_COUNT)
		ts_pbw_u64(out, ANNOTATION_INT, arg->number);
	else if (arg->type == TS_ARG_ID)
		ts_pbw_u64(out, ANNOTATION_UINT, arg->number);
	else if (is_interned(arg))
		ts_pbw_u64(out, ANNOTATION_STRING_IID, string_iid(op, arg->key));
	else
		ts_pbw_text(out, ANNOTATION_STRING, arg->text);
	ts_pbw_end(out, annotation);
}

/* What an op's slices refer to is said before the first of them. */
void ts_perfetto_pb_op_tail(struct ts_buf *out, struct ts_buf *tail,
			    const struct ts_perfetto_lane *lane, const struct ts_profile *profile,
			    uint32_t index, bool full)
{
	const struct ts_op *op = &profile->ops[index];
	struct ts_perfetto_arg args[TS_NR_KEYS];
	size_t nr = ts_perfetto_args(profile, index, full, args);

	if (full)
		intern_op(out, lane->row, op, index, args, nr);
	if (op->category.n)
		ts_pbw_u64(tail, EVENT_CATEGORY_IIDS, (uint64_t)index + 1);
	if (op->name.n)
		ts_pbw_u64(tail, EVENT_NAME_IID, (uint64_t)index + 1);
	if (op->category.n)
		ts_pbw_u64(tail, EVENT_CORRELATION_IID, (uint64_t)index + 1);
	for (size_t i = 0; i < nr; i++)
		put_annotation(tail, index, &args[i]);
}

static uint64_t label_iid(uint32_t label, size_t arg)
{
	return IID_LABEL_ARGS + ((uint64_t)label << 8) + TS_MIN(arg, 255);
}

static void intern_label(struct ts_buf *out, const struct ts_perfetto_row *row, uint32_t number)
{
	const struct ts_label *label = &row->track->labels[number];
	size_t packet = begin_row_packet(out, row), data;

	ts_pbw_u64(out, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
	data = ts_pbw_begin(out, PACKET_INTERNED_DATA);
	intern(out, INTERNED_EVENT_NAMES, (uint64_t)number + 1, ts_perfetto_cut(label->name));
	for (size_t i = 0; i < TS_MIN(label->nr_args, 256); i++) {
		intern(out, INTERNED_ANNOTATION_NAMES, label_iid(number, i),
		       ts_bytes_of(label->args[i].key));
		if (label->args[i].value.type == TS_VALUE_TEXT)
			intern(out, INTERNED_STRINGS, label_iid(number, i),
			       ts_perfetto_cut(label->args[i].value.as.s));
	}
	ts_pbw_end(out, data);
	ts_pbw_end(out, packet);
}

static void put_label_arg(struct ts_buf *tail, uint64_t iid, const struct ts_value *value)
{
	size_t annotation = ts_pbw_begin(tail, EVENT_ANNOTATIONS);

	ts_pbw_u64(tail, ANNOTATION_NAME_IID, iid);
	if (value->type == TS_VALUE_TEXT)
		ts_pbw_u64(tail, ANNOTATION_STRING_IID, iid);
	else if (value->type == TS_VALUE_REAL)
		ts_pbw_double(tail, ANNOTATION_DOUBLE, value->as.r);
	else
		ts_pbw_i64(tail, ANNOTATION_INT, value->as.i);
	ts_pbw_end(tail, annotation);
}

void ts_perfetto_pb_label_tail(struct ts_buf *out, struct ts_buf *tail,
			       const struct ts_perfetto_lane *lane, uint32_t number)
{
	const struct ts_label *label = &lane->row->track->labels[number];

	intern_label(out, lane->row, number);
	ts_pbw_u64(tail, EVENT_CATEGORY_IIDS, LABEL_CATEGORY);
	ts_pbw_u64(tail, EVENT_NAME_IID, (uint64_t)number + 1);
	for (size_t i = 0; i < TS_MIN(label->nr_args, 256); i++)
		if (ts_arg_is_shown(&label->args[i]))
			put_label_arg(tail, label_iid(number, i), &label->args[i].value);
}
