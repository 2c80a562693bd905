/* SPDX-License-Identifier: MIT */
/* Lists as the profiler writes them beside a call: shapes, types, values. */
#include "model/aten_parts.h"

#include "base/check.h"

/* The end of the item that begins at AT: a comma or bracket outside of brackets and quotes. */
static size_t aten_text_end(struct ts_bytes list, size_t at)
{
	bool quoted = false;
	int depth = 0;

	for (; at < list.n; at++) {
		uint8_t c = list.p[at];

		if (c == '"')
			quoted = !quoted;
		else if (quoted)
			continue;
		else if (c == '[')
			depth++;
		else if ((c == ']' && depth-- == 0) || (c == ',' && depth == 0))
			break;
	}
	return at;
}

/* Without blanks and quotes around it. */
static struct ts_bytes aten_text_bare(struct ts_bytes text)
{
	while (text.n > 0 && (text.p[0] <= ' ' || text.p[0] == '"'))
		text = ts_bytes_cut(text, 1, text.n);
	while (text.n > 0 && (text.p[text.n - 1] <= ' ' || text.p[text.n - 1] == '"'))
		text.n--;
	return text;
}

bool ts_aten_next(struct ts_bytes *list, struct ts_bytes *item)
{
	size_t end = aten_text_end(*list, 0);

	*item = aten_text_bare(ts_bytes_cut(*list, 0, end));
	if (item->n == 0 && (end >= list->n || list->p[end] == ']') && end == 0)
		return false;
	*list = end < list->n && list->p[end] == ',' ? ts_bytes_cut(*list, end + 1, list->n)
						     : (struct ts_bytes){ NULL, 0 };
	return true;
}

bool ts_aten_enter(struct ts_bytes *list)
{
	*list = aten_text_bare(*list);
	if (list->n == 0 || list->p[0] != '[')
		return false;
	*list = ts_bytes_cut(*list, 1, list->n);
	return true;
}

struct ts_bytes ts_aten_item(struct ts_bytes list, int at)
{
	struct ts_bytes item = { NULL, 0 };

	if (at < 0 || !ts_aten_enter(&list))
		return item;
	for (int i = 0; i <= at; i++)
		if (!ts_aten_next(&list, &item))
			return (struct ts_bytes){ NULL, 0 };
	return item;
}

bool ts_aten_numbers(struct ts_bytes text, struct ts_aten_shape *numbers)
{
	struct ts_bytes item;

	TS_ASSERT_HOT(numbers);
	numbers->nr = 0;
	if (!ts_aten_enter(&text))
		return false;
	while (ts_aten_next(&text, &item)) {
		if (numbers->nr == ATEN_RANK_MAX ||
		    !ts_bytes_i64(item, &numbers->dims[numbers->nr]))
			return false;
		numbers->nr++;
	}
	return true;
}

bool ts_aten_shape(struct ts_bytes text, struct ts_aten_shape *shape)
{
	if (!ts_aten_numbers(text, shape))
		return false;
	for (size_t i = 0; i < shape->nr; i++)
		if (shape->dims[i] < 0)
			return false;
	return true;
}
