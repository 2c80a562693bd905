/*
 * New file: a file is made, or replaced, whole or not at all.
 *
 *	struct ts_newfile file = TS_NEWFILE_INIT;
 *	open, put or copy any number of times, commit; release in every case
 *
 * The bytes go to a temporary in the same folder, `.NAME.tpusight-XXXXXX` (hidden, and not a name
 * that XProf takes for a host; the last three letters check the others). commit brings them to disk, gives them the mode, group and owner of
 * the file they replace (owner and group as far as we may), renames, and brings the folder to disk.
 * A crash, a kill, a full disk before that leaves the old file as it was. release without commit
 * removes the temporary; after a kill ts_newfile_stale() does it.
 *
 * A symbolic link is followed: the file behind it is replaced, the link stays. Other hard links of
 * the old file keep the old content. ACLs and extended attributes are not copied. Anything that is
 * not a regular file (/dev/stdout, a pipe) is written directly. Not for two threads at once.
 *
 * A file-size limit (ulimit -f) comes as an error only when the program ignores SIGXFSZ, a closed
 * pipe only when it ignores SIGPIPE: both are set in cli/.
 */
#ifndef TS_IO_NEWFILE_H
#define TS_IO_NEWFILE_H

#include "io/file.h"

/* What may stand under the name when the new file takes it. */
enum ts_newfile_expects { TS_EXPECTS_ANYTHING, TS_EXPECTS_OLD, TS_EXPECTS_NOTHING };

struct ts_newfile {
	int fd; /* -1: not open */
	int dir_fd;
	char *path;    /* what will be there, links resolved */
	char *name;    /* its last part, inside path */
	char *temp;    /* name of the temporary in the folder, until commit */
	bool straight; /* there is no temporary: bytes go directly to the target */
	bool failed;   /* something was not written: commit refuses */
	bool replaces; /* there is an old file; the next three are its */
	uint32_t mode, uid, gid;
	enum ts_newfile_expects expects;
	struct ts_file_look expected; /* of TS_EXPECTS_OLD */
	uint64_t nr_bytes;	      /* written so far */
	uint64_t nr_started;	      /* of these, on their way to the disk */
};

#define TS_NEWFILE_INIT { .fd = -1, .dir_fd = -1 }

/* Errors name PATH and the cause: TS_NOTFOUND for a missing folder, TS_IO for all else. */
enum ts_status ts_newfile_open(struct ts_newfile *file, const char *path, struct ts_error *err);
enum ts_status ts_newfile_put(struct ts_newfile *file, struct ts_bytes bytes, struct ts_error *err);
/* LENGTH bytes of the file FD from OFFSET on; shared, not copied, where the file system can. */
enum ts_status ts_newfile_copy(struct ts_newfile *file, int fd, uint64_t offset, uint64_t length,
			       struct ts_error *err);
/* The new file shall have the mode, owner and group of the open file FD, as if it replaced that. */
enum ts_status ts_newfile_like(struct ts_newfile *file, int fd, struct ts_error *err);
/* commit is to fail, and change nothing, unless the file there is OLD still, and no program has it
 * open for writing (io/replace.h); NULL: unless there is none still. */
void ts_newfile_expect(struct ts_newfile *file, const struct ts_file_look *old);
enum ts_status ts_newfile_commit(struct ts_newfile *file, struct ts_error *err);
void ts_newfile_release(struct ts_newfile *file); /* harmless when not open, or twice */

/*
 * Removes what a killed run left in DIR: files named as above that no living process holds. Their
 * number goes to *NR_REMOVED (may be NULL).
 */
enum ts_status ts_newfile_stale(const char *dir, size_t *nr_removed, struct ts_error *err);
/* Is NAME (without folder) the name of one of these temporaries? */
bool ts_newfile_is_temp(const char *name);

/* A whole file at once: open, put, commit, release. */
enum ts_status ts_newfile_save(const char *path, struct ts_bytes bytes, struct ts_error *err);

#endif
