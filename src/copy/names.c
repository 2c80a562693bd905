/* SPDX-License-Identifier: MIT */
/* Taking names apart and putting them together again. One pass over the text, nothing is kept. */
#include "copy/names.h"

#include "base/check.h"

#include <fnmatch.h>

#include "copy/words.h"
#include "model/torch_event.h"

#define HASH_LETTERS	16
#define MAX_EDGE_DIGITS 4 /* a number at the end of a name: layer_12, but no customer_402934 */

enum ts_status ts_names_open(struct ts_names *names, const struct ts_sipkey *key,
			     const char *const *keep, size_t nr_keep, struct ts_error *err)
{
	TS_ASSERT(names && key);
	*names = (struct ts_names){ .key = *key, .nr_keep = TS_MIN(nr_keep, TS_NAMES_KEEP_MAX) };
	for (size_t i = 0; i < names->nr_keep; i++)
		names->keep[i] = keep[i];
	for (size_t i = 0; ts_name_parts[i] && i < TS_NAMES_PARTS_MAX; i++)
		names->parts[(uint8_t)ts_name_parts[i][0]][i / 64] |= UINT64_C(1) << i % 64;
	for (size_t i = 0; ts_public_words[i]; i++) {
		struct ts_bytes words = ts_bytes_of(ts_public_words[i]);

		while (words.n > 0) {
			size_t n = ts_bytes_find(words, " ");

			if (!ts_strmap_set(&names->words, ts_bytes_cut(words, 0, n), 1))
				return ts_fail_nomem(err);
			words = ts_bytes_cut(words, n + 1, words.n);
		}
	}
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

	if (text.n < 3 || text.p[0] != '0' || text.p[1] != 'x')
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

/* cudaMalloc, hipLaunchKernel, cuMemAlloc_v2: the driver's and the runtime's interface; and products of
 * matrices by rocBLAS, whose names are their parameters. */
static bool is_of_a_library(struct ts_bytes text)
{
	static const char *const prefixes[] = { "cuda", "cu", "hip" };

	if (ts_bytes_starts(text, "Cijk_"))
		return true;
	for (size_t i = 0; i < TS_NELEM(prefixes); i++) {
		size_t n = strlen(prefixes[i]);

		if (ts_bytes_starts(text, prefixes[i]) && text.n > n && text.p[n] >= 'A' &&
		    text.p[n] <= 'Z')
			return true;
	}
	return false;
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
	return n > 0 && n <= MAX_EDGE_DIGITS && n < text.n &&
	       copy_names_is_word(names, ts_bytes_cut(text, n, text.n));
}

static bool is_edge(const struct ts_names *names, struct ts_bytes part)
{
	return part.n == 0 || (are_digits(part) && part.n <= MAX_EDGE_DIGITS) ||
	       copy_names_is_word(names, part);
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

/* jit_my_step_fusion: jit_ and _fusion are XLA's, my_step is the user's. */
static void put_identifier(const struct ts_names *names, struct ts_bytes text, struct ts_buf *out)
{
	size_t from = public_front(names, text), end = public_end(names, text, from);
	size_t start = out->n;
	struct ts_bytes own = ts_bytes_cut(text, from, end - from);
	struct ts_bytes behind = ts_bytes_cut(text, end, text.n);

	if (own.n == 0 || copy_names_is_word(names, text) || is_amount(names, text) ||
	    is_hex_number(text) || is_of_a_library(text) || copy_names_is_kept(names, text) ||
	    copy_names_is_kept(names, own)) {
		ts_buf_put(out, text);
		return;
	}
	if (ts_torch_fused_part(text).n > 0) {
		copy_names_put_ops(names, text, out);
		return;
	}
	ts_buf_put(out, ts_bytes_cut(text, 0, from));
	put_hash(names, own, out);
	ts_buf_put(out, behind);
	if (says_the_same(names, text, out, start))
		return;
	out->n = start + from;
	copy_names_put_parts(names, own, out);
	ts_buf_put(out, behind);
	if (says_the_same(names, text, out, start))
		return;
	out->n = start; /* a part lies across: my_elementwise, _kernel */
	copy_names_put_parts(names, text, out);
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

/* Four numbers with dots between, as addresses of machines are written. */
static bool is_address(struct ts_bytes text)
{
	size_t nr_dots = 0;

	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '.')
			nr_dots++;
		else if (!copy_names_is_digit(text.p[i]))
			return false;
	}
	return nr_dots == 3;
}

/* Numbers in it would give away which run, which customer or which machine it is. */
static bool hides_numbers(struct ts_bytes run)
{
	return run.n > 0 && (has_ending(run) || copy_names_is_root(run) || is_address(run) ||
			     memchr(run.p, '@', run.n) != NULL);
}

static size_t run_length(struct ts_bytes text, size_t at)
{
	size_t n = 0;

	while (at + n < text.n && (in_identifier(text.p[at + n]) ||
				   (text.p[at + n] > ' ' && strchr("./+~@-", text.p[at + n]))))
		n++;
	return n;
}

/* Does at::native:: or the like stand before AT? */
static bool behind_public_space(struct ts_bytes text, size_t at)
{
	struct ts_bytes space;
	size_t end, from;

	if (at < 3 || text.p[at - 1] != ':' || text.p[at - 2] != ':')
		return false;
	end = from = at - 2;
	while (from > 0 && in_identifier(text.p[from - 1]))
		from--;
	space = ts_bytes_cut(text, from, end - from);
	for (size_t i = 0; ts_public_spaces[i]; i++)
		if (ts_bytes_is(space, ts_public_spaces[i]))
			return true;
	return false;
}

void ts_names_put(const struct ts_names *names, struct ts_bytes text, struct ts_buf *out)
{
	size_t run = 0, run_end = 0;
	bool hide = false;

	TS_ASSERT_HOT(names && out);
	TS_ASSERT_HOT(text.p || text.n == 0);
	if (text.n > 0 && copy_names_is_kept(names, text)) {
		ts_buf_put(out, text);
		return;
	}
	for (size_t at = 0; at < text.n;) {
		size_t n = 0;
		struct ts_bytes identifier;

		if (at >= run_end) {
			run = at;
			run_end = at + run_length(text, at);
			hide = hides_numbers(ts_bytes_cut(text, at, run_end - at));
			run_end += run_end == at;
		}
		while (at + n < text.n && in_identifier(text.p[at + n]))
			n++;
		identifier = ts_bytes_cut(text, at, n);
		if (n == 0)
			ts_buf_putc(out, (char)text.p[at]);
		else if (are_digits(identifier) && hide)
			put_hash(names, identifier, out);
		else if (are_digits(identifier) || behind_public_space(text, at) ||
			 copy_names_is_ending(text, run, at, n, run_end))
			ts_buf_put(out, identifier);
		else
			put_identifier(names, identifier, out);
		at += TS_MAX(n, 1);
	}
}
