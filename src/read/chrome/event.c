/* SPDX-License-Identifier: MIT */
/*
 * One event: an object whose members are read as they come. Which members there are:
 * "Trace Event Format" (the Chromium project), and libkineto/src/output_json.cpp of
 * github.com/pytorch/kineto for what PyTorch writes.
 */
#include "read/chrome/chrome.h"

#include "base/check.h"

/* Where a member's value goes; a member that means nothing here has no place. */
static struct ts_bytes *event_place_of(struct chrome_event *event, const uint8_t *key, size_t n,
				       struct ts_bytes *phase)
{
	switch (n) {
	case 2:
		if (key[0] == 'p' && key[1] == 'h')
			return phase;
		if (key[0] == 'i' && key[1] == 'd')
			return &event->id;
		return key[0] == 't' && key[1] == 's' ? &event->ts : NULL;
	case 3:
		if (key[1] == 'i' && key[2] == 'd')
			return key[0] == 'p' ? &event->pid : key[0] == 't' ? &event->tid : NULL;
		if (memcmp(key, "cat", 3) == 0)
			return &event->category;
		return memcmp(key, "dur", 3) == 0 ? &event->dur : NULL;
	case 4:
		if (memcmp(key, "name", 4) == 0)
			return &event->name;
		return memcmp(key, "args", 4) == 0 ? &event->args : NULL;
	default: return NULL;
	}
}

static enum chrome_found event_bad(const uint8_t **at, const uint8_t *p, const uint8_t *end)
{
	*at = p;
	return p >= end ? CHROME_MORE : CHROME_BAD;
}

/* One "key": value, from the opening quote on; P is behind it then. */
static enum chrome_found event_read_member(const uint8_t **at, const uint8_t *end,
					   struct chrome_event *event, struct ts_bytes *phase)
{
	const uint8_t *key = *at + 1, *p = ts_jtok_string_end(key, end), *behind;
	struct ts_bytes *place;

	if (!p)
		return CHROME_MORE;
	place = event_place_of(event, key, (size_t)(p - key), phase);
	p = ts_jtok_space(p + 1, end);
	if (p >= end || *p != ':')
		return event_bad(at, p, end);
	p = ts_jtok_space(p + 1, end);
	behind = ts_jtok_value_end(p, end);
	if (!behind)
		return CHROME_MORE;
	if (behind == p)
		return event_bad(at, p, end);
	if (place)
		*place = (struct ts_bytes){ p, (size_t)(behind - p) };
	*at = behind;
	return CHROME_EVENT;
}

enum chrome_found ts_chrome_event_read(const uint8_t **at, const uint8_t *end,
				       struct chrome_event *event)
{
	const uint8_t *p = *at + 1;
	struct ts_bytes phase = { NULL, 0 };
	enum chrome_found found;

	TS_ASSERT_HOT(event);
	memset(event, 0, sizeof(*event));
	for (;;) {
		p = ts_jtok_space(p, end);
		if (p < end && *p == '}')
			break;
		if (p >= end || *p != '"')
			return event_bad(at, p, end);
		found = event_read_member(&p, end, event, &phase);
		if (found != CHROME_EVENT) {
			*at = p;
			return found;
		}
		p = ts_jtok_space(p, end);
		if (p < end && *p == ',')
			p++;
		else if (p >= end || *p != '}')
			return event_bad(at, p, end);
	}
	phase = ts_jtok_text(phase);
	event->phase = phase.n == 1 ? phase.p[0] : 0;
	*at = p + 1;
	return CHROME_EVENT;
}
