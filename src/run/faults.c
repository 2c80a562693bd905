/* SPDX-License-Identifier: MIT */
#include "run/faults.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/check.h"
#include "base/units.h"
#include "read/reader.h"

#define NAME_BYTES 80 /* of an event's and of a line's name */

/* "3 events ... were left out: the first one is k on stream 7, 1.2 s before the capture" */
static const struct fault_words {
	const char *one, *many; /* behind their number */
	const char *below,
		*above; /* behind how far the first one is from what can be; NULL: that says nothing */
} fault_words[TS_NR_FAULTS] = {
	[TS_FAULT_OUTSIDE] = { "event begins at a time that cannot be and was left out",
			       "events begin at times that cannot be and were left out",
			       " before the capture", " after the capture" },
	[TS_FAULT_ENDLESS] = { "event would outlast the capture and was cut at its end",
			       "events would outlast the capture and were cut at its end", NULL,
			       " longer than that" },
	[TS_FAULT_OVER] = { "event runs over what follows it on its stream and was cut there",
			    "events run over what follows them on their stream and were cut there",
			    NULL, " too long" },
	[TS_FAULT_NEGATIVE] = { "event has a negative length, which counts as 0",
				"events have negative lengths, which count as 0", NULL, NULL },
};

#define DAY_PS (86400 * TS_PS_PER_S)

/* Readers bound what lies farther off than a month, so that of many days no more is known. */
static const char *fault_fmt_far(char out[TS_UNIT_MAX], int64_t ps)
{
	if (ps < DAY_PS)
		return ts_fmt_ps(out, ps);
	snprintf(out, TS_UNIT_MAX, "more than %lld day%s", (long long)(ps / DAY_PS),
		 ps < 2 * DAY_PS ? "" : "s");
	return out;
}

static void fault_put_first(struct ts_buf *text, const struct ts_profile *profile, uint32_t line,
			    const struct ts_faults *faults, enum ts_fault fault)
{
	const struct fault_words *words = &fault_words[fault];
	int64_t ps = faults->of[fault].ps;
	const char *words_of_ps = ps < 0 ? words->below : words->above;
	uint64_t nr_over = faults->of[fault].nr_over;
	char time[TS_UNIT_MAX];

	ts_buf_printf(text, ": %s%.*s on %.*s", faults->of[fault].nr > 1 ? "the first is " : "",
		      TS_ARG(ts_bytes_cut(profile->ops[faults->of[fault].op].name, 0, NAME_BYTES)),
		      TS_ARG(ts_bytes_cut(profile->lines[line].name, 0, NAME_BYTES)));
	if (words_of_ps)
		ts_buf_printf(text, ", %s%s", fault_fmt_far(time, ps < 0 ? -ps : ps), words_of_ps);
	if (nr_over > 0)
		ts_buf_printf(text, ", over %" PRIu64 " successor%s", nr_over,
			      nr_over == 1 ? "" : "s");
}

bool ts_fault_tell(const struct ts_profile *profile, uint32_t line, const struct ts_faults *faults,
		   enum ts_fault fault, struct ts_buf *text, struct ts_damage *damage)
{
	uint64_t nr = faults->of[fault].nr;
	const struct ts_line *of = &profile->lines[line];
	uint32_t host = profile->planes[of->plane].host;
	const struct ts_reader *reader = ts_reader_of(profile, host);

	TS_ASSERT(profile && faults && text && damage);
	TS_ASSERT(fault < TS_NR_FAULTS && line < profile->nr_lines);
	if (nr == 0)
		return false;
	ts_buf_clear(text);
	ts_buf_printf(text, "%" PRIu64 " %s", nr,
		      nr == 1 ? fault_words[fault].one : fault_words[fault].many);
	fault_put_first(text, profile, line, faults, fault);
	*damage = (struct ts_damage){
		.file = profile->hosts[host].file,
		.offset = reader->place ? reader->place(profile, of, faults->of[fault].body) : 0,
		.cause = ts_buf_bytes(text),
		.minor = true,
		.nr_events = nr,
	};
	return true;
}
