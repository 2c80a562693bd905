/* SPDX-License-Identifier: MIT */
/* Numbers and names of an address. */
#include "serve/query.h"

#include "base/check.h"
#include "model/nest.h"

enum ts_status ts_query_number(const struct ts_request *request, const char *name, int64_t least,
			       int64_t most, int64_t *value, struct ts_error *err)
{
	const char *text = request->argument(request, name);
	int64_t number;

	TS_ASSERT(request && name && value && least <= most);
	if (!text || !text[0])
		return TS_OK;
	if (!ts_bytes_i64(ts_bytes_of(text), &number) || number < least || number > most)
		return ts_fail(err, TS_USAGE, "%s= is not a whole number from %lld to %lld", name,
			       (long long)least, (long long)most);
	*value = number;
	return TS_OK;
}

static enum ts_status query_read_name(const struct ts_request *request, const char *name,
				      const char **value, struct ts_error *err)
{
	const char *text = request->argument(request, name);

	if (!text || !text[0])
		return TS_OK;
	if (strlen(text) > TS_QUERY_NAME_MAX)
		return ts_fail(err, TS_USAGE, "%s= has more than %d characters", name,
			       TS_QUERY_NAME_MAX);
	*value = text;
	return TS_OK;
}

enum ts_status ts_query_part(const struct ts_request *request, struct ts_part *part,
			     struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(request && part);
	*part = (struct ts_part)TS_PART_ALL;
	st = ts_query_number(request, "from_ps", -TS_TIME_MAX, TS_TIME_MAX, &part->from_ps, err);
	if (st == TS_OK)
		st = ts_query_number(request, "to_ps", -TS_TIME_MAX, TS_TIME_MAX, &part->to_ps,
				     err);
	if (st == TS_OK && part->from_ps >= part->to_ps)
		st = ts_fail(err, TS_USAGE, "from_ps= is not before to_ps=");
	if (st == TS_OK)
		st = query_read_name(request, "device", &part->device, err);
	if (st == TS_OK)
		st = query_read_name(request, "host", &part->host, err);
	return st;
}
