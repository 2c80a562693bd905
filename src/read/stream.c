/* SPDX-License-Identifier: MIT */
/* A line finds its reader through its host. */
#include "read/stream.h"

#include "base/check.h"
#include "read/reader.h"

enum ts_status ts_stream_line(const struct ts_profile *profile, uint32_t index,
			      const struct ts_sink *sink, struct ts_error *err)
{
	const struct ts_line *line = &profile->lines[index];
	const struct ts_reader *reader = ts_reader_of(profile, profile->planes[line->plane].host);

	TS_ASSERT(profile && sink);
	return reader->stream(profile, index, line->unsorted, sink, err);
}

void ts_stream_rest(struct ts_profile *profile, uint32_t host)
{
	TS_ASSERT(profile && host < profile->nr_hosts);
	if (ts_reader_of(profile, host)->rest)
		ts_reader_of(profile, host)->rest(profile, host);
}
