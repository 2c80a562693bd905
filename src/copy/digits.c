/* SPDX-License-Identifier: MIT */
/*
 * Numbers with one sign between them are one chain; a chain of more than four digits is an address, a date or an id. The
 * forms that have fewer: IPv4 (four groups with dots), dates (three with dashes). IPv6 and hardware addresses are
 * groups of hexadecimal digits with colons. What grammars give a number to is passed over first.
 */
#include "copy/digits.h"

#include "base/check.h"
#include "model/hlo.h"

#define STEP_DIGITS_MAX 7 /* a run has no more steps */
#define LENGTH_DIGITS_MAX 12
#define HEX_GROUP_MAX	4

static bool copy_digits_is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(uint8_t c)
{
	return copy_digits_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

static bool copy_digits_in_word(uint8_t c)
{
	return copy_digits_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' ||
	       c >= 0x80;
}

static bool is_at(struct ts_bytes text, size_t at, const char *any)
{
	return at < text.n && text.p[at] != '\0' && strchr(any, text.p[at]) != NULL;
}

static size_t digits_end(struct ts_bytes text, size_t at)
{
	while (at < text.n && copy_digits_is_digit(text.p[at]))
		at++;
	return at;
}

/* --- what grammars give a number to */

/* The word that ends before AT. */
static struct ts_bytes word_before(struct ts_bytes text, size_t at)
{
	size_t from = at;

	while (from > 0 && copy_digits_in_word(text.p[from - 1]))
		from--;
	return ts_bytes_cut(text, from, at - from);
}

static size_t end_of_any(struct ts_bytes text, size_t at, const char *any)
{
	while (is_at(text, at, any))
		at++;
	return at;
}

/* f32[65536,128]{1,0:T(8,128)S(1)} from its bracket on; AT: it is no shape. */
static size_t shape_end(struct ts_bytes text, size_t at)
{
	struct ts_bytes type = text.p[at] == '[' ? word_before(text, at) : ts_bytes_cut(text, 0, 0);
	size_t end, layout;
	int i = 1;

	while (type.n > 0 && i < TS_NR_DTYPES &&
	       !ts_bytes_is(type, ts_dtype_name((enum ts_dtype)i)))
		i++;
	if (type.n == 0 || i == TS_NR_DTYPES)
		return at;
	end = end_of_any(text, at + 1, "0123456789,<=? ");
	if (!is_at(text, end, "]"))
		return at;
	layout = is_at(text, end + 1, "{") ? end_of_any(text, end + 2, "0123456789,:TSLEDPM()#*-")
					   : end;
	return is_at(text, layout, "}") ? layout : end;
}

/* Attributes of HLO text; details of kernels and copies as CUPTI's and roctracer's converters write them. */
static const char *const number_keys[] = {
	"replica_groups", "source_target_pairs", "slice",	   "window",	 "padding",
	"channel_id",	  "dynamic_slice_sizes", "devices",	   "dimensions", "source_line",
	"regs",		  "static_shared",	 "dynamic_shared", "grid",	 "block",
	"private_mem",	  "group_mem",		 "local_mem",	   "occ_pct",	 "occ",
	"size",		  "num_bytes",		 "toks",	   "tok",	 "estimated_cycles",
};

/* 65536,1,1 or 12.5 */
static size_t numbers_end(struct ts_bytes text, size_t at)
{
	size_t end = end_of_any(text, at, "0123456789,");
	size_t fraction = is_at(text, end, ".") ? digits_end(text, end + 1) : end;

	return is_at(text, fraction, ".") ? at : fraction;
}

/* grid:65536,1,1 or replica_groups={{0,1},{2,3}} from its sign on; AT: there is no key. */
static size_t keyed_end(struct ts_bytes text, size_t at)
{
	struct ts_bytes key =
		is_at(text, at, "=:") ? word_before(text, at) : ts_bytes_cut(text, 0, 0);

	for (size_t i = 0; key.n > 0 && i < TS_NELEM(number_keys); i++)
		if (ts_bytes_is(key, number_keys[i]))
			return is_at(text, at + 1, "{[")
				       ? end_of_any(text, at + 1, "0123456789,:{}[]<=x_-() ")
				       : numbers_end(text, at + 1);
	return at;
}

/* The number of a step: behind a word that says so, and a sign. */
static size_t step_end(struct ts_bytes text, size_t at)
{
	static const char *const words[] = { "step",	  "Step",	"epoch", "Epoch",
					     "iteration", "Iteration",	"batch", "execute",
					     "context_",  "generation_" };
	size_t end = digits_end(text, at), before = at;

	if (end == at || end - at > STEP_DIGITS_MAX || at < 2 || !is_at(text, at - 1, "#_ =("))
		return at;
	before--;
	while (text.p[before] == '(' && before > 0 && copy_digits_is_digit(text.p[before - 1]))
		while (before > 0 && copy_digits_is_digit(text.p[before - 1]))
			before--; /* context_2(6144) */
	for (size_t i = 0; i < TS_NELEM(words); i++)
		if (ts_bytes_ends(ts_bytes_cut(text, 0, before), words[i]) &&
		    !(is_at(text, end, ".-/: ") && end + 1 < text.n &&
		      copy_digits_is_digit(text.p[end + 1])))
			return end;
	return at;
}

/* sq6144sk16384sqsq37748736: lengths of a server's sequences, and sums of their products. */
static size_t lengths_end(struct ts_bytes text, size_t at)
{
	size_t end = at, nr = 0, n;

	if ((at > 0 && copy_digits_in_word(text.p[at - 1])) || !is_at(text, at + 1, "q"))
		return at;
	while (is_at(text, end, "s") && is_at(text, end + 1, "qk")) {
		size_t from = end_of_any(text, end, "sqk");

		n = digits_end(text, from) - from;
		if (n == 0 || n > LENGTH_DIGITS_MAX || from - end > strlen("sqsk"))
			return at;
		end = from + n;
		nr++;
	}
	return nr < 2 || (end < text.n && copy_digits_in_word(text.p[end])) ? at : end;
}

/* Where what a grammar gives numbers to ends; AT: it does not begin here. */
static size_t grammar_end(struct ts_bytes text, size_t at)
{
	uint8_t c = text.p[at];

	if (c == '[')
		return shape_end(text, at);
	if (c == '=' || c == ':')
		return keyed_end(text, at);
	return c == 's' ? lengths_end(text, at) : step_end(text, at);
}

/* --- addresses in hexadecimal */

/* fe80::4029:3488:1, 00:1a:2b:3c:4d:5e and times of day; AT: it is none. A port behind a bracket belongs to it. */
static size_t hex_address_end(struct ts_bytes text, size_t at)
{
	size_t end = at, nr_groups = 0;
	bool has_digit = false, has_gap = false;

	if (!is_hex(text.p[at]) ||
	    (at > 0 && (copy_digits_in_word(text.p[at - 1]) || is_at(text, at - 1, ":."))))
		return at;
	while (end < text.n && is_hex(text.p[end])) {
		size_t from = end, colons;

		for (; end < text.n && is_hex(text.p[end]); end++)
			has_digit |= copy_digits_is_digit(text.p[end]);
		if (end - from > HEX_GROUP_MAX)
			return at;
		nr_groups++;
		colons = end_of_any(text, end, ":") - end;
		if (colons == 0 || colons > 2 || end + colons >= text.n ||
		    !is_hex(text.p[end + colons]))
			break;
		has_gap |= colons == 2;
		end += colons;
	}
	if (!has_digit || nr_groups + has_gap < 3 ||
	    (end < text.n && copy_digits_in_word(text.p[end])))
		return at;
	return is_at(text, end, "]") && is_at(text, end + 1, ":") ? digits_end(text, end + 2) : end;
}

/* --- chains */

struct chain {
	size_t end;
	unsigned nr_groups, nr_digits, nr_dots, nr_dashes, nr_colons;
	bool has_long; /* a number that is an id by itself */
};

/* Thousands: 1,234,567. */
static bool is_thousands(struct ts_bytes text, size_t comma)
{
	return digits_end(text, comma + 1) == comma + 4;
}

static bool is_letter(struct ts_bytes text, size_t at)
{
	return at < text.n && text.p[at] != '_' && copy_digits_in_word(text.p[at]);
}

/* How many bytes lie between a number FROM ... AT and the next one of the chain; 0: it ends here. With a blank or a dash between,
 * a number in a word is none: H100 80GB. */
static size_t between(struct ts_bytes text, size_t from, size_t at)
{
	size_t n = 1 + (is_at(text, at, ")") && is_at(text, at + 1, " "));

	if (!is_at(text, at, "._-/: ),") || at + n >= text.n ||
	    !copy_digits_is_digit(text.p[at + n]) ||
	    (is_at(text, at, " -") && ((from > 0 && is_letter(text, from - 1)) ||
				       is_letter(text, digits_end(text, at + n)))))
		return 0;
	return text.p[at] == ',' && !is_thousands(text, at) ? 0 : n;
}

static struct chain chain_at(struct ts_bytes text, size_t at)
{
	struct chain chain = { .end = at };
	size_t n;

	for (;;) {
		size_t from = chain.end, end = digits_end(text, from);

		chain.nr_groups++;
		chain.nr_digits += (unsigned)(end - from);
		chain.has_long |= end - from > TS_DIGITS_MAX;
		chain.end = end;
		n = between(text, from, end);
		if (n == 0)
			return chain;
		chain.nr_dots += text.p[end] == '.';
		chain.nr_dashes += text.p[end] == '-';
		chain.nr_colons += text.p[end] == ':';
		chain.end += n;
	}
}

static bool tells(const struct chain *chain)
{
	if (chain->nr_colons == 1 && chain->nr_groups == 2 &&
	    !chain->has_long) /* model.py:1024:16 */
		return chain->nr_digits > 2 * TS_DIGITS_MAX - 1;
	return chain->nr_digits > TS_DIGITS_MAX || chain->nr_dots > 2 || chain->nr_dashes > 1;
}

bool ts_digits_are_lengths(struct ts_bytes text)
{
	TS_ASSERT_HOT(text.p || text.n == 0);
	return text.n > 0 && lengths_end(text, 0) == text.n;
}

/* Behind letters in the middle of a word: nothing begins at them. */
static size_t letters_end(struct ts_bytes text, size_t at)
{
	if (at == 0 || !copy_digits_in_word(text.p[at - 1]))
		return at;
	while (at < text.n && copy_digits_in_word(text.p[at]) && !copy_digits_is_digit(text.p[at]))
		at++;
	return at;
}

struct ts_digits ts_digits_next(struct ts_bytes text, size_t at)
{
	TS_ASSERT_HOT(at <= text.n);
	while ((at = letters_end(text, at)) < text.n) {
		size_t end = grammar_end(text, at);

		if (end == at && (end = hex_address_end(text, at)) > at)
			return (struct ts_digits){ at, end };
		if (end == at && copy_digits_is_digit(text.p[at])) {
			struct chain chain = chain_at(text, at);

			if (tells(&chain))
				return (struct ts_digits){ at, chain.end };
			end = chain.end;
		}
		at = end > at ? end : at + 1;
	}
	return (struct ts_digits){ text.n, text.n };
}
