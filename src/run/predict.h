/* SPDX-License-Identifier: MIT */
/*
 * A step that did not run, as a profile: the modules of a run without events are walked one after the other, as in the analysis
 * prediction, and what came of it is written as a session that everything opens,
 *	FOLDER/plugins/profile/predicted/predicted.xplane.pb
 */
#ifndef TS_RUN_PREDICT_H
#define TS_RUN_PREDICT_H

#include "run/run.h"

struct ts_predict_options {
	struct ts_bytes chip, topology; /* as the user named them */
	struct ts_bytes libtpu;		/* the version that compiled them; may be empty */
	const char *folder;
	const char *version; /* of the program */
};

/*
 * RUN has modules alone, with their bytes (.keeps_protos). A file in the place that is not a predicted profile stays, and is
 * TS_USAGE. *PATH, of malloc, is what was written.
 */
enum ts_status ts_predict(const struct ts_run *run, const struct ts_predict_options *options,
			  char **path, struct ts_error *err);

#endif
