/* SPDX-License-Identifier: MIT */
#include "model/interleaved.h"

#include "base/check.h"

static struct ts_block interleaved_block_of(const struct ts_interleaved *interleaved, uint32_t line)
{
	return (struct ts_block){
		.profile = interleaved->profile,
		.line = &interleaved->profile->lines[line],
		.line_index = line,
		.nr_events = interleaved->nr_events,
		.body = interleaved->body,
	};
}

bool ts_interleaved_stat(const struct ts_interleaved *interleaved, size_t event, const char *name,
			 struct ts_stat *stat)
{
	uint32_t line = interleaved->line[event];
	struct ts_block block = interleaved_block_of(interleaved, line);

	TS_ASSERT_HOT(interleaved && name && stat);
	return interleaved->look[line].one &&
	       interleaved->look[line].one(&block, event, name, stat);
}

size_t ts_interleaved_stats(const struct ts_interleaved *interleaved, size_t event,
			    const char *const *names, size_t nr, struct ts_stat *stats)
{
	const struct ts_interleaved_look *look = &interleaved->look[interleaved->line[event]];
	struct ts_block block = interleaved_block_of(interleaved, interleaved->line[event]);
	struct ts_stat stat;
	size_t found = 0;

	TS_ASSERT_HOT(interleaved && stats);
	if (look->all)
		return look->all(&block, event, names, nr, stats);
	for (size_t i = 0; look->one && i < nr; i++)
		if (look->one(&block, event, names[i], &stat)) {
			stats[i] = stat;
			found++;
		}
	return found;
}
