/* SPDX-License-Identifier: MIT */
/*
 * Rights: what a file lets whom do - mode, owner, group and, on Linux, its POSIX ACL.
 *
 * A file of output gets the rights of the file that it replaces, or of the files that it is made of,
 * and no user gains by it: where the system refuses an owner, a group or an ACL, those who would
 * come into its place get less. The folder that a file lies in may hide it further; that is not
 * looked at here.
 */
#ifndef TS_IO_RIGHTS_H
#define TS_IO_RIGHTS_H

#include "base/buf.h"

#define TS_NO_OWNER UINT32_MAX /* as chown(2) has it: no change */

struct ts_rights {
	uint32_t mode, uid, gid;
	struct ts_buf acl; /* as the kernel keeps it; empty: the mode says all */
};

#define TS_RIGHTS_INIT { .acl = TS_BUF_INIT }

struct stat;
/* Of the file PATH, links followed, of which ST is known. */
enum ts_status ts_rights_of(struct ts_rights *rights, const char *path, const struct stat *st,
			    struct ts_error *err);
enum ts_status ts_rights_copy(struct ts_rights *to, const struct ts_rights *from,
			      struct ts_error *err);
void ts_rights_release(struct ts_rights *rights);

/* Nobody shall have more than LIMIT gives too, but for the owner. */
void ts_rights_narrow(struct ts_rights *rights, const struct ts_rights *limit);
/* As of a file that is made now: no program, its owner writes it, and the umask holds. */
void ts_rights_renew(struct ts_rights *rights);
/*
 * FD, a file of ours that nobody else can open yet, gets these rights, owner and group only with TAKES_OWNER
 * and as far as we may. False: errno says why.
 */
bool ts_rights_give(struct ts_rights *rights, int fd, bool takes_owner);

/*
 * What else is known of the file FROM goes to FD: attributes of the user's, which must, and those of the
 * system (labels), which may be refused. PATH: of FD's file, for the story.
 */
enum ts_status ts_attributes_copy(int fd, const char *from, const char *path, struct ts_error *err);

/* FD gets the times of a file that ST is of. False: errno says why. */
bool ts_times_give(int fd, const struct stat *st);

#endif
