/* SPDX-License-Identifier: MIT */
/*
 * Which events of a run go into the trace, when there are more than the budget.
 *
 * During the first pass the plan counts the durations of every line in a histogram (2 KB a line,
 * whatever its length). close() then shares the budget among the hosts, in equal parts, and what a
 * host does not need goes to the others; so what is chosen of a host depends on its own lines and its
 * share. Of each host it finds one duration from which on events are written; of those in the
 * histogram's bin at the cut each line has a quota, used up in the order in which events come. Lines
 * of steps and modules are served first. What is longer is kept, so an event is never kept without
 * those it stands in, but for the cut's own bin; and exactly min(budget, events) are chosen, whatever
 * the threads.
 *
 * Async pairs: a -start is an instant, and what makes it worth a place is how long its -done
 * waited. So a start counts with the wait of its done (found by the ops' partner link, first in first out),
 * unless 65,536 events of the line or 256 open starts lie between them. Both passes walk through
 * the same code, struct ts_trace_pairs, and so agree.
 */
#ifndef TS_TRACE_PLAN_H
#define TS_TRACE_PLAN_H

#include "model/duration_counter.h"
#include "model/block.h"

#define TS_TRACE_PAIRS	  256	/* starts of a line that may be open at once */
#define TS_TRACE_PAIR_AGE 65536 /* events of the line between a start and its done */
#define TS_TRACE_BINS	  488	/* eight to each doubling of the duration */

struct ts_trace_event {
	int64_t start_ps, dur_ps, self_ps;
	uint32_t op;
	uint32_t note; /* of the walk's: a number in ts_trace_ends or ts_trace_kernels; 0: none */
	struct ts_bytes body; /* the block's; empty where it has none */
};

struct ts_trace_pairs {
	struct ts_trace_event items[TS_TRACE_PAIRS]; /* open starts in the order they came */
	uint64_t at[TS_TRACE_PAIRS];		     /* the line's count of events then */
	size_t nr;
};

struct ts_trace_visitor {
	void *ctx;
	/* DONE is NULL for a start whose done never came, or came too late. */
	enum ts_status (*pair)(void *ctx, const struct ts_trace_event *start,
			       const struct ts_trace_event *done, struct ts_error *err);
};

/* One line's counts. */
struct ts_trace_tally {
	uint64_t nr_events, nr_left_out;
	int64_t first_ps, last_ps;    /* the earliest start, the latest end */
	uint32_t bins[TS_TRACE_BINS]; /* saturating */
	uint64_t quota;		      /* after close: events of the cut's bin that are written */
	uint64_t nr_chosen;	      /* after close: events of the line that are written */
	struct ts_trace_pairs *pairs; /* while counting */
};

/* Of a host. Events in bins above the cut are written, in its own as far as the line's quota goes. */
struct ts_trace_cuts {
	uint32_t bins[2];  /* of steps and modules, of all else */
	size_t first, end; /* of the plan's lines */
};

/* What the hosts of a run have, where one of them alone is counted: its share depends on the others. */
struct ts_trace_wants {
	uint64_t *nr_events; /* one a host */
	size_t nr;
	int64_t first_ps, last_ps; /* as the plan has them */
};

struct ts_trace_plan {
	const struct ts_profile *profile;
	struct ts_trace_tally **tallies; /* one a line; NULL: it has no events that were counted */
	size_t nr_lines;
	uint8_t *async; /* enum ts_op_async, one an op: small enough to stay cached */
	/* To be set before the first count: events that are not subject to the choice. */
	bool slices_alone;    /* without lines that have no slices of their own */
	int64_t min_ps;	      /* shorter ones are left out, but for ends of async pairs */
	const bool *unwanted; /* of each op; the caller's; NULL: there are no async ops */
	uint32_t host;	      /* to be set before close: its lines alone; TS_NONE: all */
	const struct ts_trace_wants *wants; /* likewise; NULL: all of the run was counted */
	uint64_t nr_left_out;		    /* after close: those */
	struct ts_trace_cuts *hosts;	    /* one a host; its bins after close */
	uint32_t *lines;		    /* all, by host */
	uint64_t nr_events, nr_chosen;	    /* after close */
	int64_t first_ps; /* after close: the earliest start of the run, 0 at most */
	int64_t last_ps;  /* after close: the latest end of an event, 0 at least */
};

/* The profile is finished and outlives the plan. */
enum ts_status ts_trace_plan_init(struct ts_trace_plan *plan, const struct ts_profile *profile,
				  struct ts_error *err);
void ts_trace_plan_release(struct ts_trace_plan *plan);

/*
 * Is the line drawn as counters, and not as slices? Not in the trace of a run: that of a pod is joined from parts, whose events are not
 * there any more when its rows are laid out, and it is to be the same.
 */
static inline bool ts_trace_has_points(const struct ts_trace_plan *plan, const struct ts_line *line)
{
	return line->has_points && plan->slices_alone;
}

/* To be given to ts_pass_run(): counts every line that ts_trace_wants(). */
struct ts_duration_counter ts_trace_plan_counter(struct ts_trace_plan *plan);
/* Its parts. Threads may count different lines at once. */
bool ts_trace_wants(void *plan, const struct ts_profile *profile, uint32_t line);
enum ts_status ts_trace_count(void *plan, const struct ts_block *block, struct ts_error *err);

/* The parts of a BUDGET for hosts that have WANTS events: all, or up to one level. */
void ts_trace_shares(const uint64_t *wants, uint64_t *shares, size_t nr, uint64_t budget);

/* MAX_EVENTS 0: all. After the last count; once more chooses anew, for a file of another size. */
enum ts_status ts_trace_plan_close(struct ts_trace_plan *plan, uint64_t max_events,
				   struct ts_error *err);

/*
 * For the second pass: is an event that counts with KEY_PS written? *QUOTA is the walker's own copy
 * of the tally's.
 */
bool ts_trace_chooses(const struct ts_trace_plan *plan, uint32_t line, int64_t key_ps,
		      uint64_t *quota);

/* An event of an op that starts or ends something async; NR counts the line's events before it.
 * *TAKEN: the pairs have it (or had it visited), the caller has no more to do with it. */
enum ts_status ts_trace_pairs_add(struct ts_trace_pairs *pairs, const struct ts_profile *profile,
				  const struct ts_trace_event *event, uint64_t nr,
				  const struct ts_trace_visitor *visitor, bool *taken,
				  struct ts_error *err);
/* Gives up on starts that are too old at event NR; UINT64_MAX at the line's end: on all. */
enum ts_status ts_trace_pairs_expire(struct ts_trace_pairs *pairs, uint64_t nr,
				     const struct ts_trace_visitor *visitor, struct ts_error *err);

static inline bool ts_trace_leaves_out(const struct ts_trace_plan *plan,
				       const struct ts_block *block, size_t i)
{
	if (plan->unwanted && plan->unwanted[block->op[i]])
		return true;
	return block->dur_ps[i] < plan->min_ps && plan->async[block->op[i]] == TS_ASYNC_NONE;
}

/* What a pair's start counts with. */
static inline int64_t ts_trace_pair_key(const struct ts_trace_event *start,
					const struct ts_trace_event *done)
{
	return done ? TS_MAX(start->dur_ps, done->dur_ps) : start->dur_ps;
}

static inline struct ts_trace_event ts_trace_event_of(const struct ts_block *block, size_t i)
{
	return (struct ts_trace_event){ block->start_ps[i],
					TS_MAX(block->dur_ps[i], 0),
					TS_MAX(block->self_ps[i], 0),
					block->op[i],
					0,
					block->body ? block->body[i]
						    : (struct ts_bytes){ NULL, 0 } };
}

#endif
