/* SPDX-License-Identifier: MIT */
/*
 * Names, hashed: the words that a redacted copy has in place of those that people chose.
 *
 * A name is taken apart into identifiers (letters, digits, '_'). An identifier stays when it is public
 * (copy/words.c: opcodes, primitives, names of libraries and of this tool's rules); public parts at its
 * ends stay, jit_train -> jit_X; what is left in between becomes sixteen letters that depend on it and on
 * the key alone. So one name is one hash wherever it stands, `a/b/c` stays three parts, file.py a .py, and
 * HLO text is HLO text. Numbers stay, but not in paths, nor in what looks like an address.
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
	TS_KEY_PUBLIC,	/* text that does not depend on the user: a chip, a version */
	TS_KEY_HLO,	/* an HloProto */
	TS_KEY_NUMBERS, /* a message of numbers; texts in it are left out */
	TS_KEY_ACCESS,	/* a message of messages of numbers */
};

struct ts_names {
	struct ts_sipkey key;
	struct ts_strmap words; /* public */
	struct ts_strmap keys;	/* -> enum ts_key_kind */
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
/* Appends one hash for all of it; for an empty text nothing. */
void ts_names_secret(const struct ts_names *names, struct ts_bytes text, struct ts_buf *out);

#endif
