/* SPDX-License-Identifier: MIT */
/*
 * What the analysis capacity knows: what each compiled module needs of device memory.
 *
 * Bytes are those of HBM on one device, as arrays are laid out, where nothing else is said.
 * Positions are those of the module's schedule, or of the heap trace of its buffer assignment.
 */
#ifndef TS_ANALYSIS_FACTS_CAPACITY_H
#define TS_ANALYSIS_FACTS_CAPACITY_H

#include <math.h>

#include "base/check.h"
#include "model/hlo.h"

enum ts_buffer_kind {
	TS_BUFFER_PARAMETER,
	TS_BUFFER_OUTPUT,
	TS_BUFFER_DONATED, /* a parameter whose memory an output takes */
	TS_BUFFER_TEMP,
	TS_BUFFER_CONSTANT,
	TS_NR_BUFFER_KINDS
};
static inline const char *ts_buffer_kind_name(enum ts_buffer_kind kind)
{
	static const char *const names[TS_NR_BUFFER_KINDS] = {
		[TS_BUFFER_PARAMETER] = "parameter", [TS_BUFFER_OUTPUT] = "output",
		[TS_BUFFER_DONATED] = "donated",     [TS_BUFFER_TEMP] = "temp",
		[TS_BUFFER_CONSTANT] = "constant",
	};

	TS_ASSERT(kind < TS_NR_BUFFER_KINDS);
	return names[kind];
}

/* A piece of memory that is alive at the peak of its module. Texts with .n 0: they are unknown. */
struct ts_peak_buffer {
	struct ts_bytes op; /* that makes it; of a tuple with the part: "fusion.3{1}" */
	struct ts_bytes shape, source, framework_op;
	struct ts_bytes from_op, to_op; /* that need it first and last */
	enum ts_buffer_kind kind;
	uint32_t from, to; /* positions */
	int64_t nr_bytes;
	int64_t logical_bytes; /* without the padding of its layout; -1: unknown */
};

/* An argument whose memory a result of the same shape could take. */
struct ts_donation {
	int64_t parameter;			 /* its number */
	uint32_t output;			 /* the part of the result */
	struct ts_bytes op, framework_op, shape; /* of the argument; .n 0: unknown */
	int64_t nr_bytes;
};

struct ts_capacity_program {
	const struct ts_hlo_module *module;
	bool is_assigned; /* by the compiler; else its live ranges were simulated */
	int64_t argument_bytes, output_bytes, alias_bytes, temp_bytes, constant_bytes;
	int64_t peak_bytes;	     /* the most that is alive at one position */
	int64_t host_argument_bytes; /* parameters in the host's memory, not in peak_bytes */
	int64_t host_temp_bytes;     /* and the most of other arrays in it */
	int64_t onchip_peak_bytes;   /* the most of VMEM and its like, which is not in peak_bytes */
	int64_t older_peak_bytes; /* the peak of an older libtpu, where it is not known which one it
				     was and that makes a difference; -1 */
	int64_t reserved_bytes;	  /* what running it takes: gaps between buffers too */
	uint32_t nr_positions, peak_at;
	struct ts_bytes peak_op, peak_source; /* .n 0: unknown */
	const struct ts_peak_buffer
		*buffers; /* the largest, the largest first: those of the table */
	size_t nr_buffers;
	const struct ts_donation
		*donations; /* the largest, the largest first: those of the table */
	size_t nr_donations;
	int64_t donation_bytes; /* of all that could be donated */
};

struct ts_capacity_facts {
	const struct ts_capacity_program *programs; /* a module each, the largest peak first */
	size_t nr_programs;			    /* 0: no module has its instructions */
	int64_t hbm_bytes;			    /* of one device; -1: unknown */
};

/* The module with the largest peak, or NULL. */
static inline const struct ts_capacity_program *ts_capacity_top(
	const struct ts_capacity_facts *capacity)
{
	return capacity->nr_programs > 0 ? &capacity->programs[0] : NULL;
}

/* Of the memory of a device, 0..1; NaN: unknown. */
static inline double ts_capacity_peak_share(const struct ts_capacity_facts *capacity)
{
	if (capacity->nr_programs == 0 || capacity->hbm_bytes <= 0)
		return NAN;
	return (double)capacity->programs[0].peak_bytes / (double)capacity->hbm_bytes;
}

#endif
