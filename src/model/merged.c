#include "model/merged.h"

bool ts_merged_stat(const struct ts_merged *merged, size_t event, const char *name,
		    struct ts_stat *stat)
{
	uint32_t line = merged->line[event];
	struct ts_block block = {
		.profile = merged->profile,
		.line = &merged->profile->lines[line],
		.line_index = line,
		.nr_events = merged->nr_events,
		.body = merged->body,
	};

	return merged->stat[line] && merged->stat[line](&block, event, name, stat);
}
