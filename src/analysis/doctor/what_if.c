/* SPDX-License-Identifier: MIT */
/* The command that tries changes of a program (tpusight before --try), where a finding could be mended by one that needs no hand. */
#include "analysis/doctor/doctor.h"
#include "result/schema/doctor.def"

/* Findings that a change of plugin/tpusight/aot/tries.py is about. */
static const char *const mended[] = {
	"padding_waste",     "matmul_fill",	    "layout_copies", /* size */
	"upcasts",	     "memory_bound",			     /* bf16 */
	"rematerialization", "hbm_capacity",			     /* remat */
	"donation",	     "exposed_collectives",		     /* mesh */
};

#define FLAT "1x1 2x2 2x4 4x4 4x8 8x8 8x16 16x16"
#define SOLID "2x2x1 2x2x2 2x2x4 2x4x4 4x4x4 4x4x8 4x8x8 8x8x8"

/* The chip table's name, libtpu's, and the slices that there are, the smallest first. */
static const struct slices {
	const char *chip, *name, *sizes;
} slices[] = {
	{ "TPU v3", "v3", "2x2 4x4 4x8 8x8 8x16 16x16 16x32 32x32" },
	{ "TPU v4", "v4", SOLID },
	{ "TPU v5e", "v5e", FLAT },
	{ "TPU v5p", "v5p", SOLID },
	{ "TPU v6e", "v6e", FLAT },
	{ "TPU v7x", "v7x", SOLID },
};

static bool could_be_mended(const struct ts_doctor *doctor)
{
	for (size_t i = 0; i < doctor->nr_drafts; i++)
		for (size_t k = 0; k < TS_NELEM(mended); k++)
			if (strcmp(doctor->drafts[i].finding.rule, mended[k]) == 0)
				return true;
	return false;
}

/* The smallest slice with as many cores as the profile shows; empty: there is none. */
static struct ts_bytes what_if_slice_of(const struct slices *chip, size_t nr_devices)
{
	struct ts_bytes left = ts_bytes_of(chip->sizes);

	while (left.n > 0) {
		size_t n = ts_bytes_find(left, " ");
		struct ts_bytes size = ts_bytes_cut(left, 0, n);
		struct ts_topology topology;

		if (ts_topology_parse(size, chip->chip, &topology) &&
		    topology.nr_cores >= (int64_t)nr_devices)
			return size;
		left = ts_bytes_cut(left, n < left.n ? n + 1 : n, left.n);
	}
	return left;
}

/* Empty: the run was not on TPUs of one known chip, or not measured, or not JAX. */
static struct ts_bytes command(struct ts_doctor *doctor)
{
	const struct ts_profile *profile = doctor->ctx->profile;
	const char *name = profile->nr_devices > 0 ? doctor->ctx->rates[0].name : NULL;
	struct ts_bytes none = { NULL, 0 }, size;

	if (!name || profile->nr_hosts == 0 || ts_profile_predicted(profile).n > 0 ||
	    doctor->framework != TS_JAX)
		return none;
	for (size_t i = 0; i < TS_NELEM(slices); i++) {
		if (strcmp(name, slices[i].chip) != 0)
			continue;
		size = what_if_slice_of(&slices[i], profile->nr_devices);
		return size.n == 0 ? none
				   : ts_result_text(doctor->result,
						    "tpusight before SCRIPT.py:FUNCTION --topology "
						    "%s:%.*s --try",
						    slices[i].name, TS_ARG(size));
	}
	return none;
}

void ts_doctor_what_if(struct ts_doctor *doctor)
{
	struct ts_bytes said = { NULL, 0 };

	if (could_be_mended(doctor))
		said = command(doctor);
	TS_SET(doctor->result, doctor, what_if, ts_text_or_null(said));
	if (said.n > 0)
		ts_result_note(doctor->result,
			       "What would help can be tried without a TPU (sizes, bf16, donation, "
			       "remat, mesh): %.*s",
			       TS_ARG(said));
}
