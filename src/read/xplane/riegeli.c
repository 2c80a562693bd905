/* SPDX-License-Identifier: MIT */
/*
 * Profiles in Riegeli's records (HOST.xplane.riegeli): what XLA's profiler writes when it profiles without end, as JAX has
 * it for what is larger than 2 GB. Each record is an XSpace (xla/tsl/profiler/rpc/client/save_profile.cc, SaveXSpaceChunks). As
 * XProf has it (xprof/convert/repository.cc, MergeXSpace), planes of one name are one plane, and lines of one id one line, whose
 * later events stand behind the earlier ones; metadata is one by its name.
 *
 * The records lie in a temporary file one after the other: that is again an XSpace, whose planes come in pieces.
 */
#include "codec/chunks.h"
#include "read/xplane/records.h"
#include "read/xplane/xplane.h"

static enum ts_status riegeli_unpack(struct ts_profile *profile,
				     const struct ts_read_request *request,
				     struct ts_scratch *scratch, struct ts_bytes *bytes,
				     struct ts_error *err)
{
	struct ts_records_damage damage;
	enum ts_status st = ts_records_unpack(request->bytes, scratch, &damage, err);

	if (st == TS_OK && scratch->nr_bytes == 0)
		return ts_fail(err, TS_FORMAT, "byte %llu: %s (profile again)",
			       (unsigned long long)damage.at,
			       damage.cause ? damage.cause : "it has no records");
	if (st == TS_OK)
		st = ts_scratch_map(scratch, bytes, err);
	if (st == TS_OK && damage.cause)
		ts_profile_add_damage(profile, request->file, damage.at, damage.cause, false);
	return st;
}

static enum ts_status riegeli_read(struct ts_profile *profile,
				   const struct ts_read_request *request, struct ts_error *err)
{
	struct ts_scratch scratch = TS_SCRATCH_INIT;
	struct ts_read_request unpacked = *request;
	size_t at = profile->nr_hosts;
	enum ts_status st = riegeli_unpack(profile, request, &scratch, &unpacked.bytes, err);

	unpacked.mapped = false;
	if (st == TS_OK)
		st = ts_xplane_read(profile, &unpacked, true, err);
	if (profile->nr_hosts > at && profile->hosts[at].reader_data) {
		struct xplane_file *file = profile->hosts[at].reader_data;

		file->unpacked = scratch;
		profile->hosts[at].file_bytes = request->bytes.n;
		return st;
	}
	ts_scratch_release(&scratch);
	return st;
}

static int riegeli_probe(struct ts_bytes file, struct ts_bytes bytes)
{
	return ts_chunk_probe(bytes) ? 95 : 0;
}

const struct ts_reader ts_reader_riegeli = {
	.name = "riegeli",
	.title = "XPlane profile in records (.xplane.riegeli)",
	.annotate = TS_ANNOTATE_BEHIND,
	.form = TS_FORM_RECORDS,
	.probe = riegeli_probe,
	.read = riegeli_read,
	.stream = ts_xplane_stream,
	.place = ts_xplane_place,
};
