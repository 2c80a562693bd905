/* SPDX-License-Identifier: MIT */
/* Plain lists of texts and of numbers. */
#include "analysis/kit/lists.h"

#include "base/check.h"

struct ts_value ts_text_list(struct ts_result *result, const struct ts_bytes *texts, size_t nr)
{
	struct ts_value *items, list = ts_result_list(result, NULL, 0, nr, &items);

	TS_ASSERT(texts || nr == 0);
	for (size_t i = 0; items && i < nr; i++)
		items[i] = ts_text(texts[i]);
	return list;
}

struct ts_value ts_int_list(struct ts_result *result, const int64_t *numbers, size_t nr)
{
	struct ts_value *items, list = ts_result_list(result, NULL, 0, nr, &items);

	TS_ASSERT(numbers || nr == 0);
	for (size_t i = 0; items && i < nr; i++)
		items[i] = ts_int(numbers[i]);
	return list;
}
