/* The console: complaints, progress, output. */
#include "cli/cli.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/units.h"
#include "io/newfile.h"

void ts_complain(const char *text)
{
	fprintf(stderr, "tpusight: %s\n", text);
}

void ts_progress(const struct ts_cli *cli, const char *text)
{
	if (cli->quiet || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[K%s", text ? text : "");
	fflush(stderr);
}

bool ts_use_color(const struct ts_cli *cli)
{
	const char *no_color = getenv("NO_COLOR"); /* no-color.org */

	if (cli->color != TS_COLOR_AUTO)
		return cli->color == TS_COLOR_ALWAYS;
	return isatty(STDOUT_FILENO) && !(no_color && no_color[0]);
}

size_t ts_terminal_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
		return 0;
	return size.ws_col;
}

bool ts_print(struct ts_bytes text)
{
	bool good = fwrite(text.p ? text.p : (const uint8_t *)"", 1, text.n, stdout) == text.n &&
		    fflush(stdout) == 0;

	if (!good)
		ts_complain("standard output: cannot write (is the disk full, or the pipe closed?)");
	return good;
}

bool ts_print_to(const char *path, struct ts_bytes text)
{
	struct ts_error err = TS_ERROR_INIT;

	if (!path || strcmp(path, "-") == 0)
		return ts_print(text);
	if (ts_newfile_save(path, text, &err) == TS_OK)
		return true;
	ts_complain(err.text);
	return false;
}

enum ts_status ts_find_sessions(const struct ts_cli *cli, struct ts_runs *runs, size_t *nr_bad,
				struct ts_error *err)
{
	struct ts_error problem = TS_ERROR_INIT;

	*nr_bad = 0;
	for (size_t i = 0; i < cli->nr_paths; i++) {
		enum ts_status st = ts_runs_find(runs, cli->paths[i], &problem);

		if (st == TS_NOMEM)
			return ts_fail_nomem(err);
		if (st) {
			ts_complain(problem.text);
			(*nr_bad)++;
		}
	}
	for (size_t i = 0; i < runs->nr_problems; i++)
		ts_complain(runs->problems[i]);
	*nr_bad += runs->nr_problems;
	return TS_OK;
}
