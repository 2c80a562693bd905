/* SPDX-License-Identifier: MIT */
/*
 * A table that is changed under a lock that spins. Its holder lets no signal in, so the handler
 * finds the lock free or held by another thread, which goes on; and whoever waits for it, waits.
 * The handler itself never gives it back. unlinkat(), poll(), sigaction() and raise() may be called
 * in a handler (POSIX, 2.4.3).
 */
#include "io/temps.h"

#include "base/check.h"
#include "base/bytes.h"
#include "io/sys.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define NAME_ROOM 256

static struct temp {
	int dir_fd;
	char name[NAME_ROOM]; /* empty: free */
} temps[TS_TEMPS_MAX];
static atomic_flag is_locked = ATOMIC_FLAG_INIT;

static void temps_take(void)
{
	while (atomic_flag_test_and_set(&is_locked))
		(void)poll(NULL, 0, 1);
}

static void lock(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, before);
	temps_take();
}

static void unlock(const sigset_t *before)
{
	atomic_flag_clear(&is_locked);
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* NAME "" finds a free place. */
static struct temp *temps_find(int dir_fd, const char *name)
{
	for (size_t i = 0; i < TS_TEMPS_MAX; i++)
		if (strcmp(temps[i].name, name) == 0 && (!name[0] || temps[i].dir_fd == dir_fd))
			return &temps[i];
	return NULL;
}

static void temps_forget(int dir_fd, const char *name)
{
	struct temp *temp = temps_find(dir_fd, name);

	if (temp)
		temp->name[0] = '\0';
}

int ts_temps_make(int dir_fd, const char *name, mode_t mode)
{
	struct temp *temp;
	sigset_t before;
	int fd;

	TS_ASSERT(name && name[0] && strlen(name) < NAME_ROOM);
	lock(&before);
	fd = ts_sys_make(dir_fd, name, O_RDWR | O_CREAT | O_EXCL, mode);
	temp = fd >= 0 ? temps_find(-1, "") : NULL;
	if (temp) {
		temp->dir_fd = dir_fd;
		memcpy(temp->name, name, strlen(name) + 1);
	}
	unlock(&before);
	return fd;
}

int ts_temps_rename(int dir_fd, const char *name, const char *to)
{
	sigset_t before;
	int answer;

	TS_ASSERT(name && name[0] && to);
	lock(&before);
	answer = ts_sys_rename(dir_fd, name, dir_fd, to);
	if (answer == 0)
		temps_forget(dir_fd, name);
	unlock(&before);
	return answer;
}

enum ts_status ts_temps_finish(int dir_fd, const char *name, enum ts_status (*finish)(void *ctx),
			       void *ctx)
{
	enum ts_status st;
	sigset_t before;

	TS_ASSERT(name && name[0] && finish);
	lock(&before);
	st = finish(ctx);
	if (!st)
		temps_forget(dir_fd, name);
	unlock(&before);
	return st;
}

void ts_temps_remove(int dir_fd, const char *name)
{
	sigset_t before;

	TS_ASSERT(name && name[0]);
	lock(&before);
	(void)ts_sys_unlink(dir_fd, name);
	temps_forget(dir_fd, name);
	unlock(&before);
}

void ts_temps_remove_all(void)
{
	temps_take();
	for (size_t i = 0; i < TS_TEMPS_MAX; i++)
		if (temps[i].name[0])
			(void)unlinkat(temps[i].dir_fd, temps[i].name, 0);
}

/* The signal comes again when the handler returns, and does what it always does. */
static void temps_end(int number)
{
	ts_temps_remove_all();
	raise(number);
}

void ts_temps_go_with_us(void)
{
	static const int endings[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action, now;

	memset(&action, 0, sizeof(action));
	action.sa_handler = temps_end;
	action.sa_flags = (int)SA_RESETHAND;
	for (size_t i = 0; i < TS_NELEM(endings); i++)
		sigaddset(&action.sa_mask, endings[i]);
	for (size_t i = 0; i < TS_NELEM(endings); i++)
		if (sigaction(endings[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
			sigaction(endings[i], &action, NULL);
}
