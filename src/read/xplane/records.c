/* SPDX-License-Identifier: MIT */
/* The data of a chunk is walked twice: for its hash, and when that is right to unpack it. */
#include "read/xplane/records.h"

#include <brotli/decode.h>
#include <zstd.h>

#include "base/check.h"
#include "base/limits.h"
#include "codec/chunks.h"

#define OUT_BYTES     (256 << 10)
#define ZSTD_MAX_LOG  27 /* of the window: 128 MiB; Brotli's has 16 MiB at most */

/* A way of packing. RUN takes and gives what it can; bytes of IN and room of OUT are counted down. */
enum answer { MORE_IN, MORE_OUT, END, BAD };
struct packing {
	uint8_t name;
	void *(*open)(void);
	enum answer (*run)(void *state, struct ts_bytes *in, uint8_t **out, size_t *room);
	void (*close)(void *state);
};

static void *no_open(void)
{
	static char state; /* there is not one to keep */

	return &state;
}

static enum answer no_run(void *state, struct ts_bytes *in, uint8_t **out, size_t *room)
{
	size_t n = TS_MIN(in->n, *room);

	memcpy(*out, in->p, n);
	*in = ts_bytes_cut(*in, n, in->n);
	*out += n;
	*room -= n;
	return in->n > 0 ? MORE_OUT : MORE_IN;
}

static void no_close(void *state)
{
}

static void *brotli_open(void)
{
	return BrotliDecoderCreateInstance(NULL, NULL, NULL);
}

static enum answer brotli_run(void *state, struct ts_bytes *in, uint8_t **out, size_t *room)
{
	switch (BrotliDecoderDecompressStream(state, &in->n, &in->p, room, out, NULL)) {
	case BROTLI_DECODER_RESULT_SUCCESS:	      return END;
	case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT:  return MORE_IN;
	case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: return MORE_OUT;
	default:				      return BAD;
	}
}

static void brotli_close(void *state)
{
	BrotliDecoderDestroyInstance(state);
}

static void *zstd_open(void)
{
	ZSTD_DCtx *state = ZSTD_createDCtx();

	if (state)
		ZSTD_DCtx_setParameter(state, ZSTD_d_windowLogMax, ZSTD_MAX_LOG);
	return state;
}

static enum answer zstd_run(void *state, struct ts_bytes *in, uint8_t **out, size_t *room)
{
	ZSTD_inBuffer from = { in->p, in->n, 0 };
	ZSTD_outBuffer to = { *out, *room, 0 };
	size_t more = ZSTD_decompressStream(state, &to, &from);

	if (ZSTD_isError(more))
		return BAD;
	*in = ts_bytes_cut(*in, from.pos, in->n);
	*out += to.pos;
	*room -= to.pos;
	return more == 0 ? END : *room == 0 ? MORE_OUT : MORE_IN;
}

static void zstd_close(void *state)
{
	ZSTD_freeDCtx(state);
}

static const struct packing packings[] = {
	{ 0, no_open, no_run, no_close },
	{ 'b', brotli_open, brotli_run, brotli_close },
	{ 'z', zstd_open, zstd_run, zstd_close },
};

struct unpacking {
	struct ts_scratch *out;
	struct ts_records_damage *damage;
	uint64_t nr_bytes, max_bytes; /* of all records */
	uint8_t *buffer;
};

static void records_note(struct ts_records_damage *damage, uint64_t at, const char *cause)
{
	if (!damage->cause)
		*damage = (struct ts_records_damage){ cause, at };
}

/* Runs until the input is used up, or the packed text ends. *GOT counts what came out. */
static enum ts_status run_piece(struct unpacking *to, const struct packing *packing, void *state,
				struct ts_bytes piece, uint64_t *got, enum answer *answer,
				struct ts_error *err)
{
	enum ts_status st = TS_OK;

	do {
		uint8_t *out = to->buffer;
		size_t room = OUT_BYTES, n;

		*answer = packing->run(state, &piece, &out, &room);
		n = OUT_BYTES - room;
		*got += n;
		to->nr_bytes += n;
		if (to->nr_bytes > to->max_bytes)
			return ts_fail(err, TS_LIMIT,
				       "it unpacks to more than %llu bytes, far more than profiles "
				       "do (copy it again) " TS_OVER(TS_LIMIT_PACKED_RATIO),
				       (unsigned long long)to->max_bytes);
		if (n > 0)
			st = ts_scratch_put(to->out, (struct ts_bytes){ to->buffer, n }, err);
	} while (st == TS_OK && *answer == MORE_OUT);
	return st;
}

/* The values of a simple chunk: all records, without anything between them. */
static enum ts_status unpack_values(struct unpacking *to, const struct ts_chunk *chunk,
				    const struct packing *packing, struct ts_chunk_data values,
				    struct ts_error *err)
{
	void *state = packing->open();
	enum answer answer = MORE_IN;
	enum ts_status st = state ? TS_OK : ts_fail_nomem(err);
	struct ts_bytes piece;
	uint64_t got = 0;

	while (st == TS_OK && answer == MORE_IN && ts_chunk_piece(&values, &piece))
		st = run_piece(to, packing, state, piece, &got, &answer, err);
	if (state)
		packing->close(state);
	if (st == TS_OK && (answer == BAD || got != chunk->decoded_size))
		records_note(to->damage, chunk->begin, "a chunk cannot be unpacked");
	return st;
}

static enum ts_status unpack_simple(struct unpacking *to, const struct ts_chunk *chunk,
				    struct ts_error *err)
{
	struct ts_chunk_data values = chunk->data;
	uint8_t name;

	if (!ts_chunk_values(&values, &name)) {
		records_note(to->damage, chunk->begin, "a chunk is damaged");
		return TS_OK;
	}
	for (size_t i = 0; i < TS_NELEM(packings); i++)
		if (packings[i].name == name)
			return unpack_values(to, chunk, &packings[i], values, err);
	records_note(to->damage, chunk->begin,
		     "a chunk is packed in a way that is not read (write it with Brotli or Zstd)");
	return TS_OK;
}

static enum ts_status unpack_chunk(struct unpacking *to, const struct ts_chunk *chunk,
				   struct ts_error *err)
{
	switch (chunk->kind) {
	case TS_CHUNK_SIGNATURE:
	case TS_CHUNK_METADATA:
	case TS_CHUNK_PADDING:	 return TS_OK;
	case TS_CHUNK_SIMPLE:	 break;
	case TS_CHUNK_TRANSPOSED:
		records_note(
			to->damage, chunk->begin,
			"a transposed chunk is not read (write the records without \"transpose\")");
		return TS_OK;
	default:
		records_note(to->damage, chunk->begin, "a chunk of a kind that is not known");
		return TS_OK;
	}
	if (!ts_chunk_is_good(chunk)) {
		records_note(to->damage, chunk->begin, "the data of a chunk is damaged");
		return TS_OK;
	}
	return unpack_simple(to, chunk, err);
}

enum ts_status ts_records_unpack(struct ts_bytes bytes, struct ts_scratch *out,
				 struct ts_records_damage *damage, struct ts_error *err)
{
	struct unpacking to = { .out = out, .damage = damage, .buffer = malloc(OUT_BYTES) };
	struct ts_chunk chunk = { .begin = 0 };
	enum ts_status st = to.buffer ? TS_OK : ts_fail_nomem(err);

	TS_ASSERT(out && damage);
	*damage = (struct ts_records_damage){ NULL, 0 };
	to.max_bytes = TS_MAX(ts_u64_mul(bytes.n, TS_LIMIT_PACKED_RATIO), TS_LIMIT_PACKED_FLOOR);
	for (; st == TS_OK && chunk.begin < bytes.n; chunk.begin = chunk.end) {
		const char *cause = ts_chunk_at(bytes, chunk.begin, &chunk);

		if (cause) {
			records_note(damage, chunk.begin, cause);
			break;
		}
		st = unpack_chunk(&to, &chunk, err);
	}
	free(to.buffer);
	return st;
}
