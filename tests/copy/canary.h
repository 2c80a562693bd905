/* SPDX-License-Identifier: MIT */
/*
 * Canaries: planted in the texts of a profile or trace, in fields that no schema has, in numbers under keys that nobody knows, and
 * looked for in the copy. What is planted is what a redacted copy may not have: a word, a library's look round it, an
 * address, a date, a customer's number, base64.
 *
 * It knows the wire and JSON, and no schema: what makes sense as a message is entered, so that compiled modules
 * inside an xplane get theirs too, and a field that is there once may be there twice. A text and a message
 * end with a byte above 0x7f, so that they are never taken for packed numbers: these stay, and look like anything.
 */
#ifndef TESTS_COPY_CANARY_H
#define TESTS_COPY_CANARY_H

#include "base/buf.h"
#include "codec/pb.h"
#include "codec/pbw.h"
#include "tests/base/rng.h"

#define CANARY_NUMBER 402934881
#define CANARY_DEPTH  12
#define CANARY_END    "\xc3\xa9"

static const char *const canary_forms[] = {
	" zqcanary",
	"_zqcanary_",
	" no 402934881",
	" no-402934881",
	" no 402,934,881",
	" id_4029_3488_81",
	" phone +1 (402) 934-8817",
	" peer 10.77.66.55:8470",
	" ip-10-77-66-55",
	" at fe80::4029:3488:77ab",
	" uid 3f2504e0-4089-11d3-9a0c-0305e82c3301",
	" on 2026-11-30 at 23:59:58",
	" mail zqcanary.max@host.example.com",
	" /home/zqcanary/p40293.py",
	" void acme::native::zqcanaryKernel<zqcanary, 402934>(int)",
	" at::native::zqcanary",
	" cuZqcanary",
	" Cijk_zqcanary_MT16x16",
	" _ZN8zqcanary6native3addEv",
	" enFjYW5hcnkgYW5kIG1vcmUgb2YgaXQ=",
	" 0x40293488",
};

/* Of each form what may not be left of it. */
static const char *const canary_marks[] = {
	"zqcanary", "Zqcanary", "402934", "934881",    "402,934",  "4029_3488",
	"934-8817", "77.66",	"77-66",  "4029:3488", "3f2504e0", "11d3-9a",
	"2026-11",  "11-30",	"23:59",  "p40293",    "40293488", "enFjYW5hcnk",
};

/* Where the first one stands; copy.n: there is none. */
static inline size_t canary_find(struct ts_bytes copy)
{
	for (size_t i = 0; i < TS_NELEM(canary_marks); i++) {
		size_t at = ts_bytes_find(copy, canary_marks[i]);

		if (at < copy.n)
			return at;
	}
	return copy.n;
}

static inline bool canary_number_is_here(struct ts_bytes copy)
{
	uint8_t number[TS_PBW_VARINT + 1];
	size_t n = (size_t)(ts_pbw_store(number, CANARY_NUMBER) - number);

	for (size_t i = 0; i + n <= copy.n; i++)
		if (memcmp(copy.p + i, number, n) == 0)
			return true;
	return false;
}

static inline void canary_put_form(struct rng *rng, struct ts_buf *out)
{
	ts_buf_puts(out, canary_forms[rng_below(rng, TS_NELEM(canary_forms))]);
}

/* --- the wire */

static inline bool canary_is_message(struct ts_bytes bytes)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(bytes, &error);

	while (ts_pb_next(&pb))
		;
	return bytes.n > 0 && !error.cause;
}

static inline bool canary_is_text(struct ts_bytes bytes)
{
	bool has_letter = false;

	for (size_t i = 0; i < bytes.n; i++) {
		if (bytes.p[i] < ' ' || bytes.p[i] == 0x7f)
			return false;
		has_letter |= (bytes.p[i] | 0x20) >= 'a' && (bytes.p[i] | 0x20) <= 'z';
	}
	return has_letter;
}

/* One text or message in RATE gets a canary. */
static inline void canary_plant_wire(struct ts_bytes bytes, struct rng *rng, unsigned rate,
				     struct ts_buf *out, unsigned depth)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(bytes, &error);

	for (const uint8_t *at = pb.p; ts_pb_next(&pb); at = pb.p) {
		struct ts_bytes value =
			pb.wire == TS_PB_BYTES ? ts_pb_bytes(&pb) : (struct ts_bytes){ NULL, 0 };
		bool is_text = canary_is_text(value);
		size_t mark;

		if (!is_text && (depth >= CANARY_DEPTH || !canary_is_message(value))) {
			ts_buf_put(out, (struct ts_bytes){ at, (size_t)(pb.p - at) });
			continue;
		}
		if (is_text && rng_below(rng, 2 * rate) == 0) { /* the first of two */
			mark = ts_pbw_begin(out, pb.field);
			canary_put_form(rng, out);
			ts_buf_puts(out, CANARY_END);
			ts_pbw_end(out, mark);
		}
		mark = ts_pbw_begin(out, pb.field);
		if (!is_text) {
			canary_plant_wire(value, rng, rate, out, depth + 1);
		} else {
			ts_buf_put(out, value);
			if (rng_below(rng, rate) == 0) {
				canary_put_form(rng, out);
				ts_buf_puts(out, CANARY_END);
			}
		}
		ts_pbw_end(out, mark);
	}
	if (rng_below(rng, rate) == 0) {
		ts_pbw_u64(out, 4711, CANARY_NUMBER);
		ts_pbw_u64(out, 127, CANARY_NUMBER);
	}
	ts_pbw_bytes(out, 4712, ts_bytes_of("no 402934881 zqcanary" CANARY_END));
}

/* --- JSON */

/* Does a text of the format's own begin at AT: a member that readers look for, whose name or value has to stay? */
static inline bool canary_is_structure(struct ts_bytes text, size_t at)
{
	static const char *const words[] = { "\"traceEvents\"", "\"ph\"", "\"name\"", "\"args\"",
					     "\"cat\"" };

	for (size_t i = 0; i < TS_NELEM(words); i++)
		if (ts_bytes_starts(ts_bytes_cut(text, at, text.n), words[i]))
			return true;
	return false;
}

static inline void canary_plant_json(struct ts_bytes text, struct rng *rng, unsigned rate,
				     struct ts_buf *out)
{
	bool inside = false, plant = false;

	for (size_t at = 0; at < text.n; at++) {
		uint8_t c = text.p[at];

		if (inside && c == '\\' && at + 1 < text.n) {
			ts_buf_putc(out, (char)c);
			c = text.p[++at];
		} else if (c == '"') {
			if (inside && plant)
				canary_put_form(rng, out);
			inside = !inside;
			plant = inside && !canary_is_structure(text, at) &&
				rng_below(rng, rate) == 0;
		}
		ts_buf_putc(out, (char)c);
		if (!inside && c == '{' && rng_below(rng, rate) == 0)
			ts_buf_puts(out, "\"zqcanary\": 402934881, \"no\": [402934881, {\"name\": "
					 "\"at::zqcanary\"}], ");
	}
}

#endif
