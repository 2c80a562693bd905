/* SPDX-License-Identifier: MIT */
/* Looks at a session's files, and the note of them in the report (overlay/stand.h). */
#include "overlay/stand.h"

#include "base/check.h"
#include "base/siphash.h"
#include "codec/json.h"
#include "codec/jtok.h"
#include "io/file.h"
#include "io/newfile.h"
#include "io/sys.h"
#include "io/tracefile.h"
#include "overlay/folder.h"
#include "overlay/work.h"

#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#define FORM	   "tpusight-state/1" /* of what is hashed */
#define STATE_HEX  32
#define NOTE	   "\n  \"annotation\": "
#define STATE_KEY  "\"state\": \""
#define NOTE_END   "\"}\n}\n" /* the state stands in front of it, and the file ends behind it */
#define NOTE_BYTES (UINT64_C(16) << 20)

/* Looking */

static enum ts_status stand_add_path(struct ts_stand *stand, const char *path, struct ts_error *err)
{
	struct ts_stand_file *file;

	if (!path || !ts_grow(&stand->files, &stand->cap, stand->nr + 1, sizeof(*stand->files)))
		return ts_fail_nomem(err);
	file = &stand->files[stand->nr++];
	*file = (struct ts_stand_file){ .path = path };
	file->exists = stand->looker ? stand->looker->look(stand->looker->ctx, path, &file->look)
				     : ts_file_look(path, &file->look);
	return TS_OK;
}

static const char *in_folder(struct ts_stand *stand, const struct ts_session *session,
			     struct ts_bytes name, const char *suffix)
{
	struct ts_bytes whole = ts_arena_printf(&stand->arena, "%.*s%s", TS_ARG(name), suffix);
	struct ts_buf path = TS_BUF_INIT;
	const char *kept = NULL;

	if (whole.p && ts_session_path(session, (const char *)whole.p, &path) && !path.failed)
		kept = (const char *)ts_arena_copy(&stand->arena, ts_buf_bytes(&path)).p;
	ts_buf_release(&path);
	return kept;
}

static bool stand_is_xplane(const struct ts_hostfile *file)
{
	return ts_xplanefile_is(ts_bytes_of(file->name));
}

/* A trace has its annotation beside it, unless there is a packed one of its name. */
static enum ts_status stand_add_file(struct ts_stand *stand, const struct ts_session *session,
				     const struct ts_hostfile *file, struct ts_error *err)
{
	static const char *const suffixes[] = { TS_ANNOTATED_SUFFIX, TS_ANNOTATED_PFTRACE_SUFFIX,
						TS_ANNOTATED_SQL_SUFFIX, TS_ANNOTATED_REPORT_SUFFIX,
						".json.gz" };
	struct ts_bytes stem = ts_tracefile_stem(ts_bytes_of(file->name));
	enum ts_status st = stand_add_path(stand, file->path, err);

	for (size_t i = 0; i < TS_NELEM(suffixes) && st == TS_OK && !stand_is_xplane(file); i++) {
		const char *path = in_folder(stand, session, stem, suffixes[i]);

		st = path ? TS_OK : ts_fail_nomem(err);
		if (st == TS_OK && strcmp(path, stand->report) != 0)
			st = stand_add_path(stand, path, err);
	}
	return st;
}

/* As ts_overlay_work_owns_folder(), for files that are what their names say. */
static const char *report_path(struct ts_stand *stand, const struct ts_session *session)
{
	struct ts_bytes first = ts_bytes_of(session->files[0].name);
	bool owns = session->owns_folder || !ts_tracefile_is_named(first);

	for (size_t i = 0; i < session->nr_files; i++)
		owns |= stand_is_xplane(&session->files[i]);
	return owns ? in_folder(stand, session, TS_LIT(TS_REPORT_FILE), "")
		    : in_folder(stand, session, ts_tracefile_stem(first),
				TS_ANNOTATED_REPORT_SUFFIX);
}

static enum ts_status stand_add_all(struct ts_stand *stand, const struct ts_session *session,
				    struct ts_error *err)
{
	enum ts_status st = stand->report ? TS_OK : ts_fail_nomem(err);

	for (size_t i = 0; i < session->nr_files && st == TS_OK; i++)
		st = stand_add_file(stand, session, &session->files[i], err);
	for (size_t i = 0; i < session->nr_extras && st == TS_OK; i++)
		st = stand_add_path(stand, session->extras[i].path, err);
	for (size_t i = 0; ts_overlay_shared_names[i] && st == TS_OK; i++) {
		const char *path =
			in_folder(stand, session, ts_bytes_of(ts_overlay_shared_names[i]), "");

		st = path ? TS_OK : ts_fail_nomem(err);
		if (st == TS_OK && strcmp(path, stand->report) != 0)
			st = stand_add_path(stand, path, err);
	}
	return st;
}

/* A folder that cannot be read has what we cannot know. */
static bool has_temp(const struct ts_session *session)
{
	DIR *dir = ts_sys_opendir(session->dir);
	const struct dirent *entry;
	bool has = dir == NULL;

	while (dir && !has && (entry = readdir(dir)) != NULL)
		has = ts_newfile_is_temp(entry->d_name);
	if (dir)
		closedir(dir);
	return has;
}

enum ts_status ts_stand_look(struct ts_stand *stand, const struct ts_session *session,
			     struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(stand && session && session->nr_files > 0);
	*stand = (struct ts_stand)TS_STAND_INIT;
	stand->looker = session->looker;
	stand->report = report_path(stand, session);
	st = stand_add_all(stand, session, err);
	if (st)
		return st;
	stand->has_temp = has_temp(session);
	stand->is_settled = true;
	for (size_t i = 0; i < stand->nr && stand->is_settled; i++)
		stand->is_settled =
			!stand->files[i].exists || ts_look_settle(&stand->files[i].look);
	return TS_OK;
}

void ts_stand_release(struct ts_stand *stand)
{
	TS_ASSERT(stand);
	free(stand->files);
	ts_arena_release(&stand->arena);
	*stand = (struct ts_stand)TS_STAND_INIT;
}

/* The state */

static void put_look(struct ts_buf *out, const struct ts_stand_file *file)
{
	const struct ts_file_look *look = &file->look;

	ts_buf_printf(out, "%s%c", file->path, '\0');
	if (file->exists)
		ts_buf_printf(out, "%llu %llu %lld %lld\n", (unsigned long long)look->nr_bytes,
			      (unsigned long long)look->inode, (long long)look->mtime_ns,
			      (long long)look->ctime_ns);
}

/* The report's own inode and time of change are not known before it is written. */
static bool stand_state_of(char hex[STATE_HEX + 1], const struct ts_stand *stand,
			   struct ts_bytes key, uint64_t report_bytes, int64_t report_mtime_ns)
{
	static const struct ts_sipkey sipkey = { { 0, 0 } };
	struct ts_buf all = TS_BUF_INIT;
	struct ts_siphash hash;
	bool good;

	ts_buf_printf(&all, FORM " %zu\n", key.n);
	ts_buf_put(&all, key);
	for (size_t i = 0; i < stand->nr; i++)
		put_look(&all, &stand->files[i]);
	ts_buf_printf(&all, "%llu %lld\n", (unsigned long long)report_bytes,
		      (long long)report_mtime_ns);
	hash = ts_siphash(&sipkey, ts_buf_bytes(&all));
	snprintf(hex, STATE_HEX + 1, "%016llx%016llx", (unsigned long long)hash.h[0],
		 (unsigned long long)hash.h[1]);
	good = !all.failed;
	ts_buf_release(&all);
	return good;
}

/* Noting */

static const char *const thing_names[] = {
	[TS_THING_OVERLAY] = "overlay", [TS_THING_SUGGESTIONS] = "suggestions",
	[TS_THING_REPORT] = "report",	[TS_THING_TRACE] = "trace",
	[TS_THING_PFTRACE] = "pftrace", [TS_THING_CACHE_VERSION] = "cache_version",
	[TS_THING_COPY] = "copy",	[TS_THING_SQL] = "sql",
	[TS_THING_RANKS] = "ranks",
};

/* What was left, or of which there was something to say, is to be said again. */
static bool stand_is_whole(const struct ts_overlay_report *report)
{
	for (size_t i = 0; i < report->nr_entries; i++)
		if (report->entries[i].why || report->entries[i].deed == TS_DEED_FAILED ||
		    report->entries[i].deed == TS_DEED_SKIPPED)
			return false;
	return true;
}

static bool stand_is_same(const struct ts_stand_file *a, const struct ts_stand_file *b)
{
	return a->exists == b->exists &&
	       (!a->exists ||
		(a->look.nr_bytes == b->look.nr_bytes && a->look.inode == b->look.inode &&
		 a->look.mtime_ns == b->look.mtime_ns && a->look.ctime_ns == b->look.ctime_ns));
}

/* Is the file as it was before the work, or as the work left it? */
static bool stand_is_known(const struct ts_stand_file *file, const struct ts_stand_file *before,
			   const struct ts_overlay_report *report)
{
	const struct ts_overlay_touch *last = NULL;
	struct ts_stand_file left;

	for (size_t i = 0; i < report->nr_touched; i++)
		if (strcmp(report->touched[i].path, file->path) == 0)
			last = &report->touched[i];
	if (!last)
		return stand_is_same(file, before);
	left = (struct ts_stand_file){ file->path, last->exists, last->look };
	return stand_is_same(file, &left);
}

static bool all_known(const struct ts_stand *now, const struct ts_stand_note *note)
{
	const struct ts_stand *before = note->before;
	bool known = now->nr == before->nr;

	for (size_t i = 0; i < now->nr && known; i++)
		known = strcmp(now->files[i].path, before->files[i].path) == 0 &&
			stand_is_known(&now->files[i], &before->files[i], note->report);
	return known;
}

static void stand_put_files(struct ts_json *json, const struct ts_overlay_report *report)
{
	ts_json_key(json, "files");
	ts_json_array(json);
	for (size_t i = 0; i < report->nr_entries; i++) {
		const struct ts_overlay_entry *entry = &report->entries[i];

		if (entry->deed != TS_DEED_WRITTEN && entry->deed != TS_DEED_UNCHANGED)
			continue;
		ts_json_object(json);
		ts_json_put_text(json, "what", thing_names[entry->thing]);
		ts_json_put_text(json, "name", entry->name);
		ts_json_put_i64(json, "bytes", (int64_t)entry->nr_bytes);
		ts_json_object_end(json);
	}
	ts_json_array_end(json);
}

/* Behind the last member of the report, with room for the state. */
static void stand_put_note(struct ts_buf *text, const struct ts_stand_note *note)
{
	static const char room[STATE_HEX + 1] = "00000000000000000000000000000000";
	struct ts_json json = ts_json_of(text, TS_JSON_COMPACT);

	text->n -= strlen("\n}\n");
	ts_buf_puts(text, "," NOTE);
	ts_json_object(&json);
	ts_json_put_double(&json, "health_score", note->summary.health_score);
	ts_json_put_i64(&json, "finding_count", note->summary.nr_findings);
	stand_put_files(&json, note->report);
	ts_buf_puts(text, "," STATE_KEY);
	ts_buf_puts(text, room);
	ts_buf_puts(text, NOTE_END);
}

bool ts_stand_put(struct ts_buf *text, const struct ts_session *session,
		  const struct ts_stand_note *note, int64_t *mtime_ns)
{
	struct ts_stand now = TS_STAND_INIT;
	char hex[STATE_HEX + 1];
	bool good;

	TS_ASSERT(text && session && note && note->before && mtime_ns);
	good = note->before->is_settled && stand_is_whole(note->report) &&
	       ts_bytes_ends(ts_buf_bytes(text), "\n}\n");
	if (good && session->looker) {
		*mtime_ns = ts_look_now_ns();
		stand_put_note(text, note);
		return true;
	}
	if (good && ts_stand_look(&now, session, NULL) != TS_OK)
		text->failed = true;
	good = good && !text->failed && now.is_settled && !now.has_temp && all_known(&now, note);
	if (good) {
		*mtime_ns = ts_look_now_ns();
		stand_put_note(text, note);
		text->failed |= !stand_state_of(hex, &now, note->key, text->n, *mtime_ns);
		good = !text->failed;
		if (good)
			memcpy(text->p + text->n - strlen(NOTE_END) - STATE_HEX, hex, STATE_HEX);
	}
	ts_stand_release(&now);
	return good;
}

/* Reading the note */

/* The last N bytes of a file, or as many as it has. */
static enum ts_status read_tail(int fd, uint64_t file_bytes, uint64_t n, struct ts_buf *tail,
				struct ts_error *err)
{
	uint64_t at;

	n = TS_MIN(n, file_bytes);
	at = file_bytes - n;
	ts_buf_clear(tail);
	if (!ts_buf_room(tail, (size_t)n))
		return ts_fail_nomem(err);
	while (tail->n < n) {
		ssize_t got = ts_sys_pread(fd, tail->p + tail->n, (size_t)n - tail->n,
					   (off_t)(at + tail->n));

		if (got <= 0)
			return ts_fail(err, TS_IO, "the report cannot be read");
		tail->n += (size_t)got;
	}
	return TS_OK;
}

/* The state that the report has; empty: it has no note. */
static struct ts_bytes state_in(struct ts_bytes tail)
{
	size_t n = strlen(STATE_KEY) + STATE_HEX + strlen(NOTE_END);

	tail = ts_bytes_cut(tail, tail.n > n ? tail.n - n : 0, tail.n);
	if (tail.n != n || !ts_bytes_starts(tail, STATE_KEY) || !ts_bytes_ends(tail, NOTE_END))
		return (struct ts_bytes){ NULL, 0 };
	return ts_bytes_cut(tail, strlen(STATE_KEY), STATE_HEX);
}

static struct ts_bytes stand_note_in(struct ts_bytes tail)
{
	struct ts_bytes note = { NULL, 0 };
	size_t at;

	while ((at = ts_bytes_find(tail, NOTE)) < tail.n)
		note = tail = ts_bytes_cut(tail, at + strlen(NOTE), tail.n);
	return note;
}

static enum ts_status stand_add_entry(struct ts_overlay_report *report, enum ts_overlay_thing thing,
				      const char *name, uint64_t nr_bytes, struct ts_error *err)
{
	if (!name || !ts_grow(&report->entries, &report->cap_entries, report->nr_entries + 1,
			      sizeof(*report->entries)))
		return ts_fail_nomem(err);
	report->entries[report->nr_entries++] = (struct ts_overlay_entry){
		.thing = thing, .deed = TS_DEED_UNCHANGED, .name = name, .nr_bytes = nr_bytes
	};
	return TS_OK;
}

static enum ts_status stand_add_report(struct ts_overlay_report *report, const char *path,
				       uint64_t nr_bytes, struct ts_error *err)
{
	const char *slash = strrchr(path, '/');
	struct ts_bytes name = ts_bytes_of(slash ? slash + 1 : path);

	return stand_add_entry(report, TS_THING_REPORT,
			       (const char *)ts_arena_copy(&report->arena, name).p, nr_bytes, err);
}

static enum ts_status stand_read_file(struct ts_bytes object, struct ts_overlay_report *report,
				      struct ts_error *err)
{
	struct ts_jtok members = ts_jtok_enter(object);
	size_t thing = TS_NELEM(thing_names);
	struct ts_bytes name = { NULL, 0 };
	uint64_t nr_bytes = 0;

	while (ts_jtok_member(&members)) {
		if (ts_bytes_is(members.key, "what"))
			for (thing = 0; thing < TS_NELEM(thing_names); thing++)
				if (ts_bytes_is(ts_jtok_text(members.value), thing_names[thing]))
					break;
		if (ts_bytes_is(members.key, "name"))
			name = ts_jtok_unescape(&report->arena, ts_jtok_text(members.value));
		if (ts_bytes_is(members.key, "bytes"))
			(void)ts_bytes_u64(members.value, &nr_bytes);
	}
	if (thing == TS_NELEM(thing_names))
		return ts_fail(err, TS_FORMAT, "its note names a file of another kind");
	return stand_add_entry(report, (enum ts_overlay_thing)thing,
			       (const char *)ts_arena_copy(&report->arena, name).p, nr_bytes, err);
}

static enum ts_status read_files(struct ts_bytes list, struct ts_overlay_report *report,
				 struct ts_error *err)
{
	struct ts_jtok files = ts_jtok_enter(list);
	enum ts_status st = TS_OK;

	while (st == TS_OK && ts_jtok_element(&files))
		st = stand_read_file(files.value, report, err);
	return st;
}

static enum ts_status read_note(struct ts_bytes note, struct ts_overlay_report *report,
				struct ts_stand_summary *summary, struct ts_error *err)
{
	struct ts_jtok members = ts_jtok_enter(note);
	enum ts_status st = note.n > 0 ? TS_OK : ts_fail(err, TS_FORMAT, "it has no note");

	*summary = (struct ts_stand_summary){ NAN, 0 };
	while (st == TS_OK && ts_jtok_member(&members)) {
		if (ts_bytes_is(members.key, "health_score") &&
		    !ts_jtok_real(members.value, &summary->health_score))
			summary->health_score = NAN;
		if (ts_bytes_is(members.key, "finding_count") &&
		    !ts_bytes_i64(members.value, &summary->nr_findings))
			st = ts_fail(err, TS_FORMAT, "its note has no number of findings");
		if (ts_bytes_is(members.key, "files"))
			st = read_files(members.value, report, err);
	}
	return st;
}

/* Does the report have the state of the files as they are? Its note is in TAIL then. */
static bool has_state(const struct ts_stand *stand, int fd, const struct ts_file_look *look,
		      struct ts_bytes key, struct ts_buf *tail)
{
	char hex[STATE_HEX + 1];
	struct ts_bytes noted;

	if (read_tail(fd, look->nr_bytes, 4096, tail, NULL) != TS_OK)
		return false;
	noted = state_in(ts_buf_bytes(tail));
	if (noted.n == 0 || stand->has_temp ||
	    !stand_state_of(hex, stand, key, look->nr_bytes, look->mtime_ns) ||
	    !ts_bytes_is(noted, hex))
		return false;
	while (stand_note_in(ts_buf_bytes(tail)).n == 0 && tail->n < look->nr_bytes &&
	       tail->n < NOTE_BYTES)
		if (read_tail(fd, look->nr_bytes, tail->n * 8, tail, NULL) != TS_OK)
			return false;
	return true;
}

void ts_stand_seal(const struct ts_session *session, struct ts_bytes key)
{
	struct ts_stand stand = TS_STAND_INIT;
	struct ts_buf tail = TS_BUF_INIT;
	struct ts_file_look look;
	char hex[STATE_HEX + 1];
	int fd = -1;

	TS_ASSERT(session && session->looker);
	if (ts_stand_look(&stand, session, NULL) == TS_OK)
		fd = ts_sys_open(stand.report, O_RDWR | O_NOFOLLOW);
	if (fd >= 0 && ts_fd_look(fd, &look) &&
	    read_tail(fd, look.nr_bytes, 4096, &tail, NULL) == TS_OK &&
	    state_in(ts_buf_bytes(&tail)).n > 0 &&
	    stand_state_of(hex, &stand, key, look.nr_bytes, 0)) {
		off_t at = (off_t)(look.nr_bytes - strlen(NOTE_END) - STATE_HEX);

		/* a state that is not written is that of other files, and the work is done again */
		(void)!pwrite(fd, hex, STATE_HEX, at);
	}
	if (fd >= 0)
		close(fd);
	ts_buf_release(&tail);
	ts_stand_release(&stand);
}

bool ts_stand_holds(const struct ts_session *session, struct ts_bytes key,
		    struct ts_overlay_report *report, struct ts_stand_summary *summary)
{
	struct ts_stand stand = TS_STAND_INIT;
	struct ts_buf tail = TS_BUF_INIT;
	struct ts_file_look look;
	bool holds = false;
	int fd = -1;

	TS_ASSERT(session && report && summary);
	/* joined sessions have a report each, and what is not a file cannot be looked at */
	if (!session->members && session->kind != TS_SESSION_STREAM &&
	    ts_stand_look(&stand, session, NULL) == TS_OK)
		fd = ts_file_open_to_read(stand.report);
	if (fd >= 0 && ts_fd_look(fd, &look)) {
		look.mtime_ns = session->looker ? 0 : look.mtime_ns; /* as it was sealed */
		holds = has_state(&stand, fd, &look, key, &tail) &&
			read_note(stand_note_in(ts_buf_bytes(&tail)), report, summary, NULL) ==
				TS_OK &&
			stand_add_report(report, stand.report, look.nr_bytes, NULL) == TS_OK;
	}
	if (fd >= 0)
		close(fd);
	ts_buf_release(&tail);
	ts_stand_release(&stand);
	return holds;
}
