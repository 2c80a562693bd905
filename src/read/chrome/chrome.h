/* SPDX-License-Identifier: MIT */
/*
 * The Chrome-trace reader's own header: only files of src/read/chrome include it.
 *
 * A trace has its events in no order: threads interleave, and what belongs to one line stands all
 * over the file. So the text is read once, an event at a time, and 40 bytes of each event are kept
 * (struct chrome_record): its start, length, op, track, its link to a launch, and its place in the
 * text. CHROME_RECORDS of them are sorted by track and start and, when there are more, put into a
 * temporary file as a run; a line is then the merge of its part of every run.
 *
 * So the memory is bounded whatever the size: 15 MiB of records, as much again to sort them, a
 * window of the text (io/window.h, of a packed file; of a plain one what was read is given back
 * to the system), CHROME_MERGE for each line being streamed, and the tables of names, which grow
 * with distinct names and tracks. The price is disk: 40 bytes an event beyond the first 400,000,
 * and the whole text of a packed file, where an event's stats are asked for. Of many ranks (.is_one_of_many) all records
 * go to disk once they are sorted, and the text is there for as long as the rank is asked (text.c).
 */
#ifndef TS_READ_CHROME_CHROME_H
#define TS_READ_CHROME_CHROME_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/limits.h"
#include "base/units.h"
#include "codec/jtok.h"
#include "codec/strict.h"
#include "io/sorter.h"
#include "io/window.h"
#include "model/capture_time.h"
#include "model/nest.h"
#include "read/reader.h"
#include "read/flows.h"
#include "read/seams.h"
#include "read/walk.h"

#define CHROME_RECORDS (384 * 1024)	 /* in memory at once */
#define CHROME_MERGE   (4 * 1024 * 1024) /* bytes of buffers to read one line back */

/* --- event.c */

enum chrome_found { CHROME_EVENT, CHROME_MORE, CHROME_BAD };

struct chrome_event { /* tokens; .p NULL: it has none */
	uint8_t phase;
	struct ts_bytes category, name, pid, tid, ts, dur, id, args;
};

/*
 * *P is at the '{' of the event. It is moved behind the event; where the text is not an event (CHROME_BAD), to
 * the byte that shows it.
 */
enum chrome_found ts_chrome_event_read(const uint8_t **p, const uint8_t *end,
				       struct chrome_event *event);

/* --- store.c */

struct chrome_record {		  /* begins as struct ts_sort_key */
	int64_t start_ps, dur_ps; /* since the file's first time */
	uint64_t at;		  /* of the event in the text */
	uint64_t link;		  /* of a launch and of its kernel; TS_NO_LINK */
	uint32_t op;
	uint16_t track, args; /* args: from ts_chrome_args_keep() */
};

extern const struct ts_sort_kind ts_chrome_sort_kind; /* by track, start, longest first, place */

/* --- args.c: what kernels and operators say of themselves, as far as analyses ask every one of them for it */

#define CHROME_ARGS_MAX 16384 /* distinct ones; for further kernels the text is read again */

struct chrome_args {
	struct ts_bytes *items; /* JSON objects; the first is not used */
	size_t nr, cap;
	struct ts_map ids; /* by their hash */
	uint64_t seed;
};

/* Keeps what is asked for of ARGS. 0: nothing was kept. */
enum ts_status ts_chrome_args_keep(struct chrome_args *args, struct ts_arena *arena,
				   struct ts_bytes object, uint16_t *kept, struct ts_error *err);
/* Is NAME one of the members that are kept? */
bool ts_chrome_args_has(struct ts_bytes name);
void ts_chrome_args_release(struct chrome_args *args);

/* --- names.c: processes, tracks and ops of a file */

enum chrome_side { CHROME_HOST, CHROME_DEVICE };
enum chrome_class { /* what a track is for; events of different classes share no track */
		    CHROME_MAIN,
		    CHROME_ANNOTATION, /* gpu_user_annotation: ranges over a stream's kernels */
		    CHROME_OTHER,      /* waits for synchronisation, spans of the profiler */
		    CHROME_INSTANT,
		    CHROME_COUNTER,
		    CHROME_STEPS, /* ProfilerStep#N, for the devices */
};

/* What the categories of a process's events tell about it, one bit each. */
enum chrome_seen {
	CHROME_SEEN_HOST = 1,	 /* operators, ranges, frames of Python: these are a host's */
	CHROME_SEEN_RUNTIME = 2, /* calls of a device's runtime */
	CHROME_SEEN_OPEN = 4,	 /* what is a device's if the process is one */
};

struct chrome_category {
	struct ts_bytes name;
	uint8_t side, class;
	uint8_t seen; /* enum chrome_seen */
	bool kernel;
	bool is_unread; /* of a device, and nothing takes it */
	const char *
		device; /* the word for the device that it is of; NULL: GPU, or the process says it */
	bool keeps;	/* what its events say is kept (args.c), */
	bool varies; /* and each says something else: there is room for half of what can be kept */
	bool linked; /* launches, kernels: their args may say which belong together */
};

enum chrome_shows {
	CHROME_SHOWS_THREADS,
	CHROME_SHOWS_DEVICE,
	CHROME_SHOWS_DERIVED,
	CHROME_SHOWS_UNREAD
};

struct chrome_process {
	struct ts_bytes pid, name, labels;
	uint8_t seen;		 /* of its events */
	const char *by_category; /* the word for its device, of its events' categories; NULL */
	/* of ts_chrome_find_devices() */
	uint8_t shows;
	bool by_thread;	      /* each thread is a device of its own */
	struct ts_bytes word; /* for the device: "GPU", "MTIA" */
};

struct chrome_open { /* a B that waits for its E */
	int64_t start_ps;
	uint64_t at, link;
	uint32_t op;
};

struct chrome_track {
	uint32_t process;
	uint32_t category; /* of its first event */
	struct ts_bytes tid, name;
	uint8_t side, class;
	uint64_t nr_events;
	int64_t last_ps;
	int64_t device;	   /* of its kernels, as their args have it (TS_UNKNOWN: they do not say) */
	bool has_device;   /* it was asked for */
	int64_t slice_ps;  /* of its last slice so far, */
	uint64_t slice_at; /* and its place in the text */
	uint32_t group;	   /* of times: that of .first_ps and .end_ps */
	int64_t first_ps, end_ps; /* of the slice that begins last, which nothing behind it cuts */
	struct chrome_open *open;
	size_t nr_open, cap_open;
};

struct chrome_op {
	struct ts_bytes raw, args; /* args: of its first event, when no category says what it is */
	uint32_t category, track;  /* track: TS_NONE where a category says what it is */
	uint32_t profile_op;
	uint64_t number; /* of a step */
};

struct chrome_names {
	struct ts_arena *arena;
	uint64_t seed;
	struct chrome_category *categories;
	struct chrome_process *processes;
	struct chrome_track *tracks;
	struct chrome_op *ops;
	size_t nr_categories, cap_categories, nr_processes, cap_processes;
	size_t nr_tracks, cap_tracks, nr_ops, cap_ops;
	struct ts_strmap category_ids, process_ids;
	struct ts_map track_ids, op_ids;
	/* what the event before this one was on: most often it is the same again */
	uint32_t last_category, last_process, last_track;
};

/* A trace of a program does not have more: events on further tracks are left out. */

/* All give TS_NONE when memory is out; a track may be TS_LIMIT_TRACE_TRACKS. */
uint32_t ts_chrome_category_of(struct chrome_names *names, struct ts_bytes name);
uint32_t ts_chrome_process_of(struct chrome_names *names, struct ts_bytes pid);
uint32_t ts_chrome_track_of(struct chrome_names *names, uint32_t process, struct ts_bytes tid,
			    uint8_t side, uint8_t class);
uint32_t ts_chrome_op_of(struct chrome_names *names, uint32_t category, uint32_t track,
			 struct ts_bytes raw, struct ts_bytes args);
void ts_chrome_names_release(struct chrome_names *names);

/* --- devices.c */

/* Once all events were seen: what each process shows. */
void ts_chrome_find_devices(struct chrome_names *names);
/* Does a device's event of this name only wait, or mark a moment? */
bool ts_chrome_is_wait(struct ts_bytes name);

/* --- scan.c: the text -> names, records, and what the file says of itself */

struct chrome_device {
	int64_t id, memory_bytes, cc_major, cc_minor, core_count;
	struct ts_bytes name;
};

/* Where the text can be opened to put events in (read/seams.h). */
struct chrome_seams {
	bool is_array, mapped;
	uint64_t head_at;   /* behind the outermost bracket */
	uint64_t events_at; /* behind the last event of the first list, TS_NO_SEAM: there is none */
	uint64_t end_at;    /* what makes sense ends here; TS_NO_SEAM: with the text */
	bool needs_comma, has_items;
	const char *closing;
};

struct chrome_texts { /* of args, that do not stand in the file so */
	pthread_mutex_t lock;
	struct ts_arena arena;
	struct ts_bytes *items;
	size_t nr, cap, nr_bytes;
	struct ts_map ids; /* by their hash */
	uint64_t seed;
};

struct chrome_flows {
	struct ts_flow *items;
	size_t nr, cap;
	struct ts_map places; /* of the slices that they begin or end at */
	struct ts_map ids;    /* of category and id together */
	uint64_t nr_ids;
};

struct chrome_file {
	struct chrome_names names;
	struct chrome_flows flows;
	struct chrome_texts texts;
	struct ts_sorter store; /* of struct chrome_record */
	struct chrome_args args;
	struct ts_bytes bytes; /* the input */
	bool packed;
	/* what the file says of itself; TS_UNKNOWN */
	int64_t base_unix_ns, rank, world_size;
	struct chrome_device *devices;
	size_t nr_devices, cap_devices;
	/* time */
	bool has_time;
	int64_t first_us;	     /* records count from here */
	struct ts_time_groups times; /* of slices */
	struct ts_time_samples samples;
	int64_t min_ps, max_ps; /* what of them is the capture */
	int64_t profiler_ps
		[2]; /* from when to when the profiler says that it ran; INT64_MAX: it does not */
	uint64_t nr_left_out;		  /* events without a time, or whose time is not a number */
	uint64_t nr_over, nr_too_deep;	  /* events on tracks over the limit, and begun over it */
	uint64_t nr_planes_over;	  /* processes, when the run has too many devices */
	uint32_t step_track, step_source; /* the steps, and the thread they were seen on */
	struct chrome_seams seams;
	/* damage: where the text stops making sense, and why */
	uint64_t damage_at;
	char damage[512]; /* empty: none */
	/* of the profile's lines: first_line + i shows track line_tracks[i] */
	uint32_t first_line;
	uint32_t *line_tracks;
	uint32_t *planes; /* of each process: of its host's side, of its device's; TS_NONE */
	/* where stats are read: the input, or what it was unpacked to; empty: they are not known */
	struct ts_scratch unpacked;
	struct ts_bytes text;
	bool text_lost; /* the disk would not take it */
	/* Of one of many ranks: the text is unpacked when a stat is asked for, and goes with ts_chrome_rest() */
	bool is_lazy;
	pthread_mutex_t text_lock; /* guards the making of .text */
	atomic_bool has_text;
	_Atomic uint64_t look_page, nr_looks; /* of stats (stream.c) */
};

/* A time of the text, since the file's first one, which is known then. */
static inline int64_t chrome_since(const struct chrome_file *file, struct ts_micros time)
{
	int64_t ps = ts_i64_mul(ts_i64_sub(time.us, file->first_us), TS_PS_PER_US);

	return ts_time_bound(ts_i64_add(ps, time.ps));
}

/* The length of an event ("dur": 3), which may be below 0; 0 where the token is not a length. */
static inline int64_t chrome_length(struct ts_bytes token)
{
	struct ts_micros time;

	if (!ts_jtok_micros(token, &time))
		return 0;
	return ts_time_bound(ts_i64_add(ts_i64_mul(time.us, TS_PS_PER_US), time.ps));
}

/* WANTS_STATS: of a packed file the text is kept for them, on disk. STRICT is shown the text; NULL: it is not asked for. */
enum ts_status ts_chrome_scan(struct chrome_file *file, bool mapped, bool wants_stats,
			      struct ts_strict *strict, struct ts_error *err);

/* --- strict.c: whether strict readers take the text */

void ts_chrome_strict_see(void *strict, struct ts_bytes piece);
/* After the scan: what was not shown of the text, as far as it makes sense. */
enum ts_status ts_chrome_strict_rest(const struct chrome_file *file, bool mapped,
				     struct ts_strict *strict, struct ts_error *err);
enum ts_status ts_chrome_strict_note(struct ts_arena *arena, struct ts_host *host,
				     const struct chrome_file *file, const struct ts_strict *strict,
				     struct ts_error *err);

/* --- texts.c */

void ts_chrome_texts_init(struct chrome_texts *texts, uint64_t seed);
void ts_chrome_texts_release(struct chrome_texts *texts);
/* The same text for as long as the file is there, on any thread; .p NULL: there is no room for more. */
struct ts_bytes ts_chrome_text_keep(struct chrome_texts *texts, struct ts_bytes text);

/* --- text.c: where stats are read */

/* The whole text, for as long as the host does not rest; empty: there is none. */
struct ts_bytes ts_chrome_text(const struct chrome_file *file);
void ts_chrome_rest(struct ts_profile *profile, uint32_t host);
/* Notes that the text could not be kept, if that is so. */
void ts_chrome_note_lost(struct ts_profile *profile, const struct chrome_file *file,
			 struct ts_bytes name);

/* --- flows.c */

/* An s or an f, if it is an end that is wanted. */
enum ts_status ts_chrome_flow_take(struct chrome_file *file, const struct chrome_event *event,
				   int64_t at_ps, struct ts_error *err);
void ts_chrome_flows_release(struct chrome_flows *flows);

/* The body of an event: where it stands, and behind that which args of it were kept. So bodies are in the
 * order of the file. */
#define CHROME_ARGS_BITS 16

static inline uint64_t chrome_place_of(struct ts_bytes body)
{
	return body.n >> CHROME_ARGS_BITS;
}

/* --- chrome.c */

void ts_chrome_release(void *file); /* by which a host of this reader is known */

/* --- model.c: names -> the profile */

enum ts_status ts_chrome_to_model(struct chrome_file *file, struct ts_profile *profile,
				  uint32_t host, struct ts_error *err);

/* --- stream.c */

enum ts_status ts_chrome_stream(const struct ts_profile *profile, uint32_t line, bool sort,
				const struct ts_sink *sink, struct ts_error *err);
uint64_t ts_chrome_place(const struct ts_profile *profile, const struct ts_line *line,
			 struct ts_bytes body);

#endif
