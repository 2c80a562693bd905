/* SPDX-License-Identifier: MIT */
/*
 * What kernels have to do, by the operators that launched them: the work of each call (model/aten_work.h), found
 * by the link that a launch and its kernel share. A call of several kernels has its work once: each of them the part
 * that its time is of theirs all.
 *
 * Made by run/ of the threads of a host and then of its devices, before events are handed over; from then on
 * it is const, and what a line hands over of a kernel has the kernel's part (model/nest.h). So all analyses see the
 * same work. A launch belongs to the innermost operator around it whose work is known.
 *
 * Memory: 48 bytes a launch, of TS_LAUNCHED_MAX at most: the work of further ones is unknown.
 */
#ifndef TS_MODEL_LAUNCHED_H
#define TS_MODEL_LAUNCHED_H

#include "base/map.h"
#include "model/aten_work.h"

#define TS_LAUNCHED_MAX ((size_t)4 << 20)

/* A launch on a thread, in the order of ends. */
struct ts_launch {
	int64_t start_ps;
	uint64_t link;
	uint32_t call; /* in the thread's calls; TS_NONE: it is in no operator that is known */
};

struct ts_launched_call {
	struct ts_aten_work work;
	int64_t kernels_ps; /* of all kernels that it launched, once the devices were asked */
	bool has_kind;	    /* at least it is known what the operator is for */
	bool is_again;	    /* it was computed before, and not kept: activation checkpointing */
};

/* What a thread launched. */
struct ts_thread_launches {
	struct ts_launch *items;
	struct ts_launched_call *calls;
	size_t nr, cap, nr_calls, cap_calls;
};
void ts_thread_launches_release(struct ts_thread_launches *launches);
/* Events of one thread in the order of their ends. */
enum ts_status ts_thread_launch(struct ts_thread_launches *launches, int64_t start_ps,
				uint64_t link, struct ts_error *err);
/* Did what began at START_PS and ends now launch something that has no operator yet? */
bool ts_thread_has_launched(const struct ts_thread_launches *launches, int64_t start_ps);
/* An operator with launches ended. */
enum ts_status ts_thread_call(struct ts_thread_launches *launches, int64_t start_ps,
			      const struct ts_aten_work *work, struct ts_error *err);

/* A frame of Python ended in which a forward pass was run once more. */
enum ts_status ts_thread_again(struct ts_thread_launches *launches, int64_t start_ps,
			       struct ts_error *err);

/* All of a run. */
struct ts_launched;
struct ts_launched *ts_launched_new(size_t nr_hosts); /* NULL: no memory */
void ts_launched_free(struct ts_launched *launched);
/* LAUNCHES are used up. */
enum ts_status ts_launched_add(struct ts_launched *launched, uint32_t host,
			       struct ts_thread_launches *launches, struct ts_error *err);
bool ts_launched_has(const struct ts_launched *launched, uint32_t host);
/* A kernel of the host ran; for one thread at a time. */
void ts_launched_time(struct ts_launched *launched, uint32_t host, uint64_t link, int64_t dur_ps);

/* How the work of an event is known: a type of what is multiplied, and bits. */
#define TS_HOW_TYPE	15  /* enum ts_aten_type */
#define TS_HOW_AGAIN	32 /* it was computed before */
#define TS_HOW_NO_MATRIX 64 /* it does not use matrix units: .flops does not count */
#define TS_HOW_KIND	128 /* what it is for is known */

/* The part of a kernel that took DUR_PS. */
struct ts_kernel_work {
	double flops, bytes; /* NaN: unknown */
	uint8_t how;	     /* 0: nothing is known */
};
struct ts_kernel_work ts_launched_find(const struct ts_launched *launched, uint32_t host,
				       uint64_t link, int64_t dur_ps);

#endif
