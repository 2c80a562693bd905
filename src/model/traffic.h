/* SPDX-License-Identifier: MIT */
/*
 * What one execution of an op moves, by memory and way: from the profile's breakdown, else from the
 * compiled module, else all its bytes taken for HBM, as XProf does.
 *
 * Both halves of an asynchronous copy have a traffic of their own: the start reads the source, the done
 * writes the target. What lies in the host's memory is read from the host or written to it; so is
 * what comes in by an infeed and goes out by an outfeed, a host send or recv.
 */
#ifndef TS_MODEL_TRAFFIC_H
#define TS_MODEL_TRAFFIC_H

#include "model/cost.h"
#include "model/profile.h"

enum ts_traffic_source {
	TS_TRAFFIC_UNKNOWN,   /* unknown; all is 0 */
	TS_TRAFFIC_INSIDE,    /* it holds other ops, which count; all is 0 */
	TS_TRAFFIC_BREAKDOWN, /* memory_access_breakdown of the profile */
	TS_TRAFFIC_MODULE,    /* the cost model, by operands, results and memory spaces */
	TS_TRAFFIC_TOTAL,     /* bytes_accessed alone: taken for HBM */
};

struct ts_traffic {
	enum ts_traffic_source source;
	int64_t read_bytes[TS_NR_MEMORIES], written_bytes[TS_NR_MEMORIES];
	int64_t unsplit_bytes; /* of HBM, where it is unknown whether read or written */
};

struct ts_traffic ts_op_traffic(const struct ts_profile *profile, const struct ts_op *op);
/* Of an instruction that runs by itself. */
struct ts_traffic ts_instr_traffic(const struct ts_hlo_module *module, uint32_t instr);

/* Bytes an execution moves to and from HBM; NaN: unknown. Of an op that holds others: those that the
 * breakdown gives it. */
double ts_op_hbm_bytes(const struct ts_profile *profile, const struct ts_op *op);

int64_t ts_traffic_hbm_bytes(const struct ts_traffic *traffic);	 /* both ways, and unsplit */
int64_t ts_traffic_host_bytes(const struct ts_traffic *traffic); /* both ways */
/* Saturating sum; the source is that of the better known part. */
void ts_traffic_add(struct ts_traffic *sum, const struct ts_traffic *traffic);
struct ts_traffic ts_traffic_times(const struct ts_traffic *traffic, int64_t n);
/* breakdown, module, bytes_accessed; NULL: unknown */
const char *ts_traffic_source_name(enum ts_traffic_source source);

#endif
