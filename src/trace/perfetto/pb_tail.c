/* SPDX-License-Identifier: MIT */
/* What slices refer to, interned, and what of them is the same each time. */
#include "trace/perfetto/pb.h"

void ts_perfetto_pb_category(struct ts_perfetto_interning *interning, struct ts_buf *tail,
			     struct ts_bytes category)
{
	bool is_new;
	uint64_t iid = ts_perfetto_pb_iid(interning, &interning->row->seen->categories, category, 1,
					  &is_new);

	if (is_new) {
		ts_perfetto_pb_intern(interning, INTERNED_CATEGORIES, iid, category);
		ts_perfetto_pb_intern(interning, INTERNED_CORRELATIONS, iid, category);
	}
	if (iid == 0) {
		ts_pbw_text(tail, EVENT_CATEGORIES, category);
		return;
	}
	ts_pbw_u64(tail, EVENT_CATEGORY_IIDS, iid);
	ts_pbw_u64(tail, EVENT_CORRELATION_IID, iid);
}

static void put_annotation(struct ts_perfetto_interning *interning, struct ts_buf *tail,
			   const struct ts_perfetto_arg *arg)
{
	struct ts_stat number = { .number = (int64_t)arg->number, .is_unsigned = true };
	size_t annotation = ts_pbw_begin(tail, EVENT_ANNOTATIONS);

	ts_pbw_u64(tail, ANNOTATION_NAME_IID, IID_KEYS + (uint64_t)arg->key);
	if (arg->type == TS_ARG_COUNT)
		ts_pbw_u64(tail, ANNOTATION_INT, arg->number);
	else if (arg->type == TS_ARG_ID)
		ts_perfetto_pb_id(interning, tail, &number);
	else
		ts_perfetto_pb_text(interning, tail, arg->text);
	ts_pbw_end(tail, annotation);
}

static void put_stack(struct ts_perfetto_interning *interning, struct ts_buf *tail,
		      const struct ts_op *op)
{
	uint64_t iid = ts_perfetto_pb_stack(interning, op);

	if (iid)
		ts_pbw_u64(tail, EVENT_CALLSTACK_IID, iid);
}

/* What an op's slices refer to is said before the first of them. */
void ts_perfetto_pb_op_tail(struct ts_buf *out, struct ts_buf *tail,
			    const struct ts_perfetto_lane *lane, const struct ts_perfetto_op *of)
{
	const struct ts_op *op = &of->profile->ops[of->index];
	struct ts_perfetto_interning interning = { .out = out, .row = lane->row };
	struct ts_perfetto_arg args[TS_NR_KEYS];
	size_t nr = ts_perfetto_args(of, args);
	uint64_t iid = (uint64_t)of->index + 1;

	if (op->category.n && !op->has_variants)
		ts_perfetto_pb_category(&interning, tail, ts_perfetto_cut(op->category));
	if (of->has_stack)
		put_stack(&interning, tail, op);
	for (size_t i = 0; i < nr; i++)
		put_annotation(&interning, tail, &args[i]);
	if (op->name.n && of->is_first)
		ts_perfetto_pb_intern(&interning, INTERNED_EVENT_NAMES, iid,
				      ts_perfetto_cut(op->name));
	if (op->name.n)
		ts_pbw_u64(tail, EVENT_NAME_IID, iid);
	ts_perfetto_pb_interned(&interning);
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

static void pb_tail_put_label_arg(struct ts_buf *tail, uint64_t iid, const struct ts_value *value)
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
			pb_tail_put_label_arg(tail, label_iid(number, i), &label->args[i].value);
}
