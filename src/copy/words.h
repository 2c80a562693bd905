/* SPDX-License-Identifier: MIT */
/* What is public, for copy/names. The lists end with NULL; each entry is words with a space between. */
#ifndef TS_COPY_WORDS_H
#define TS_COPY_WORDS_H

#include "copy/names.h"

struct ts_public_key {
	const char *name;
	enum ts_key_kind kind;
};

extern const char *const ts_public_words[];
extern const struct ts_public_key ts_public_keys[]; /* their name NULL at the end */
/* Parts of names that analyses look for, the longest of those that begin alike first;
 * TS_NAMES_PARTS_MAX at most. */
extern const char *const ts_name_parts[];
extern const char *const ts_file_endings[]; /* "py" */
/* Of libraries (copy/library.c): whole identifiers, and pieces between underscores, with a '#' for each number. */
extern const char *const ts_library_names[];
extern const char *const ts_library_pieces[];

#endif
