/*
 * The outline of a run: what must be known of it before the ops are read block by block.
 *
 * Made by flow/ in a first, cheap pass over the lines of steps, modules and host threads.
 */
#ifndef TS_MODEL_OUTLINE_H
#define TS_MODEL_OUTLINE_H

#include "base/spans.h"
#include "model/host_event.h"
#include "model/steps.h"

struct ts_outline {
	struct ts_steps steps;
	struct ts_spans compile; /* some host thread was compiling */
	struct ts_spans
		input; /* one was in the input pipeline or a transfer in, and none compiled */
	int64_t nr_compiles;	 /* stretches of time with backend compilations */
	int64_t compile_ps;	 /* time with one in progress, on however many threads */
	uint8_t *host_activity;	 /* of each op of the profile: enum ts_host_activity */
};

void ts_outline_release(struct ts_outline *outline);

#endif
