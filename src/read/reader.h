/* SPDX-License-Identifier: MIT */
/*
 * A reader: bytes of one format -> a profile, and later its events in blocks.
 *
 * probe() looks at the input and says how sure it is (0 not ours, 100 certain); the surest reader
 * is taken. read() adds one host to the profile: everything but the events. stream() decodes one
 * line of it into blocks; many lines may be streamed at once on different threads, the profile is
 * const then.
 *
 * What the rest of the program wants to know of a format, its reader says here: code above read/
 * does not ask a reader for its name.
 */
#ifndef TS_READ_READER_H
#define TS_READ_READER_H

#include "model/block.h"

struct ts_read_request {
	struct ts_bytes bytes; /* the whole input; must outlive the profile */
	struct ts_bytes file;  /* its name, for messages; likewise */
	struct ts_bytes host;  /* the host's name */
	size_t nr_threads;
	bool mapped;   /* the bytes are a file's, mapped: pages of it may be given back when read */
	bool no_stats; /* the stats of events are not needed: nothing has to be kept for them */
	bool wants_strict; /* whether strict readers of JSON take it is wanted to be known: each byte is looked at */
	bool is_one_of_many; /* other hosts follow: what can be made again when this one is asked for is let go */
};

/* Where annotations of a file go (run/annotate.h). */
enum ts_annotate_where {
	TS_ANNOTATE_NOT,    /* nowhere: the format has no place for them */
	TS_ANNOTATE_BEHIND, /* into the file, behind its own bytes */
	TS_ANNOTATE_COPY,   /* into a copy beside the file, which stays as it is */
};

/* What the bytes are for code that copies them with changes (copy/). */
enum ts_form {
	TS_FORM_OTHER,	 /* copies cannot be made */
	TS_FORM_XSPACE,	 /* planes on protobuf's wire */
	TS_FORM_TRACE,	 /* a trace in JSON (read/trace.h, read/seams.h) */
	TS_FORM_RECORDS, /* planes in pieces, packed in records: copies cannot be made */
};

struct ts_reader {
	const char *name, *title;
	bool is_trace; /* of a format for trace viewers: host threads and devices in one clock */
	bool is_extra; /* joined to a run that lies beside it; by itself it has no events */
	bool is_log;   /* a compiler's log, which the user may name beside the run */
	enum ts_annotate_where annotate;
	enum ts_form form;
	int (*probe)(struct ts_bytes file, struct ts_bytes bytes);
	enum ts_status (*read)(struct ts_profile *profile, const struct ts_read_request *request,
			       struct ts_error *err);
	/*
	 * TS_UNSORTED: the events are not in order and SORT was false; blocks may have been handed
	 * over already, and do not count: ask again with SORT. TS_FORMAT: damaged; what stands
	 * before the damage was handed over.
	 */
	enum ts_status (*stream)(const struct ts_profile *profile, uint32_t line, bool sort,
				 const struct ts_sink *sink, struct ts_error *err);
	/* The offset in the file (of a packed one in its text) of an event whose body a block had. */
	uint64_t (*place)(const struct ts_profile *profile, const struct ts_line *line,
			  struct ts_bytes body);
	/*
	 * No thread reads this host now: what can be made again is let go. What was handed out of its
	 * events stays, but for what .each of a block showed. May add damage to the profile. NULL: there is
	 * nothing to let go.
	 */
	void (*rest)(struct ts_profile *profile, uint32_t host);
};

extern const struct ts_reader *const ts_readers[]; /* NULL at the end */

/* The reader for these bytes, or NULL. */
const struct ts_reader *ts_reader_for(struct ts_bytes file, struct ts_bytes bytes);
/* The one of this name, or NULL. */
const struct ts_reader *ts_reader_find(const char *name);
/* The one that read this host. */
const struct ts_reader *ts_reader_of(const struct ts_profile *profile, uint32_t host);

#endif
