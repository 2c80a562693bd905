/* SPDX-License-Identifier: MIT */
/*
 * How far predictions were off where both the prediction and a measurement exist: of one real profile, of a TPU v6e (openxla/xprof's
 * test data, host offload, 2025-03-11), all cores and executions. Printed with each prediction. To make it again:
 *
 *	tpusight report --json tpu_v6e_host_offload.xplane.pb	(its prediction.measured)
 *
 * tests/truth/prediction.py holds the table against that.
 */
#include "analysis/time/prediction.h"

static const struct prediction_known known[] = {
	{ TS_TIME_VECTOR, 1.5, 4, 1201 },
	{ TS_TIME_HOST_COPY, 13.9, 6, 2400 },
	{ TS_TIME_COLLECTIVE, 51.0, 1, 12 },
};

const struct prediction_known *ts_prediction_known_of(enum ts_time_kind kind)
{
	for (size_t i = 0; i < TS_NELEM(known); i++)
		if (known[i].kind == kind)
			return &known[i];
	return NULL;
}
