/* SPDX-License-Identifier: MIT */
/* Ids of compilations as text, and the kinds of events by op. */
#include "analysis/kit/torch.h"

#include "base/check.h"

#include <inttypes.h>

struct ts_bytes ts_compile_id_text(struct ts_result *result, struct ts_compile_id id)
{
	if (id.autograd >= 0 && id.frame >= 0)
		return ts_result_text(result, "!%" PRId64 "/%" PRId64 "/%" PRId64, id.autograd,
				      id.frame, id.compile);
	if (id.autograd >= 0)
		return ts_result_text(result, "!%" PRId64, id.autograd);
	if (id.frame >= 0)
		return ts_result_text(result, "%" PRId64 "/%" PRId64, id.frame, id.compile);
	return (struct ts_bytes){ NULL, 0 };
}

enum ts_torch_event ts_torch_event_once(uint8_t *known, const struct ts_op *op)
{
	TS_ASSERT_HOT(known && op);
	if (*known == 0)
		*known = 1 + (op->is_event ? (uint8_t)ts_torch_event_of(op->name, op->category_id)
					   : (uint8_t)TS_TORCH_OTHER);
	return (enum ts_torch_event)(*known - 1);
}
