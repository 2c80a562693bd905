/* SPDX-License-Identifier: MIT */
/*
 * Launch arrows: which slices of the trace they join.
 *
 * Rows are written apart, on threads, and no arrow may stand in the file with one end alone. So rows
 * that may have ends (trace/ends.h) are walked once before anything is written, by the code that
 * writes them (ts_trace_row_scan): it chooses the same events and finds them the same lanes, and so
 * an end is known by its row and by its slice's number in it. Rows of hosts are walked only where
 * one of a device has ends. Each row then takes its arrows from a list in the order of its slices.
 *
 * A number that several events have on one side joins the earliest of each: a launch of a graph with
 * its first kernel, the call that enqueues a program with its run. An arrow begins at the end that is
 * earlier in the file's time: importers drop one that goes back, and the two events could then not be
 * found from one another. Where the clocks do not agree it may so begin on the device.
 *
 * Both ends are of one host, and hosts are looked through one after the other. Memory: 40 bytes for
 * each end while they are joined, and TS_LIMIT_TRACE_LAUNCHES bounds the slices of the rows of a host
 * that are walked. Rows past it have no launch arrows.
 */
#ifndef TS_TRACE_LINKS_H
#define TS_TRACE_LINKS_H

#include "trace/row.h"

struct ts_trace_links {
	struct ts_trace_arrow *arrows; /* by row, then by slice */
	size_t nr_arrows;
};

/* Finds the arrows of the rows, which are all that HOST has, and gives each row its own, which live as
 * long as LINKS. WRITERS: one a thread. */
enum ts_status ts_trace_links_find(struct ts_trace_links *links, const struct ts_trace_plan *plan,
				   uint32_t host, struct ts_trace_writer *const *writers,
				   size_t nr_threads, struct ts_trace_row *rows, size_t nr_rows,
				   struct ts_error *err);
void ts_trace_links_release(struct ts_trace_links *links);

#endif
