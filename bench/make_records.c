/* SPDX-License-Identifier: MIT */
/*
 * Writes a profile as records: make_records PROFILE OUT [MEGABYTES]
 *
 * PROFILE is a HOST.xplane.pb, OUT becomes HOST.xplane.riegeli with the same events. It is cut as XLA's profiler cuts what is too large for
 * one message: a record has one plane, with all of its metadata, and events of one line, up to MEGABYTES (64); each is appended in
 * whole blocks. Left out: the profiler packs its records with Brotli.
 */
#include <stdio.h>
#include <stdlib.h>

#include "codec/chunks.h"
#include "codec/pb.h"
#include "codec/pbw.h"
#include "codec/xspace.h"
#include "io/input.h"

#define MIB (1 << 20)

/* What is written, and where in the file it stands. */
struct output {
	FILE *file;
	uint64_t at;
	size_t record_bytes;
	struct ts_buf record, chunk;
};

static void die(const char *why)
{
	fprintf(stderr, "make_records: %s\n", why);
	exit(1);
}

static void put_chunk(struct output *out)
{
	if (out->at == 0) {
		static const uint8_t signature[] = {
			0x83, 0xaf, 0x70, 0xd1, 0x0d, 0x88, 0x4a, 0x3f, 0,    0,    0, 0,    0,
			0,    0,    0,	  0x40, 0,    0,    0,	  0,	0,    0,    0, 0x91, 0xba,
			0xc2, 0x3c, 0x92, 0x87, 0xe1, 0xa9, 0,	  0,	0,    0,    0, 0,    0,
			0,    0xe1, 0x9f, 0x13, 0xc0, 0xe9, 0xb1, 0xc3, 0x72, 0x73, 0, 0,    0,
			0,    0,    0,	  0,	0,    0,    0,	  0,	0,    0,    0, 0
		};

		ts_buf_put(&out->chunk, (struct ts_bytes){ signature, sizeof(signature) });
	}
	ts_chunk_put(&out->chunk, out->at + out->chunk.n, ts_buf_bytes(&out->record));
	if (out->chunk.failed || out->record.failed)
		die("out of memory");
	if (fwrite(out->chunk.p, 1, out->chunk.n, out->file) != out->chunk.n)
		die("cannot write it");
	out->at += out->chunk.n;
	ts_buf_clear(&out->chunk);
	ts_buf_clear(&out->record);
}

/* Fields of BODY, but for those of the number LEFT_OUT, as they stand. */
static void put_fields(struct ts_buf *out, struct ts_bytes body, uint32_t left_out)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(body, &error);

	for (const uint8_t *from = pb.p; ts_pb_next(&pb); from = pb.p)
		if (pb.field != left_out)
			ts_buf_put(out, (struct ts_bytes){ from, (size_t)(pb.p - from) });
	if (error.cause)
		die(error.cause);
}

/* Events at *PB, as many as there is room for. */
static bool put_events(struct output *out, struct ts_pb *pb)
{
	while (out->record.n < out->record_bytes) {
		if (!ts_pb_next(pb))
			return false;
		if (pb->field == XLINE_EVENTS)
			ts_pbw_bytes(&out->record, XLINE_EVENTS, ts_pb_bytes(pb));
	}
	return true;
}

static void put_line(struct output *out, struct ts_bytes plane, struct ts_bytes line)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(line, &error);
	bool more = true;

	while (more) {
		size_t plane_mark = ts_pbw_begin(&out->record, XSPACE_PLANES), line_mark;

		put_fields(&out->record, plane, XPLANE_LINES);
		line_mark = ts_pbw_begin(&out->record, XPLANE_LINES);
		put_fields(&out->record, line, XLINE_EVENTS);
		more = put_events(out, &pb);
		ts_pbw_end(&out->record, line_mark);
		ts_pbw_end(&out->record, plane_mark);
		put_chunk(out);
	}
}

static void put_plane(struct output *out, struct ts_bytes plane)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(plane, &error);
	size_t nr_lines = 0;

	for (; ts_pb_next(&pb); nr_lines += pb.field == XPLANE_LINES)
		if (pb.field == XPLANE_LINES)
			put_line(out, plane, ts_pb_bytes(&pb));
	if (nr_lines == 0) {
		ts_pbw_bytes(&out->record, XSPACE_PLANES, plane);
		put_chunk(out);
	}
}

static void put_space(struct output *out, struct ts_bytes space)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(space, &error);

	put_fields(&out->record, space, XSPACE_PLANES);
	put_chunk(out);
	while (ts_pb_next(&pb))
		if (pb.field == XSPACE_PLANES)
			put_plane(out, ts_pb_bytes(&pb));
}

int main(int argc, char **argv)
{
	struct ts_error err = TS_ERROR_INIT;
	struct ts_input input = TS_INPUT_INIT;
	struct output out = { .record_bytes = 64 * MIB };

	if (argc != 3 && argc != 4)
		die("usage: make_records PROFILE OUT [MEGABYTES]");
	if (argc == 4)
		out.record_bytes = strtoul(argv[3], NULL, 10) * MIB;
	if (ts_input_open_plain(&input, argv[1], &err))
		die(err.text);
	out.file = fopen(argv[2], "wb");
	if (!out.file)
		die("cannot make OUT");
	put_space(&out, input.bytes);
	if (fclose(out.file) != 0)
		die("cannot write it");
	ts_buf_release(&out.record);
	ts_buf_release(&out.chunk);
	ts_input_release(&input);
	return 0;
}
