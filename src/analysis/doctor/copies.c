/* SPDX-License-Identifier: MIT */
/* How many bytes a copy to or from the host moves, and which way. */
#include "analysis/doctor/doctor.h"

static bool result_shape(struct ts_doctor *doctor, const struct ts_op *op, struct ts_shape *shape)
{
	const struct ts_hlo_instr *instr = ts_op_instr(doctor->ctx->profile, op);
	struct ts_bytes text;

	if (instr) {
		*shape = instr->shape;
		return true;
	}
	text = op->shape;
	if (text.n == 0 && ts_bytes_find(op->text, " = ") < op->text.n)
		text = ts_bytes_cut(op->text, ts_bytes_find(op->text, " = ") + 3, SIZE_MAX);
	return text.n > 0 && ts_shape_parse(&doctor->scratch, text, shape, NULL, NULL) == TS_OK;
}

struct ts_copy ts_fact_copy(struct ts_doctor *doctor, const struct ts_op_fact *fact)
{
	struct ts_copy copy = { fact->bytes, false };
	const struct ts_op *op = ts_fact_op(doctor, fact);
	struct ts_shape shape;

	if (!op || !result_shape(doctor, op, &shape))
		return copy;
	copy.to_host = ts_shape_in_space(&shape, TS_SPACE_HOST);
	if (shape.nr_parts == 0 && shape.dtype != TS_TUPLE)
		copy.bytes = (double)ts_shape_bytes(&shape);
	return copy;
}
