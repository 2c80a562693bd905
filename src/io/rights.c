/* SPDX-License-Identifier: MIT */
/*
 * ACLs as Linux shows them to programs: an attribute of 4 bytes (a version), then 8 bytes an entry - tag,
 * bits and id, least byte first (acl(5), linux/posix_acl_xattr.h). The mode's middle bits are then the
 * mask, which bounds all but the owner and the others; the group's own bits are an entry.
 */
#include "io/rights.h"

#include "base/check.h"
#include "io/sys.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_LGETXATTR
#include <sys/xattr.h>
#endif

#define ACL_HEAD  4
#define ACL_ENTRY 8
#define ACL_BITS  2 /* in an entry */
enum { ACL_USER_OBJ = 1, ACL_GROUP_OBJ = 4, ACL_MASK = 16, ACL_OTHER = 32 };

#define ALL   07u
#define OWNER 06u

static uint8_t *acl_bits(const struct ts_rights *rights, uint8_t tag)
{
	for (size_t at = ACL_HEAD; at + ACL_ENTRY <= rights->acl.n; at += ACL_ENTRY)
		if (rights->acl.p[at] == tag && rights->acl.p[at + 1] == 0)
			return rights->acl.p + at + ACL_BITS;
	return NULL;
}

/* What the file's own group may do. */
static uint32_t group_bits(const struct ts_rights *rights)
{
	const uint8_t *group = acl_bits(rights, ACL_GROUP_OBJ);
	uint32_t bits = rights->mode >> 3 & ALL;

	return group ? bits & *group : bits;
}

static void set_bits(struct ts_rights *rights, uint32_t group, uint32_t others)
{
	rights->mode = (rights->mode & ~077u) | group << 3 | others;
}

/* Users and groups that the ACL named become others, and have what all of these had. */
static void drop_acl(struct ts_rights *rights)
{
	set_bits(rights, group_bits(rights), rights->mode & ALL);
	ts_buf_clear(&rights->acl);
}

/* The group is another one, and the old one's members are others. */
static void lose_group(struct ts_rights *rights)
{
	uint8_t *group = acl_bits(rights, ACL_GROUP_OBJ);
	uint32_t both = group_bits(rights) & rights->mode & ALL;

	if (group)
		*group = (uint8_t)both;
	set_bits(rights, group ? rights->mode >> 3 & ALL : both, both);
}

#ifdef HAVE_LGETXATTR
#define ACL "system.posix_acl_access"

/* The mode, in the entries that are the same. */
static void mode_to_acl(struct ts_rights *rights)
{
	static const struct {
		uint8_t tag;
		unsigned shift;
	} parts[] = { { ACL_USER_OBJ, 6 }, { ACL_MASK, 3 }, { ACL_OTHER, 0 } };

	for (size_t i = 0; i < TS_NELEM(parts); i++) {
		uint8_t *bits = acl_bits(rights, parts[i].tag);

		if (bits)
			*bits = (uint8_t)(rights->mode >> parts[i].shift & ALL);
	}
}

static bool has_no_acl(int errnum)
{
	return errnum == ENODATA || errnum == ENOTSUP || errnum == ENOSYS;
}

static enum ts_status read_acl(struct ts_rights *rights, const char *path, struct ts_error *err)
{
	ssize_t n = getxattr(path, ACL, NULL, 0);

	if (n > 0 && !ts_buf_room(&rights->acl, (size_t)n))
		return ts_fail_nomem(err);
	if (n > 0)
		n = getxattr(path, ACL, rights->acl.p, (size_t)n);
	if (n > 0)
		rights->acl.n = (size_t)n;
	else if (n < 0 && !has_no_acl(errno)) /* what the group may is then not known */
		set_bits(rights, 0, rights->mode & ALL);
	return TS_OK;
}

/* A folder gives an ACL of its own to each new file. */
static void write_acl(struct ts_rights *rights, int fd)
{
	mode_to_acl(rights);
	if (rights->acl.n > 0 && fsetxattr(fd, ACL, rights->acl.p, rights->acl.n, 0) == 0)
		return;
	drop_acl(rights);
	if (fremovexattr(fd, ACL) != 0 && !has_no_acl(errno))
		set_bits(rights, 0, rights->mode & ALL);
}
#else
static enum ts_status read_acl(struct ts_rights *rights, const char *path, struct ts_error *err)
{
	(void)rights, (void)path, (void)err;
	return TS_OK;
}

static void write_acl(struct ts_rights *rights, int fd)
{
	(void)rights, (void)fd;
}
#endif

enum ts_status ts_rights_of(struct ts_rights *rights, const char *path, const struct stat *st,
			    struct ts_error *err)
{
	TS_ASSERT(rights && path && st);
	rights->mode = st->st_mode & 07777;
	rights->uid = st->st_uid;
	rights->gid = st->st_gid;
	ts_buf_clear(&rights->acl);
	return read_acl(rights, path, err);
}

enum ts_status ts_rights_copy(struct ts_rights *to, const struct ts_rights *from,
			      struct ts_error *err)
{
	TS_ASSERT(to && from);
	to->mode = from->mode;
	to->uid = from->uid;
	to->gid = from->gid;
	ts_buf_clear(&to->acl);
	ts_buf_put(&to->acl, ts_buf_bytes(&from->acl));
	return to->acl.failed ? ts_fail_nomem(err) : TS_OK;
}

void ts_rights_release(struct ts_rights *rights)
{
	TS_ASSERT(rights);
	ts_buf_release(&rights->acl);
}

void ts_rights_narrow(struct ts_rights *rights, const struct ts_rights *limit)
{
	uint32_t group = limit->mode >> 3 & ALL, others = limit->mode & ALL;

	TS_ASSERT(rights && limit);
	if (rights->gid != limit->gid ||
	    !ts_bytes_eq(ts_buf_bytes(&rights->acl), ts_buf_bytes(&limit->acl))) {
		drop_acl(rights);
		group = group_bits(limit);
	}
	if (rights->gid != limit->gid)
		group = others = group & others;
	set_bits(rights, rights->mode >> 3 & group, rights->mode & others);
}

void ts_rights_renew(struct ts_rights *rights)
{
	/* There is no way to ask for it alone. A file that another thread makes meanwhile is ours alone. */
	mode_t mask = umask(077);

	TS_ASSERT(rights);
	umask(mask);
	rights->mode = (rights->mode | OWNER << 6) & 0666 & ~mask;
}

bool ts_rights_give(struct ts_rights *rights, int fd, bool takes_owner)
{
	struct stat now;

	TS_ASSERT(rights && fd >= 0);
	if (fstat(fd, &now) != 0)
		return false;
	if ((now.st_uid != rights->uid || now.st_gid != rights->gid) &&
	    !(takes_owner && ts_sys_chown(fd, rights->uid, rights->gid) == 0)) {
		rights->mode &= 0777; /* set-user-id would now mean another user */
		if (now.st_gid != rights->gid &&
		    !(takes_owner && ts_sys_chown(fd, (uid_t)-1, rights->gid) == 0))
			lose_group(rights);
	}
	write_acl(rights, fd);
	return ts_sys_chmod(fd, (mode_t)rights->mode) == 0;
}

#ifdef HAVE_LGETXATTR
/* The first that a name begins with. */
static const struct kind {
	const char *prefix;
	enum { MUST, MAY, NEVER } copied;
} kinds[] = {
	{ "user.", MUST },
	{ "system.posix_acl_", NEVER }, /* ts_rights_give() */
	{ "security.selinux", MAY },
	{ "security.", NEVER }, /* of the content or of a program: IMA, EVM, capabilities */
	{ "", MAY },
};

static const struct kind *rights_kind_of(const char *name)
{
	const struct kind *kind = kinds;

	while (!ts_bytes_starts(ts_bytes_of(name), kind->prefix))
		kind++;
	return kind;
}

static enum ts_status copy_attribute(int fd, const char *from, const char *path, const char *name,
				     struct ts_error *err)
{
	ssize_t n = getxattr(from, name, NULL, 0);
	struct ts_buf value = TS_BUF_INIT;
	enum ts_status st = TS_OK;

	if (n >= 0 && !ts_buf_room(&value, (size_t)n + 1))
		errno = ENOMEM;
	else if (n >= 0)
		n = getxattr(from, name, value.p, (size_t)n);
	if (n < 0 || value.failed || fsetxattr(fd, name, value.p, (size_t)n, 0) != 0)
		st = ts_fail(err, TS_IO,
			     "%s: its attribute %s cannot be kept: %s (this file was not changed)",
			     path, name, strerror(errno));
	ts_buf_release(&value);
	return st;
}

/* NAMES end with a NUL each. */
static enum ts_status copy_attributes(int fd, const char *from, const char *path,
				      struct ts_bytes names, struct ts_error *err)
{
	for (const char *at = (const char *)names.p, *end = at + names.n; at < end;
	     at += strlen(at) + 1) {
		const struct kind *kind = rights_kind_of(at);
		enum ts_status st =
			kind->copied == NEVER ? TS_OK : copy_attribute(fd, from, path, at, err);

		if (st && kind->copied == MUST)
			return st;
	}
	return TS_OK;
}

enum ts_status ts_attributes_copy(int fd, const char *from, const char *path, struct ts_error *err)
{
	struct ts_buf names = TS_BUF_INIT;
	ssize_t n = listxattr(from, NULL, 0);
	enum ts_status st = TS_OK;

	TS_ASSERT(fd >= 0 && from && path);
	if (n > 0 && ts_buf_room(&names, (size_t)n))
		n = listxattr(from, (char *)names.p, (size_t)n);
	if (names.failed)
		st = ts_fail_nomem(err);
	else if (n > 0)
		st = copy_attributes(fd, from, path, (struct ts_bytes){ names.p, (size_t)n }, err);
	ts_buf_release(&names);
	return st;
}
#else
enum ts_status ts_attributes_copy(int fd, const char *from, const char *path, struct ts_error *err)
{
	(void)fd, (void)from, (void)path, (void)err;
	return TS_OK;
}
#endif

#ifdef __APPLE__
#define ATIME st_atimespec
#define MTIME st_mtimespec
#else
#define ATIME st_atim
#define MTIME st_mtim
#endif

bool ts_times_give(int fd, const struct stat *st)
{
	struct timespec times[2] = { st->ATIME, st->MTIME };

	TS_ASSERT(fd >= 0 && st);
	return futimens(fd, times) == 0;
}
