/* SPDX-License-Identifier: MIT */
/* redact: a copy of a profile with its names hashed. */
#include "cli/cli.h"

#include "base/units.h"
#include "cli/copies.h"
#include "io/foreign.h"
#include "codec/term.h"
#include "copy/redact.h"
#include "io/archive.h"
#include "io/input.h"
#include "io/tracefile.h"
#include "read/reader.h"

#define KEY_BYTES_MIN 16

struct redact_options {
	const char *key_file, *salt;
	struct ts_texts keep;
	const char *output;
	bool json;
};

struct redacting {
	const struct ts_cli *cli;
	const struct redact_options *own;
	const struct ts_session *session;
	const struct ts_names *names;
	bool several, damaged; /* or what was done could not be printed */
};

/* team/run -> HASH/HASH */
static void cmd_redact_put_run(const struct redacting *redacting, const char *run,
			       struct ts_buf *out)
{
	while (*run) {
		size_t n = strcspn(run, "/");

		if (n == 1 && *run == '.')
			ts_buf_putc(out, '.');
		else
			ts_names_secret(redacting->names,
					(struct ts_bytes){ (const uint8_t *)run, n }, out);
		if (run[n] == '/')
			ts_buf_putc(out, '/');
		run += n + (run[n] == '/');
	}
}

/* worker-0.xplane.pb -> HASH.xplane.pb; a number behind a dot is a time, and stays. */
static void cmd_redact_put_file(const struct redacting *redacting, const struct ts_hostfile *file,
				struct ts_buf *out)
{
	struct ts_bytes name = ts_bytes_of(file->name), host = ts_bytes_of(file->host);

	if (!ts_bytes_starts(name, file->host) || host.n == name.n)
		host = ts_bytes_cut(name, 0, ts_bytes_find(name, ".json"));
	host = ts_tracefile_worker(host);
	ts_names_secret(redacting->names, host, out);
	ts_buf_put(out, ts_bytes_cut(name, host.n, name.n));
}

/* 2026_01_01_00_00_00: sessions are called by the time by default, and that says nothing about the user. */
static bool cmd_redact_is_time(const char *session)
{
	return strspn(session, "0123456789") == strlen("2026") &&
	       (session[4] == '_' || session[4] == '-') &&
	       session[strspn(session, "0123456789_-:T")] == '\0' && strncmp(session, "20", 2) == 0;
}

static enum ts_status cmd_redact_find_place(const struct redacting *redacting,
					    const struct ts_hostfile *file,
					    struct ts_copy_place *place, struct ts_error *err)
{
	const struct ts_session *session = redacting->session;
	struct ts_buf names = TS_BUF_INIT;
	size_t session_at, file_at;
	struct ts_copy_name name;
	enum ts_status st;

	cmd_redact_put_run(redacting, session->run, &names);
	ts_buf_putc(&names, '\0');
	session_at = names.n;
	if (cmd_redact_is_time(session->session))
		ts_buf_puts(&names, session->session);
	else
		ts_names_secret(redacting->names, ts_bytes_of(session->session), &names);
	ts_buf_putc(&names, '\0');
	file_at = names.n;
	cmd_redact_put_file(redacting, file, &names);
	ts_buf_putc(&names, '\0');
	if (names.failed) {
		ts_buf_release(&names);
		return ts_fail_nomem(err);
	}
	name = (struct ts_copy_name){ .output = redacting->own->output,
				      .word = "redacted",
				      .several = redacting->several,
				      .run = (const char *)names.p,
				      .session = (const char *)names.p + session_at,
				      .file = (const char *)names.p + file_at };
	st = ts_copy_place_find(place, redacting->cli, session, &name, file->path, err);
	ts_buf_release(&names);
	return st;
}

static enum ts_status redact_bytes(struct redacting *redacting, const struct ts_hostfile *file,
				   const struct ts_input *input, struct ts_copy_out *out,
				   struct ts_redact_report *report, struct ts_error *err)
{
	const struct ts_reader *reader = ts_reader_for(ts_bytes_of(file->name), input->bytes);
	enum ts_status st = ts_foreign_refuse(ts_foreign_of(input->bytes), err);

	if (st)
		return ts_fail_at(err, st, "%s", file->path);
	if (ts_archive_probe(input->bytes))
		return ts_fail(err, TS_UNSUPPORTED,
			       "%s: a profile inside an archive is not redacted (unpack it first)",
			       file->path);
	if (reader && reader->form == TS_FORM_XSPACE)
		return ts_redact_xplane(redacting->names, input->bytes, out, report, err);
	if (reader && reader->form == TS_FORM_TRACE)
		return ts_redact_trace(redacting->names, input->bytes, input->mapped, out, report,
				       err);
	if (reader && reader->form == TS_FORM_RECORDS)
		return ts_copy_refuse_records(ts_bytes_of(file->path), "redacted", err);
	return ts_fail(err, TS_UNSUPPORTED,
		       "%s: not an xplane and not a trace in JSON (nothing else can be redacted)",
		       file->path);
}

static void cmd_redact_complain_of_damage(struct redacting *redacting, const char *path,
					  const struct ts_redact_report *report)
{
	struct ts_error err = TS_ERROR_INIT;

	if (!report->damage.text[0] && report->nr_left_out == 0)
		return;
	redacting->damaged = true;
	if (report->damage.text[0])
		ts_fail(&err, TS_FORMAT, "%s: %s (what stands before it was copied)", path,
			report->damage.text);
	else
		ts_fail(&err, TS_FORMAT, "%s: %llu events were too long, and left out", path,
			(unsigned long long)report->nr_left_out);
	ts_complain(err.text);
}

static bool cmd_redact_print_written(const struct ts_cli *cli, const char *path, uint64_t nr_bytes,
				     const struct ts_input *input)
{
	const struct redact_options *own = cli->own;
	const struct ts_copied copied = { path, (int64_t)nr_bytes, (int64_t)input->bytes.n, -1,
					  -1 };
	char size[TS_UNIT_MAX];
	struct ts_buf out = TS_BUF_INIT;
	bool good;

	if (own->json)
		return ts_copied_print(&copied);
	if (cli->quiet)
		return true;
	ts_term_text(&out, ts_bytes_of(path));
	ts_buf_printf(&out, ": redacted, %s\n", ts_fmt_bytes(size, (double)nr_bytes));
	good = ts_print(ts_buf_bytes(&out));
	ts_buf_release(&out);
	return good;
}

static enum ts_status redact_file(struct redacting *redacting, const struct ts_hostfile *file,
				  struct ts_outcome *outcome, struct ts_error *err)
{
	struct ts_input input = TS_INPUT_INIT;
	struct ts_copy_place place = TS_COPY_PLACE_INIT;
	struct ts_copy_out out = { .file = TS_NEWFILE_INIT };
	struct ts_redact_report report;
	enum ts_status st = ts_input_open(&input, file->path, err);
	bool is_read = st == TS_OK;

	if (st == TS_OK)
		st = cmd_redact_find_place(redacting, file, &place, err);
	if (st == TS_OK)
		st = ts_copy_open(&out, place.path, &place.use, err);
	if (st == TS_OK)
		st = redact_bytes(redacting, file, &input, &out, &report, err);
	if (st == TS_OK && out.nr_bytes == 0)
		st = ts_fail(err, TS_FORMAT, "%s: nothing of it could be read", file->path);
	if (st == TS_OK)
		st = ts_input_check(&input, err);
	if (st == TS_OK)
		st = ts_copy_commit(&out, err);
	if (st == TS_OK) {
		cmd_redact_complain_of_damage(redacting, file->path, &report);
		redacting->damaged |= !cmd_redact_print_written(redacting->cli, place.path,
								out.file.nr_bytes, &input);
		st = ts_copy_place_done(&place, redacting->cli, err);
	}
	if (is_read)
		ts_outcome_of_output(outcome, st);
	ts_copy_release(&out);
	ts_copy_place_release(&place);
	ts_input_release(&input);
	return st;
}

/* A memory profile is functions and files, and little else. */
static void complain_of_extras(const struct redacting *redacting)
{
	struct ts_error err = TS_ERROR_INIT;

	for (size_t i = 0; i < redacting->session->nr_extras && !redacting->cli->quiet; i++) {
		ts_fail(&err, TS_UNSUPPORTED, "%s: a memory profile is not copied",
			redacting->session->extras[i].path);
		ts_complain(err.text);
	}
}

static enum ts_exit redact_all(struct redacting *redacting, const struct ts_runs *runs,
			       size_t nr_bad)
{
	struct ts_error err = TS_ERROR_INIT;
	struct ts_outcome outcome = { .nr_bad = nr_bad };

	for (size_t s = 0; s < runs->nr_sessions; s++) {
		redacting->session = &runs->sessions[s];
		for (size_t i = 0; i < redacting->session->nr_files; i++) {
			struct ts_progress progress;
			enum ts_status st;

			ts_progress_begin(&progress, redacting->cli,
					  redacting->session->files[i].path);
			st = redact_file(redacting, &redacting->session->files[i], &outcome, &err);
			ts_progress_end(&progress);
			ts_outcome_note(&outcome, st, &err);
		}
		complain_of_extras(redacting);
	}
	outcome.damaged = redacting->damaged;
	return ts_outcome_exit(&outcome);
}

static enum ts_status key_from(const char *path, struct ts_sipkey *key, struct ts_error *err)
{
	struct ts_input input = TS_INPUT_INIT;
	enum ts_status st = ts_input_open(&input, path, err);

	if (st == TS_OK && input.bytes.n < KEY_BYTES_MIN)
		st = ts_fail(err, TS_USAGE,
			     "%s: %zu bytes are not enough for a key, which could be guessed (give "
			     "%d: head -c 32 /dev/urandom)",
			     path, input.bytes.n, KEY_BYTES_MIN);
	if (st == TS_OK)
		*key = ts_sipkey_of(input.bytes);
	ts_input_release(&input);
	return st;
}

static enum ts_status choose_key(const struct ts_cli *cli, struct ts_sipkey *key,
				 struct ts_error *err)
{
	const struct redact_options *own = cli->own;

	if (own->key_file && own->salt)
		return ts_fail(err, TS_USAGE, "--key and --salt are two keys (give one)");
	if (own->key_file && ts_note_input(cli, own->key_file, err))
		return TS_NOMEM;
	if (own->key_file)
		return key_from(own->key_file, key, err);
	if (!own->salt)
		return ts_sipkey_random(key, err);
	*key = ts_sipkey_of(ts_bytes_of(own->salt));
	return TS_OK;
}

static enum ts_exit run_redact(struct ts_cli *cli)
{
	const struct redact_options *own = cli->own;
	struct redacting redacting = { .cli = cli, .own = own };
	struct ts_runs runs = TS_RUNS_INIT;
	struct ts_names names = { .nr_keep = 0 };
	struct ts_error err = TS_ERROR_INIT;
	enum ts_exit code;
	struct ts_sipkey key;
	size_t nr_bad = 0;
	enum ts_status st = choose_key(cli, &key, &err);

	if (st) {
		ts_complain(err.text);
		return ts_exit_of(st);
	}
	st = ts_names_open(&names, &key, own->keep.items, own->keep.nr, &err);
	if (st == TS_OK)
		st = ts_find_sessions(cli, &runs, &nr_bad, &err);
	redacting.names = &names;
	redacting.several = runs.nr_sessions > 1;
	if (st)
		ts_complain(err.text);
	code = st ? ts_exit_of(st) : redact_all(&redacting, &runs, nr_bad);
	ts_runs_release(&runs);
	ts_names_release(&names);
	return code;
}

static enum ts_status set_salt(void *salt, const char *value, struct ts_error *err)
{
	memcpy(salt, &value, sizeof(value));
	return value[0] ? TS_OK : ts_fail(err, TS_USAGE, "it is empty");
}

#define OWN struct redact_options
static const struct ts_option options[] = {
	TS_OPT_TEXT(OWN, key_file, "key", 0, "FILE",
		    "hash with the key in FILE: the same names each time", .place = TS_PLACE_READ),
	TS_OPT_CALL(OWN, salt, "salt", "TEXT", set_salt,
		    "hash with a key made of TEXT (a short one can be guessed)"),
	TS_OPT_TEXTS(OWN, keep, "keep", "NAME", TS_NAMES_KEEP_MAX,
		     "names that stay (* and ? stand for anything; repeatable)"),
	TS_OPT_FLAG(OWN, json, "json", 0, "print a line of JSON for each file"),
	TS_OPT_TEXT(
		OWN, output, "output", 'o', "OUT",
		"write to OUT: a file (without an ending it gets PATH's), for sessions a folder",
		.place = TS_PLACE_WRITTEN),
	TS_OPT_END,
};

const struct ts_command ts_command_redact = {
	.name = "redact",
	.summary = "Copy a profile with its names hashed, to show it to others.",
	.arguments = "PATH...",
	.help = "PATH is a session, a log directory, an .xplane.pb file or a trace (.json, "
		".json.gz). Names of hosts,\n"
		"files, functions, scopes, threads and arguments become letters that depend on "
		"them and a key; one\n"
		"name is the same letters everywhere. The key is new each time, and forgotten, "
		"unless --key or --salt\n"
		"gives one. Numbers, shapes, opcodes, categories and public names stay, so a "
		"report says the same.\n"
		"Without -o a session becomes SESSION.redacted beside it.",
	.options = options,
	.own_size = sizeof(OWN),
	.needs = TS_WRITES_BESIDE,
	.run = run_redact,
};
