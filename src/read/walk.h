/* SPDX-License-Identifier: MIT */
/*
 * The text of a trace (Chrome's JSON: an array of events, or an object with traceEvents and what the
 * writer says of the run), from one end to the other: each event and each member of the outermost
 * object once, in bounded memory, plain or packed. The reader fills a profile from it, and copies
 * are written anew from it, so that what comes out is whole whatever went in.
 *
 * A token (an event, a member's value) is valid during the call. One that is longer than a window
 * (TS_WINDOW_MAX) is passed over and counted.
 *
 * Damage in the text is not an error: the walk ends there, and .damage says where and why. A bad
 * status means memory, disk, or comes from the visitor.
 */
#ifndef TS_READ_WALK_H
#define TS_READ_WALK_H

#include "codec/jtok.h"
#include "io/window.h"

struct ts_walk_visitor {
	void *ctx;
	/* A bad status ends the walk, and is given back. Each may be NULL. IS_OBJECT: the text is
	 * an object; else it is the array of events alone. */
	enum ts_status (*begin)(void *ctx, bool is_object, struct ts_error *err);
	enum ts_status (*member)(void *ctx, struct ts_bytes key, struct ts_bytes value,
				 struct ts_error *err);
	bool (*wants)(struct ts_bytes key); /* member() is asked for those; NULL: for all */
	enum ts_status (*events_begin)(void *ctx, bool is_object, struct ts_error *err);
	enum ts_status (*event)(void *ctx, struct ts_bytes event, struct ts_error *err);
	/* In place of event(), for a visitor that finds the end of an event on its own way: the
	 * cursor is at the '{', and must be behind the event afterwards. */
	enum ts_status (*at_event)(void *ctx, struct ts_error *err);
	enum ts_status (*events_end)(void *ctx, struct ts_error *err);
	enum ts_status (*end)(void *ctx, bool is_object, struct ts_error *err);
};

struct ts_walk {
	struct ts_window text;
	const struct ts_walk_visitor *visitor;
	bool over; /* the text is read, or its damaged part begins */
	uint64_t nr_too_long;
	uint64_t damage_at; /* where the text stops making sense */
	char damage[512];   /* and why; empty: it does not */
	/* places in the text */
	uint64_t good_at; /* behind the last member that was whole */
	uint64_t list_at; /* of the list of events: behind its last whole event, at what follows */
	bool needs_comma; /* before one more event there */
	bool has_items;	  /* of that list: one event at least */
	bool list_is_whole; /* its bracket was met */
	bool is_whole;	    /* the outermost object's bracket was met */
};

/* BYTES must live as long as the walk. MAPPED: they are a file's, and pages can be given back. */
enum ts_status ts_walk_open(struct ts_walk *walk, struct ts_bytes bytes, bool mapped,
			    const struct ts_walk_visitor *visitor, struct ts_error *err);
enum ts_status ts_walk_run(struct ts_walk *walk, struct ts_error *err); /* once */
void ts_walk_release(struct ts_walk *walk);

struct ts_walk_report {
	uint64_t nr_too_long;
	struct ts_error damage; /* "byte N: cause"; else empty */
};

/* All three, for a visitor that needs the tokens alone. */
enum ts_status ts_walk_all(struct ts_bytes bytes, bool mapped,
			   const struct ts_walk_visitor *visitor, struct ts_walk_report *report,
			   struct ts_error *err);

/* For at_event(), beside ts_window_more(): the text makes no sense from P on. */
void ts_walk_damaged(struct ts_walk *walk, const uint8_t *p, const char *cause);
/* Over the object or array at the cursor, however long. Where the text ends in it, it is damaged. */
enum ts_status ts_walk_skip(struct ts_walk *walk, struct ts_error *err);

/* Where the cursor is in the text. */
static inline uint64_t ts_walk_at(const struct ts_walk *walk)
{
	return ts_window_at(&walk->text, walk->text.p);
}

#endif
