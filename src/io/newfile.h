/* SPDX-License-Identifier: MIT */
/*
 * New file: a file is made, or replaced, whole or not at all.
 *
 *	struct ts_newfile file = TS_NEWFILE_INIT;
 *	open, put or copy any number of times, commit; release in every case
 *
 * The bytes go to a temporary in the same folder, `.NAME.tpusight-XXXXXX` (hidden, and not a name
 * that XProf takes for a host; the last three letters check the others). commit gives them the rights
 * of the file that they replace and its extended attributes (io/rights.h), brings them to disk,
 * renames, and brings the folder to disk: then the new file stays, also when the power fails. A
 * crash, a kill, a full disk before that leaves the old file as it was. release without commit
 * removes the temporary, and so does a signal that ends the program (io/temps.h); after a kill the
 * next open of the same file does it, and ts_newfile_stale().
 *
 * Only a plain file, or nothing, may be in the place: a symbolic link there is refused, never
 * followed, and so is what appears there in the meantime. A path that the user gave (.is_named) is
 * another matter: a link is followed - not one that somebody else laid into a folder where everybody may
 * write - and its target replaced; a pipe or a terminal (/dev/stdout) is written to directly. Links in
 * front of the last name are followed in any case. Other hard links of the old file keep the old content. A new
 * file has a new time. Not for two threads at once.
 *
 * A file-size limit (ulimit -f) comes as an error only when the program ignores SIGXFSZ, a closed
 * pipe only when it ignores SIGPIPE: both are set in cli/.
 */
#ifndef TS_IO_NEWFILE_H
#define TS_IO_NEWFILE_H

#include "io/look.h"
#include "io/sources.h"

/* What may stand under the name when the new file takes it. */
enum ts_newfile_expects { TS_EXPECTS_ANYTHING, TS_EXPECTS_OLD, TS_EXPECTS_NOTHING };

/* How a file comes to lie. All pointers are the caller's until release. */
struct ts_newfile_use {
	bool is_named; /* its path is the user's own */
	/* What it is made of: it is not one of these files, nor open to users whom these are not open to. NULL:
	 * it says nothing of any file. */
	const struct ts_sources *sources;
	bool is_theirs; /* it belongs to whom its sources belong, as far as we may */
	int64_t mtime_ns; /* the time that it gets, where the system can give it; 0: that of its writing */
	/* It is this file once more, attributes and times included; its place must be empty. */
	const char *like;
};

struct ts_newfile {
	int fd; /* -1: not open */
	int dir_fd;
	char *path;    /* what will be there, links resolved */
	char *name;    /* its last part, inside path */
	char *temp;    /* name of the temporary in the folder, until commit */
	bool straight; /* there is no temporary: bytes go directly to the target */
	bool failed;   /* something was not written: commit refuses */
	bool replaces; /* there is an old file, with these rights */
	struct ts_rights rights;
	struct ts_newfile_use use;
	enum ts_newfile_expects expects;
	struct ts_file_look expected; /* of TS_EXPECTS_OLD */
	uint64_t nr_bytes;	      /* written so far */
	uint64_t nr_started;	      /* of these, on their way to the disk */
};

#define TS_NEWFILE_INIT { .fd = -1, .dir_fd = -1, .rights = TS_RIGHTS_INIT }

/* Errors name PATH and the cause: TS_NOTFOUND for a missing folder, TS_USAGE for a source, TS_IO for
 * all else. */
enum ts_status ts_newfile_open_for(struct ts_newfile *file, const char *path,
				   const struct ts_newfile_use *use, struct ts_error *err);
/* Of no file, and not by the user's own path. */
enum ts_status ts_newfile_open(struct ts_newfile *file, const char *path, struct ts_error *err);
enum ts_status ts_newfile_put(struct ts_newfile *file, struct ts_bytes bytes, struct ts_error *err);
/* The same, as .take of a drain. */
enum ts_status ts_newfile_take(void *file, struct ts_bytes piece, struct ts_error *err);
/* LENGTH bytes of the file FD from OFFSET on; shared, not copied, where the file system can. */
enum ts_status ts_newfile_copy(struct ts_newfile *file, int fd, uint64_t offset, uint64_t length,
			       struct ts_error *err);
/* Back to its first SIZE bytes. Not of a target that is written directly. */
enum ts_status ts_newfile_cut(struct ts_newfile *file, uint64_t size, struct ts_error *err);
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
enum ts_status ts_newfile_save_for(const char *path, struct ts_bytes bytes,
				   const struct ts_newfile_use *use, struct ts_error *err);
enum ts_status ts_newfile_save(const char *path, struct ts_bytes bytes, struct ts_error *err);

#endif
