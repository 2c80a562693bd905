/* SPDX-License-Identifier: MIT */
/*
 * The chip table and how a device finds its row.
 *
 * Sources, as named beside the rows:
 *   cloud    Google Cloud TPU documentation, the pages on v2 to v6e and tpu7x (system architecture)
 *   tpuinfo  jax-ml/jax, jax/_src/pallas/mosaic/tpu_info.py
 *   book     jax-ml/scaling-book, tpus.md: the hardware tables
 *   aot      libtpu 0.0.51's own cost model: flops / optimal_seconds of big ops compiled ahead of time
 *   xla      openxla/xla, xla/backends/gpu/target_config/specs
 *   xprof    openxla/xprof, xprof/utils/cuda_type_utils.cc and rocm_type_utils.cc
 *   ds       the vendor's data sheet, dense figures (without sparsity)
 *
 * TPU figures are published per chip; a row is what JAX calls a device. A v2, v3 or v7x chip has two
 * of them, a v4 or v5p chip one when its two cores are joined (megacore) and two when not.
 * What no source states, or what sources contradict each other on by far, is left unknown.
 */
#include "hw/chips.h"

#include "base/check.h"

#define GIB(n) ((int64_t)(n) << 30)
#define MIB(n) ((int64_t)(n) << 20)
#define T(n)   ((n) * 1e12)
#define G(n)   ((n) * 1e9)
#define MHZ(n) ((n) * 1e6)
#define NONE   NAN /* the unit does not exist, or its speed is not published */

/* PCI Express, 16 lanes, one way, after line coding (128 of 130 bits). */
#define PCIE3 G(15.75)
#define PCIE4 G(31.5)
#define PCIE5 G(63)

enum row {
	V2,
	V3,
	V4I,
	V4_CORE,
	V4_MEGA,
	V5E,
	V5P_CORE,
	V5P_MEGA,
	V6E,
	V7X,
	T4,
	V100_16,
	V100_32,
	A100_40,
	A100_80,
	L4,
	H100_PCIE,
	H100_SXM,
	H200,
	B200,
	MI100,
	MI210,
	MI250,
	MI250X,
	MI300X,
	MI325X,
	MI355X,
	MAX1100,
	MAX1550,
	ARC_A770,
	ARC_B580,
	NR_ROWS
};

#define TPU(title, bf16, int8, fp8, bw, mem, vmem, host, clock, dim, nr, link) \
	{ title, false, bf16, int8, fp8, NONE, bw, mem, vmem, host, clock, dim, nr, link, false }
/* f32: the fastest products of f32 that the card makes: TF32 where it has it, xf32 of CDNA3, else f32 itself. */
#define GPU(title, bf16, int8, fp8, f32, bw, mem, host, clock) \
	{ title, true, bf16, int8, fp8, f32, bw, mem, -1, host, clock, -1, -1, NONE, false }
/* AMD's memory_bandwidth stat counts one transfer a clock where the memory makes two. */
#define AMD(title, bf16, int8, fp8, f32, bw, mem, host, clock) \
	{ title, true, bf16, int8, fp8, f32, bw, mem, -1, host, clock, -1, -1, NONE, true }

/* The last column, a link between chips: book (v4 to v6e); cloud: v7x, 1200 GB/s a chip over six links,
 * both ways. The figure for v3 in book stands alone and is not taken. */
static const struct ts_chip chips[NR_ROWS] = {
	/* cloud: 46 TF, 700 GB/s, 16 GiB a chip; aot: 22.8 TF a core; 700 MHz x 16384 MAC. */
	[V2] = TPU("TPU v2", T(46 / 2.), NONE, NONE, G(700 / 2.), GIB(8), MIB(16), NONE, MHZ(700),
		   128, 1, NONE),
	/* 123 TF a chip (cloud) is what two 128 x 128 units a core at 940 MHz give, and what aot uses
	 * (61.4 a core), not tpuinfo's 140. Memory: aot 429.5 GB/s a core; book says 900 a chip. */
	[V3] = TPU("TPU v3", T(123 / 2.), NONE, NONE, G(429.5), GIB(16), MIB(16), NONE, MHZ(940),
		   128, 2, NONE),
	/* tpuinfo: 137 TF, 138 TOP, 614 GB/s, 8 GiB; 1050 MHz x 65536 MAC x 2 = 137.6. */
	[V4I] = TPU("TPU v4i", T(137), T(138), NONE, G(614), GIB(8), MIB(16), NONE, MHZ(1050), 128,
		    4, NONE),
	/* cloud: 275 TF, 275 TOP, 1228 GB/s, 32 GiB a chip of two cores. Host: book. */
	[V4_CORE] = TPU("TPU v4", T(275 / 2.), T(275 / 2.), NONE, G(1228 / 2.), GIB(16), MIB(16),
			G(16), MHZ(1050), 128, 4, G(45)),
	[V4_MEGA] = TPU("TPU v4", T(275), T(275), NONE, G(1228), GIB(32), MIB(16), G(16), MHZ(1050),
			128, 8, G(45)),
	/* cloud: 197 TF, 394 TOP, 819 GB/s, 16 GiB; fp8 runs at the bf16 rate (aot). */
	[V5E] = TPU("TPU v5e", T(197), T(394), T(197), G(819), GIB(16), MIB(128), G(16), MHZ(1500),
		    128, 4, G(45)),
	/* cloud: 459 TF, 918 TOP, 2765 GB/s (tpuinfo has 2460, book 2800), 95 GiB a chip of two. */
	[V5P_CORE] = TPU("TPU v5p", T(459 / 2.), T(918 / 2.), T(459 / 2.), G(2765 / 2.),
			 GIB(95) / 2, MIB(64), G(16), MHZ(1750), 128, 4, G(90)),
	[V5P_MEGA] = TPU("TPU v5p", T(459), T(918), T(459), G(2765), GIB(95), MIB(64), G(16),
			 MHZ(1750), 128, 8, G(90)),
	/* cloud: 918 TF, 1836 TOP, 1638 GB/s, 32 GB; tpuinfo: fp8 918. Host: book. A profile of a v6e
	 * says 918 TF and 1637.99 GB/s. 918e12 / 2 / 1.75 GHz = 4 x 256 x 256 MAC a cycle. */
	[V6E] = TPU("TPU v6e", T(918), T(1836), T(918), G(1638), GIB(32), MIB(128), G(32),
		    MHZ(1750), 256, 2, G(90)),
	/* cloud: 2307 TF, fp8 4614 TF, 7380 GB/s, 192 GiB a chip of two. That is at the top clock,
	 * 2.2 GHz; aot plans with the nominal 1.9 GHz (996 TF a core), which estimated_cycles mean.
	 * int8 has no rate of its own (aot: as many cycles as bf16). */
	[V7X] = TPU("TPU v7x", T(2307 / 2.), NONE, T(4614 / 2.), G(7380 / 2.), GIB(96), MIB(64),
		    NONE, MHZ(1900), 256, 2, G(100)),

	/* ds; T4 and V100 have no bf16: fp16. Bandwidth and clock of V100 to B200: xla. */
	[T4] = GPU("T4", T(65), T(130), NONE, T(8.1), G(320), 16000000000, PCIE3, MHZ(1590)),
	[V100_16] = GPU("V100 16 GB", T(125), NONE, NONE, T(15.7), G(898), 16935682048, PCIE3,
			MHZ(1530)),
	[V100_32] = GPU("V100 32 GB", T(125), NONE, NONE, T(15.7), G(898), 34089730048, PCIE3,
			MHZ(1530)),
	[A100_40] = GPU("A100 40 GB", T(312), T(624), NONE, T(156), G(1555), 42331013120, PCIE4,
			MHZ(1410)),
	[A100_80] = GPU("A100 80 GB", T(312), T(624), NONE, T(156), G(2039), 85100068864, PCIE4,
			MHZ(1410)),
	[L4] = GPU("L4", T(121), T(242), T(242), T(60), G(300), 24000000000, PCIE4, MHZ(2040)),
	/* ds: 756 and 989 TF; the boost clock would give 820 and 1070 (xprof's figures). */
	[H100_PCIE] = GPU("H100 PCIe", T(756), T(1513), T(1513), T(378), G(2039), 84942979072,
			  PCIE5, MHZ(1755)),
	[H100_SXM] = GPU("H100 SXM", T(989), T(1979), T(1979), T(494), G(3352), 84942979072, PCIE5,
			 MHZ(1980)),
	[H200] = GPU("H200 SXM", T(989), T(1979), T(1979), T(494), G(4800), 151397597184, PCIE5,
		     MHZ(1980)),
	[B200] = GPU("B200", T(2250), T(4500), T(4500), T(1125), G(7672), 191514411008, NONE,
		     MHZ(1965)),

	/* ds; 120 CUs x 1.502 GHz x 1024 in fp16 and int8. Its bf16 runs at half of that: fp16 stands here, as in xprof. */
	[MI100] = AMD("MI100", T(184.6), T(184.6), NONE, T(46.1), G(1228.8), GIB(32), PCIE4,
		      MHZ(1502)),
	/* ds: one device with the figures of half an MI250. */
	[MI210] = AMD("MI210", T(181), T(181), NONE, T(45.3), G(1638), GIB(64), PCIE4, MHZ(1700)),
	/* ds and ROCm's gpu-arch-specs. A card of the MI250 family is two devices of these figures:
	 * 104 or 110 CUs x 1.7 GHz x 1024. */
	[MI250] = AMD("MI250 (one of two)", T(181), NONE, NONE, T(45.3), G(1638), GIB(64), NONE,
		      MHZ(1700)),
	[MI250X] = AMD("MI250X (one of two)", T(191.5), NONE, NONE, T(47.9), G(1638), GIB(64), NONE,
		       MHZ(1700)),
	[MI300X] = AMD("MI300X", T(1307), T(2615), T(2615), T(653.7), G(5300), 206141652992, PCIE5,
		       MHZ(2100)),
	[MI325X] = AMD("MI325X", T(1307), T(2615), T(2615), T(653.7), G(6000), 256000000000, PCIE5,
		       MHZ(2100)),
	[MI355X] = AMD("MI355X", T(2517), T(5033), T(5033), T(157.3), G(8000), 309220868096, PCIE5,
		       MHZ(2400)),

	/* ds: 56 Xe cores x 1.55 GHz, 48 GB, 1228.8 GB/s; a core does 4096 FLOPs a cycle in bf16 (that of the 1550). */
	[MAX1100] = GPU("Max 1100", T(355.5), T(711), NONE, T(177.8), G(1228.8), GIB(48), PCIE5,
			MHZ(1550)),
	/* ds: 839 TF, 1678 TOP, 419 TF in TF32, 3276.8 GB/s, 128 GB a card of two stacks; each is a device. */
	[MAX1550] = GPU("Max 1550 (one of two)", T(839 / 2.), T(1678 / 2.), NONE, T(419 / 2.),
			G(3276.8 / 2), GIB(64), PCIE5, MHZ(1600)),
	/* ds: 262 TOP in int8, which is twice the rate of fp16 and bf16; 560 GB/s, 16 GB. */
	[ARC_A770] = GPU("Arc A770", T(131), T(262), NONE, NONE, G(560), GIB(16), PCIE4, MHZ(2100)),
	/* ds: 233 TOP in int8, likewise; 456 GB/s, 12 GB. */
	[ARC_B580] =
		GPU("Arc B580", T(116.5), T(233), NONE, NONE, G(456), GIB(12), NONE, MHZ(2670)),
};

/*
 * Names as libtpu (device_type_string), JAX (device_kind) and Cloud write them, after squash():
 * "TPU v5 Lite", "TPU v5e", "v5litepod-4" and "tpu-v5-lite-podslice" are one chip, and a bare
 * "TPU v5" is the v5p.
 */
static const struct {
	const char *name;
	enum row core, mega; /* rows without and with megacore */
} tpu_names[] = {
	{ "v2", V2, V2 },
	{ "v3", V3, V3 },
	{ "v4lite", V4I, V4I },
	{ "v4i", V4I, V4I },
	{ "v4", V4_CORE, V4_MEGA },
	{ "v4podslice", V4_CORE, V4_MEGA },
	{ "v5lite", V5E, V5E },
	{ "v5e", V5E, V5E },
	{ "v5litepod", V5E, V5E },
	{ "v5litepodslice", V5E, V5E },
	{ "v5litedevice", V5E, V5E },
	{ "v5", V5P_CORE, V5P_MEGA },
	{ "v5p", V5P_CORE, V5P_MEGA },
	{ "v5pslice", V5P_CORE, V5P_MEGA },
	{ "v6lite", V6E, V6E },
	{ "v6e", V6E, V6E },
	{ "v6eslice", V6E, V6E },
	{ "v7x", V7X, V7X },
	{ "v7", V7X, V7X },
	{ "7x", V7X, V7X },
	{ "7", V7X, V7X },
};

/*
 * GPUs by what their planes say, in this order: their names are often missing. A partition of a card
 * (MIG, CPX) has fewer cores, matches nothing here, and gets its rates from peak_of_cores().
 */
static const struct gpu_rule {
	bool amd;
	int cc_major, cc_minor;
	int64_t cores;
	int64_t above_bytes; /* memory: more than this; a smaller card stands in the next line */
	int64_t above_khz;
	enum row row;
	const char *called; /* and its name has this: cards that say the same else */
} gpu_rules[] = {
	{ true, 9, 0, 120, 0, 0, MI100 },
	{ true, 9, 0, 104, 0, 0, MI210, "mi210" },
	{ true, 9, 0, 104, 0, 0, MI250 },
	{ true, 9, 0, 110, 0, 0, MI250X },
	{ true, 9, 4, 304, 230000000000, 0, MI325X },
	{ true, 9, 4, 304, 0, 0, MI300X },
	{ true, 9, 5, 256, 0, 2300000, MI355X }, /* the MI350X is the same at 2.2 GHz */
	{ false, 7, 0, 80, 20000000000, 0, V100_32 },
	{ false, 7, 0, 80, 0, 0, V100_16 },
	{ false, 7, 5, 40, 0, 0, T4 },
	{ false, 8, 0, 108, 60000000000, 0, A100_80 },
	{ false, 8, 0, 108, 0, 0, A100_40 },
	{ false, 8, 9, 58, 20000000000, 0, L4 },
	{ false, 9, 0, 114, 0, 0, H100_PCIE },
	{ false, 9, 0, 132, 120000000000, 0, H200 },
	{ false, 9, 0, 132, 0, 0, H100_SXM },
	{ false, 10, 0, 148, 0, 0, B200 },
};

/* Where a plane gives no core count: how the name begins, less the makers' words; special first. */
static const struct {
	const char *start, *also; /* ALSO is somewhere in it; "": the name ends there */
	enum row row;
} gpu_names[] = {
	{ "mi100", NULL, MI100 },
	{ "mi210", NULL, MI210 },
	{ "mi250x", NULL, MI250X },
	{ "mi250", NULL, MI250 },
	{ "mi300x", NULL, MI300X },
	{ "mi325x", NULL, MI325X },
	{ "mi355x", NULL, MI355X },
	{ "v100", "32gb", V100_32 },
	{ "v100", NULL, V100_16 },
	{ "a100", "80gb", A100_80 },
	{ "a100", NULL, A100_40 },
	{ "h100", "pcie", H100_PCIE },
	{ "h100", NULL, H100_SXM },
	{ "h200", NULL, H200 },
	{ "b200", NULL, B200 },
	{ "t4", "", T4 },
	{ "l4", "", L4 },
	{ "max1100", NULL, MAX1100 },
	{ "max1550", NULL, MAX1550 },
	{ "a770", NULL, ARC_A770 },
	{ "b580", NULL, ARC_B580 },
};

/* FLOPs a core and cycle of the matrix units, fp16 or bf16, dense (xprof): for cards without a row. */
static const struct {
	bool amd;
	int cc_major, cc_minor;
	double flops;
} core_flops[] = {
	{ false, 7, 0, 1024 }, { false, 7, 5, 1024 }, { false, 8, 0, 2048 },  { false, 8, 6, 1024 },
	{ false, 8, 9, 1024 }, { false, 9, 0, 4096 }, { false, 10, 0, 8192 }, { true, 9, 0, 1024 },
	{ true, 9, 4, 2048 },  { true, 9, 5, 4096 },
};

struct squashed {
	char s[64];
};

/* Small letters and digits alone; empty for a name that is too long to be one. */
static struct squashed squash(struct ts_bytes name)
{
	struct squashed out = { "" };
	size_t i, n = 0;

	for (i = 0; i < name.n; i++) {
		uint8_t c = name.p[i];

		if (c >= 'A' && c <= 'Z')
			c = (uint8_t)(c + 'a' - 'A');
		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')))
			continue;
		if (n == sizeof(out.s) - 1)
			return (struct squashed){ "" };
		out.s[n++] = (char)c;
	}
	return out;
}

/* A name without its size: "v5litepod-4" and "v5e:2x2" are slices of a kind. */
static struct ts_bytes chips_without_topology(struct ts_bytes name)
{
	size_t n = ts_bytes_find(name, ":"), digits;

	for (digits = 0; digits < n; digits++)
		if (name.p[n - digits - 1] < '0' || name.p[n - digits - 1] > '9')
			break;
	if (digits && digits < n && name.p[n - digits - 1] == '-')
		n -= digits + 1;
	return ts_bytes_cut(name, 0, n);
}

static const char *skip_words(const char *s, const char *const *words)
{
	for (; *words; words++)
		if (!strncmp(s, *words, strlen(*words)))
			s += strlen(*words);
	return s;
}

static const struct ts_chip *find_tpu(const struct ts_chip_query *query)
{
	static const char *const makers[] = { "google", "cloud", "tpu", NULL };
	struct squashed name = squash(chips_without_topology(query->kind));
	const char *s = skip_words(name.s, makers);
	size_t i;

	for (i = 0; i < TS_NELEM(tpu_names); i++)
		if (!strcmp(s, tpu_names[i].name))
			return &chips[query->has_megacore ? tpu_names[i].mega : tpu_names[i].core];
	return NULL;
}

/* Older planes name no vendor; no NVIDIA card has 9.4 or 9.5. */
static bool is_amd(const struct ts_chip_query *query)
{
	struct squashed vendor = squash(query->vendor), name = squash(query->kind);

	if (strstr(vendor.s, "nvidia"))
		return false;
	return strstr(vendor.s, "amd") || strstr(vendor.s, "advancedmicro") ||
	       strstr(name.s, "amd") || strstr(name.s, "gfx") || strstr(name.s, "instinct") ||
	       strstr(name.s, "radeon") ||
	       (query->cc_major == 9 && (query->cc_minor == 4 || query->cc_minor == 5));
}

static const struct ts_chip *find_gpu_by_name(struct ts_bytes kind)
{
	static const char *const makers[] = { "nvidia", "tesla", "amd",	       "instinct",
					      "intelr", "intel", "datacenter", "gpu",
					      "arctm",	"arc",	 NULL };
	struct squashed name = squash(kind);
	const char *s = skip_words(name.s, makers);
	size_t i;

	for (i = 0; i < TS_NELEM(gpu_names); i++) {
		const char *start = gpu_names[i].start, *also = gpu_names[i].also;

		if (strncmp(s, start, strlen(start)))
			continue;
		if (!also || (*also ? strstr(s, also) != NULL : !s[strlen(start)]))
			return &chips[gpu_names[i].row];
	}
	return NULL;
}

static const struct ts_chip *find_gpu(const struct ts_chip_query *query)
{
	bool amd = is_amd(query);
	struct squashed name = squash(query->kind);
	size_t i;

	for (i = 0; i < TS_NELEM(gpu_rules); i++)
		if (gpu_rules[i].amd == amd && gpu_rules[i].cc_major == query->cc_major &&
		    gpu_rules[i].cc_minor == query->cc_minor &&
		    gpu_rules[i].cores == query->core_count &&
		    (!gpu_rules[i].called || strstr(name.s, gpu_rules[i].called)) &&
		    (!gpu_rules[i].above_bytes || query->memory_bytes > gpu_rules[i].above_bytes) &&
		    (!gpu_rules[i].above_khz || query->clock_khz < 0 ||
		     query->clock_khz > gpu_rules[i].above_khz))
			return &chips[gpu_rules[i].row];
	return query->core_count < 0 || query->cc_major < 0 ? find_gpu_by_name(query->kind) : NULL;
}

const struct ts_chip *ts_chip_find(const struct ts_chip_query *query)
{
	TS_ASSERT(query);
	return query->is_gpu ? find_gpu(query) : find_tpu(query);
}

/*
 * cores x clock x FLOPs a cycle: a card of a known architecture, or a part of one. A minor version
 * that is not listed has at least what the next lower one of its major version has.
 */
static double peak_of_cores(const struct ts_chip_query *query)
{
	bool amd = is_amd(query);
	double flops = NAN;
	size_t i;

	if (!query->is_gpu || query->core_count <= 0 || query->clock_khz <= 0)
		return NAN;
	for (i = 0; i < TS_NELEM(core_flops); i++)
		if (core_flops[i].amd == amd && core_flops[i].cc_major == query->cc_major &&
		    core_flops[i].cc_minor <= query->cc_minor)
			flops = core_flops[i].flops;
	return flops * (double)query->core_count * (double)query->clock_khz * 1e3;
}

/* What is used of a device without a row: nothing but its own words. */
static struct ts_chip unknown_chip(const struct ts_chip_query *query)
{
	return (struct ts_chip){
		.is_gpu = query->is_gpu,
		.peak_flops_per_s = peak_of_cores(query),
		.peak_int8_per_s = NAN,
		.peak_fp8_per_s = NAN,
		.peak_f32_per_s = NAN,
		.hbm_bytes_per_s = NAN,
		.hbm_bytes = -1,
		.vmem_bytes = -1,
		.host_bytes_per_s = NAN,
		.link_bytes_per_s = NAN,
		.clock_hz = query->clock_khz > 0 ? (double)query->clock_khz * 1e3 : NAN,
		.mxu_dim = -1,
		.mxu_count = -1,
		.halves_bandwidth_stat = query->is_gpu && is_amd(query),
	};
}

static bool chips_known(double rate)
{
	return isfinite(rate) && rate > 0;
}

/* A maker that is not known has matrix units. */
static const char *matrix_units_of(const struct ts_chip_query *query)
{
	struct squashed vendor = squash(query->vendor);
	const struct ts_chip *row = ts_chip_find(query);
	bool is_intel = strstr(vendor.s, "intel") || strstr(squash(query->kind).s, "intel");

	if (!query->is_gpu)
		return "MXU";
	if (is_amd(query))
		return "matrix cores";
	return !is_intel && (strstr(vendor.s, "nvidia") ||
			     strstr(squash(query->kind).s, "nvidia") ||
			     (row && query->cc_major >= 0))
		       ? "tensor cores"
		       : "matrix units";
}

struct ts_rates ts_rates_of(const struct ts_chip_query *query, double peak_flops,
			    double hbm_bytes_per_s, double vmem_bytes_per_s, int64_t hbm_bytes)
{
	const struct ts_chip *row = ts_chip_find(query);
	struct ts_chip chip = row ? *row : unknown_chip(query);

	TS_ASSERT(query);
	if (chips_known(peak_flops))
		chip.peak_flops_per_s = peak_flops;
	if (chips_known(hbm_bytes_per_s) && !chip.halves_bandwidth_stat)
		chip.hbm_bytes_per_s = hbm_bytes_per_s;
	if (query->memory_bytes > 0)
		chip.hbm_bytes = query->memory_bytes;
	if (hbm_bytes > 0)
		chip.hbm_bytes = hbm_bytes;
	return (struct ts_rates){
		.name = chip.name,
		.from_profile = chips_known(peak_flops),
		.peak_flops_per_s = chip.peak_flops_per_s,
		.hbm_bytes_per_s = chip.hbm_bytes_per_s,
		.vmem_bytes_per_s = chips_known(vmem_bytes_per_s) ? vmem_bytes_per_s : NAN,
		.host_bytes_per_s = chip.host_bytes_per_s,
		.peak_int8_per_s = chip.peak_int8_per_s,
		.peak_fp8_per_s = chip.peak_fp8_per_s,
		.peak_f32_per_s = chip.peak_f32_per_s,
		.link_bytes_per_s = chip.link_bytes_per_s,
		.clock_hz = chip.clock_hz,
		.hbm_bytes = chip.hbm_bytes,
		.vmem_bytes = chip.vmem_bytes,
		.mxu_dim = chip.mxu_dim,
		.mxu_count = chip.mxu_count,
		.matrix_units = matrix_units_of(query),
	};
}
