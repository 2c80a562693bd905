/* SPDX-License-Identifier: MIT */
/*
 * Runs: the profiles below a path, as TensorBoard lays them out,
 *	<logdir>/<run>/plugins/profile/<session>/<host>.xplane.pb
 *
 * PATH may be a log directory (searched to TS_LIMIT_FOLDER_DEPTH folders deep), the `plugins` or
 * `plugins/profile` folder, one session, one profile file of any kind, or "-" (standard input). A
 * session without xplanes may have traces instead (io/tracefile.h), and so may any folder, where
 * PyTorch's profiler wrote them; beside xplanes traces are passed over, but for that of a host whose
 * xplane is empty (io/dropped.h). The names and heads of traces show which of a folder are one
 * session (io/captures.h).
 *
 * Hidden files and folders (and so our own temporaries) are passed over. Links are followed, as far as .enters lets them; each
 * folder is entered once, whatever its names, so a link that leads back ends there.
 *
 * What is wrong on the way (a folder that cannot be read, a link that loops or leads nowhere, a
 * session without profiles, folders nested too deep) is one line in problems[]; the rest goes on.
 *
 * struct ts_runs owns everything until ts_runs_release(). Of the files, only heads of traces are
 * read.
 */
#ifndef TS_IO_RUNDIR_H
#define TS_IO_RUNDIR_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/map.h"
#include "io/xplanefile.h"

#define TS_MEMORY_SUFFIX ".prof"

enum ts_session_kind {
	TS_SESSION_DIR,	   /* a whole session: results can be written beside the profiles */
	TS_SESSION_FILE,   /* one file that was named itself; dir is its folder */
	TS_SESSION_STREAM, /* standard input or a pipe: there is no place to write to */
	TS_SESSION_REPORT, /* a report that was made before, its one file (serve/made.h); never found by a search */
};

struct ts_hostfile {
	/* The file's name without .xplane.pb, or the ending of a trace; "xplane" for xplane.pb, of
	 * others the whole name */
	const char *host;
	const char *name;  /* of the file, without folder */
	const char *path;  /* to open it; "-" for standard input */
	uint64_t nr_bytes; /* 0 for a stream */
	/* Of a trace: the path of the same host's xplane, which is empty (io/dropped.h); else NULL */
	const char *stands_for;
};

struct ts_remote;
struct ts_looker;
struct ts_session {
	enum ts_session_kind kind;
	const char *dir;     /* the session's folder, as reached from the given path */
	const char *logdir;  /* what to give to tensorboard --logdir */
	const char *run;     /* as TensorBoard names it: below logdir; "." when logdir is the run */
	const char *session; /* the folder's name */
	bool owns_folder;    /* it is plugins/profile/SESSION, and all profiles there are its */
	const struct ts_hostfile *files; /* by host name; at least one */
	size_t nr_files;
	/* Memory profiles (*.prof) and logs of PyTorch's compiler (io/tracefile.h) beside them, by
	 * name: read along, never written to */
	const struct ts_hostfile *extras;
	size_t nr_extras;
	/* Of a session joined from several (io/siblings.h): those, their files in the same order.
	 * NULL: it is one by itself. */
	const struct ts_session *members;
	size_t nr_members;
	/* What holds its content (remote/remote.h) and looks at its files; NULL: they are on this machine */
	struct ts_remote *remote;
	const struct ts_looker *looker;
};

struct ts_runs {
	struct ts_session *sessions; /* by dir, then by first file */
	size_t nr_sessions;
	const char **problems; /* "path: cause (what to do)"; sorted, for each path given */
	size_t nr_problems;
	size_t nr_empty; /* sessions without profiles; each is a problem, unless .empty_is_fine */
	const char **folders; /* that were looked into: where more can come */
	size_t nr_folders;
	bool empty_is_fine; /* given by the caller: a session without profiles is no problem */
	struct ts_remote *remote; /* likewise, for sessions below URLs */
	const struct ts_looker *looker;
	/* Likewise: may the folder behind the link PATH be looked into? Where not, .outside is its problem. NULL: each may. */
	bool (*enters)(const void *ctx, const char *path);
	const void *enters_ctx;
	const char *outside;

	struct ts_arena arena; /* from here on: for the search alone */
	size_t sessions_cap, problems_cap, folders_cap;
	struct ts_strmap seen; /* folders entered, by device and inode */
	uint32_t nr_paths;     /* given so far */
};

#define TS_RUNS_INIT { .sessions = NULL }

/*
 * Adds what is below PATH; call it once for each path the user gave. What was found under an
 * earlier path is not found again. TS_NOTFOUND when PATH is not there, or nothing was found; the
 * sessions and problems of before stand in any case.
 */
enum ts_status ts_runs_find(struct ts_runs *runs, const char *path, struct ts_error *err);
/* Logs of PyTorch's compiler: those in the folder PATH, by name, or PATH itself. Kept in ARENA. */
enum ts_status ts_torch_logs_find(struct ts_arena *arena, const char *path,
				  const struct ts_hostfile **files, size_t *nr,
				  struct ts_error *err);
void ts_runs_release(struct ts_runs *runs);

/* Names the sessions as seen from LOGDIR, where they are below it: as TensorBoard was given it. */
enum ts_status ts_runs_name(struct ts_runs *runs, const char *logdir, struct ts_error *err);

/*
 * The path of file NAME in the session's folder: appended to OUT, with a NUL that .n does not
 * count.
 */
const char *ts_session_path(const struct ts_session *session, const char *name, struct ts_buf *out);
/* Its folder, or its first file where others are in the folder. */
const char *ts_session_place(const struct ts_session *session);
/* The session as people name it: logdir/run/session, without plugins/profile. Same OUT. */
const char *ts_session_title(const struct ts_session *session, struct ts_buf *out);

#endif
