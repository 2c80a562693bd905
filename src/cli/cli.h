/* SPDX-License-Identifier: MIT */
/*
 * The command line: commands and options as tables, exit codes, and the only place that prints.
 *
 * A command is a constant struct in its own file cmd_NAME.c and a line in list.h; its help text is in
 * the same struct, and its options are a table (option.h) beside a struct that they fill.
 */
#ifndef TS_CLI_CLI_H
#define TS_CLI_CLI_H

#include "analysis/settings.h"
#include "base/meter.h"
#include "cli/option.h"
#include "io/confine.h"
#include "io/rundir.h"
#include "io/sources.h"
#include "model/profile.h"
#include "io/newfile.h"

enum ts_exit {
	TS_EXIT_DONE = 0,
	TS_EXIT_GATE = 1, /* a gate (--fail-if, --fail-on) did not hold */
	TS_EXIT_USAGE = 2,
	TS_EXIT_NOTHING = 3, /* no input could be read */
	TS_EXIT_SOME =
		4, /* some inputs failed, the others are done; or an output could not be written */
};

/* What each exit status means; .meaning is NULL at the end. */
struct ts_exit_meaning {
	enum ts_exit code;
	const char *meaning;
};
extern const struct ts_exit_meaning ts_exit_meanings[];

enum ts_color { TS_COLOR_AUTO, TS_COLOR_ALWAYS, TS_COLOR_NEVER };

struct ts_run;

/* A path that an option names. */
struct ts_named_place {
	const char *path;
	enum ts_option_place kind;
};

/* What all commands share. */
struct ts_cli {
	const char *command; /* for messages: "tpusight annotate" */
	size_t nr_threads;
	bool quiet, verbose;
	size_t nr_jobs;		  /* reads of a bucket at once; 0: as many as the store likes */
	struct ts_arena arena;	  /* of paths that were made absolute */
	struct ts_remote *remote; /* of paths that are URLs (cli/mount.h); NULL: none is */
	const char *
		folder; /* where the program was started, if the current folder is another; or NULL */
	const char *held;   /* a folder that has what URLs name already; NULL: a store is asked */
	bool join_sessions; /* sibling sessions of several hosts are one (io/siblings.h) */
	enum ts_color color;
	struct ts_settings *settings;
	const char *logdir;	    /* the one that viewers were given; NULL: as the path says */
	struct ts_sources *sources; /* files that the command reads: no output may be one of them */
	const struct ts_command *entry;
	const struct ts_command *const *commands; /* all that there are: ts_commands */
	unsigned needs; /* the command's, and those of options that were given */
	struct ts_named_place *places;
	size_t nr_places;
	bool has_no_format; /* set by .prepare(): what -o names is not a report, and may be called anything */
	void *own; /* the command's own options: .own_size bytes of its struct */
	/* what is left: PATH... */
	char **paths;
	size_t nr_paths;
	char **argv; /* all words as they were given, the paths among them; [0] is the command, NULL at the end */
};

struct ts_command {
	const char *name;
	const char *summary;		 /* one line */
	const char *arguments;		 /* "PATH..." */
	const char *help;		 /* paragraphs */
	const struct ts_option *options; /* its own; their offsets are in a struct of its own, */
	size_t own_size;		 /* which is so large */
	const void *defaults;		 /* and begins as a copy of this; NULL: as zeros */
	bool has_thresholds;		 /* what it prints depends on them, and its help says so */
	bool no_paths;			 /* can do without a path */
	bool goes_on;	/* until it is ended: what a bucket gave may be asked for again */
	unsigned needs; /* enum ts_needs (io/confine.h) */
	const struct ts_suite *suite; /* of the profiling suite (suite.h); NULL: it is not */
	/* Looks at the options and changes the paths, before the program may read these alone; NULL: the paths
	 * are as they were given. A bad status is wrong usage. */
	enum ts_status (*prepare)(struct ts_cli *cli, struct ts_error *err);
	/* Becomes another program (external.h) where that must read the paths. True: it could not, which was said; *CODE is what
	 * that means. False: the command reads them itself. NULL: it always does. */
	bool (*hand_over)(const struct ts_cli *cli, enum ts_exit *code);
	enum ts_exit (*run)(struct ts_cli *cli);
};

extern const struct ts_command *const ts_commands[];	    /* NULL at the end */
const struct ts_command *ts_command_find(const char *name); /* NULL: none has this name */

/* The whole program: `tpusight COMMAND ...`, or with COMMAND given, that one. */
int ts_main(const char *program, const struct ts_command *command, int argc, char **argv);

extern const struct ts_option ts_shared_options[];
bool ts_option_is_shared(const struct ts_option *option); /* one of these: it fills struct ts_cli */
/* Parses options and paths. TS_NOTFOUND: help or version was asked for and printed. */
enum ts_status ts_options_parse(struct ts_cli *cli, const struct ts_command *command, int argc,
				char **argv, struct ts_error *err);
void ts_print_help(const char *program, const struct ts_command *command);

/* "tpusight: TEXT" on stderr, in one line and safe for a terminal. */
void ts_complain(const char *text);
/* "tpusight: FILE: byte N: CAUSE (REMEDY)" */
void ts_complain_of_damage(const struct ts_damage *damage, const char *remedy);
/* All that was wrong with a run; of one that was not READ no damage is named. True: something was. */
bool ts_complain_of_run(const struct ts_run *run, bool is_read);
/* What became of a command's inputs, one after the other, and the exit status that says it. */
struct ts_outcome {
	size_t nr_done, nr_bad;
	size_t nr_damaged, nr_empty; /* of the bad ones: a file is damaged; no profile is there */
	bool usage;		     /* one was asked for what it does not have */
	bool damaged;		     /* one was read in part */
	bool unwritten; /* one was read, and what was made of it could not be written */
};
/* ST is of one more input; ERR is complained of when there is something in it. */
void ts_outcome_note(struct ts_outcome *outcome, enum ts_status st, const struct ts_error *err);
/* The input could be read; ST is of the writing of what was made of it. */
void ts_outcome_of_output(struct ts_outcome *outcome, enum ts_status st);
enum ts_exit ts_outcome_exit(const struct ts_outcome *outcome);
/* "3 sessions: 1 annotated, 1 damaged, 1 empty"; nothing of a single one. */
void ts_outcome_line(struct ts_buf *out, const struct ts_outcome *outcome, const char *done);

/*
 * One line of progress on a terminal's stderr, with a percentage where the work counts what is done. Nothing
 * elsewhere, where the terminal is dumb, or with -q.
 */
struct ts_progress {
	const struct ts_cli *cli;
	const char *text; /* of the caller, until the end */
	struct ts_meter meter;
	bool is_shown;
};
void ts_progress_begin(struct ts_progress *progress, const struct ts_cli *cli, const char *text);
struct ts_meter *ts_progress_meter(struct ts_progress *progress); /* NULL: it is not shown */
void ts_progress_end(
	struct ts_progress *progress); /* and removes the line; nothing a second time */
bool ts_use_color(const struct ts_cli *cli);
/* As COLUMNS and LINES say, else those of standard output; 0: it is not a terminal. */
size_t ts_terminal_width(void);
size_t ts_terminal_height(void);
/* Prints all of TEXT on standard output; false (and a complaint, once) when it cannot be written. A
 * closed pipe is not a failure. */
bool ts_print(struct ts_bytes text);
/* To the file PATH (replaced whole, and open to nobody to whom an input is not), or to standard output when
 * PATH is NULL or "-". */
bool ts_print_to(const struct ts_cli *cli, const char *path, struct ts_bytes text);

/*
 * The same in pieces, for a text that is not held as one: .take of a drain, with a struct ts_printer, begins with
 * the first piece; end() puts the last one, and only then the file is there. A failure is said once, and end() is
 * false; release() without end() leaves an old file as it was.
 */
struct ts_printer {
	const struct ts_cli *cli;
	const char *path;
	struct ts_newfile file;
	bool has_begun, failed;
};
#define TS_PRINTER_INIT(of, to) { .cli = (of), .path = (to), .file = TS_NEWFILE_INIT }
enum ts_status ts_printer_take(void *printer, struct ts_bytes piece, struct ts_error *err);
bool ts_printer_end(struct ts_printer *printer, struct ts_bytes piece);
void ts_printer_release(struct ts_printer *printer);

/* PATH will be read. TS_NOMEM alone. */
enum ts_status ts_note_input(const struct ts_cli *cli, const char *path, struct ts_error *err);
/* TS_USAGE: what the command is to write, or its standard output, is one of the files that it reads. */
enum ts_status ts_check_output(const struct ts_cli *cli, struct ts_error *err);
/* The exit status when nothing was done. */
enum ts_exit ts_exit_of(enum ts_status st);

/* Finds the sessions below all paths of the command line and complains of what is wrong.
 * *NR_BAD counts the paths and folders with problems. TS_USAGE: as ts_check_output() says. */
enum ts_status ts_find_sessions(const struct ts_cli *cli, struct ts_runs *runs, size_t *nr_bad,
				struct ts_error *err);
/* The same, and calls NONE for each path below which there is no session, with the reason. */
typedef void ts_no_session(void *ctx, const char *path, const char *problem);
enum ts_status ts_find_sessions_or(const struct ts_cli *cli, struct ts_runs *runs, size_t *nr_bad,
				   ts_no_session *none, void *ctx, struct ts_error *err);

#endif
