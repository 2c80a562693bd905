/*
 * The text of a trace (Chrome's JSON: an array of events, or an object with traceEvents and what the
 * writer says of the run), from one end to the other: each event and each member of the outermost
 * object once, in bounded memory. Who copies a trace writes it anew from these, so that what comes
 * out is whole whatever went in.
 *
 * A token (an event, a member's value) is good during the call. One longer than a window
 * (TS_WINDOW_MAX) is passed over, and counted.
 */
#ifndef TS_COPY_EVENTS_H
#define TS_COPY_EVENTS_H

#include "codec/jtok.h"
#include "io/window.h"

struct ts_events_visitor {
	void *ctx;
	/* A bad status ends the walk, and is given back. All but event() may be NULL. IS_OBJECT: the
	 * text is one; else it is the array of events alone. */
	enum ts_status (*begin)(void *ctx, bool is_object, struct ts_error *err);
	enum ts_status (*member)(void *ctx, struct ts_bytes key, struct ts_bytes value,
				 struct ts_error *err);
	enum ts_status (*events_begin)(void *ctx, bool is_object, struct ts_error *err);
	enum ts_status (*event)(void *ctx, struct ts_bytes event, struct ts_error *err);
	enum ts_status (*events_end)(void *ctx, struct ts_error *err);
	enum ts_status (*end)(void *ctx, bool is_object, struct ts_error *err);
};

struct ts_events_report {
	uint64_t nr_too_long;
	struct ts_error damage; /* where the text stops making sense; else empty */
};

enum ts_status ts_events_walk(struct ts_bytes bytes, bool mapped,
			      const struct ts_events_visitor *visitor,
			      struct ts_events_report *report, struct ts_error *err);

#endif
