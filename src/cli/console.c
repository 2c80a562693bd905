/* SPDX-License-Identifier: MIT */
/* The console: complaints, progress, output. */
#include "cli/cli.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/check.h"
#include "base/units.h"
#include "codec/term.h"
#include "io/newfile.h"
#include "run/run.h"

void ts_complain(const char *text)
{
	struct ts_buf out = TS_BUF_INIT;

	TS_ASSERT(text);
	ts_buf_puts(&out, "tpusight: ");
	ts_term_text(&out,
		     ts_bytes_of(text)); /* names of files, and names in files, come from outside */
	ts_buf_putc(&out, '\n');
	if (out.failed)
		fputs("tpusight: out of memory\n", stderr);
	else
		fwrite(out.p, 1, out.n, stderr);
	ts_buf_release(&out);
}

void ts_complain_of_damage(const struct ts_damage *damage, const char *remedy)
{
	struct ts_error err = TS_ERROR_INIT;

	TS_ASSERT(damage && remedy);
	if (damage->nr_events > 0)
		remedy = "the figures are made without it";
	if (damage->offset)
		ts_fail(&err, TS_FORMAT, "%.*s: byte %llu: %.*s (%s)", TS_ARG(damage->file),
			(unsigned long long)damage->offset, TS_ARG(damage->cause), remedy);
	else
		ts_fail(&err, TS_FORMAT, "%.*s: %.*s (%s)", TS_ARG(damage->file),
			TS_ARG(damage->cause), remedy);
	ts_complain(err.text);
}

bool ts_complain_of_run(const struct ts_run *run, bool is_read)
{
	TS_ASSERT(run);
	for (size_t i = 0; i < run->nr_problems; i++)
		ts_complain(run->problems[i]);
	for (size_t i = 0; is_read && i < run->profile.nr_damage; i++)
		ts_complain_of_damage(&run->profile.damage[i], "what stands before it was read");
	return run->nr_problems > 0 || !ts_profile_is_whole(&run->profile);
}

/* The number that a variable of the environment is; 0: it is not one. */
static size_t console_number_in(const char *variable)
{
	const char *text = getenv(variable);
	uint64_t number = 0;

	return text && ts_bytes_u64(ts_bytes_of(text), &number) ? TS_MIN(number, INT16_MAX) : 0;
}

/* Columns of the terminal behind FD; 0: none is there, or it does not say. */
static size_t width_of(int fd)
{
	size_t columns = console_number_in("COLUMNS");
	struct winsize size;

	if (columns > 0 || !isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0)
		return columns;
	return size.ws_col;
}

/* It cannot move its cursor and has no colours. */
static bool is_dumb(void)
{
	const char *terminal = getenv("TERM");

	return terminal && strcmp(terminal, "dumb") == 0;
}

/* Over the line that was shown before, which blanks clear: a terminal without colours may not know ESC [K.
 * PERCENT 0: it is not known. TEXT empty: the line is to go. */
static void show_progress(const char *text, unsigned percent)
{
	size_t columns = width_of(STDERR_FILENO), width = columns > 10 ? columns - 1 : 79;
	struct ts_buf out = TS_BUF_INIT;
	size_t used;

	ts_buf_putc(&out, '\r');
	used = out.n;
	if (percent > 0)
		ts_buf_printf(&out, "%3u %% ", percent);
	used = out.n - used;
	ts_term_cell(&out, ts_bytes_of(text), width - used, TS_TERM_LEFT);
	if (!*text)
		ts_buf_putc(&out, '\r');
	if (!out.failed)
		fwrite(out.p, 1, out.n, stderr);
	fflush(stderr);
	ts_buf_release(&out);
}

static void show_percent(void *ctx, unsigned percent)
{
	const struct ts_progress *progress = ctx;

	show_progress(progress->text, percent);
}

void ts_progress_begin(struct ts_progress *progress, const struct ts_cli *cli, const char *text)
{
	TS_ASSERT(progress && cli && text);
	*progress = (struct ts_progress){ .cli = cli, .text = text, .meter = TS_METER_INIT };
	progress->meter.show = show_percent;
	progress->meter.ctx = progress;
	progress->is_shown = !cli->quiet && isatty(STDERR_FILENO) && !is_dumb();
	if (progress->is_shown)
		show_progress(text, 0);
}

struct ts_meter *ts_progress_meter(struct ts_progress *progress)
{
	TS_ASSERT(progress);
	return progress->is_shown ? &progress->meter : NULL;
}

void ts_progress_end(struct ts_progress *progress)
{
	TS_ASSERT(progress);
	if (progress->is_shown)
		show_progress("", 0);
	progress->is_shown = false;
}

void ts_outcome_note(struct ts_outcome *outcome, enum ts_status st, const struct ts_error *err)
{
	TS_ASSERT(outcome);
	outcome->nr_done += st == TS_OK;
	outcome->nr_bad += st != TS_OK;
	outcome->nr_damaged += st == TS_FORMAT;
	outcome->usage |= st == TS_USAGE;
	if (st && err->text[0])
		ts_complain(err->text);
}

void ts_outcome_of_output(struct ts_outcome *outcome, enum ts_status st)
{
	TS_ASSERT(outcome);
	outcome->unwritten |= st == TS_IO || st == TS_NOTFOUND; /* ENOENT: of its folder */
}

enum ts_exit ts_outcome_exit(const struct ts_outcome *outcome)
{
	TS_ASSERT(outcome);
	if (outcome->nr_done == 0 && !outcome->unwritten)
		return outcome->usage ? TS_EXIT_USAGE : TS_EXIT_NOTHING;
	return outcome->nr_bad || outcome->damaged ? TS_EXIT_SOME : TS_EXIT_DONE;
}

void ts_outcome_line(struct ts_buf *out, const struct ts_outcome *outcome, const char *done)
{
	size_t nr_known = outcome->nr_damaged + outcome->nr_empty;
	const struct {
		size_t nr;
		const char *word;
	} parts[] = {
		{ outcome->nr_done, done },
		{ outcome->nr_damaged, "damaged" },
		{ outcome->nr_empty, "empty" },
		{ outcome->nr_bad - TS_MIN(nr_known, outcome->nr_bad), "failed" },
	};
	const char *before = ": ";

	TS_ASSERT(out && outcome && done);
	if (outcome->nr_done + outcome->nr_bad < 2)
		return;
	ts_buf_printf(out, "\n%zu sessions", outcome->nr_done + outcome->nr_bad);
	for (size_t i = 0; i < TS_NELEM(parts); i++) {
		if (parts[i].nr == 0)
			continue;
		ts_buf_printf(out, "%s%zu %s", before, parts[i].nr, parts[i].word);
		before = ", ";
	}
	ts_buf_putc(out, '\n');
}

bool ts_use_color(const struct ts_cli *cli)
{
	const char *no_color = getenv("NO_COLOR"); /* no-color.org */

	TS_ASSERT(cli);
	if (cli->color != TS_COLOR_AUTO)
		return cli->color == TS_COLOR_ALWAYS;
	return isatty(STDOUT_FILENO) && !is_dumb() && !(no_color && no_color[0]);
}

size_t ts_terminal_width(void)
{
	return width_of(STDOUT_FILENO);
}

size_t ts_terminal_height(void)
{
	size_t lines = console_number_in("LINES");
	struct winsize size;

	if (lines > 0 || !isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
		return lines;
	return size.ws_row;
}

/* A reader that has seen enough (`| head`) is not a failure; what cannot be written is said once. */
bool ts_print(struct ts_bytes text)
{
	bool has_failed = ferror(stdout); /* then the complaint was made */
	bool good = fwrite(text.p ? text.p : (const uint8_t *)"", 1, text.n, stdout) == text.n &&
		    fflush(stdout) == 0;

	struct ts_error err = TS_ERROR_INIT;

	if (!good && errno == EPIPE)
		clearerr(stdout);
	if (good || !ferror(stdout))
		return true;
	ts_fail(&err, TS_IO, "standard output: cannot write it: %s", strerror(errno));
	if (!has_failed)
		ts_complain(err.text);
	return false;
}

static bool console_is_console(const char *path)
{
	return !path || strcmp(path, "-") == 0;
}

bool ts_print_to(const struct ts_cli *cli, const char *path, struct ts_bytes text)
{
	const struct ts_newfile_use use = { .is_named = true, .sources = cli->sources };
	struct ts_error err = TS_ERROR_INIT;

	if (console_is_console(path))
		return ts_print(text);
	if (ts_newfile_save_for(path, text, &use, &err) == TS_OK)
		return true;
	ts_complain(err.text);
	return false;
}

static bool console_put_piece(struct ts_printer *printer, struct ts_bytes piece)
{
	const struct ts_newfile_use use = { .is_named = true, .sources = printer->cli->sources };
	struct ts_error err = TS_ERROR_INIT;
	enum ts_status st = TS_OK;

	if (console_is_console(printer->path))
		return ts_print(piece);
	if (!printer->has_begun)
		st = ts_newfile_open_for(&printer->file, printer->path, &use, &err);
	printer->has_begun = true;
	if (st == TS_OK)
		st = ts_newfile_put(&printer->file, piece, &err);
	if (st)
		ts_complain(err.text);
	return st == TS_OK;
}

enum ts_status ts_printer_take(void *arg, struct ts_bytes piece, struct ts_error *err)
{
	struct ts_printer *printer = arg;

	printer->failed = printer->failed || !console_put_piece(printer, piece);
	return TS_OK; /* what cannot be written is known at the end */
}

bool ts_printer_end(struct ts_printer *printer, struct ts_bytes piece)
{
	struct ts_error err = TS_ERROR_INIT;

	TS_ASSERT(printer);
	if (printer->failed)
		return false;
	if (!printer->has_begun)
		return ts_print_to(printer->cli, printer->path, piece);
	if (!console_put_piece(printer, piece))
		return false;
	if (ts_newfile_commit(&printer->file, &err) == TS_OK)
		return true;
	ts_complain(err.text);
	return false;
}

void ts_printer_release(struct ts_printer *printer)
{
	TS_ASSERT(printer);
	ts_newfile_release(&printer->file);
}

enum ts_exit ts_exit_of(enum ts_status st)
{
	return st == TS_USAGE ? TS_EXIT_USAGE : TS_EXIT_NOTHING;
}
