/* SPDX-License-Identifier: MIT */
/*
 * From the counters of a chip to what its units did: ids and formulas, each a table. Ids and names of counters are those of
 * xprof/utils/tpu_counter_ids_v7.h and .._v7x.h, formulas and rates those of XProf 2.24's utilization viewer
 * (github.com/openxla/xprof, xprof/convert/tpuv7generic_utilization_utils.cc); tests/truth/counters_test.py holds the rows
 * against XProf's own.
 *
 * Counters of one kind stand at even distances: a sum is a first id and up to two strides. The copies of a unit (of a die, of a
 * SparseCore) are a stride from each other, too.
 *
 * What is XProf's and odd, and is given as it is: the peak of ICI takes a clock of 1 GHz for every chip, and on v7x its bytes are
 * those of die 1 alone, in a row for each core.
 */
#include "analysis/hardware/samples.h"

#include <math.h>

#include "base/check.h"

#define GIB	     (1024. * 1024 * 1024)
#define ICI_PER_S    (5604e9 / 19) /* 294.947368421 GB/s */
#define ICI_CLOCK_HZ 1e9
#define TILES	     16 /* of a SparseCore */
#define MAX_TERMS    6

/* WEIGHT x the sum of NR_OUTER x NR counters. .nr 0: there is no such term. */
struct term {
	double weight;
	uint32_t id, nr, stride, nr_outer, outer;
};

enum peak {
	OF_CYCLES, /* .times x the cycles of the unit */
	OF_FOURTH, /* a fourth of them, rounded down */
	OF_HBM,	   /* .times x the seconds that the core counted */
	OF_ICI,
	OF_TRAFFIC, /* what the row of HBM before it achieved; without that there is no row */
};

struct unit {
	const char *name, *unit;
	struct term terms[MAX_TERMS];
	enum peak peak;
	double times;
	enum ts_unit_about about;
	const char *name_of_1; /* of the second core; NULL: .name */
	bool is_at_0;	       /* its node is 0, whatever the core */
};

/* What a chip has NR_OUTER x NR times, each with cycles of its own. */
struct group {
	const struct unit *units;
	size_t nr_units;
	struct term cycles;
	bool needs_cycles; /* without any there are no rows */
	bool is_shared;	   /* counters and cycles are those of the first, whatever the core */
};

struct copies {
	uint32_t nr, stride;
};

struct chip_units {
	const char *name, *kind;
	double clock_hz;
	struct copies dies, sparsecores;
	struct term seconds; /* cycles of a core, without those that were skipped */
	const struct group *core, *sparse;
	size_t nr_core, nr_sparse;
};

/* clang-format off */
#define ONE(id)		      { 1, (id), 1, 0, 1, 0 }
#define ROW(weight, id, nr)   { (weight), (id), (nr), 8, 1, 0 } /* neighbours */
#define AT(weight, id, nr, stride) { (weight), (id), (nr), (stride), 1, 0 }
#define GRID(weight, id, nr, stride, nr_outer, outer) { (weight), (id), (nr), (stride), (nr_outer), (outer) }

/* What all tensor cores have at the same distance from ..TCS_STATS_COUNTERS_UNPRIVILEGED_COUNT_CYCLES: SCALAR_ALU_INSTRUCTION_0
 * is 80 behind it, VECTOR_ALU_INSTRUCTION_0 248, VST_INSTRUCTION 280, VLD_INSTRUCTION_0 296, VPU_VALU_FADD_OPS_0 to
 * .._FMAC_OPS_3 from 1688 on. MXU_BUSY_0, MATPUSH_CYCLES_MXU_0, ROTATE_PERMUTE_INSTRUCTION_XLU_0 (the set's, TRANSPOSE and
 * PACKED are 16 behind each other) and XLU_BUSY_0 differ. */
#define ISSUE(base) \
	{ "Scalar Unit", "instructions", { ROW(1, (base) + 80, 2) }, OF_CYCLES, 2 }, \
	{ "Vector ALUs", "instructions", { ROW(1, (base) + 248, 4) }, OF_CYCLES, 4 }, \
	{ "VPU Utilization", "instructions", { ROW(1, (base) + 1688, 20) }, OF_CYCLES, 4 }, \
	{ "Vmem Stores", "instructions", { ONE((base) + 280) }, OF_CYCLES, 1 }, \
	{ "Vmem Loads", "instructions", { ROW(1, (base) + 296, 2) }, OF_CYCLES, 2 }
#define MXU_BUSY(id) \
	{ "No MXU Busy", "cycles", { ONE(id) }, OF_CYCLES, 1 }, \
	{ "1 MXU Busy", "cycles", { ONE((id) + 8) }, OF_CYCLES, 1 }, \
	{ "2 MXU Busy", "cycles", { ONE((id) + 16) }, OF_CYCLES, 1 }, \
	{ "Avg MXU Busy", "cycles", { ROW(0.5, (id) + 8, 1), ONE((id) + 16) }, OF_CYCLES, 1, TS_UNIT_MXU }
#define MATPUSH_AND_XLU(matpush, busy, instructions, xlu_peak) \
	{ "MXU matpush", "cycles", { ROW(1, matpush, 2) }, OF_CYCLES, 2 }, \
	{ "No XLU Busy", "cycles", { ONE(busy) }, OF_CYCLES, 1 }, \
	{ "1 XLU Busy", "cycles", { ONE((busy) + 8) }, OF_CYCLES, 1 }, \
	{ "2 XLUs Busy", "cycles", { ONE((busy) + 16) }, OF_CYCLES, 1 }, \
	{ "Avg XLU Busy", "cycles", { ROW(0.5, (busy) + 8, 1), ONE((busy) + 16) }, OF_CYCLES, 1 }, \
	{ "XLU0", "instructions", { AT(1, instructions, 4, 16) }, xlu_peak, 1 }, \
	{ "XLU1", "instructions", { AT(1, (instructions) + 8, 4, 16) }, xlu_peak, 1 }
/* From ..CMN_HI_FREQ_STATS_COUNTERS_UNPRIVILEGED_WR_REQ_PS0 of the first channel on: WR_REQ_PS0, _PS1, PARTIAL_WRITE_REQ_PS0,
 * _PS1, RD_RESP_PS0, _PS1; 32 bytes each. */
#define HBM_READ(id, grid)  GRID(32, (id) + 32, grid), GRID(32, (id) + 40, grid)
#define HBM_WRITE(id, grid) GRID(32, (id), grid), GRID(32, (id) + 8, grid), GRID(32, (id) + 16, grid), GRID(32, (id) + 24, grid)
#define HBM(id, per_s, ...) HBM_(id, per_s, (__VA_ARGS__))
#define OPEN(...) __VA_ARGS__
#define HBM_(id, per_s, grid) \
	{ .name = "HBM Rd+Wr - core 0", .name_of_1 = "HBM Rd+Wr - core 1", .unit = "bytes", .is_at_0 = true, \
	  .terms = { HBM_READ(id, OPEN grid), HBM_WRITE(id, OPEN grid) }, .peak = OF_HBM, .times = (per_s), .about = TS_UNIT_HBM }, \
	{ .name = "HBM Read Ratio", .unit = "percent", .terms = { HBM_READ(id, OPEN grid) }, .peak = OF_TRAFFIC }, \
	{ .name = "HBM Write Ratio", .unit = "percent", .terms = { HBM_WRITE(id, OPEN grid) }, .peak = OF_TRAFFIC }
/* ..OCI_ICR..BN_RD_REQ_0_INSERTION_COUNT: flits of 128 bytes. */
#define ICI(id, write, nr, stride) \
	{ .name = "ICI (Read)", .unit = "bytes", .terms = { AT(128, id, nr, stride) }, .peak = OF_ICI, .is_at_0 = true }, \
	{ .name = "ICI (Write)", .unit = "bytes", .terms = { AT(128, (id) + (write), nr, stride) }, .peak = OF_ICI, .is_at_0 = true }
/* Of a SparseCore: from TEC_SCALAR_ISSUE, S0 16 behind it, S1, SMISC; from VECTOR_ISSUE, V0 8 behind it, V1, V2, VLD, VST, VRES, VEX. */
#define SLOT(name, id, stride) { name, "instructions", { AT(1, id, TILES, stride) }, OF_CYCLES, TILES }
#define TILE_UNITS(scalar, scalar_stride, vector, vector_stride, v0, vex, vres) \
	SLOT("TEC Scalar Issue", scalar, scalar_stride), \
	SLOT("TEC Scalar Issue: S0 slot", (scalar) + 16, scalar_stride), \
	SLOT("TEC Scalar Issue: S1 slot", (scalar) + 24, scalar_stride), \
	SLOT("TEC Scalar Issue: Smisc slot", (scalar) + 32, scalar_stride), \
	SLOT("SC Vector Issue", vector, vector_stride), \
	SLOT(v0, (vector) + 8, vector_stride), \
	SLOT("SC Vector Issue: V1 Slot", (vector) + 16, vector_stride), \
	SLOT("SC Vector Issue: V2 Slot", (vector) + 24, vector_stride), \
	SLOT("SC Vector Issue: VLD Slot", (vector) + 32, vector_stride), \
	SLOT("SC Vector Issue: VST Slot", (vector) + 40, vector_stride), \
	SLOT(vex, (vector) + 56, vector_stride), \
	SLOT(vres, (vector) + 48, vector_stride)
/* From ..SCS_SC_STATS_COUNTERS_UNPRIVILEGED_COUNT_CYCLES on: SCALAR_ISSUE, S0_INSTRUCTION 24 behind it, S1, SMISC. */
#define SCS_UNITS(cycles) \
	{ "SCS Scalar Issue", "instructions", { ONE((cycles) + 8) }, OF_CYCLES, 1 }, \
	{ "SCS: S0 Slot", "instructions", { ONE((cycles) + 24) }, OF_CYCLES, 1 }, \
	{ "SCS: S1 Slot", "instructions", { ONE((cycles) + 32) }, OF_CYCLES, 1 }, \
	{ "SCS: Smisc Slot", "instructions", { ONE((cycles) + 40) }, OF_CYCLES, 1 }
#define GROUP(units, cycles, ...) { units, TS_NELEM(units), cycles, __VA_ARGS__ }

/* --- TPU v6e */
#define V6E_TCS	 3257466888u /* VF_CHIP_TC_TCS_TC_MISC_TCS_STATS_TCS_STATS_COUNTERS_UNPRIVILEGED_COUNT_CYCLES */
#define V6E_HBM	 3019980824u /* VF_CHIP_HBM_0_HBMC_0_CMN_HI_FREQ_STATS_COUNTERS_UNPRIVILEGED_WR_REQ_PS0 */
#define V6E_ICR	 2953257136u /* VF_CHIP_OCI_ICR_PERF_COUNTERS_FIFO_STATS_COUNTERS_UNPRIVILEGED_BN_RD_REQ_0_INSERTION_COUNT */
#define V6E_TILE 3490185224u /* VF_CHIP_SC_0_SCT_0_SC_STATS_COUNTERS_UNPRIVILEGED_COUNT_CYCLES */
#define V6E_SCS	 3532193800u /* VF_CHIP_SC_0_SCS_SC_STATS_COUNTERS_UNPRIVILEGED_COUNT_CYCLES */
#define V6E_TILES 2097152
/* MATMUL_VREG_F32_MXU_0 is 384 behind the cycles; VREG_BF16, _F8, _I8, _I4 from 400, LMR_BF16 464, LMR_I8 480, LMR_I4 496. */
#define V6E_MXU(name, mxu) \
	{ name, "cycles", { AT(8, V6E_TCS + 400 + 8 * (mxu), 4, 16), ROW(4, V6E_TCS + 384 + 8 * (mxu), 1), \
			    ROW(4, V6E_TCS + 464 + 8 * (mxu), 1), AT(2, V6E_TCS + 480 + 8 * (mxu), 2, 16) }, OF_CYCLES, 1 }

static const struct unit v6e_tensor[] = {
	ISSUE(V6E_TCS),
	MXU_BUSY(V6E_TCS + 512),
	V6E_MXU("MXU0", 0),
	V6E_MXU("MXU1", 1),
	{ "MXU BF16", "cycles", { ROW(4, V6E_TCS + 464, 2), ROW(8, V6E_TCS + 400, 4), ROW(4, V6E_TCS + 384, 2) }, OF_CYCLES, 2 },
	{ "MXU I8", "cycles", { ROW(2, V6E_TCS + 480, 2), ROW(8, V6E_TCS + 432, 2) }, OF_CYCLES, 2 },
	{ "MXU I4", "cycles", { ROW(2, V6E_TCS + 496, 2), ROW(8, V6E_TCS + 448, 2) }, OF_CYCLES, 2 },
	MATPUSH_AND_XLU(V6E_TCS + 552, V6E_TCS + 648, V6E_TCS + 584, OF_FOURTH),
};
static const struct unit v6e_hbm[] = { HBM(V6E_HBM, 1525.5 * GIB, 16, 2097152, 2, 33554432) };
static const struct unit v6e_ici[] = { ICI(V6E_ICR, 112, 2, 56) };
static const struct group v6e_core[] = {
	GROUP(v6e_tensor, ONE(V6E_TCS), true),
	GROUP(v6e_hbm, ONE(V6E_TCS), true),
	GROUP(v6e_ici, ONE(V6E_TCS), true, true),
};
static const struct unit v6e_tiles[] = {
	TILE_UNITS(V6E_TILE + 480, V6E_TILES, V6E_TILE + 952, V6E_TILES, "SC Vector Issue:V0 Slot",
		   "SC Vector Issue:VEX Slot", "SC Vector Issue:VRES Slot"),
};
static const struct unit v6e_scs[] = { SCS_UNITS(V6E_SCS) };
static const struct group v6e_sparse[] = {
	GROUP(v6e_tiles, ONE(V6E_TILE), false),
	GROUP(v6e_scs, ONE(V6E_SCS), false),
};

/* --- TPU v7x: of die 0; die 1 is 2^29 behind it */
#define V7X_TCS	   2791874568u /* VF_CHIP_DIE0_TC_TCS_TC_MISC_TCS_STATS_TCS_STATS_COUNTERS_UNPRIVILEGED_COUNT_CYCLES */
#define V7X_PWRMGR 2847490056u /* VF_CHIP_DIE0_PWRMGR_PWRMGR_TC_THROTTLE_CORE_DEBUG_STATS_UNPRIVILEGED_CYCLE_COUNT */
#define V7X_HBM	   2705724440u /* VF_CHIP_DIE0_HBM_0_SS_HBMC_0_CMN_HI_FREQ_STATS_COUNTERS_UNPRIVILEGED_WR_REQ_PS0 */
#define V7X_ICR	   3238449440u /* VF_CHIP_DIE1_OCI_ICR_0_PERF_COUNTERS_FIFO_STATS_COUNTERS_UNPRIVILEGED_BN_RD_REQ_0_INSERTION_COUNT */
#define V7X_SCTD   2792513544u /* VF_CHIP_DIE0_SC_0_SCTD_0_SC_STATS_COUNTERS_UNPRIVILEGED_COUNT_CYCLES */
#define V7X_SCTC   2809282576u /* VF_CHIP_DIE0_SC_0_SCTC_0_SC_STATS_COUNTERS_UNPRIVILEGED_COUNT_VECTOR_ISSUE */
#define V7X_SCS	   2817921032u /* VF_CHIP_DIE0_SC_0_SCS_SC_STATS_COUNTERS_UNPRIVILEGED_COUNT_CYCLES */
/* VREG_F32 384 behind the cycles, VREG_BF16 400, VREG_F8 416, LMR_BF16 432. */
#define V7X_MXU(name, mxu) \
	{ name, "cycles", { AT(8, V7X_TCS + 400 + 8 * (mxu), 2, 16), ROW(4, V7X_TCS + 384 + 8 * (mxu), 1), \
			    ROW(4, V7X_TCS + 432 + 8 * (mxu), 1) }, OF_CYCLES, 1 }

static const struct unit v7x_tensor[] = {
	{ "Clocks Skipped", "cycles", { ONE(V7X_PWRMGR + 8) }, OF_CYCLES, 1, TS_UNIT_SKIPPED },
	{ "Ext Throttle Clocks Skipped", "cycles", { ONE(V7X_PWRMGR + 32) }, OF_CYCLES, 1 },
	{ "LDIDT Droop Clocks Skipped", "cycles", { ONE(V7X_PWRMGR + 56) }, OF_CYCLES, 1 },
	ISSUE(V7X_TCS),
	MXU_BUSY(V7X_TCS + 448),
	V7X_MXU("MXU0", 0),
	V7X_MXU("MXU1", 1),
	{ "MXU BF16", "cycles", { ROW(4, V7X_TCS + 432, 2), ROW(8, V7X_TCS + 400, 2), ROW(4, V7X_TCS + 384, 2) }, OF_CYCLES, 2 },
	{ "MXU E4M3 + E5M2", "cycles", { ROW(8, V7X_TCS + 416, 2) }, OF_CYCLES, 2 },
	MATPUSH_AND_XLU(V7X_TCS + 488, V7X_TCS + 584, V7X_TCS + 520, OF_CYCLES),
};
static const struct unit v7x_hbm[] = { HBM(V7X_HBM, 3433 * GIB, 16, 131072, 4, 2097152) };
static const struct unit v7x_ici[] = { ICI(V7X_ICR, 56, 4, 32768) };
static const struct group v7x_core[] = {
	GROUP(v7x_tensor, ONE(V7X_PWRMGR), true),
	GROUP(v7x_hbm, ONE(V7X_TCS), true),
	GROUP(v7x_ici, ONE(V7X_PWRMGR), true, true),
};
static const struct unit v7x_tiles[] = {
	TILE_UNITS(V7X_SCTD + 8, 1048576, V7X_SCTC, 524288, "SC Vector Issue: V0 Slot",
		   "SC Vector Issue: VEX Slot", "SC Vector Issue: VRES Slot"),
};
static const struct unit v7x_scs[] = { SCS_UNITS(V7X_SCS) };
static const struct group v7x_sparse[] = {
	GROUP(v7x_tiles, ONE(V7X_SCTD), false),
	GROUP(v7x_scs, ONE(V7X_SCS), false),
};

static const struct chip_units chips[] = {
	{ .name = "TPU v6e", .kind = "TPU v6 Lite", .clock_hz = 1.75e9, .dies = { 1, 0 }, .sparsecores = { 2, 44040192 },
	  .seconds = ONE(V6E_TCS), .core = v6e_core, .nr_core = TS_NELEM(v6e_core), .sparse = v6e_sparse, .nr_sparse = TS_NELEM(v6e_sparse) },
	{ .name = "TPU v7x", .kind = "TPU v7x", .clock_hz = 1.9e9, .dies = { 2, 536870912 }, .sparsecores = { 2, 27262976 },
	  .seconds = ONE(V7X_TCS), .core = v7x_core, .nr_core = TS_NELEM(v7x_core), .sparse = v7x_sparse, .nr_sparse = TS_NELEM(v7x_sparse) },
};
/* clang-format on */

const struct chip_units *ts_chip_units_find(struct ts_bytes kind)
{
	for (size_t i = 0; i < TS_NELEM(chips); i++)
		if (ts_bytes_is(kind, chips[i].kind))
			return &chips[i];
	return NULL;
}

const char *ts_chip_units_name(const struct chip_units *chip)
{
	TS_ASSERT(chip);
	return chip->name;
}

static size_t units_of(const struct group *groups, size_t nr)
{
	size_t nr_units = 0;

	for (size_t i = 0; i < nr; i++)
		nr_units += groups[i].nr_units;
	return nr_units;
}

size_t ts_chip_units_max(const struct chip_units *chip)
{
	TS_ASSERT(chip);
	return chip->dies.nr * (units_of(chip->core, chip->nr_core) +
				chip->sparsecores.nr * units_of(chip->sparse, chip->nr_sparse));
}

/* 0: the capture does not have it, as XProf counts. */
static uint64_t count_of(const struct counters_by_id *counters, uint64_t id)
{
	size_t from = 0, to = counters->nr;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (counters->items[middle]->id < id)
			from = middle + 1;
		else
			to = middle;
	}
	return from < counters->nr && counters->items[from]->id == id ? counters->items[from]->count
								      : 0;
}

/* SHIFT: from the ids of the table to those of the copy of the unit. */
static double sum_of(const struct counters_by_id *counters, const struct term *term, uint32_t shift)
{
	uint64_t sum = 0;

	for (uint32_t outer = 0; outer < term->nr_outer; outer++)
		for (uint32_t i = 0; i < term->nr; i++)
			sum += count_of(counters, (uint64_t)term->id + shift + outer * term->outer +
							  i * term->stride);
	return term->weight * (double)sum;
}

/* Rows that are being put. */
struct putting {
	const struct chip_units *chip;
	const struct counters_by_id *counters;
	struct ts_unit_row *rows;
	size_t nr;
	double traffic;	  /* of the last row of HBM */
	double counted_s; /* of the core at work; of SparseCores NaN */
};

static double peak_of(const struct putting *putting, const struct unit *unit, double cycles)
{
	switch (unit->peak) {
	case OF_CYCLES:	 return unit->times * cycles;
	case OF_FOURTH:	 return floor(cycles / 4);
	case OF_HBM:	 return unit->times * putting->counted_s;
	case OF_ICI:	 return ICI_PER_S * (cycles / ICI_CLOCK_HZ);
	case OF_TRAFFIC: return putting->traffic;
	}
	return NAN;
}

static void put_unit(struct putting *putting, const struct unit *unit, uint32_t node,
		     uint32_t shift, double cycles)
{
	struct ts_unit_row *row = &putting->rows[putting->nr];
	double achieved = 0;

	for (size_t i = 0; i < MAX_TERMS && unit->terms[i].nr > 0; i++)
		achieved += sum_of(putting->counters, &unit->terms[i], shift);
	if (unit->about == TS_UNIT_HBM)
		putting->traffic = achieved;
	if (unit->peak == OF_TRAFFIC && !(putting->traffic > 0))
		return;
	*row = (struct ts_unit_row){
		.node = unit->is_at_0 ? 0 : node,
		.name = unit->name_of_1 && node == 1 ? unit->name_of_1 : unit->name,
		.unit = unit->unit,
		.about = unit->about,
		.achieved = achieved,
		.peak = peak_of(putting, unit, cycles),
		.counted_s = putting->counted_s,
	};
	putting->nr++;
}

static void put_groups(struct putting *putting, const struct group *groups, size_t nr_groups,
		       uint32_t node, uint32_t shift)
{
	for (size_t i = 0; i < nr_groups; i++) {
		uint32_t own = groups[i].is_shared ? 0 : shift;
		double cycles = sum_of(putting->counters, &groups[i].cycles, own);

		if (groups[i].needs_cycles && !(cycles > 0))
			continue;
		for (size_t k = 0; k < groups[i].nr_units; k++)
			put_unit(putting, &groups[i].units[k], node, own, cycles);
	}
}

size_t ts_chip_units_put(const struct chip_units *chip, const struct counters_by_id *counters,
			 struct ts_unit_row *rows)
{
	struct putting putting = { .chip = chip, .counters = counters, .rows = rows };

	TS_ASSERT(chip && counters && rows);
	for (uint32_t die = 0; die < chip->dies.nr; die++) {
		uint32_t shift = die * chip->dies.stride;

		putting.counted_s = sum_of(counters, &chip->seconds, shift) / chip->clock_hz;
		put_groups(&putting, chip->core, chip->nr_core, die, shift);
	}
	putting.counted_s = NAN;
	for (uint32_t die = 0; die < chip->dies.nr; die++)
		for (uint32_t core = 0; core < chip->sparsecores.nr; core++)
			put_groups(&putting, chip->sparse, chip->nr_sparse,
				   die * chip->sparsecores.nr + core,
				   die * chip->dies.stride + core * chip->sparsecores.stride);
	TS_ASSERT(putting.nr <= ts_chip_units_max(chip));
	return putting.nr;
}
