/* SPDX-License-Identifier: MIT */
/*
 * Options as rows of a table.
 *
 * A row says what an option is called, which kind of value it takes, into which member of a struct the
 * value goes, and what the help says. options.c reads the command line by these rows, values.c reads
 * a value, help.c prints them. A command has a struct of its own for its options (struct ts_command,
 * cli.h); what all commands share goes into struct ts_cli.
 *
 * The macros check the type of the member: a row that fits no member does not compile.
 */
#ifndef TS_CLI_OPTION_H
#define TS_CLI_OPTION_H

#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"

struct ts_command;

enum ts_option_kind {
	TS_OPTION_FLAG,	  /* a bool: it becomes true */
	TS_OPTION_PRESET, /* a text: it becomes the first of .names */
	TS_OPTION_VERSION,
	TS_OPTION_LICENSES,
	TS_OPTION_HELP,
	/* these take a value: */
	TS_OPTION_TEXT,	   /* a const char *, which looks into argv */
	TS_OPTION_TEXTS,   /* a struct ts_texts: one more */
	TS_OPTION_COUNT,   /* a whole number, LOW to HIGH */
	TS_OPTION_DECIMAL, /* an int64_t: a decimal number, LOW to HIGH, times .scale */
	TS_OPTION_TIME,	   /* an int64_t in milliseconds, LOW to HIGH: 0.5, 500ms, 30s, 10m, 1h */
	TS_OPTION_CHOICE,  /* an enum: which one of .names */
	TS_OPTION_NAME,	   /* a const char *: one of the names that .name_at gives */
	TS_OPTION_CALL,	   /* .call reads it */
	TS_NR_OPTION_KINDS,
};

enum ts_option_place { TS_NO_PLACE, TS_PLACE_READ, TS_PLACE_WRITTEN };

#define TS_TEXTS_MAX 64
struct ts_texts {
	const char *items[TS_TEXTS_MAX]; /* as given, in argv */
	size_t nr;
};

struct ts_option {
	const char *name;     /* long, without --; NULL ends a table */
	char letter;	      /* short, or 0 */
	const char *argument; /* its name in the help */
	const char *help;     /* a %s in it is the list of names */
	enum ts_option_kind kind;
	size_t offset, size; /* of the member */
	size_t given;	     /* 1 + the offset of a bool that says whether it was given; 0: none */
	/* numbers */
	double low, high;
	double scale;
	const char *what; /* what the value should be, for messages: "a number of threads" */
	const char *unit; /* behind the range in messages: " ms" */
	/* names */
	const char *const *names; /* NULL at the end */
	/* The one at INDEX that an option of the command may be, or NULL behind the last. */
	const char *(*name_at)(const struct ts_command *command, size_t index);
	unsigned needs; /* enum ts_needs (io/confine.h): what the command does when it is given */
	enum ts_option_place place; /* the value is a path, which is opened after confinement */
	bool has_default;	    /* the first is the default, which the help says */
	bool is_of_program; /* the help of the program has it; that of a command, though it knows it, does not */
	/* FIELD is the member. ERR: what is wrong with the value. */
	enum ts_status (*call)(void *field, const char *value, struct ts_error *err);
};

/* 0, if MEMBER of the struct TYPE is of type KIND; else it does not compile. */
#define TS_OPTION_TYPED(type, member, kind) \
	(0 * sizeof(char[_Generic(&((type *)0)->member, kind *: 1, default: -1)]))
#define TS_OPTION_AT(type, member, kind)                                        \
	.offset = offsetof(type, member) + TS_OPTION_TYPED(type, member, kind), \
	.size = sizeof(((type *)0)->member)

#define TS_OPT_FLAG(type, member, long_name, short_name, ...) \
	{ .kind = TS_OPTION_FLAG,                             \
	  .name = (long_name),                                \
	  .letter = (short_name),                             \
	  TS_OPTION_AT(type, member, bool),                   \
	  .help = __VA_ARGS__ }
#define TS_OPT_PRESET(type, member, long_name, text, ...)                                \
	{                                                                                \
		.kind = TS_OPTION_PRESET, .name = (long_name), .help = (text),           \
		TS_OPTION_AT(type, member, const char *), .names = (const char *const[]) \
		{                                                                        \
			__VA_ARGS__, NULL                                                \
		}                                                                        \
	}
#define TS_OPT_TEXT(type, member, long_name, short_name, value, ...) \
	{ .kind = TS_OPTION_TEXT,                                    \
	  .name = (long_name),                                       \
	  .letter = (short_name),                                    \
	  .argument = (value),                                       \
	  TS_OPTION_AT(type, member, const char *),                  \
	  .help = __VA_ARGS__ }
#define TS_OPT_TEXTS(type, member, long_name, value, most, ...)  \
	{ .kind = TS_OPTION_TEXTS,                               \
	  .name = (long_name),                                   \
	  .argument = (value),                                   \
	  .high = (most) < TS_TEXTS_MAX ? (most) : TS_TEXTS_MAX, \
	  TS_OPTION_AT(type, member, struct ts_texts),           \
	  .help = __VA_ARGS__ }
/* A bool that becomes true with the option. */
#define TS_OPTION_GIVEN(type, member) .given = 1 + offsetof(type, member)
#define TS_OPTION_ANY		      9.2e18 /* as the highest number: below what an int64_t can hold */
/* The text, and what else a row has, are at the end. The member may be of any size. */
#define TS_OPT_COUNT(type, member, long_name, short_name, value, least, most, noun, ...) \
	{ .kind = TS_OPTION_COUNT,                                                       \
	  .name = (long_name),                                                           \
	  .letter = (short_name),                                                        \
	  .argument = (value),                                                           \
	  .low = (least),                                                                \
	  .high = (most),                                                                \
	  .what = (noun),                                                                \
	  .offset = offsetof(type, member),                                              \
	  .size = sizeof(((type *)0)->member),                                           \
	  __VA_ARGS__ }
/* How many ops and steps tables list by themselves; 0: as many as is usual. */
#define TS_OPT_MAX_ROWS(type, of_ops, of_steps)                                                  \
	TS_OPT_COUNT(type, of_ops, "max-ops", 0, "N", 1, TS_OPTION_ANY, "a number of ops",       \
		     .help = "ops that a table lists; the others are one row (default 5000, " \
			     "less where 99.99 % of the time is in fewer)"),                    \
		TS_OPT_COUNT(type, of_steps, "max-steps", 0, "N", 1, TS_OPTION_ANY,              \
			     "a number of steps",                                                \
			     .help = "steps that a table lists: half of them are the longest "   \
				     "(default 4096)")
#define TS_OPT_DECIMAL(type, member, long_name, value, least, most, times, noun, text) \
	{ .kind = TS_OPTION_DECIMAL,                                                   \
	  .name = (long_name),                                                         \
	  .argument = (value),                                                         \
	  .low = (least),                                                              \
	  .high = (most),                                                              \
	  .scale = (times),                                                            \
	  .what = (noun),                                                              \
	  .help = (text),                                                              \
	  TS_OPTION_AT(type, member, int64_t) }
#define TS_OPT_TIME(type, member, long_name, least, most, ...) \
	{ .kind = TS_OPTION_TIME,                              \
	  .name = (long_name),                                 \
	  .argument = "TIME",                                  \
	  .low = (least),                                      \
	  .high = (most),                                      \
	  TS_OPTION_AT(type, member, int64_t),                 \
	  .help = __VA_ARGS__ }
#define TS_OPT_CHOICE(type, member, enumeration, long_name, value, list, first_is_default, text) \
	{ .kind = TS_OPTION_CHOICE,                                                              \
	  .name = (long_name),                                                                   \
	  .argument = (value),                                                                   \
	  .names = (list),                                                                       \
	  .has_default = (first_is_default),                                                     \
	  .help = (text),                                                                        \
	  TS_OPTION_AT(type, member, enumeration) }
#define TS_OPT_NAME(type, member, long_name, short_name, value, list, first_is_default, text) \
	{ .kind = TS_OPTION_NAME,                                                             \
	  .name = (long_name),                                                                \
	  .letter = (short_name),                                                             \
	  .argument = (value),                                                                \
	  .name_at = (list),                                                                  \
	  .has_default = (first_is_default),                                                  \
	  .help = (text),                                                                     \
	  TS_OPTION_AT(type, member, const char *) }
#define TS_OPT_CALL(type, member, long_name, value, function, ...) \
	{ .kind = TS_OPTION_CALL,                                  \
	  .name = (long_name),                                     \
	  .argument = (value),                                     \
	  .call = (function),                                      \
	  .offset = offsetof(type, member),                        \
	  .help = __VA_ARGS__ }
#define TS_OPT_END { .name = NULL }

/* Does an option of this kind take a value? */
bool ts_option_has_value(const struct ts_option *option);
/* The name at INDEX that the option may be, or NULL: behind the last, or it is not chosen by name. */
const char *ts_option_name(const struct ts_option *option, const struct ts_command *command,
			   size_t index);
/* What the help says of it, in one line, with the names that it may be. */
void ts_option_help(struct ts_buf *out, const struct ts_option *option,
		    const struct ts_command *command);
/* Puts the value (NULL: the option takes none) into the struct at BASE. Not for the kinds VERSION,
 * LICENSES and HELP. TS_USAGE: ERR says what is wrong with the value. */
enum ts_status ts_option_read(const struct ts_option *option, const struct ts_command *command,
			      void *base, const char *value, struct ts_error *err);

#endif
