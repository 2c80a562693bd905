/* SPDX-License-Identifier: MIT */
/* Taking names apart and putting them together again. One pass over the text, nothing is kept. */
#include "copy/names.h"

#include "base/check.h"

#include <fnmatch.h>

#include "copy/digits.h"
#include "copy/words.h"
#include "model/torch_event.h"

#define HASH_LETTERS	16
#define IDENTIFIER_MAX	1024 /* of one that is looked at; a longer one is hashed as a whole */

/* Each entry of a list is words with a space between. */
static bool take_words(struct ts_strmap *map, const char *const *list)
{
	for (size_t i = 0; list[i]; i++) {
		struct ts_bytes words = ts_bytes_of(list[i]);

		while (words.n > 0) {
			size_t n = ts_bytes_find(words, " ");

			if (!ts_strmap_set(map, ts_bytes_cut(words, 0, n), 1))
				return false;
			words = ts_bytes_cut(words, n + 1, words.n);
		}
	}
	return true;
}

enum ts_status ts_names_open(struct ts_names *names, const struct ts_sipkey *key,
			     const char *const *keep, size_t nr_keep, struct ts_error *err)
{
	TS_ASSERT(names && key);
	*names = (struct ts_names){ .key = *key, .nr_keep = TS_MIN(nr_keep, TS_NAMES_KEEP_MAX) };
	for (size_t i = 0; i < names->nr_keep; i++)
		names->keep[i] = keep[i];
	for (size_t i = 0; ts_name_parts[i] && i < TS_NAMES_PARTS_MAX; i++)
		names->parts[(uint8_t)ts_name_parts[i][0]][i / 64] |= UINT64_C(1) << i % 64;
	if (!take_words(&names->words, ts_public_words) ||
	    !take_words(&names->library, ts_library_names) ||
	    !take_words(&names->pieces, ts_library_pieces))
		return ts_fail_nomem(err);
	for (size_t i = 0; ts_public_keys[i].name; i++)
		if (!ts_strmap_set(&names->keys, ts_bytes_of(ts_public_keys[i].name),
				   ts_public_keys[i].kind))
			return ts_fail_nomem(err);
	return TS_OK;
}

void ts_names_release(struct ts_names *names)
{
	TS_ASSERT(names);
	ts_strmap_release(&names->words);
	ts_strmap_release(&names->library);
	ts_strmap_release(&names->pieces);
	ts_strmap_release(&names->keys);
}

enum ts_key_kind ts_names_key(const struct ts_names *names, struct ts_bytes key)
{
	uint32_t kind = ts_strmap_find(&names->keys, key);

	TS_ASSERT_HOT(names);
	TS_ASSERT_HOT(key.p || key.n == 0);
	return kind == TS_NONE ? TS_KEY_UNKNOWN : (enum ts_key_kind)kind;
}

/*
 * Letters that do not occur in the parts of names that are looked for: vowels and m, n, c, p are
 * left out.
 */
static void put_hash(const struct ts_names *names, struct ts_bytes text, struct ts_buf *out)
{
	static const char letters[] = "bdfghjklqvxz";
	uint64_t h = ts_siphash(&names->key, text).h[0];

	for (int i = 0; i < HASH_LETTERS; i++, h /= sizeof(letters) - 1)
		ts_buf_putc(out, letters[h % (sizeof(letters) - 1)]);
}

static bool copy_names_is_kept(const struct ts_names *names, struct ts_bytes text)
{
	char copy[256];

	if (names->nr_keep == 0 || text.n >= sizeof(copy))
		return false;
	snprintf(copy, sizeof(copy), "%.*s", TS_ARG(text));
	for (size_t i = 0; i < names->nr_keep; i++)
		if (fnmatch(names->keep[i], copy, 0) == 0)
			return true;
	return false;
}

void ts_names_secret(const struct ts_names *names, struct ts_bytes text, struct ts_buf *out)
{
	TS_ASSERT_HOT(names && out);
	TS_ASSERT_HOT(text.p || text.n == 0);
	if (text.n > 0 && copy_names_is_kept(names, text))
		ts_buf_put(out, text);
	else if (text.n > 0)
		put_hash(names, text, out);
}

/* --- identifiers */

static bool copy_names_is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* Letters of other scripts, and bytes that are not letters, may be a user's name too. */
static bool in_identifier(uint8_t c)
{
	return copy_names_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_' || c >= 0x80;
}

static bool are_digits(struct ts_bytes text)
{
	for (size_t i = 0; i < text.n; i++)
		if (!copy_names_is_digit(text.p[i]))
			return false;
	return text.n > 0;
}

static bool is_hex_number(struct ts_bytes text)
{
	size_t i = 2;

	if (text.n < 3 || text.n > 2 + TS_DIGITS_MAX || text.p[0] != '0' || text.p[1] != 'x')
		return false;
	while (i < text.n &&
	       (copy_names_is_digit(text.p[i]) || (text.p[i] >= 'a' && text.p[i] <= 'f')))
		i++;
	return i == text.n;
}

static bool copy_names_is_word(const struct ts_names *names, struct ts_bytes text)
{
	return text.n == 1 || ts_strmap_find(&names->words, text) != TS_NONE;
}

/* Runtimes number the versions of a function: cuMemAlloc_v2, cudaMemcpyAsync_ptsz. */
static struct ts_bytes without_version(struct ts_bytes text)
{
	static const char *const versions[] = { "_ptsz", "_ptds", "_spt" };
	size_t n = text.n;

	for (size_t i = 0; i < TS_NELEM(versions); i++)
		if (ts_bytes_ends(text, versions[i]))
			return ts_bytes_cut(text, 0, text.n - strlen(versions[i]));
	while (n > 0 && copy_names_is_digit(text.p[n - 1]))
		n--;
	if (n < text.n && text.n - n <= TS_DIGITS_MAX && n > 1 &&
	    (text.p[n - 1] == 'v' || text.p[n - 1] == 'R') &&
	    (text.p[n - 2] == '_' || text.p[n - 1] == 'R'))
		return ts_bytes_cut(text, 0, n - 1 - (text.p[n - 2] == '_'));
	return text;
}

/* tilesize128x128x32 is tilesize#x#x#, if each number has four digits at most. */
static bool is_library_piece(const struct ts_names *names, struct ts_bytes piece)
{
	uint8_t form[32];
	size_t n = 0, nr_digits = 0;

	if (ts_strmap_find(&names->pieces, piece) != TS_NONE)
		return true;
	for (size_t i = 0; i < piece.n; i++) {
		bool is_digit = copy_names_is_digit(piece.p[i]);

		nr_digits = is_digit ? nr_digits + 1 : 0;
		if (nr_digits > TS_DIGITS_MAX || n == sizeof(form))
			return false;
		if (nr_digits <= 1)
			form[n++] = is_digit ? '#' : piece.p[i];
	}
	return ts_strmap_find(&names->pieces, (struct ts_bytes){ form, n }) != TS_NONE;
}

static bool is_edge(const struct ts_names *names, struct ts_bytes part);

/* Tensile's, CUTLASS's, cuBLAS's and cuDNN's kernels are called by their parameters, an underscore between. */
static bool is_made_of_pieces(const struct ts_names *names, struct ts_bytes text)
{
	bool has_piece = false;

	while (text.n > 0) {
		size_t n = ts_bytes_find(text, "_");
		struct ts_bytes piece = ts_bytes_cut(text, 0, n);
		bool is_piece = is_library_piece(names, piece);

		if (!is_piece &&
		    (!is_edge(names, piece) || (are_digits(piece) && piece.n > TS_DIGITS_MAX)))
			return false;
		has_piece |= is_piece;
		text = ts_bytes_cut(text, n + 1, text.n);
	}
	return has_piece;
}

static bool is_of_a_library(const struct ts_names *names, struct ts_bytes text)
{
	return ts_strmap_find(&names->library, text) != TS_NONE ||
	       ts_strmap_find(&names->library, without_version(text)) != TS_NONE ||
	       is_made_of_pieces(names, text);
}

/* Which of the parts that are looked for stand in a text. */
struct parts {
	uint64_t bits[TS_NAMES_PARTS_MAX / 64];
	bool first; /* one of them begins it */
};

static struct parts copy_names_parts_of(const struct ts_names *names, struct ts_bytes text)
{
	struct parts parts = { { 0 }, false };

	for (size_t at = 0; at < text.n; at++)
		for (size_t w = 0; w < TS_NELEM(parts.bits); w++) {
			uint64_t left = names->parts[text.p[at]][w] & ~(at ? parts.bits[w] : 0);

			for (; left; left &= left - 1) {
				size_t i = w * 64 + (size_t)__builtin_ctzll(left);

				if (!ts_bytes_starts(ts_bytes_cut(text, at, text.n),
						     ts_name_parts[i]))
					continue;
				parts.bits[w] |= UINT64_C(1) << i % 64;
				parts.first |= at == 0;
			}
		}
	return parts;
}

static bool are_same(struct parts a, struct parts b)
{
	return memcmp(a.bits, b.bits, sizeof(a.bits)) == 0 && a.first == b.first;
}

/* The part that stands at P, or NULL. */
static const char *copy_names_part_at(struct ts_bytes text, size_t at)
{
	for (size_t i = 0; ts_name_parts[i]; i++)
		if (ts_bytes_starts(ts_bytes_cut(text, at, text.n), ts_name_parts[i]))
			return ts_name_parts[i];
	return NULL;
}

/* Its parts in their order, and the hash of all of it behind them, or in front. Two underscores between:
 * with one, two parts may make a third (xmma_gemm). */
static void copy_names_put_parts(const struct ts_names *names, struct ts_bytes text,
				 struct ts_buf *out)
{
	bool first = copy_names_part_at(text, 0) != NULL;

	if (!first)
		put_hash(names, text, out);
	for (size_t at = 0; at < text.n;) {
		const char *part = copy_names_part_at(text, at);

		if (part && (at > 0 || !first))
			ts_buf_puts(out, "__");
		if (part)
			ts_buf_puts(out, part);
		at += part ? strlen(part) : 1;
	}
	if (first) {
		ts_buf_puts(out, "__");
		put_hash(names, text, out);
	}
}

/* 32GB, 10ms, 2x */
static bool is_amount(const struct ts_names *names, struct ts_bytes text)
{
	size_t n = 0;

	while (n < text.n && copy_names_is_digit(text.p[n]))
		n++;
	return n > 0 && n <= TS_DIGITS_MAX && n < text.n &&
	       (n + 1 == text.n ? strchr("BKMGTbkmgsxdDnhu", text.p[n]) != NULL
				: copy_names_is_word(names, ts_bytes_cut(text, n, text.n)));
}

/* Numbers that tell are looked for in the text as a whole. */
static bool is_edge(const struct ts_names *names, struct ts_bytes part)
{
	return part.n == 0 || are_digits(part) || copy_names_is_word(names, part);
}

/* The longest public piece from FROM on that ends before an underscore or with the text; its end. SIZE_MAX:
 * none. */
static size_t piece_end(const struct ts_names *names, struct ts_bytes text, size_t from)
{
	for (size_t end = text.n + 1; end-- > from;)
		if ((end == text.n || text.p[end] == '_') &&
		    is_edge(names, ts_bytes_cut(text, from, end - from)))
			return end;
	return SIZE_MAX;
}

/* How much of the front is public, up to and with an underscore; all of it: the whole length. */
static size_t public_front(const struct ts_names *names, struct ts_bytes text)
{
	size_t from = 0, end;

	while ((end = piece_end(names, text, from)) != SIZE_MAX) {
		if (end == text.n)
			return text.n;
		from = end + 1;
	}
	return from;
}

/* Likewise of the end: where the public part begins, with its underscore. */
static size_t public_end(const struct ts_names *names, struct ts_bytes text, size_t from)
{
	size_t end = text.n;

	for (size_t at = from + 1; at < end; at++) {
		if (text.p[at] != '_' || !is_edge(names, ts_bytes_cut(text, at + 1, end - at - 1)))
			continue;
		end = at; /* the longest piece: what stands before it may be public too */
		at = from;
	}
	return end;
}

/* triton_poi_fused_add_relu_0, as Inductor makes them: op by op, so that there are as many. */
static void copy_names_put_ops(const struct ts_names *names, struct ts_bytes text,
			       struct ts_buf *out)
{
	while (text.n > 0) {
		size_t aten = ts_aten_prefix(text), n = aten ? aten : ts_bytes_find(text, "_");
		struct ts_bytes op = ts_bytes_cut(text, 0, n);

		if (aten || is_edge(names, op))
			ts_buf_put(out, op);
		else
			put_hash(names, op, out);
		if (n < text.n)
			ts_buf_putc(out, '_');
		text = ts_bytes_cut(text, n + 1, text.n);
	}
}

/* Do analyses see in what stands in OUT from START on what they see in the text? */
static bool says_the_same(const struct ts_names *names, struct ts_bytes text,
			  const struct ts_buf *out, size_t start)
{
	return out->failed ||
	       are_same(copy_names_parts_of(names, text),
			copy_names_parts_of(names, ts_bytes_cut(ts_buf_bytes(out), start, out->n)));
}

/* Before the piece between underscores in which AT lies. */
static size_t piece_start(struct ts_bytes text, size_t at)
{
	while (at > 0 && text.p[at - 1] != '_')
		at--;
	return at;
}

static bool stays_whole(const struct ts_names *names, struct ts_bytes text)
{
	return copy_names_is_word(names, text) || is_amount(names, text) || is_hex_number(text) ||
	       ts_digits_are_lengths(text) || is_of_a_library(names, text);
}

/* jit_my_step_fusion: jit_ and _fusion are XLA's, my_step is the user's. From the byte OPEN on nothing stays: a number that
 * tells. False: all of it stays. */
static bool put_identifier(const struct ts_names *names, struct ts_bytes text, size_t open,
			   struct ts_buf *out)
{
	size_t last = open < text.n ? piece_start(text, open) : text.n;
	size_t from = public_front(names, ts_bytes_cut(text, 0, last));
	size_t end = open < text.n ? text.n : public_end(names, text, from);
	size_t start = out->n;
	struct ts_bytes own = ts_bytes_cut(text, from, end - from);
	struct ts_bytes behind = ts_bytes_cut(text, end, text.n);

	if (own.n == 0 || copy_names_is_kept(names, text) || copy_names_is_kept(names, own)) {
		ts_buf_put(out, text);
		return own.n > 0;
	}
	if (open == text.n && ts_torch_fused_part(text).n > 0) {
		copy_names_put_ops(names, text, out);
		return true;
	}
	ts_buf_put(out, ts_bytes_cut(text, 0, from));
	put_hash(names, own, out);
	ts_buf_put(out, behind);
	if (says_the_same(names, text, out, start))
		return true;
	out->n = start + from;
	copy_names_put_parts(names, own, out);
	ts_buf_put(out, behind);
	if (says_the_same(names, text, out, start))
		return true;
	out->n = start; /* a part lies across: my_elementwise, _kernel */
	copy_names_put_parts(names, text, out);
	return true;
}

/* --- texts */

static bool has_ending(struct ts_bytes path)
{
	size_t dot = path.n;

	while (dot > 0 && path.p[dot - 1] != '.')
		dot--;
	for (size_t i = 0; dot > 0 && ts_file_endings[i]; i++)
		if (ts_bytes_is(ts_bytes_cut(path, dot, path.n), ts_file_endings[i]))
			return true;
	return false;
}

/* Is the identifier at AT the ending of a file's name, or before it: .json.gz? */
static bool copy_names_is_ending(struct ts_bytes text, size_t run, size_t at, size_t n,
				 size_t run_end)
{
	return at > run && text.p[at - 1] == '.' &&
	       has_ending(ts_bytes_cut(text, run, at + n - run)) &&
	       has_ending(ts_bytes_cut(text, run, run_end - run));
}

static bool copy_names_is_root(struct ts_bytes path)
{
	static const char *const roots[] = { "/home/", "/root/", "/usr/",    "/opt/",	 "/data",
					     "/mnt/",  "/tmp/",	 "/var/",    "/srv/",	 "/work",
					     "/nfs",   "/gpfs/", "/lustre/", "/scratch", "/Users/",
					     "~/",     "/proc/", "/project", "/fsx/",	 "/efs/" };

	for (size_t i = 0; (path.p[0] == '/' || path.p[0] == '~') && i < TS_NELEM(roots); i++)
		if (ts_bytes_starts(path, roots[i]))
			return true;
	return false;
}

/* Numbers in it would give away which run, which customer or which machine it is. */
static bool hides_numbers(struct ts_bytes run)
{
	return run.n > 0 && (has_ending(run) || copy_names_is_root(run));
}

static size_t run_length(struct ts_bytes text, size_t at)
{
	size_t n = 0;

	while (at + n < text.n && (in_identifier(text.p[at + n]) ||
				   (text.p[at + n] > ' ' && strchr("./+~@-", text.p[at + n]))))
		n++;
	return n;
}

/* somebody@example.com, or a process at a machine. */
static bool is_mail(struct ts_bytes run)
{
	const uint8_t *at = run.n > 0 ? memchr(run.p, '@', run.n) : NULL;

	return at && at > run.p && at + 1 < run.p + run.n && in_identifier(at[-1]) &&
	       in_identifier(at[1]);
}

/* What is known of the text that is being put. */
struct putting {
	const struct ts_names *names;
	struct ts_bytes text;
	size_t run, run_end; /* a stretch without blanks, in which a path or an address may stand */
	bool hides;	     /* its numbers tell */
	bool is_mail;	     /* all of it does, and was put already */
	struct ts_digits digits;
	size_t hashed_end;  /* of the last identifier that did not stay */
	bool hashed_digits; /* it had some */
};

static void begin_run(struct putting *putting, size_t at, struct ts_buf *out)
{
	struct ts_bytes run = ts_bytes_cut(putting->text, at, run_length(putting->text, at));

	putting->run = at;
	putting->run_end = at + run.n;
	putting->hides = hides_numbers(run);
	putting->is_mail = is_mail(run);
	if (putting->is_mail)
		put_hash(putting->names, run, out);
	putting->run_end += run.n == 0;
}

/* Is a number a part of the word before it: a group of a UUID, a machine's port? */
static bool is_joined(const struct putting *putting, size_t at, size_t n)
{
	if (at == 0 || putting->hashed_end != at - 1 || at < 2)
		return false;
	return (putting->text.p[at - 1] == '-' && putting->hashed_digits) ||
	       (putting->text.p[at - 1] == ':' && n == TS_DIGITS_MAX);
}

/* Where the first number that tells begins in the identifier; N: there is none. */
static size_t first_secret(struct putting *putting, size_t at, size_t n)
{
	while (putting->digits.to <= at && putting->digits.from < putting->text.n)
		putting->digits = ts_digits_next(putting->text, putting->digits.to);
	if (putting->digits.from >= at + n)
		return n;
	return putting->digits.from > at ? putting->digits.from - at : 0;
}

static bool copy_names_has_digit(struct ts_bytes text)
{
	for (size_t i = 0; i < text.n; i++)
		if (copy_names_is_digit(text.p[i]))
			return true;
	return false;
}

/* False: it stays. */
static bool put_word(struct putting *putting, size_t at, size_t n, struct ts_buf *out)
{
	const struct ts_names *names = putting->names;
	struct ts_bytes word = ts_bytes_cut(putting->text, at, n);
	size_t open = first_secret(putting, at, n);
	bool is_whole = putting->digits.to <= at + n;

	if (are_digits(word)
		    ? open == n && !putting->hides && !is_joined(putting, at, n)
		    : (open == n || is_whole) && n <= IDENTIFIER_MAX && stays_whole(names, word)) {
		ts_buf_put(out, word);
		return false;
	}
	if (copy_names_is_ending(putting->text, putting->run, at, n, putting->run_end)) {
		ts_buf_put(out, word);
		return false;
	}
	if (are_digits(word))
		put_hash(names, word, out);
	else if (n > IDENTIFIER_MAX)
		copy_names_put_parts(names, word, out);
	else
		return put_identifier(names, word, open, out);
	return true;
}

void ts_names_put(const struct ts_names *names, struct ts_bytes text, struct ts_buf *out)
{
	struct putting putting = { .names = names, .text = text, .hashed_end = SIZE_MAX };

	TS_ASSERT_HOT(names && out);
	TS_ASSERT_HOT(text.p || text.n == 0);
	if (text.n > 0 && copy_names_is_kept(names, text)) {
		ts_buf_put(out, text);
		return;
	}
	putting.digits = ts_digits_next(text, 0);
	for (size_t at = 0; at < text.n;) {
		size_t n = 0;

		if (at >= putting.run_end)
			begin_run(&putting, at, out);
		if (putting.is_mail) {
			at = putting.run_end;
			continue;
		}
		while (at + n < text.n && in_identifier(text.p[at + n]))
			n++;
		if (n == 0)
			ts_buf_putc(out, (char)text.p[at]);
		else if (put_word(&putting, at, n, out)) {
			putting.hashed_end = at + n;
			putting.hashed_digits = copy_names_has_digit(ts_bytes_cut(text, at, n));
		}
		at += TS_MAX(n, 1);
	}
}

/* --- values */

bool ts_names_is_number(struct ts_bytes text)
{
	size_t nr_digits = 0, nr_dots = 0;

	for (size_t i = 0; i < text.n; i++) {
		uint8_t c = text.p[i];

		if (copy_names_is_digit(c))
			nr_digits++;
		else if (c == '.')
			nr_dots++;
		else if ((c | 0x20) == 'e' ? nr_digits == 0 : c != '-' && c != '+')
			return false;
		else if (i > 0 && (c == '-' || c == '+') && (text.p[i - 1] | 0x20) != 'e')
			return false;
	}
	return nr_digits > 0 && nr_dots <= 1;
}

/* [8, 128] and the like: numbers, with brackets round them and commas between. */
static bool are_numbers(struct ts_bytes text)
{
	bool some = false;

	for (size_t at = 0, n; at < text.n; at += n + 1) {
		struct ts_bytes item;

		for (n = 0; at + n < text.n && !strchr("[](){},", text.p[at + n]); n++)
			;
		item = ts_bytes_cut(text, at, n);
		for (; item.n > 0 && item.p[0] == ' '; item = ts_bytes_cut(item, 1, item.n))
			;
		if (item.n > 0 && !ts_names_is_number(item))
			return false;
		some |= item.n > 0;
	}
	return some;
}

/* 2.21.15: three numbers of at most three digits. */
static bool is_version(struct ts_bytes text)
{
	size_t nr_dots = 0, nr_digits = 0;

	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '.' ? ++nr_dots > 2 : !copy_names_is_digit(text.p[i]))
			return false;
		nr_digits = text.p[i] == '.' ? 0 : nr_digits + 1;
		if (nr_digits > 3)
			return false;
	}
	return text.n > 0;
}

void ts_names_value(const struct ts_names *names, enum ts_key_kind kind, struct ts_bytes text,
		    struct ts_buf *out)
{
	TS_ASSERT_HOT(names && out);
	if ((kind == TS_KEY_VALUE && are_numbers(text)) ||
	    (kind == TS_KEY_VERSION && is_version(text)))
		ts_buf_put(out, text);
	else if (kind == TS_KEY_VALUE || kind == TS_KEY_VERSION || kind == TS_KEY_NAMES)
		ts_names_put(names, text, out);
	else
		ts_names_secret(names, text, out);
}
