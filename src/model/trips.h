/* SPDX-License-Identifier: MIT */
/*
 * How often a compiled loop runs: as the compiler wrote it down (known_trip_count), else by its
 * condition, where a counter of whole numbers starts at a constant, grows by a constant, and is
 * compared with a constant. That is what jax.lax.scan and fori_loop become.
 */
#ifndef TS_MODEL_TRIPS_H
#define TS_MODEL_TRIPS_H

#include "model/hlo.h"

/* Of the while loop INSTR; TS_HLO_UNKNOWN: the module does not say. */
int64_t ts_hlo_trips(const struct ts_hlo_module *module, uint32_t instr);

#endif
