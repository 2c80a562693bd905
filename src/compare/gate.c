/* SPDX-License-Identifier: MIT */
/* Gates: expressions over the figures of a run. */
#include "compare/gate.h"

#include "base/check.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct relation {
	const char *text;
	enum ts_relation relation;
} relations[] = {
	/* the first that fits */
	{ ">=", TS_AT_LEAST }, { "<=", TS_AT_MOST }, { "==", TS_EQUAL },
	{ "!=", TS_UNEQUAL },  { ">", TS_ABOVE },    { "<", TS_BELOW },
};

struct cursor {
	const char *text;
	size_t at;
	struct ts_error *err;
};

static enum ts_status wrong(struct cursor *cursor, const char *what)
{
	return ts_fail(cursor->err, TS_USAGE, "%s", what);
}

static char skip_blanks(struct cursor *cursor)
{
	while (cursor->text[cursor->at] == ' ' || cursor->text[cursor->at] == '\t')
		cursor->at++;
	return cursor->text[cursor->at];
}

static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static struct ts_bytes take_name(struct cursor *cursor)
{
	size_t from = cursor->at;

	while (is_of_name(cursor->text[cursor->at]))
		cursor->at++;
	return (struct ts_bytes){ (const uint8_t *)cursor->text + from, cursor->at - from };
}

static enum ts_status take_path(struct cursor *cursor, struct ts_gate *gate)
{
	if (!isalpha((unsigned char)skip_blanks(cursor)))
		return wrong(cursor, "a name should stand here, as step_time_ms.median");
	gate->path = take_name(cursor);
	return TS_OK;
}

static enum ts_status take_relation(struct cursor *cursor, struct ts_gate *gate)
{
	skip_blanks(cursor);
	for (size_t i = 0; i < TS_NELEM(relations); i++) {
		size_t n = strlen(relations[i].text);

		if (strncmp(cursor->text + cursor->at, relations[i].text, n) != 0)
			continue;
		cursor->at += n;
		gate->relation = relations[i].relation;
		return TS_OK;
	}
	return wrong(cursor, "one of > >= < <= == != should stand here");
}

/* Decimal, with a point whatever the locale; strtod would take hexadecimal and names too. */
static enum ts_status gate_take_number(struct cursor *cursor, double *number)
{
	const char *from;
	char *end;

	skip_blanks(cursor);
	from = cursor->text + cursor->at;
	if (!isdigit((unsigned char)*from) && *from != '-' && *from != '.')
		return wrong(cursor, "a number should stand here");
	*number = strtod(from, &end);
	if (end == from || !isfinite(*number) || memchr(from, 'x', (size_t)(end - from)) ||
	    memchr(from, 'X', (size_t)(end - from)))
		return wrong(cursor, "a number should stand here");
	cursor->at += (size_t)(end - from);
	return TS_OK;
}

static enum ts_status take_share(struct cursor *cursor, struct ts_gate *gate)
{
	enum ts_status st = gate_take_number(cursor, &gate->number);

	if (st == TS_OK && skip_blanks(cursor) == '%') {
		gate->is_share = true;
		gate->number /= 100;
		cursor->at++;
	}
	return st;
}

static enum ts_status take_limit(struct cursor *cursor, struct ts_gate *gate)
{
	size_t from;
	char sign;

	if (!isalpha((unsigned char)skip_blanks(cursor)))
		return gate_take_number(cursor, &gate->number);
	from = cursor->at;
	gate->of_baseline = ts_bytes_is(take_name(cursor), "baseline");
	if (!gate->of_baseline) {
		cursor->at = from;
		return wrong(cursor, "a number or the word baseline should stand here");
	}
	sign = skip_blanks(cursor);
	if (sign != '*' && sign != '+' && sign != '-')
		return TS_OK;
	gate->sign = sign;
	cursor->at++;
	return take_share(cursor, gate);
}

enum ts_status ts_gate_parse(const char *text, struct ts_gate *gate, size_t *at,
			     struct ts_error *err)
{
	struct cursor cursor = { text, 0, err };
	enum ts_status st;

	TS_ASSERT(text && gate && at);
	*gate = (struct ts_gate){ .text = ts_bytes_of(text) };
	st = take_path(&cursor, gate);
	if (st == TS_OK)
		st = take_relation(&cursor, gate);
	if (st == TS_OK)
		st = take_limit(&cursor, gate);
	if (st == TS_OK && skip_blanks(&cursor) != '\0')
		st = wrong(&cursor, gate->of_baseline && !gate->sign
					    ? "nothing, or one of * + -, should stand here"
					    : "nothing more should stand here");
	*at = cursor.at;
	return st;
}

static double gate_limit_of(const struct ts_gate *gate, double baseline)
{
	double by = gate->is_share ? gate->number * fabs(baseline) : gate->number;

	if (!gate->of_baseline)
		return gate->number;
	switch (gate->sign) {
	case '*': return baseline * gate->number;
	case '+': return baseline + by;
	case '-': return baseline - by;
	default:  return baseline;
	}
}

static bool is_so(enum ts_relation relation, double value, double limit)
{
	switch (relation) {
	case TS_ABOVE:	  return value > limit;
	case TS_AT_LEAST: return value >= limit;
	case TS_BELOW:	  return value < limit;
	case TS_AT_MOST:  return value <= limit;
	case TS_EQUAL:	  return value == limit;
	case TS_UNEQUAL:  return value != limit;
	}
	return true;
}

struct ts_gate_verdict ts_gate_judge(const struct ts_gate *gate, bool has_name, double value,
				     double baseline)
{
	struct ts_gate_verdict verdict = { TS_GATE_HOLDS, value, gate_limit_of(gate, baseline) };

	TS_ASSERT(gate);
	TS_ASSERT(gate->sign == 0 || strchr("*+-", gate->sign));
	if (!has_name)
		verdict.state = TS_GATE_NO_NAME;
	else if (!isfinite(value) || !isfinite(verdict.limit))
		verdict.state = TS_GATE_UNKNOWN;
	else if (is_so(gate->relation, value, verdict.limit))
		verdict.state = TS_GATE_FAILED;
	return verdict;
}

const char *ts_gate_state_name(enum ts_gate_state state)
{
	static const char *const names[] = { "passed", "failed", "unknown", "no such figure" };

	TS_ASSERT((size_t)state < TS_NELEM(names));
	return names[state];
}
