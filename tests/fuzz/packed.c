/* SPDX-License-Identifier: MIT */
/*
 * A trace in JSON says the same plain, packed by gzip (in two members), in a tar and in a zip: the report is the same, but
 * for what it says of the file itself.
 */
#include <archive.h>
#include <archive_entry.h>
#include <cjson/cJSON.h>

#include "tests/fuzz/session.h"
#include "tests/fuzz/mutate/mutator.h"

#define MEMBER "plugins/profile/s/host.pt.trace.json"

FUZZ_MUTATOR(json)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void pack_gzip(struct ts_bytes text, struct ts_buf *out)
{
	struct ts_gzip gz = TS_GZIP_INIT;
	size_t half = text.n / 2;

	if (ts_gzip_init(&gz, NULL) ||
	    ts_gzip_member(&gz, out, ts_bytes_cut(text, 0, half), NULL, NULL) ||
	    ts_gzip_member(&gz, out, ts_bytes_cut(text, half, text.n), NULL, NULL))
		broken("gzip cannot pack");
	ts_gzip_release(&gz);
}

static void pack_archive(struct ts_bytes text, struct ts_buf *out, bool zip)
{
	struct archive *a = archive_write_new();
	struct archive_entry *entry = archive_entry_new();
	size_t room = text.n + 65536, used = 0;

	if (!ts_buf_room(out, room) ||
	    (zip ? archive_write_set_format_zip(a) : archive_write_set_format_ustar(a)) ||
	    archive_write_open_memory(a, out->p, room, &used))
		broken("no archive can be made");
	archive_entry_set_pathname(entry, MEMBER);
	archive_entry_set_size(entry, (int64_t)text.n);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	if (archive_write_header(a, entry) ||
	    archive_write_data(a, text.p, text.n) != (la_ssize_t)text.n || archive_write_close(a))
		broken("the archive cannot be written");
	archive_entry_free(entry);
	archive_write_free(a);
	out->n = used;
}

/* What is of the file, and not of what it says. */
static bool is_of_file(const char *key)
{
	return strcmp(key, "run") == 0 || strncmp(key, "run.", 4) == 0 ||
	       strcmp(key, "xprof_trace") == 0;
}

/* "PATH, byte N: cause" of damage, less the path; there may be several in a text. */
static void strip_paths(char *text)
{
	char *path, *place;

	while ((path = strstr(text, the_session.root)) && (place = strstr(path, "byte ")))
		memmove(path, place, strlen(place) + 1);
}

static void strip_file(cJSON *json)
{
	cJSON *child, *next;

	for (child = json->child; child; child = next) {
		next = child->next;
		if (child->string && is_of_file(child->string))
			cJSON_Delete(cJSON_DetachItemViaPointer(json, child));
		else if (cJSON_IsString(child))
			strip_paths(child->valuestring);
		else
			strip_file(child);
	}
}

/* The report of a file with these bytes, without what is of the file. NULL: there is none. */
static char *report_of(const char *name, struct ts_bytes bytes, int *status)
{
	static const char *const words[] = { "report", "-j", "1", "--json", FILE_NAME, NULL };
	struct session session;
	struct said said;
	char *text = NULL;
	cJSON *json;

	session_fill_as(&session, name, bytes);
	*status = session_run(&session, words, &said);
	json = cJSON_ParseWithLength((const char *)said.out.p, said.out.n);
	if (json) {
		strip_file(json);
		text = cJSON_PrintUnformatted(json);
	}
	cJSON_Delete(json);
	said_release(&said);
	return text;
}

static void show_difference(const char *name, const char *want, const char *got)
{
	size_t at = 0, from;

	while (want[at] == got[at])
		at++;
	from = at > 80 ? at - 80 : 0;
	fprintf(stderr, "%s:\n%.200s\n%.200s\n", name, want + from, got + from);
	broken("packed, a trace says something else");
}

static void compare(const char *want, int want_status, const char *name, struct ts_bytes packed)
{
	int status;
	char *got = report_of(name, packed, &status);

	if (status != want_status)
		broken("packed, the status is another one");
	if (!want != !got)
		broken("packed, there is a report or not");
	if (want && strcmp(want, got) != 0)
		show_difference(name, want, got);
	cJSON_free(got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct ts_bytes text = { data, n };
	struct ts_buf gzip = TS_BUF_INIT, tar = TS_BUF_INIT, zip = TS_BUF_INIT;
	int status;
	char *want;

	if (n == 0 || (data[0] != '{' && data[0] != '['))
		return 0;
	pack_gzip(text, &gzip);
	pack_archive(text, &tar, false);
	pack_archive(text, &zip, true);
	want = report_of("host.pt.trace.json", text, &status);
	compare(want, status, "host.pt.trace.json.gz", ts_buf_bytes(&gzip));
	compare(want, status, "run.tar", ts_buf_bytes(&tar));
	compare(want, status, "run.zip", ts_buf_bytes(&zip));
	cJSON_free(want);
	ts_buf_release(&gzip);
	ts_buf_release(&tar);
	ts_buf_release(&zip);
	return 0;
}
