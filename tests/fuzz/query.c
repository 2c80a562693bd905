/* SPDX-License-Identifier: MIT */
/* Any values behind the names of an address: a part of a run is in order, or it is refused with words. Lines are
 * from_ps, to_ps, device, host, gate. */
#include "serve/query.h"

#include "compare/gate.h"
#include "model/nest.h"

#define NR_FIELDS 5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct fields {
	char *texts[NR_FIELDS];
};

static const char *argument(const struct ts_request *request, const char *name)
{
	static const char *const names[NR_FIELDS] = { "from_ps", "to_ps", "device", "host",
						      "gate" };
	const struct fields *fields = request->client;

	for (size_t i = 0; i < NR_FIELDS; i++)
		if (strcmp(name, names[i]) == 0)
			return fields->texts[i];
	return NULL;
}

/* The lines of TEXT, which is changed. */
static void cut(struct fields *fields, char *text)
{
	for (size_t i = 0; i < NR_FIELDS && text; i++) {
		char *end = strchr(text, '\n');

		fields->texts[i] = text;
		if (end)
			*end++ = '\0';
		text = end;
	}
}

static bool is_open(int64_t ps)
{
	return ps == INT64_MIN || ps == INT64_MAX;
}

static bool is_time(int64_t ps)
{
	return is_open(ps) || (ps >= -TS_TIME_MAX && ps <= TS_TIME_MAX);
}

static void ask_gate(const struct ts_request *request)
{
	const char *text = request->argument(request, "gate");
	struct ts_error err = TS_ERROR_INIT;
	struct ts_gate gate;
	size_t at = 0;

	if (text && ts_gate_parse(text, &gate, &at, &err) && (at > strlen(text) || !err.text[0]))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fields fields = { { NULL } };
	struct ts_request request = { .argument = argument, .client = &fields };
	struct ts_error err = TS_ERROR_INIT;
	char *text = calloc(n + 1, 1);
	struct ts_part part;

	if (!text)
		return 0;
	if (n > 0)
		memcpy(text, data, n);
	cut(&fields, text);
	if (ts_query_part(&request, &part, &err)) {
		if (!err.text[0])
			abort();
	} else if (part.from_ps >= part.to_ps || !is_time(part.from_ps) || !is_time(part.to_ps)) {
		abort();
	}
	ask_gate(&request);
	free(text);
	return 0;
}
