#include "model/merged.h"

#include "base/check.h"

static struct ts_block block_of(const struct ts_merged *merged, uint32_t line)
{
	return (struct ts_block){
		.profile = merged->profile,
		.line = &merged->profile->lines[line],
		.line_index = line,
		.nr_events = merged->nr_events,
		.body = merged->body,
	};
}

bool ts_merged_stat(const struct ts_merged *merged, size_t event, const char *name,
		    struct ts_stat *stat)
{
	uint32_t line = merged->line[event];
	struct ts_block block = block_of(merged, line);

	TS_ASSERT_HOT(merged && name && stat);
	return merged->look[line].one && merged->look[line].one(&block, event, name, stat);
}

size_t ts_merged_stats(const struct ts_merged *merged, size_t event, const char *const *names,
		       size_t nr, struct ts_stat *stats)
{
	const struct ts_merged_look *look = &merged->look[merged->line[event]];
	struct ts_block block = block_of(merged, merged->line[event]);
	struct ts_stat stat;
	size_t found = 0;

	TS_ASSERT_HOT(merged && stats);
	if (look->all)
		return look->all(&block, event, names, nr, stats);
	for (size_t i = 0; look->one && i < nr; i++)
		if (look->one(&block, event, names[i], &stat)) {
			stats[i] = stat;
			found++;
		}
	return found;
}
