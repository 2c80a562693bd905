/* SPDX-License-Identifier: MIT */
/* Inputs from the corpus beside the repository: TS_CORPUS, else where the sources say. */
#ifndef TS_TESTS_READ_CORPUS_H
#define TS_TESTS_READ_CORPUS_H

#include "base/arena.h"
#include "base/map.h"

#include <stdio.h>

#ifndef TS_SRCDIR
#define TS_SRCDIR "."
#endif

/* The whole file; .p is NULL when it is not there. */
static inline struct ts_bytes whole_file(const char *path, struct ts_arena *arena)
{
	FILE *file = path ? fopen(path, "rb") : NULL;
	uint8_t *bytes = NULL;
	size_t n = 0;

	if (!file)
		return (struct ts_bytes){ NULL, 0 };
	if (fseek(file, 0, SEEK_END) == 0 && ftell(file) > 0) {
		n = (size_t)ftell(file);
		bytes = ts_arena_alloc(arena, n + 1);
		rewind(file);
	}
	if (bytes)
		n = fread(bytes, 1, n, file);
	fclose(file);
	return (struct ts_bytes){ bytes, n };
}

static inline struct ts_bytes corpus_file(struct ts_arena *arena, const char *path)
{
	const char *root = getenv("TS_CORPUS");
	struct ts_bytes name =
		ts_arena_printf(arena, "%s/%s", root ? root : TS_SRCDIR "/../shared/corpus", path);

	return whole_file((const char *)name.p, arena);
}

#endif
