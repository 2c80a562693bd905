/* SPDX-License-Identifier: MIT */
/* What was done, in words. */
#include "cli/deeds.h"

#include "base/check.h"
#include "base/units.h"
#include "codec/json.h"
#include "codec/term.h"

#define UNDO_PATHS 4 /* named in the hint, which would be long with more */
#define OPEN	   "Open: "
#define DOOR_WIDTH ((size_t)36) /* of a command, where it is no longer */

static const struct thing {
	enum ts_overlay_thing thing;
	const char *name;
	bool is_counted, has_bytes;
	bool has_own_name; /* one alone is called by the name of its file, which varies */
} things[] = {
	{ TS_THING_OVERLAY, "xplane overlay", true, true, false },
	{ TS_THING_COPY, "annotated trace", true, true, true },
	{ TS_THING_RANKS, TS_RANKS_FILE, false, true, false },
	{ TS_THING_TRACE, TS_TRACE_FILE, false, true, false },
	{ TS_THING_PFTRACE, TS_PFTRACE_FILE, false, true, false },
	{ TS_THING_SQL, TS_SQL_FILE, false, false, true },
	{ TS_THING_SUGGESTIONS, "suggestions", false, false, false },
	{ TS_THING_REPORT, "report", false, false, false },
};

static const char *const deed_names[] = {
	[TS_DEED_WRITTEN] = "wrote",	 [TS_DEED_UNCHANGED] = "unchanged",
	[TS_DEED_RESTORED] = "restored", [TS_DEED_REMOVED] = "removed",
	[TS_DEED_SKIPPED] = "skipped",	 [TS_DEED_FAILED] = "failed",
};

struct deed_sum {
	size_t nr;
	uint64_t nr_bytes;
	const char *name; /* of the last file */
};

static struct deed_sum deeds_sum_of(const struct ts_overlay_report *report,
				    enum ts_overlay_thing thing, enum ts_overlay_deed deed)
{
	struct deed_sum sum = { 0, 0, NULL };

	for (size_t i = 0; i < report->nr_entries; i++)
		if (report->entries[i].thing == thing && report->entries[i].deed == deed) {
			sum.nr++;
			sum.nr_bytes += report->entries[i].nr_bytes;
			sum.name = report->entries[i].name;
		}
	return sum;
}

/* "2 xplane overlays (1.1 MiB)" */
static void put_thing(struct ts_buf *out, const struct thing *thing, struct deed_sum sum)
{
	char bytes[TS_UNIT_MAX];

	if (thing->has_own_name && sum.nr == 1)
		ts_term_text(out, ts_bytes_of(sum.name));
	else if (thing->is_counted)
		ts_buf_printf(out, "%zu %s%s", sum.nr, thing->name, sum.nr > 1 ? "s" : "");
	else
		ts_buf_puts(out, thing->name);
	if (thing->has_bytes && sum.nr_bytes)
		ts_buf_printf(out, " (%s)", ts_fmt_bytes(bytes, (double)sum.nr_bytes));
}

static void put_deed(struct ts_buf *out, const struct ts_overlay_report *report,
		     enum ts_overlay_deed deed, const char *verb)
{
	size_t before = out->n;
	bool any = false;

	for (size_t i = 0; i < TS_NELEM(things); i++) {
		struct deed_sum sum = deeds_sum_of(report, things[i].thing, deed);

		if (sum.nr == 0)
			continue;
		if (!any)
			ts_buf_printf(out, "%s%s ", before ? "; " : "", verb);
		else
			ts_buf_puts(out, ", ");
		put_thing(out, &things[i], sum);
		any = true;
	}
}

void ts_deeds_line(struct ts_buf *out, const struct ts_overlay_report *report, bool dry_run)
{
	struct ts_buf line = TS_BUF_INIT;

	TS_ASSERT(out && report);
	put_deed(&line, report, TS_DEED_WRITTEN, dry_run ? "would write" : "Wrote");
	put_deed(&line, report, TS_DEED_UNCHANGED, "unchanged:");
	if (line.n > 0)
		ts_buf_putc(&line, '\n');
	ts_buf_put(out, ts_buf_bytes(&line));
	out->failed |= line.failed;
	ts_buf_release(&line);
}

void ts_deeds_list(struct ts_buf *out, const struct ts_overlay_report *report)
{
	TS_ASSERT(out && report);
	for (size_t i = 0; i < report->nr_entries; i++) {
		ts_buf_printf(out, "  %-9s ", deed_names[report->entries[i].deed]);
		ts_term_text(out, ts_bytes_of(report->entries[i].name));
		ts_buf_putc(out, '\n');
	}
	if (report->nr_caches)
		ts_buf_printf(out, "  removed   %zu cache files of XProf's (it makes them anew)\n",
			      report->nr_caches);
	if (report->nr_stale)
		ts_buf_printf(out, "  removed   %zu temporary files of a run that was killed\n",
			      report->nr_stale);
}

void ts_deeds_json(struct ts_json *json, const struct ts_overlay_report *report)
{
	TS_ASSERT(json && report);
	ts_json_key(json, "files");
	ts_json_array(json);
	for (size_t i = 0; i < report->nr_entries; i++) {
		const struct ts_overlay_entry *entry = &report->entries[i];

		ts_json_object(json);
		ts_json_put_text(json, "name", entry->name);
		ts_json_put_text(json, "is", deed_names[entry->deed]);
		ts_json_put_i64(json, "bytes", (int64_t)entry->nr_bytes);
		ts_json_object_end(json);
	}
	ts_json_array_end(json);
}

/* What stands behind the file's name: "cannot write it: permission denied (...)". */
static struct ts_bytes deeds_cause_of(const struct ts_overlay_entry *entry)
{
	struct ts_bytes why = ts_bytes_of(entry->why);
	size_t at = ts_bytes_find(why, entry->name);

	return at < why.n ? ts_bytes_cut(why, at + strlen(entry->name), why.n) : why;
}

size_t ts_deeds_failures(const struct ts_overlay_report *report)
{
	const struct ts_overlay_entry *last = NULL;
	size_t nr_failed = 0, nr_same = 0;
	struct ts_error err = TS_ERROR_INIT;

	TS_ASSERT(report);
	for (size_t i = 0; i < report->nr_entries; i++) {
		const struct ts_overlay_entry *entry = &report->entries[i];

		if (!entry->why)
			continue;
		nr_failed += entry->deed == TS_DEED_FAILED;
		if (last && ts_bytes_eq(deeds_cause_of(last), deeds_cause_of(entry))) {
			nr_same++;
			continue;
		}
		ts_complain(entry->why);
		last = entry;
	}
	if (nr_same > 0) {
		ts_fail(&err, TS_IO, "and so with %zu more file%s of this session", nr_same,
			nr_same == 1 ? "" : "s");
		ts_complain(err.text);
	}
	return nr_failed;
}

size_t ts_deeds_nr(const struct ts_overlay_report *report, enum ts_overlay_deed deed)
{
	size_t nr = 0;

	TS_ASSERT(report);
	for (size_t i = 0; i < report->nr_entries; i++)
		nr += report->entries[i].deed == deed;
	return nr;
}

bool ts_deeds_stand(const struct ts_overlay_report *report)
{
	TS_ASSERT(report);
	for (size_t i = 0; i < report->nr_entries; i++)
		if (report->entries[i].deed == TS_DEED_WRITTEN ||
		    report->entries[i].deed == TS_DEED_UNCHANGED)
			return true;
	return false;
}

static bool deeds_is_plain(struct ts_bytes word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=:,@%";

	for (size_t i = 0; i < word.n; i++)
		if (!strchr(plain, word.p[i]))
			return false;
	return word.n > 0;
}

/* As a shell takes it for one word; what would steer the terminal is not shown as it is. */
static void deeds_put_word(struct ts_buf *out, struct ts_bytes word)
{
	if (deeds_is_plain(word)) {
		ts_buf_put(out, word);
		return;
	}
	ts_buf_putc(out, '\'');
	while (word.n > 0) {
		size_t n = ts_bytes_find(word, "'");

		ts_term_text(out, ts_bytes_cut(word, 0, n));
		ts_buf_puts(out, n < word.n ? "'\\''" : "");
		word = ts_bytes_cut(word, n + 1, word.n);
	}
	ts_buf_putc(out, '\'');
}

/* "COMMAND PATH   words" below the first one, or "COMMAND   words PATH". */
static void put_door(struct ts_buf *out, const char *command, struct ts_bytes path,
		     const char *words, struct ts_bytes named)
{
	size_t begin;

	ts_buf_printf(out, "%*s", out->n ? (int)strlen(OPEN) : 0, "");
	ts_buf_puts(out, out->n ? "" : OPEN);
	begin = out->n;
	ts_buf_puts(out, command);
	if (path.n > 0)
		deeds_put_word(out, path);
	ts_buf_printf(out, "%*s  %s", (int)(DOOR_WIDTH - TS_MIN(out->n - begin, DOOR_WIDTH)), "",
		      words);
	if (named.n > 0)
		deeds_put_word(out, named);
	ts_buf_putc(out, '\n');
}

void ts_deeds_open(struct ts_buf *out, const char *logdir, struct ts_bytes trace)
{
	const struct ts_bytes none = { NULL, 0 };
	struct ts_buf text = TS_BUF_INIT;

	TS_ASSERT(out);
	if (logdir) {
		put_door(&text, "tensorboard --logdir ", ts_bytes_of(logdir),
			 "tab TPUSIGHT; Profile > Trace Viewer", none);
		put_door(&text, "tpusight serve ", ts_bytes_of(logdir), "without TensorBoard",
			 none);
	}
	if (trace.n > 0)
		put_door(&text, "https://ui.perfetto.dev", none, "drop ", trace);
	ts_buf_put(out, ts_buf_bytes(&text));
	out->failed |= text.failed;
	ts_buf_release(&text);
}

void ts_deeds_undo(struct ts_buf *out, char *const *paths, size_t nr)
{
	bool dash = false;

	TS_ASSERT(out);
	TS_ASSERT(paths || nr == 0);
	ts_buf_puts(out, "Undo: tpusight-annotate --strip");
	for (size_t i = 0; i < nr; i++)
		dash |= paths[i][0] == '-';
	ts_buf_puts(out, dash && nr <= UNDO_PATHS ? " --" : "");
	for (size_t i = 0; i < nr && nr <= UNDO_PATHS; i++) {
		ts_buf_putc(out, ' ');
		deeds_put_word(out, ts_bytes_of(paths[i]));
	}
	ts_buf_puts(out, nr > UNDO_PATHS ? " with the same paths\n" : "\n");
}
