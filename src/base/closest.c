/* SPDX-License-Identifier: MIT */
/* Levenshtein's distance, a row at a time. */
#include "base/closest.h"

#include "base/check.h"

/* A third of the letters may be wrong. */
#define LETTERS_AN_EDIT 3

struct ts_closest ts_closest_to(struct ts_bytes word)
{
	return (struct ts_closest){ .word = word,
				    .nr_edits = TS_MAX((word.n + 1) / LETTERS_AN_EDIT, 1) };
}

static size_t nr_edits(struct ts_bytes word, const char *name, size_t n)
{
	size_t row[TS_CLOSEST_MAX];

	for (size_t k = 0; k <= n; k++)
		row[k] = k;
	for (size_t i = 0; i < word.n; i++) {
		size_t before = row[0]; /* of the row above, one to the left */

		row[0] = i + 1;
		for (size_t k = 0; k < n; k++) {
			size_t above = row[k + 1];
			size_t change = before + (word.p[i] != (uint8_t)name[k]);

			row[k + 1] = TS_MIN(TS_MIN(above, row[k]) + 1, change);
			before = above;
		}
	}
	return row[n];
}

void ts_closest_try(struct ts_closest *closest, const char *name)
{
	size_t n, edits;

	TS_ASSERT(closest && name);
	n = strlen(name);
	if (n >= TS_CLOSEST_MAX || closest->word.n >= TS_CLOSEST_MAX)
		return;
	edits = nr_edits(closest->word, name, n);
	if (edits < closest->nr_edits || (edits == closest->nr_edits && !closest->name[0])) {
		memcpy(closest->name, name, n + 1);
		closest->nr_edits = edits;
	}
}
