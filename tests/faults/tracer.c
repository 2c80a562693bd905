/* SPDX-License-Identifier: MIT */
/*
 * Ends a program at a system call of its own choosing, or records what it does to files.
 *
 *	tracer list PROGRAM...			a line for each call: "NUMBER NAME" where it can change files, else "NUMBER -"
 *	tracer enter NUMBER SIGNAL PROGRAM...	the program gets the signal when it enters the call of this number
 *	tracer leave NUMBER SIGNAL PROGRAM...	when it has been done
 *	tracer record PROGRAM...		a line for each call that changed files, as struct record has it
 *
 * Calls of all threads are counted, from the program's first on. What tracer writes goes to descriptor 3, and it ends as
 * the program did (128 and the signal's number); 77: this system does not let it trace. Linux 5.3 and newer.
 */
#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANNOT	    77
#define MAX_THREADS 64
#define CHUNK	    65536
#define PATH_ROOM   4096

/* What a call's arguments are, for the record. */
enum shape {
	OPEN_AT,  /* folder, name, flags */
	WRITE,	  /* descriptor; what was written stands before its position */
	PWRITE,	  /* descriptor, -, -, offset */
	COPY,	  /* -, -, descriptor: as WRITE */
	FD,	  /* descriptor */
	NAME,	  /* name */
	NAME_AT,  /* folder, name */
	TWO,	  /* name, name */
	TWO_AT,	  /* folder, name, folder, name */
	TRUNCATE, /* descriptor, length */
};

/* The calls that change files. Only x86-64 has those without -at. */
static const struct call {
	long number;
	const char *name;
	enum shape shape;
} calls[] = {
	{ SYS_openat, "open", OPEN_AT },
	{ SYS_write, "write", WRITE },
	{ SYS_writev, "write", WRITE },
	{ SYS_pwrite64, "write", PWRITE },
	{ SYS_copy_file_range, "write", COPY },
	{ SYS_ftruncate, "truncate", TRUNCATE },
	{ SYS_fsync, "sync", FD },
	{ SYS_fdatasync, "sync", FD },
	{ SYS_fchmod, "chmod", FD },
	{ SYS_fchown, "chown", FD },
	{ SYS_fsetxattr, "setxattr", FD },
	{ SYS_renameat2, "rename", TWO_AT },
	{ SYS_linkat, "link", TWO_AT },
	{ SYS_unlinkat, "unlink", NAME_AT },
	{ SYS_mkdirat, "mkdir", NAME_AT },
#ifdef SYS_renameat
	{ SYS_renameat, "rename", TWO_AT },
#endif
#ifdef SYS_rename
	{ SYS_rename, "rename", TWO },
	{ SYS_link, "link", TWO },
	{ SYS_unlink, "unlink", NAME },
	{ SYS_rmdir, "unlink", NAME },
	{ SYS_mkdir, "mkdir", NAME },
#endif
};

/* A thread, and the call in which it is. */
static struct thread {
	pid_t id;
	long number; /* of the call, among all */
	const struct call *call;
	uint64_t args[6];
} threads[MAX_THREADS];

static struct {
	bool lists, records, at_leave;
	long at;
	int signal;
	long nr_calls;
	FILE *out;
	pid_t program;
} tracer;

static struct thread *thread_of(pid_t id)
{
	struct thread *unused = NULL;

	for (size_t i = 0; i < MAX_THREADS; i++) {
		if (threads[i].id == id)
			return &threads[i];
		if (threads[i].id == 0)
			unused = &threads[i];
	}
	if (!unused)
		exit(CANNOT);
	*unused = (struct thread){ .id = id };
	return unused;
}

static const struct call *call_of(const struct __ptrace_syscall_info *info)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if ((uint64_t)calls[i].number != info->entry.nr)
			continue;
		if (calls[i].shape == OPEN_AT && !(info->entry.args[2] & (O_CREAT | O_TRUNC)) &&
		    (info->entry.args[2] & O_TMPFILE) != O_TMPFILE)
			return NULL;
		return &calls[i];
	}
	return NULL;
}

/* The record: "NAME<tab>INODE<tab>PATH<tab>SECOND PATH<tab>OFFSET<tab>DATA in hex". */
struct record {
	const char *name;
	uint64_t inode;
	char path[2 * PATH_ROOM], second[2 * PATH_ROOM];
	uint64_t offset, length;
	int fd; /* that holds the data; -1: there is none */
};

static void read_text(pid_t id, uint64_t at, char *text)
{
	size_t n = 0;

	/* a byte at a time: the page behind the text may not be there */
	while (n < PATH_ROOM - 1) {
		struct iovec here = { text + n, 1 };
		struct iovec there = { (void *)(uintptr_t)(at + n), 1 };

		if (process_vm_readv(id, &here, 1, &there, 1, 0) != 1 || text[n] == '\0')
			break;
		n++;
	}
	text[n] = '\0';
}

static void put_path(pid_t id, int dir, uint64_t at, char *path)
{
	char link[64];
	ssize_t n = 0;

	if (dir == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/%d/cwd", id);
	else
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", id, dir);
	read_text(id, at, path);
	if (path[0] == '/')
		return;
	n = readlink(link, path, PATH_ROOM - 1);
	path[n > 0 ? n++ : 0] = '/';
	read_text(id, at, path + n);
}

/* The file behind a descriptor of the program: its inode, and it opened here. */
static void put_file(pid_t id, int fd, struct record *record)
{
	char link[64];
	struct stat st;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", id, fd);
	n = readlink(link, record->path, PATH_ROOM);
	record->path[n > 0 ? n : 0] = '\0';
	if (stat(link, &st) == 0)
		record->inode = (uint64_t)st.st_ino;
	if (S_ISREG(st.st_mode))
		record->fd = open(link, O_RDONLY | O_CLOEXEC);
}

static uint64_t position(pid_t id, int fd)
{
	char name[64];
	uint64_t at = 0;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/fdinfo/%d", id, fd);
	file = fopen(name, "r");
	if (file && fscanf(file, "pos: %" SCNu64, &at) != 1)
		at = 0;
	if (file)
		fclose(file);
	return at;
}

static void print(struct record *record)
{
	static uint8_t bytes[CHUNK];
	ssize_t n = 0;

	fprintf(tracer.out, "%s\t%" PRIu64 "\t%s\t%s\t%" PRIu64 "\t", record->name, record->inode,
		record->path, record->second, record->offset);
	for (uint64_t at = 0; record->fd >= 0 && at < record->length; at += (uint64_t)n) {
		uint64_t left = record->length - at;

		n = pread(record->fd, bytes, left < CHUNK ? left : CHUNK,
			  (off_t)(record->offset + at));
		if (n <= 0)
			break;
		for (ssize_t i = 0; i < n; i++)
			fprintf(tracer.out, "%02x", bytes[i]);
	}
	fputc('\n', tracer.out);
	if (record->fd >= 0)
		close(record->fd);
}

static void put_written(const struct thread *thread, int fd, uint64_t n, struct record *record)
{
	put_file(thread->id, fd, record);
	record->length = n;
	if (thread->call->shape == PWRITE)
		record->offset = thread->args[3];
	else
		record->offset = position(thread->id, fd) - n;
}

static bool exchanges(const struct thread *thread)
{
	return thread->call->number == SYS_renameat2 && (thread->args[4] & RENAME_EXCHANGE);
}

/* What the call changed: it went well, with ANSWER. */
static void record_call(const struct thread *thread, int64_t answer)
{
	static struct record record;
	const uint64_t *args = thread->args;
	pid_t id = thread->id;

	record = (struct record){ .name = exchanges(thread) ? "exchange" : thread->call->name,
				  .fd = -1 };
	switch (thread->call->shape) {
	case OPEN_AT: put_file(id, (int)answer, &record); break;
	case WRITE:
	case PWRITE:  put_written(thread, (int)args[0], (uint64_t)answer, &record); break;
	case COPY:    put_written(thread, (int)args[2], (uint64_t)answer, &record); break;
	case FD:      put_file(id, (int)args[0], &record); break;
	case TRUNCATE:
		put_file(id, (int)args[0], &record);
		record.offset = args[1];
		break;
	case NAME:    put_path(id, AT_FDCWD, args[0], record.path); break;
	case NAME_AT: put_path(id, (int)args[0], args[1], record.path); break;
	case TWO:
		put_path(id, AT_FDCWD, args[0], record.path);
		put_path(id, AT_FDCWD, args[1], record.second);
		break;
	case TWO_AT:
		put_path(id, (int)args[0], args[1], record.path);
		put_path(id, (int)args[2], args[3], record.second);
		break;
	}
	print(&record);
}

static void act(long number, bool leaves)
{
	if (tracer.signal && number == tracer.at && leaves == tracer.at_leave)
		kill(tracer.program, tracer.signal);
}

static void enter(struct thread *thread, const struct __ptrace_syscall_info *info)
{
	thread->number = ++tracer.nr_calls;
	thread->call = call_of(info);
	memcpy(thread->args, info->entry.args, sizeof(thread->args));
	if (tracer.lists)
		fprintf(tracer.out, "%ld %s\n", thread->number,
			thread->call ? thread->call->name : "-");
	act(thread->number, false);
}

static void leave(struct thread *thread, const struct __ptrace_syscall_info *info)
{
	if (tracer.records && thread->call && !info->exit.is_error)
		record_call(thread, info->exit.rval);
	act(thread->number, true);
}

static void look(pid_t id)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, id, sizeof(info), &info) <= 0)
		return; /* killed meanwhile */
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
		enter(thread_of(id), &info);
	else if (info.op == PTRACE_SYSCALL_INFO_EXIT && thread_of(id)->number > 0)
		leave(thread_of(id), &info);
}

/* Runs on to the next stop; the program's status at its end. */
static int follow(void)
{
	int status;
	pid_t id;

	while ((id = waitpid(-1, &status, __WALL)) > 0) {
		int number = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;

		if (id == tracer.program && WIFEXITED(status))
			return WEXITSTATUS(status);
		if (id == tracer.program && WIFSIGNALED(status))
			return 128 + WTERMSIG(status);
		if (!WIFSTOPPED(status))
			continue;
		if (number == (SIGTRAP | 0x80))
			look(id);
		if (number == (SIGTRAP | 0x80) || status >> 16 || number == SIGSTOP)
			number = 0;
		ptrace(PTRACE_SYSCALL, id, NULL, (void *)(intptr_t)number);
	}
	return CANNOT;
}

static int trace(char **command)
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
			     PTRACE_O_EXITKILL;
	int status;

	tracer.program = fork();
	if (tracer.program == 0) {
		close(3);
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
			_exit(CANNOT);
		raise(SIGSTOP);
		execv(command[0], command);
		_exit(CANNOT);
	}
	if (tracer.program < 0 || waitpid(tracer.program, &status, 0) < 0 || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, tracer.program, NULL, (void *)options) != 0 ||
	    ptrace(PTRACE_SYSCALL, tracer.program, NULL, NULL) != 0)
		return CANNOT;
	return follow();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	bool has_point = strcmp(mode, "enter") == 0 || strcmp(mode, "leave") == 0;
	int first = has_point ? 4 : 2, status;

	if (argc <= first)
		return CANNOT;
	tracer.lists = strcmp(mode, "list") == 0;
	tracer.records = strcmp(mode, "record") == 0;
	tracer.at_leave = strcmp(mode, "leave") == 0;
	tracer.at = has_point ? strtol(argv[2], NULL, 10) : 0;
	tracer.signal = has_point ? (int)strtol(argv[3], NULL, 10) : 0;
	tracer.out = tracer.lists || tracer.records ? fdopen(3, "w") : stderr;
	if (!tracer.out)
		return CANNOT;
	status = trace(argv + first);
	return fflush(tracer.out) == 0 ? status : CANNOT;
}
#else
int main(void)
{
	return 77;
}
#endif
