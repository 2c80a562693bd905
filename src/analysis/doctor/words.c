/* SPDX-License-Identifier: MIT */
/*
 * Sentences of findings, from templates and words (doctor.h). Names are other people's bytes: they
 * go into texts as they are, only cut when they are long.
 */
#include "analysis/doctor/doctor.h"

#include "base/check.h"

#define NAME_MAX_BYTES 96

static void doctor_words_put_name(struct ts_buf *out, struct ts_bytes name)
{
	size_t n = name.n;

	if (n > NAME_MAX_BYTES) { /* not inside a UTF-8 character */
		n = NAME_MAX_BYTES;
		while (n > NAME_MAX_BYTES - 4 && (name.p[n] & 0xc0) == 0x80)
			n--;
	}
	ts_buf_put(out, ts_bytes_cut(name, 0, n));
	ts_buf_puts(out, n < name.n ? "..." : name.n == 0 ? "(unnamed)" : "");
}

static const char *fmt_share(char out[TS_UNIT_MAX], double share)
{
	double pct = share * 100;

	if (isnan(pct))
		memcpy(out, "?", 2);
	else
		snprintf(out, TS_UNIT_MAX, pct >= 9.95 || pct == 0 ? "%.0f %%" : "%.1f %%", pct);
	return out;
}

static const char *doctor_words_fmt_number(char out[TS_UNIT_MAX], double number)
{
	snprintf(out, TS_UNIT_MAX, "%.0f", number);
	return out;
}

static void doctor_words_put_ops(struct ts_doctor *doctor, const struct ts_selection *ops,
				 size_t max)
{
	size_t nr = TS_MIN(ops->nr, max);
	char time[TS_UNIT_MAX];

	for (size_t i = 0; i < nr; i++) {
		if (i > 0)
			ts_buf_puts(&doctor->text, i + 1 == ops->nr_all ? " and " : ", ");
		doctor_words_put_name(&doctor->text, ops->items[i]->name);
		if (doctor->total_ps > 0)
			ts_buf_printf(&doctor->text, " (%s)",
				      ts_fmt_core_ps(time, ops->item_ps[i]));
	}
	if (nr < ops->nr_all)
		ts_buf_printf(&doctor->text, " and %zu more", ops->nr_all - nr);
}

/* What a number's type is called in a template, and how it is written. */
static const struct {
	const char *name;
	const char *(*fmt)(char out[TS_UNIT_MAX], double x);
} types[TS_NR_WORD_TYPES] = {
	[TS_WORD_END] = { "", NULL },
	[TS_WORD_NAME] = { "name", NULL },
	[TS_WORD_TEXT] = { "text", NULL },
	[TS_WORD_COUNT] = { "count", NULL },
	[TS_WORD_TIME] = { "time", NULL },
	[TS_WORD_CORE] = { "core", NULL },
	[TS_WORD_BYTES] = { "bytes", ts_fmt_bytes },
	[TS_WORD_RATE] = { "rate", ts_fmt_rate },
	[TS_WORD_SHARE] = { "share", fmt_share },
	[TS_WORD_PCT] = { "pct", ts_fmt_pct },
	[TS_WORD_NUMBER] = { "number", doctor_words_fmt_number },
	[TS_WORD_METRIC] = { "metric", ts_fmt_count },
	[TS_WORD_OPS] = { "ops", NULL },
};

static void doctor_words_put_word(struct ts_doctor *doctor, const struct ts_word *word)
{
	char text[TS_UNIT_MAX];

	if (word->type == TS_WORD_NAME)
		doctor_words_put_name(&doctor->text, word->as.text);
	else if (word->type == TS_WORD_TEXT)
		ts_buf_put(&doctor->text, word->as.text);
	else if (word->type == TS_WORD_COUNT)
		ts_buf_i64(&doctor->text, word->as.n);
	else if (word->type == TS_WORD_TIME)
		ts_buf_puts(&doctor->text, ts_fmt_ps(text, word->as.n));
	else if (word->type == TS_WORD_CORE)
		ts_buf_puts(&doctor->text, ts_fmt_core_ps(text, word->as.n));
	else if (word->type == TS_WORD_OPS)
		doctor_words_put_ops(doctor, word->as.ops, word->max);
	else
		ts_buf_puts(&doctor->text, types[word->type].fmt(text, word->as.x));
}

static bool doctor_words_is_missing(const struct ts_word *word)
{
	if (word->missing)
		return true;
	if (word->type == TS_WORD_NAME || word->type == TS_WORD_TEXT)
		return word->as.text.n == 0;
	if (word->type == TS_WORD_COUNT || word->type == TS_WORD_TIME || word->type == TS_WORD_CORE)
		return word->as.n < 0;
	if (word->type == TS_WORD_OPS)
		return word->as.ops->nr == 0;
	return types[word->type].fmt && !isfinite(word->as.x);
}

/* {s} and {v}: endings by the last count. */
static bool doctor_words_is_ending(struct ts_bytes piece)
{
	return ts_bytes_is(piece, "s") || ts_bytes_is(piece, "v");
}

/* The piece at AT, which is a '{'. */
static struct ts_bytes piece_at(const char *at)
{
	size_t n = strcspn(at, "}");

	TS_ASSERT(at[n] == '}');
	return (struct ts_bytes){ (const uint8_t *)at + 1, n - 1 };
}

/* Where a sentence is. */
struct speech {
	const char *at;
	const struct ts_word *word; /* the next */
	int64_t count;		    /* the last that was put */
};

static void doctor_words_put_piece(struct ts_doctor *doctor, struct speech *speech)
{
	struct ts_bytes piece = piece_at(speech->at);

	speech->at += piece.n + 2;
	if (doctor_words_is_ending(piece)) {
		ts_buf_puts(&doctor->text,
			    (speech->count == 1) == ts_bytes_is(piece, "v") ? "s" : "");
		return;
	}
	TS_ASSERT(ts_bytes_is(piece, types[speech->word->type].name));
	if (speech->word->type == TS_WORD_COUNT)
		speech->count = speech->word->as.n;
	doctor_words_put_word(doctor, speech->word++);
}

/* At a '[': steps into the part, or over it where a word in it is missing. */
static void enter_part(struct speech *speech)
{
	const struct ts_word *word = speech->word;
	const char *at = ++speech->at;
	bool whole = true;

	for (; *at != ']'; at++) {
		TS_ASSERT(*at && *at != '[');
		if (*at != '{' || doctor_words_is_ending(piece_at(at)))
			continue;
		TS_ASSERT(word->type != TS_WORD_END);
		whole &= !doctor_words_is_missing(word++);
	}
	if (!whole) {
		speech->at = at;
		speech->word = word;
	}
}

void ts_put_words(struct ts_doctor *doctor, const char *template, const struct ts_word *words)
{
	struct speech speech = { template, words, 0 };

	TS_ASSERT(template && words);
	while (*speech.at) {
		size_t n = strcspn(speech.at, "{[]");

		ts_buf_put(&doctor->text, (struct ts_bytes){ (const uint8_t *)speech.at, n });
		speech.at += n;
		if (*speech.at == '{')
			doctor_words_put_piece(doctor, &speech);
		else if (*speech.at == '[')
			enter_part(&speech);
		else if (*speech.at == ']')
			speech.at++;
	}
	TS_ASSERT(speech.word->type == TS_WORD_END);
}

struct ts_word ts_word_when(bool condition, struct ts_word word)
{
	word.missing |= !condition;
	return word;
}

void ts_put(struct ts_doctor *doctor, const char *text)
{
	ts_buf_puts(&doctor->text, text);
}

struct ts_bytes ts_doctor_text(struct ts_doctor *doctor)
{
	struct ts_bytes text =
		ts_arena_copy(&doctor->result->owner->arena, ts_buf_bytes(&doctor->text));

	if (doctor->text.failed || !text.p)
		doctor->failed = true;
	ts_buf_clear(&doctor->text);
	return text;
}
