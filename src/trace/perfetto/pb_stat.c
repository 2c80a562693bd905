/* SPDX-License-Identifier: MIT */
/* Stats of an event as annotations of its slice. */
#include "trace/perfetto/pb.h"

static void pb_stat_put_value(struct ts_perfetto_interning *interning, struct ts_buf *annotation,
			      const struct ts_perfetto_stat *stat)
{
	switch (stat->type) {
	case TS_ARG_TEXT:
		ts_perfetto_pb_text(interning, annotation, ts_perfetto_cut(stat->value.text));
		break;
	case TS_ARG_ID:	   ts_perfetto_pb_id(interning, annotation, &stat->value); break;
	case TS_ARG_COUNT: ts_pbw_i64(annotation, ANNOTATION_INT, stat->value.number); break;
	case TS_ARG_REAL:  ts_pbw_double(annotation, ANNOTATION_DOUBLE, stat->value.real); break;
	}
}

struct ts_bytes ts_perfetto_pb_stats(struct ts_buf *out, const struct ts_perfetto_row *row,
				     const struct ts_perfetto_slice *slice)
{
	struct ts_perfetto_interning interning = { .out = out, .row = row };
	struct ts_buf *scratch;

	if (slice->nr_stats == 0 && slice->category.n == 0)
		return (struct ts_bytes){ NULL, 0 };
	scratch = &row->seen->scratch;
	ts_buf_clear(scratch);
	if (slice->category.n)
		ts_perfetto_pb_category(&interning, scratch, ts_perfetto_cut(slice->category));
	for (size_t i = 0; i < slice->nr_stats; i++) {
		size_t annotation = ts_pbw_begin(scratch, EVENT_ANNOTATIONS);

		ts_perfetto_pb_name(&interning, scratch, slice->stats[i].name);
		pb_stat_put_value(&interning, scratch, &slice->stats[i]);
		ts_pbw_end(scratch, annotation);
	}
	ts_perfetto_pb_interned(&interning);
	out->failed |= scratch->failed;
	return ts_buf_bytes(scratch);
}
