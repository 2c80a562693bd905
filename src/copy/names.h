/* SPDX-License-Identifier: MIT */
/*
 * Names, hashed: the words that a redacted copy has in place of those that people chose.
 *
 * A name is taken apart into identifiers (letters, digits, '_'). An identifier stays when it is public
 * (copy/words.c: opcodes, primitives, names of this tool's rules; copy/library.c: names of libraries); public parts at its
 * ends stay, jit_train -> jit_X; what is left in between becomes sixteen letters that depend on it and on
 * the key alone. So one name is one hash wherever it stands, `a/b/c` stays three parts, file.py a .py, and
 * HLO text is HLO text. Numbers of at most four digits stay, but not in paths, nor where they are part of an
 * address, a date or an id (copy/digits.h).
 *
 * Analyses see through names by parts of them (a gemm, a wait, a step). An identifier that has such
 * parts keeps them in front of its hash, so that they see the same.
 *
 * It is const once it is open: threads may share it.
 */
#ifndef TS_COPY_NAMES_H
#define TS_COPY_NAMES_H

#include "base/buf.h"
#include "base/map.h"
#include "base/siphash.h"

#define TS_NAMES_KEEP_MAX  64
#define TS_NAMES_PARTS_MAX 256

/* What the value of a stat or an argument is, by its name. */
enum ts_key_kind {
	TS_KEY_UNKNOWN, /* it is not known here: its name and its text are hashed whole */
	TS_KEY_NAMES,	/* text of names, as above */
	TS_KEY_VALUE, /* what was measured or counted: a number, or numbers in brackets, stay as they are */
	TS_KEY_VERSION, /* numbers with dots between; other text is text of names */
	TS_KEY_HLO,	/* an HloProto */
	TS_KEY_NUMBERS, /* a message of numbers; texts in it are left out */
	TS_KEY_ACCESS,	/* a message of messages of numbers */
};

struct ts_names {
	struct ts_sipkey key;
	struct ts_strmap words; /* public, also as a piece of an identifier */
	struct ts_strmap library,
		pieces;	       /* of libraries: whole identifiers, pieces of kernels' names */
	struct ts_strmap keys; /* -> enum ts_key_kind */
	uint64_t parts[256][TS_NAMES_PARTS_MAX /
			    64]; /* which of the parts that are looked for begin with a byte */
	const char *keep[TS_NAMES_KEEP_MAX]; /* patterns of names that shall stay */
	size_t nr_keep;
};

/* KEEP: patterns (with * and ?), which must live longer. */
enum ts_status ts_names_open(struct ts_names *names, const struct ts_sipkey *key,
			     const char *const *keep, size_t nr_keep, struct ts_error *err);
void ts_names_release(struct ts_names *names);

enum ts_key_kind ts_names_key(const struct ts_names *names, struct ts_bytes key);
/* Appends the text with its names hashed. */
void ts_names_put(const struct ts_names *names, struct ts_bytes text, struct ts_buf *out);
/* Appends the text by the rule of the key that it is the value of. */
void ts_names_value(const struct ts_names *names, enum ts_key_kind kind, struct ts_bytes text,
		    struct ts_buf *out);
/* Is all of it one number, as JSON writes them? */
bool ts_names_is_number(struct ts_bytes text);
/* Appends one hash for all of it; for an empty text nothing. */
void ts_names_secret(const struct ts_names *names, struct ts_bytes text, struct ts_buf *out);

#endif
