/* SPDX-License-Identifier: MIT */
/*
 * For targets that run whole commands: a log directory with one session that holds the input, on a file system in memory
 * where there is one, and commands that are run on it in this process. What they print is kept.
 *
 *	struct session session;
 *	struct said said;
 *
 *	session_fill(&session, bytes);
 *	session_run(&session, report, &said);	report: words that end with NULL
 *	... said.status, said.out, said.err
 *	said_release(&said);
 *
 * The folder is the process's own, is filled anew for each input, and goes when the process ends well. FOLDER, FILE_NAME
 * and OUTPUT stand in the words for the log directory, the input, and a name that nothing has yet.
 */
#ifndef TESTS_FUZZ_SESSION_H
#define TESTS_FUZZ_SESSION_H

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/cli.h"
#include "io/gzip.h"
#include "read/reader.h"

#define FOLDER	  "%folder"
#define FILE_NAME "%file"
#define OUTPUT	  "%output"
#define MAX_WORDS 16

struct session {
	char root[64], file[160], output[96];
};

struct said {
	int status;
	struct ts_buf out, err;
};

static struct session the_session; /* the process's own */
static int own_stderr = -1, kept_stderr = -1;
static struct sigaction old_abort;

/* With a sanitizer: where its report goes while a command has standard error. */
extern void __sanitizer_set_report_fd(void *fd) __attribute__((weak));

static inline void broken(const char *what)
{
	fprintf(stderr, "%s\n", what);
	abort();
}

static inline void all_of(int fd, struct ts_buf *out)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		broken("what was printed cannot be read");
	if (st.st_size == 0)
		return;
	if (!ts_buf_room(out, (size_t)st.st_size) ||
	    pread(fd, out->p + out->n, (size_t)st.st_size, 0) != st.st_size)
		broken("what was printed cannot be read");
	out->n += (size_t)st.st_size;
}

/* What an assertion said on its way out is shown after all. */
static void on_abort(int number)
{
	char text[4096];
	ssize_t n = kept_stderr >= 0 ? pread(kept_stderr, text, sizeof(text), 0) : 0;

	if (n > 0 && write(own_stderr, text, (size_t)n) == n)
		dup2(own_stderr, STDERR_FILENO);
	sigaction(SIGABRT, &old_abort, NULL);
	raise(number);
}

/* Removes what is in the folder, and with it the folder itself. */
static inline void session_empty(const char *path)
{
	char *const paths[] = { (char *)(uintptr_t)path, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	while (tree && (entry = fts_read(tree)) != NULL)
		if (entry->fts_info == FTS_DP)
			rmdir(entry->fts_accpath);
		else if (entry->fts_info != FTS_D)
			unlink(entry->fts_accpath);
	if (tree)
		fts_close(tree);
}

static void session_drop(void)
{
	session_empty(the_session.root);
}

static inline void session_begin(void)
{
	struct sigaction action;
	const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : getenv("TMPDIR");

	if (the_session.root[0])
		return;
	snprintf(the_session.root, sizeof(the_session.root), "%s/tpusight-fuzz-XXXXXX",
		 base ? base : "/tmp");
	if (!mkdtemp(the_session.root))
		broken("no temporary folder can be made");
	atexit(session_drop);
	memset(&action, 0, sizeof(action));
	action.sa_handler = on_abort;
	sigaction(SIGABRT, &action, &old_abort);
	own_stderr = dup(STDERR_FILENO);
	if (__sanitizer_set_report_fd)
		__sanitizer_set_report_fd((void *)(intptr_t)own_stderr);
}

/* A file is known by its name first, so it gets the one that such bytes have. */
static inline const char *session_name(struct ts_bytes bytes)
{
	const struct ts_reader *pprof = ts_reader_find("pprof");

	if (pprof->probe(TS_LIT("memory_profile.prof"), bytes) > 50)
		return "memory_profile.prof";
	if (ts_gzip_probe(bytes))
		return "host.pt.trace.json.gz";
	if (bytes.n && (bytes.p[0] == '{' || bytes.p[0] == '['))
		return "host.pt.trace.json";
	return "host.xplane.pb";
}

static inline void put_file(const char *path, struct ts_bytes bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0 || (bytes.n && write(fd, bytes.p, bytes.n) != (ssize_t)bytes.n) ||
	    close(fd) != 0)
		broken("the input cannot be written");
}

/* The same with a name of the caller's choice. */
static inline void session_fill_as(struct session *session, const char *name, struct ts_bytes bytes)
{
	static const char *const levels[] = { "", "/plugins", "/plugins/profile",
					      "/plugins/profile/s" };
	char path[128];

	session_begin();
	*session = the_session;
	session_empty(session->root);
	for (size_t i = 0; i < TS_NELEM(levels); i++) {
		snprintf(path, sizeof(path), "%s%s", session->root, levels[i]);
		if (mkdir(path, 0755) != 0)
			broken("a folder cannot be made");
	}
	snprintf(session->file, sizeof(session->file), "%s/%s", path, name);
	snprintf(session->output, sizeof(session->output), "%s/output", session->root);
	put_file(session->file, bytes);
}

static inline void session_fill(struct session *session, struct ts_bytes bytes)
{
	session_fill_as(session, session_name(bytes), bytes);
}

static inline int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static inline void list_file(const char *path, struct ts_buf *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		broken("a file of the session cannot be opened");
	ts_buf_puts(out, path);
	ts_buf_putc(out, '\n');
	all_of(fd, out);
	ts_buf_putc(out, '\n');
	close(fd);
}

/* The name of every file below the folder, in order, each with its bytes. */
static inline void session_list(const struct session *session, struct ts_buf *out)
{
	char *const paths[] = { (char *)(uintptr_t)session->root, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	FTSENT *entry;

	while (tree && (entry = fts_read(tree)) != NULL)
		if (entry->fts_info == FTS_F)
			list_file(entry->fts_accpath, out);
		else if (entry->fts_info != FTS_D && entry->fts_info != FTS_DP)
			broken("a link, or worse, is in the session");
	if (tree)
		fts_close(tree);
}

static inline const char *word_of(const struct session *session, const char *word)
{
	if (strcmp(word, FOLDER) == 0)
		return session->root;
	if (strcmp(word, FILE_NAME) == 0)
		return session->file;
	return strcmp(word, OUTPUT) == 0 ? session->output : word;
}

/* "tpusight WORDS...", with what it prints in SAID. */
static inline int session_run(const struct session *session, const char *const *words,
			      struct said *said)
{
	char *argv[MAX_WORDS + 2] = { (char *)(uintptr_t)"tpusight" };
	int argc = 1, out = memfd_create("out", MFD_CLOEXEC),
	    err = memfd_create("err", MFD_CLOEXEC);
	int own_stdout = dup(STDOUT_FILENO);

	for (; *words && argc <= MAX_WORDS; words++)
		argv[argc++] = (char *)(uintptr_t)word_of(session, *words);
	*said = (struct said){ 0, TS_BUF_INIT, TS_BUF_INIT };
	fflush(NULL);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	kept_stderr = err;
	setenv("TPUSIGHT_CONFINE", "0", 1); /* the next input has a folder of its own */
	said->status = ts_main("tpusight", NULL, argc, argv);
	fflush(NULL);
	kept_stderr = -1;
	dup2(own_stdout, STDOUT_FILENO);
	dup2(own_stderr, STDERR_FILENO);
	all_of(out, &said->out);
	all_of(err, &said->err);
	close(out);
	close(err);
	close(own_stdout);
	return said->status;
}

static inline void said_release(struct said *said)
{
	ts_buf_release(&said->out);
	ts_buf_release(&said->err);
}

#endif
