/* SPDX-License-Identifier: MIT */
/*
 * Landlock: Documentation/userspace-api/landlock.rst of Linux; its numbers are written down here,
 * since headers are often older than kernels. seccomp: seccomp(2).
 */
#include "io/confine.h"

#include "base/check.h"
#include "io/scratch.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	__has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

#if defined(__linux__) && defined(__x86_64__)
#define THIS_MACHINE AUDIT_ARCH_X86_64
#elif defined(__linux__) && defined(__aarch64__)
#define THIS_MACHINE AUDIT_ARCH_AARCH64
#endif

#if defined(THIS_MACHINE) && !defined(SANITIZED)

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT(n) (UINT64_C(1) << (n))

/* Rights over files, by their bits. READ_DIR (3) is left out: names are not confined. */
enum {
	FS_EXECUTE,
	FS_WRITE_FILE,
	FS_READ_FILE,
	FS_REMOVE_DIR = 4,
	FS_REMOVE_FILE,
	FS_MAKE_CHAR,
	FS_MAKE_DIR,
	FS_MAKE_REG,
	FS_MAKE_SOCK,
	FS_MAKE_FIFO,
	FS_MAKE_BLOCK,
	FS_MAKE_SYM,
	FS_REFER,
	FS_TRUNCATE,
};
#define OF_FILES     (BIT(FS_WRITE_FILE) | BIT(FS_READ_FILE) | BIT(FS_TRUNCATE))
#define OF_FOLDERS   (BIT(FS_REMOVE_DIR) | BIT(FS_REMOVE_FILE) | BIT(FS_MAKE_DIR) | BIT(FS_MAKE_REG) | BIT(FS_REFER))
#define NEVER_NEEDED (BIT(FS_EXECUTE) | BIT(FS_MAKE_CHAR) | BIT(FS_MAKE_SOCK) | BIT(FS_MAKE_FIFO) | BIT(FS_MAKE_BLOCK) | BIT(FS_MAKE_SYM))
#define NET_BIND     BIT(0)
#define NET_CONNECT  BIT(1)
#define OF_OTHERS    (BIT(0) | BIT(1)) /* abstract sockets and signals beyond the confined */

/* From which version on the kernel knows them; asked for what it does not know, it refuses all. */
enum { HAS_REFER = 2, HAS_TRUNCATE = 3, HAS_NET = 4, HAS_SCOPES = 6 };

struct ruleset {
	uint64_t files, net, scopes;
};

struct rule {
	uint64_t rights;
	int32_t fd;
} __attribute__((packed));

/* System calls from Linux 5.1 on have one number on all machines. */
enum {
	LANDLOCK_CREATE_RULESET = 444,
	LANDLOCK_ADD_RULE,
	LANDLOCK_RESTRICT_SELF,
	VERSION = 1,	  /* a flag of the first */
	PATH_BENEATH = 1, /* a kind of rule */
};

static uint64_t rights_known(int version)
{
	uint64_t rights = OF_FILES | OF_FOLDERS | NEVER_NEEDED;

	if (version < HAS_REFER)
		rights &= ~BIT(FS_REFER);
	if (version < HAS_TRUNCATE)
		rights &= ~BIT(FS_TRUNCATE);
	return rights;
}

static uint64_t net_closed(const struct ts_confine *confine)
{
	uint64_t closed = 0;

	if (confine->landlock < HAS_NET)
		return 0;
	if (!(confine->needs & TS_LISTENS))
		closed |= NET_BIND;
	if (!(confine->needs & TS_CONNECTS))
		closed |= NET_CONNECT;
	return closed;
}

bool ts_confine_is_possible(void)
{
	return true;
}

void ts_confine_init(struct ts_confine *confine, unsigned needs)
{
	long version = syscall(LANDLOCK_CREATE_RULESET, NULL, 0, VERSION);
	struct ruleset all;

	TS_ASSERT(confine);
	*confine = (struct ts_confine){ .needs = needs, .ruleset = -1 };
	if (version < 1)
		return;
	confine->landlock = (int)version;
	all = (struct ruleset){ .files = rights_known(confine->landlock),
				.net = net_closed(confine),
				.scopes = version < HAS_SCOPES ? 0 : OF_OTHERS };
	confine->ruleset = (int)syscall(LANDLOCK_CREATE_RULESET, &all, sizeof(all), 0);
}

void ts_confine_allow(struct ts_confine *confine, const char *path, enum ts_access access)
{
	struct rule rule = { .rights = access == TS_ACCESS_WRITE ? OF_FILES | OF_FOLDERS
								 : BIT(FS_READ_FILE) };
	struct stat st;

	TS_ASSERT(confine && path);
	if (confine->ruleset < 0)
		return;
	rule.fd = open(path, O_PATH | O_CLOEXEC);
	if (rule.fd < 0)
		return;
	if (fstat(rule.fd, &st) == 0 && !S_ISDIR(st.st_mode))
		rule.rights &= OF_FILES;
	rule.rights &= rights_known(confine->landlock);
	/* a pipe or a socket has no place below which it lies, and is not confined */
	(void)syscall(LANDLOCK_ADD_RULE, confine->ruleset, PATH_BENEATH, &rule, 0);
	close(rule.fd);
}

void ts_confine_allow_system(struct ts_confine *confine)
{
	static const char *const read[] = {
		"/usr", "/lib",	 "/lib64", "/opt", "/nix/store", "/etc", "/run/systemd/resolve",
		"/dev", "/proc", "/sys"
	};
	static const char *const written[] = { "/dev/null", "/dev/tty", "/dev/stdin", "/dev/stdout",
					       "/dev/stderr" };
	size_t tried = 0;
	const char *temporary = ts_scratch_folder(tried);

	for (size_t i = 0; i < TS_NELEM(read); i++)
		ts_confine_allow(confine, read[i], TS_ACCESS_READ);
	for (size_t i = 0; i < TS_NELEM(written); i++)
		ts_confine_allow(confine, written[i], TS_ACCESS_WRITE);
	while (temporary && access(temporary, W_OK) != 0)
		temporary = ts_scratch_folder(++tried);
	if (temporary)
		ts_confine_allow(confine, temporary, TS_ACCESS_WRITE);
}

/* What no reader, no analysis and no output calls. */
static const uint32_t always_denied[] = {
	/* into other processes */
	SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_userfaultfd,
	SYS_perf_event_open, 438 /* pidfd_getfd */, 440 /* process_madvise */,
	/* into the kernel */
	SYS_bpf, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_add_key,
	SYS_request_key, SYS_keyctl, 425 /* io_uring_setup */, 426 /* io_uring_enter */,
	427 /* io_uring_register */,
	/* into another view of the files */
	SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns,
	SYS_open_by_handle_at, SYS_fanotify_init, 428 /* open_tree */, 429 /* move_mount */,
	430 /* fsopen */, 432 /* fsmount */, 442 /* mount_setattr */,
	/* of the machine */
	SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct, SYS_quotactl, SYS_sethostname,
	SYS_setdomainname, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime,
	SYS_syslog, SYS_personality
};

static const struct {
	unsigned unless; /* the command needs one of these */
	uint32_t number;
} denied[] = {
	{ TS_RUNS_PROGRAMS, SYS_execve },
	{ TS_RUNS_PROGRAMS, SYS_execveat },
	{ TS_LISTENS | TS_CONNECTS, SYS_socket },
	{ TS_CONNECTS, SYS_connect },
	{ TS_LISTENS, SYS_listen },
	{ TS_LISTENS, SYS_accept },
	{ TS_LISTENS, SYS_accept4 },
};

#define X32 0x40000000 /* from here on x86 has other numbers for the same calls */
enum { NR_HEAD = 4, NR_CALLS = TS_NELEM(always_denied) + TS_NELEM(denied), NR_TAIL = 2 };

static struct sock_filter equals(uint32_t value, size_t then, size_t otherwise)
{
	return (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, (uint8_t)then,
					    (uint8_t)otherwise);
}

/* The calls that are denied, at OUT. */
static size_t confine_choose(unsigned needs, uint32_t *out)
{
	size_t nr = TS_NELEM(always_denied);

	memcpy(out, always_denied, sizeof(always_denied));
	for (size_t i = 0; i < TS_NELEM(denied); i++)
		if (!(needs & denied[i].unless))
			out[nr++] = denied[i].number;
	return nr;
}

static bool filter_calls(unsigned needs)
{
	uint32_t calls[NR_CALLS];
	struct sock_filter code[NR_HEAD + NR_CALLS + NR_TAIL];
	size_t nr_calls = confine_choose(needs, calls), n = 0;
	struct sock_fprog program = { .filter = code };

	_Static_assert(NR_CALLS < 250, "a jump reaches over 255 lines");
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, arch));
	code[n++] = equals(THIS_MACHINE, 0, nr_calls + 3);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32,
						 (uint8_t)(nr_calls + 1), 0);
	for (size_t i = 0; i < nr_calls; i++)
		code[n++] = equals(calls[i], nr_calls - i, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	program.len = (unsigned short)n;
	/* without the flag, kernels before 5.16 slow the whole process down */
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
		       &program) == 0;
}

void ts_confine_enter(struct ts_confine *confine)
{
	bool can = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;

	TS_ASSERT(confine);
	if (!can || confine->ruleset < 0 ||
	    syscall(LANDLOCK_RESTRICT_SELF, confine->ruleset, 0) != 0)
		confine->landlock = 0;
	if (confine->ruleset >= 0)
		close(confine->ruleset);
	confine->ruleset = -1;
	confine->seccomp = can && filter_calls(confine->needs);
}

#else

bool ts_confine_is_possible(void)
{
	return false;
}

void ts_confine_init(struct ts_confine *confine, unsigned needs)
{
	*confine = (struct ts_confine){ .needs = needs, .ruleset = -1 };
}

void ts_confine_allow(struct ts_confine *confine, const char *path, enum ts_access access)
{
	(void)confine, (void)path, (void)access;
}

void ts_confine_allow_system(struct ts_confine *confine)
{
	(void)confine;
}

void ts_confine_enter(struct ts_confine *confine)
{
	(void)confine;
}

#endif
