/* SPDX-License-Identifier: MIT */
/* The helper gets one end of a pair of sockets for each work; the child reads its question there, and answers there. */
#include "serve/child.h"

#include "base/check.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SOCK_CLOEXEC
#define SOCK_CLOEXEC 0 /* an alert's program may inherit them then */
#endif
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* SIGPIPE is ignored (cli/program.c) */
#endif
#define LOOK_MS 100 /* between looks whether somebody still waits */

struct ts_helper {
	int to_helper;
	pid_t pid;
};

/* The child is a copy of this program: an address means the same there. */
struct question {
	ts_child_fn *fn;
	size_t nr_bytes;
};

struct answer {
	enum ts_status status;
	size_t nr_bytes;
	char text[sizeof(((struct ts_error *)NULL)->text)]; /* the story of a bad status */
};

static bool child_put(int to, const void *p, size_t n)
{
	const uint8_t *from = p;

	while (n > 0) {
		ssize_t child_put = send(to, from, n, MSG_NOSIGNAL);

		if (child_put < 0 && errno == EINTR)
			continue;
		if (child_put <= 0)
			return false;
		from += child_put;
		n -= (size_t)child_put;
	}
	return true;
}

/* False: it ended before, or HALT asked for it. */
static bool child_get(int from, void *p, size_t n, const struct ts_halt *halt)
{
	struct pollfd wait = { .fd = from, .events = POLLIN };
	uint8_t *to = p;

	while (n > 0) {
		ssize_t got = -1;

		if (halt && poll(&wait, 1, LOOK_MS) <= 0) {
			if (ts_is_halted(halt))
				return false;
			continue;
		}
		got = recv(from, to, n, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		to += got;
		n -= (size_t)got;
	}
	return true;
}

static bool make_pair(int ends[2])
{
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
}

/* ---- the child */

/* Who waits keeps its end open. */
static bool is_left(void *arg)
{
	struct pollfd end = { .fd = *(const int *)arg };

	return poll(&end, 1, 0) > 0 && (end.revents & (POLLHUP | POLLERR));
}

static void child_answer_question(int fd, void *ctx)
{
	const struct ts_halt halt = { is_left, &fd };
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf bytes = TS_BUF_INIT, out = TS_BUF_INIT;
	struct question question;
	struct answer answer = { .nr_bytes = 0 };

	if (!child_get(fd, &question, sizeof(question), NULL))
		return;
	if (!ts_buf_room(&bytes, question.nr_bytes))
		answer.status = ts_fail_nomem(&err);
	else if (!child_get(fd, bytes.p, question.nr_bytes, NULL))
		return;
	if (answer.status == TS_OK)
		answer.status = question.fn(ctx, (struct ts_bytes){ bytes.p, question.nr_bytes },
					    &halt, &out, &err);
	if (answer.status == TS_OK && out.failed)
		answer.status = ts_fail_nomem(&err);
	memcpy(answer.text, err.text, sizeof(answer.text));
	answer.nr_bytes = answer.status ? 0 : out.n;
	if (child_put(fd, &answer, sizeof(answer)))
		(void)child_put(fd, out.p, answer.nr_bytes);
}

/* ---- the helper */

union control {
	struct cmsghdr head; /* aligns */
	char bytes[CMSG_SPACE(sizeof(int))];
};

static int receive(int from) /* -1: the server has ended */
{
	union control control;
	char byte;
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = sizeof(control.bytes) };
	const struct cmsghdr *head;
	ssize_t n;
	int fd;

	do
		n = recvmsg(from, &message, 0);
	while (n < 0 && errno == EINTR);
	head = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (!head || head->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

_Noreturn static void help(int from, void *ctx)
{
	int fd;

	signal(SIGCHLD,
	       SIG_IGN); /* nobody asks how a child ended: its answer is there, or it is not */
	while ((fd = receive(from)) >= 0) {
		if (fork() == 0) {
			close(from);
			child_answer_question(fd, ctx);
			_exit(0);
		}
		close(fd);
	}
	_exit(0);
}

/* ---- the program */

struct ts_helper *ts_helper_new(void *ctx)
{
	struct ts_helper *helper = calloc(1, sizeof(*helper));
	int ends[2];

	if (!helper || !make_pair(ends)) {
		free(helper);
		return NULL;
	}
	helper->pid = fork();
	if (helper->pid == 0) {
		close(ends[0]);
		help(ends[1], ctx);
	}
	close(ends[1]);
	helper->to_helper = ends[0];
	if (helper->pid > 0)
		return helper;
	close(ends[0]);
	free(helper);
	return NULL;
}

void ts_helper_free(struct ts_helper *helper)
{
	if (!helper)
		return;
	close(helper->to_helper);
	while (waitpid(helper->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(helper);
}

static bool child_hand_over(const struct ts_helper *helper, int fd)
{
	union control control = { .bytes = { 0 } };
	char byte = 0;
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	return sendmsg(helper->to_helper, &message, MSG_NOSIGNAL) == 1;
}

/* The child's end is open in the child alone: where that dies, reading ends. */
static int child_start_child(const struct ts_helper *helper,
			     struct ts_error *err) /* -1: with a story */
{
	int ends[2];
	bool good;

	if (!make_pair(ends)) {
		ts_fail_errno(err, errno, "a report's process", "reach it");
		return -1;
	}
	good = child_hand_over(helper, ends[1]);
	close(ends[1]);
	if (good)
		return ends[0];
	close(ends[0]);
	ts_fail(err, TS_IO,
		"the helper that starts a process for each report is gone (start the server "
		"again)");
	return -1;
}

static enum ts_status child_fail(const struct ts_halt *halt, struct ts_error *err)
{
	if (ts_is_halted(halt))
		return ts_fail(err, TS_HALTED, "the request was cancelled");
	return ts_fail(
		err, TS_IO,
		"the process that made this ended before it was done: memory ran out, a file was "
		"cut short while it was read, or it met a fault of TPUsight (`tpusight report` "
		"shows more)");
}

/* What a child says is believed no more than a profile is. */
static enum ts_status take_answer(int fd, struct answer *answer, const struct ts_halt *halt,
				  struct ts_buf *out, struct ts_error *err)
{
	answer->text[sizeof(answer->text) - 1] = '\0';
	if (answer->status)
		return ts_fail(err, answer->status, "%s", answer->text);
	if (answer->nr_bytes > TS_CHILD_BYTES)
		return ts_fail(err, TS_LIMIT, "more than %zu MiB of one report",
			       TS_CHILD_BYTES >> 20);
	if (!ts_buf_room(out, answer->nr_bytes))
		return ts_fail_nomem(err);
	if (!child_get(fd, out->p + out->n, answer->nr_bytes, halt))
		return child_fail(halt, err);
	out->n += answer->nr_bytes;
	return TS_OK;
}

enum ts_status ts_child_run(const struct ts_helper *helper, ts_child_fn *fn,
			    struct ts_bytes question, const struct ts_halt *halt,
			    struct ts_buf *out, struct ts_error *err)
{
	const struct question head = { fn, question.n };
	struct answer answer;
	enum ts_status st;
	int fd;

	TS_ASSERT(helper && fn && out);
	fd = child_start_child(helper, err);
	if (fd < 0)
		return TS_IO;
	if (child_put(fd, &head, sizeof(head)) && child_put(fd, question.p, question.n) &&
	    child_get(fd, &answer, sizeof(answer), halt))
		st = take_answer(fd, &answer, halt, out, err);
	else
		st = child_fail(halt, err);
	close(fd);
	return st;
}
