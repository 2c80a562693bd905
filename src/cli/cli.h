/*
 * The command line: commands and options as tables, exit codes, and the only place that prints.
 *
 * A command is a constant struct in its own file cmd_NAME.c and a line in list.h; its help text is
 * in the same struct. Options set a field of struct ts_cli through a function of their row.
 */
#ifndef TS_CLI_CLI_H
#define TS_CLI_CLI_H

#include "analysis/analysis.h"
#include "analysis/settings.h"
#include "copy/names.h"
#include "copy/trim.h"
#include "flow/annotate.h"
#include "io/rundir.h"
#include "live/sampler.h"
#include "write/output.h"

enum ts_exit {
	TS_EXIT_DONE = 0,
	TS_EXIT_GATE = 1, /* a gate (--fail-if, --fail-on) did not hold */
	TS_EXIT_USAGE = 2,
	TS_EXIT_NOTHING = 3, /* no input could be read */
	TS_EXIT_SOME = 4,    /* some inputs failed, the others are done */
};

enum ts_color { TS_COLOR_AUTO, TS_COLOR_ALWAYS, TS_COLOR_NEVER };

#define TS_MAX_GATES	  32
#define TS_MAX_TORCH_LOGS 64
#define TS_MAX_LABELS	  16 /* as many as runs that are compared */

struct ts_cli {
	const char *command; /* for messages: "tpusight annotate" */
	size_t nr_threads;
	bool quiet, verbose;
	bool join_sessions; /* sibling sessions of several hosts are one (io/siblings.h) */
	enum ts_color color;
	struct ts_settings settings;
	/* annotate, live */
	bool strip, dry_run;
	bool traces[TS_NR_TRACE_KINDS]; /* the Perfetto files that are wanted */
	bool has_max_trace_events;
	uint64_t max_trace_events, max_overlay_events;
	/* report, hlo */
	const char *format, *output, *view, *chip;
	const char *torch_logs[TS_MAX_TORCH_LOGS]; /* compile: files or folders */
	size_t nr_torch_logs;
	const char *labels[TS_MAX_LABELS]; /* compile: a mode a run */
	size_t nr_labels;
	bool compare;
	const char *gates[TS_MAX_GATES]; /* compare: expressions, as given */
	size_t nr_gates;
	bool brief; /* in at most .budget bytes */
	uint64_t budget;
	const char *logdir; /* NULL: as the path says */
	bool no_python;	    /* timeline: without the frames of Python's tracer */
	bool tracks;
	struct ts_trim_choice trim;
	/* the profiling suite */
	bool has_min_duration;
	int64_t min_duration_ps;
	const char *tree, *weight; /* flame */
	size_t max_depth;
	bool group_small;
	/* redact */
	const char *key_file, *salt;
	const char *keep[TS_NAMES_KEEP_MAX];
	size_t nr_keep;
	/* serve */
	uint16_t port;
	/* live */
	const char *services;	/* HOST:PORT,... as given */
	const char *repository; /* a folder, as given */
	int64_t interval_ms;	/* -1: not said */
	int64_t sample_ms, for_ms, hold_ms, clear_ms, timeout_ms, settle_ms;
	bool new_only;
	enum ts_hlo_choice hlo;
	bool json, serve;
	const char *on_alert;
	enum ts_severity fail_on; /* TS_NR_SEVERITIES: never */
	/* what is left: PATH... */
	char **paths;
	size_t nr_paths;
};

struct ts_option {
	const char *name;     /* long, without -- */
	char letter;	      /* short, or 0 */
	const char *argument; /* its name in the help; NULL: takes none */
	const char *help;
	enum ts_status (*set)(struct ts_cli *cli, const char *value, struct ts_error *err);
};

struct ts_command {
	const char *name;
	const char *summary;		 /* one line */
	const char *arguments;		 /* "PATH..." */
	const char *help;		 /* paragraphs */
	const struct ts_option *options; /* its own; name NULL at the end */
	bool no_paths;			 /* can do without a path */
	enum ts_exit (*run)(struct ts_cli *cli);
};

extern const struct ts_command *const ts_commands[]; /* NULL at the end */

/* The whole program: `tpusight COMMAND ...`, or with COMMAND given, that one. */
int ts_main(const char *program, const struct ts_command *command, int argc, char **argv);

extern const struct ts_option ts_shared_options[];
/* Parses options and paths. TS_NOTFOUND: help or version was asked for and printed. */
enum ts_status ts_options_parse(struct ts_cli *cli, const struct ts_command *command, int argc,
				char **argv, struct ts_error *err);
void ts_print_help(const char *program, const struct ts_command *command);

/* "tpusight: TEXT" on stderr, in one line and safe for a terminal. */
void ts_complain(const char *text);
/* "tpusight: FILE: byte N: CAUSE (REMEDY)" */
void ts_complain_of_damage(const struct ts_damage *damage, const char *remedy);
/* What became of a command's inputs, one after the other, and the exit status that says it. */
struct ts_outcome {
	size_t nr_done, nr_bad;
	bool usage;   /* one was asked for what it does not have */
	bool damaged; /* one was read in part */
};
/* ST is of one more input; ERR is complained of when there is something in it. */
void ts_outcome_note(struct ts_outcome *outcome, enum ts_status st, const struct ts_error *err);
enum ts_exit ts_outcome_exit(const struct ts_outcome *outcome);

/* One line of progress on a terminal's stderr; NULL removes it. Nothing elsewhere, or with -q. */
void ts_progress(const struct ts_cli *cli, const char *text);
bool ts_use_color(const struct ts_cli *cli);
size_t ts_terminal_width(void); /* of standard output; 0: not a terminal */
size_t ts_terminal_height(void);
/* Standard output, all of it; false (and a complaint, once) when it cannot be written. A closed pipe
 * is none. */
bool ts_print(struct ts_bytes text);
/* To the file PATH (replaced whole), or to standard output when PATH is NULL or "-". */
bool ts_print_to(const char *path, struct ts_bytes text);

/* Finds the sessions below all paths of the command line and complains of what is wrong.
 * *NR_BAD counts the paths and folders with problems. */
enum ts_status ts_find_sessions(const struct ts_cli *cli, struct ts_runs *runs, size_t *nr_bad,
				struct ts_error *err);
/* The same, and tells NONE of each path below which there is no session, and why. */
typedef void ts_no_session(void *ctx, const char *path, const char *problem);
enum ts_status ts_find_sessions_or(const struct ts_cli *cli, struct ts_runs *runs, size_t *nr_bad,
				   ts_no_session *none, void *ctx, struct ts_error *err);

#endif
