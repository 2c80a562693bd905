/* SPDX-License-Identifier: MIT */
/* fork() and exec(); nothing is read here. */
#include "remote/keeper.h"

#include "base/check.h"
#include "base/bytes.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE_MS   6000 /* for helpers to take back what they had begun */
#define LOOK_MS	   10
#define REAP_MS	   30000 /* a helper that ended while no signal could say so */
#define OPEN_WALK  16
#define MAX_OTHERS 1024 /* descriptors that the program was started with */

enum { TO, FROM, WORDS, NR_PIPES };

/* What the keeper knows of a helper. */
struct child {
	pid_t pid; /* 0: it has ended */
	int ends[NR_PIPES];
};

static enum ts_status cannot_start(struct ts_error *err)
{
	return ts_fail(err, TS_IO, "a program cannot be started: %s (end others)", strerror(errno));
}

static enum ts_status make_pipe(int ends[2], struct ts_error *err)
{
	if (pipe(ends) != 0) {
		ends[0] = ends[1] = -1;
		return cannot_start(err);
	}
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	return TS_OK;
}

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Of the three pipes the program has one end each, and the child the others. */
static enum ts_status make_pipes(struct ts_helper *helper, struct child *child,
				 struct ts_error *err)
{
	int ends[NR_PIPES][2] = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
	enum ts_status st = TS_OK;

	for (int i = 0; i < NR_PIPES && st == TS_OK; i++)
		st = make_pipe(ends[i], err);
	helper->to = ends[TO][1];
	child->ends[TO] = ends[TO][0];
	helper->from = ends[FROM][0];
	child->ends[FROM] = ends[FROM][1];
	helper->words = ends[WORDS][0];
	child->ends[WORDS] = ends[WORDS][1];
	return st;
}

static void close_helper(struct ts_helper *helper)
{
	close_end(&helper->to);
	close_end(&helper->from);
	close_end(&helper->words);
}

static void keeper_set_signals(void (*what)(int))
{
	static const int all[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGBUS, SIGXFSZ };

	for (size_t i = 0; i < TS_NELEM(all); i++)
		signal(all[i], what);
}

static void keeper_become(const struct ts_helper *helper, const struct child *child)
{
	sigset_t none;

	setpgid(0, 0);
	keeper_set_signals(SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(child->ends[TO], STDIN_FILENO) >= 0 &&
	    dup2(child->ends[FROM], STDOUT_FILENO) >= 0 &&
	    dup2(child->ends[WORDS], STDERR_FILENO) >= 0)
		execl(helper->program, helper->program, helper->url, (char *)NULL);
	dprintf(STDERR_FILENO, "%s: it cannot be run: %s\n", helper->program, strerror(errno));
	_exit(127);
}

static void keeper_start_child(struct ts_helper *helper, struct child *child)
{
	child->pid = fork();
	if (child->pid == 0)
		keeper_become(helper, child);
	if (child->pid > 0)
		setpgid(child->pid, child->pid);
	else
		child->pid = 0;
	for (int i = 0; i < NR_PIPES; i++)
		close_end(&child->ends[i]);
	close_helper(helper); /* of this process; the program has them open */
}

static size_t reap(struct child *children, size_t nr)
{
	size_t nr_alive = 0;

	for (size_t i = 0; i < nr; i++) {
		if (children[i].pid > 0 && waitpid(children[i].pid, NULL, WNOHANG) != 0)
			children[i].pid = 0;
		nr_alive += children[i].pid > 0;
	}
	return nr_alive;
}

static void end_children(struct child *children, size_t nr, int number)
{
	for (size_t i = 0; i < nr; i++)
		if (children[i].pid > 0)
			kill(-children[i].pid, number);
}

static void wait_for_children(struct child *children, size_t nr, int64_t patience_ms)
{
	int64_t until_ms = ts_now_ms() + patience_ms;

	while (reap(children, nr) > 0 && ts_now_ms() < until_ms)
		(void)poll(NULL, 0, LOOK_MS);
}

static int keeper_remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st, (void)kind, (void)ftw;
	(void)remove(path);
	return 0;
}

static void on_child(int number)
{
	(void)number; /* it only ends the wait */
}

/* A reader of the program's output shall not wait for this process. */
static void leave_files(int but)
{
	int fd = open("/dev/null", O_RDWR);

	for (int i = STDIN_FILENO; fd >= 0 && i <= STDERR_FILENO; i++)
		(void)dup2(fd, i);
	for (int i = STDERR_FILENO + 1; i < MAX_OTHERS; i++)
		if (i != but)
			close(i);
}

static void keeper_keep(const char *scratch, struct ts_helper *helpers, struct child *children,
			size_t nr, int life)
{
	struct pollfd end = { .fd = life, .events = POLLIN };

	setsid();
	keeper_set_signals(SIG_IGN);
	signal(SIGCHLD, on_child);
	for (size_t i = 0; i < nr; i++)
		keeper_start_child(&helpers[i], &children[i]);
	leave_files(life);
	while (poll(&end, 1, REAP_MS) <= 0)
		reap(children, nr);
	end_children(children, nr, SIGTERM);
	wait_for_children(children, nr, GRACE_MS);
	end_children(children, nr, SIGKILL);
	wait_for_children(children, nr, GRACE_MS);
	(void)nftw(scratch, keeper_remove_one, OPEN_WALK, FTW_DEPTH | FTW_PHYS);
	_exit(0);
}

enum ts_status ts_keeper_start(struct ts_keeper *keeper, const char *scratch,
			       struct ts_helper *helpers, size_t nr, struct ts_error *err)
{
	struct child *children = calloc(nr + 1, sizeof(*children));
	int life[2] = { -1, -1 };
	enum ts_status st = children ? make_pipe(life, err) : ts_fail_nomem(err);

	TS_ASSERT(keeper && scratch && (helpers || nr == 0));
	*keeper = (struct ts_keeper){ 0, -1 };
	for (size_t i = 0; i < nr; i++) {
		helpers[i].to = helpers[i].from = helpers[i].words = -1;
		if (st == TS_OK)
			st = make_pipes(&helpers[i], &children[i], err);
	}
	fflush(NULL);
	keeper->pid = st == TS_OK ? fork() : -1;
	if (st == TS_OK && keeper->pid < 0)
		st = cannot_start(err);
	if (keeper->pid == 0) {
		close(life[1]);
		keeper_keep(scratch, helpers, children, nr, life[0]);
	}
	for (size_t i = 0; i < nr && children; i++)
		for (int k = 0; k < NR_PIPES; k++)
			if (children[i].ends[k] > STDERR_FILENO)
				close_end(&children[i].ends[k]);
	free(children);
	close_end(&life[0]);
	keeper->life = life[1];
	if (keeper->pid > 0)
		return TS_OK;
	for (size_t i = 0; i < nr; i++)
		close_helper(&helpers[i]);
	close_end(&keeper->life);
	keeper->pid = 0;
	return st;
}

void ts_keeper_end(struct ts_keeper *keeper)
{
	TS_ASSERT(keeper);
	if (keeper->pid <= 0)
		return;
	close_end(&keeper->life);
	while (waitpid(keeper->pid, NULL, 0) < 0 && errno == EINTR)
		;
	keeper->pid = 0;
}
