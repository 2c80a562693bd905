/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as what a helper of the remote protocol writes: replies, a line each, and the names in their entries, which become
 * paths of files.
 */
#include "io/url.h"
#include "remote/reply.h"
#include "tests/fuzz/mutate/mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_MUTATOR(json)

/* A good name leads to no other folder than the one below which it stands. */
static void check_name(const char *name)
{
	size_t n = strlen(name);

	if (!ts_url_name_is_good(ts_bytes_of(name)))
		return;
	if (n == 0 || name[0] == '/' || name[n - 1] == '/' || strstr(name, "//") ||
	    strstr(name, "/../") || strncmp(name, "../", 3) == 0 || strcmp(name, "..") == 0 ||
	    (n >= 3 && strcmp(name + n - 3, "/..") == 0) || strchr(name, '\n'))
		abort();
}

static void read_line(struct ts_bytes line)
{
	struct ts_arena arena = TS_ARENA_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_remote_reply reply;

	if (ts_remote_reply_read(&reply, line, &arena, &err) == TS_OK) {
		if (reply.id == 0 || reply.size > INT64_MAX)
			abort();
		if (reply.kind == TS_REMOTE_ENTRY)
			check_name(reply.name);
	} else if (!err.text[0]) {
		abort();
	}
	ts_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct ts_bytes rest = { data, n };

	while (rest.n > 0) {
		size_t at = ts_bytes_find(rest, "\n");

		read_line(ts_bytes_cut(rest, 0, at));
		rest = ts_bytes_cut(rest, at + 1, rest.n);
	}
	return 0;
}
