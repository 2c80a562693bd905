/* SPDX-License-Identifier: MIT */
/*
 * Files that are named and not read. Heads are written out by hand, from the formats' own documents; what a reader
 * reads must not be taken for one of them.
 */
#include "io/foreign.h"
#include "base/buf.h"
#include "io/gzip.h"
#include "tests/test.h"

#define BYTES(text) { (const uint8_t *)(text), sizeof(text) - 1 }

static const struct row {
	struct ts_bytes head;
	const char *word; /* in what it is; NULL: it is not known */
} rows[] = {
	/* packets with a writer's number and a time; a track's name */
	{ BYTES("\x0a\x04\x50\x01\x18\x01\x0a\x04\x40\x05\x50\x01"), "Perfetto" },
	{ BYTES("SQLite format 3\0 CREATE TABLE rocpd_metadata(id)"), "rocprofv3" },
	{ BYTES("SQLite format 3\0 CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start)"),
	  "Nsight Systems" },
	{ BYTES("SQLite format 3\0 CREATE TABLE a(b)"), "SQLite" },
	{ BYTES("{\"rocprofiler-sdk-tool\": [{}]}"), "rocprofv3" },
	{ BYTES("{\"schema\": \"1.1.1-chakra.0.0.4\", \"pid\": 1, \"start_ts\": 1, \"nodes\": ["),
	  "execution trace" },
	{ BYTES("\x07\x0a\x05"
		"0.0.4\x10"),
	  "Chakra" },
	{ BYTES("\x80\x04\x95\x8c\x08segments\x94\x8c\x0atotal_size"), "memory snapshot" },
	{ BYTES("\x80\x04\x95 something"), "pickle" },
	{ BYTES("{\"segments\": [{\"device\": 0, \"total_size\": 1}]}"), "memory snapshot" },
	{ BYTES("[[-1, 1, 512, 7], [0, 0, 1024, 2]]"), "memory timeline" },
	{ BYTES(" [ [0, 1], [[0, 1], [2, 3]]]"), "memory timeline" },
	{ BYTES("<html>\n<head><title>GPU Memory Timeline HTML</title>"), "memory timeline" },
	{ BYTES("<!DOCTYPE HTML>\n<title>403</title>"), "web page" },
	{ BYTES("\n<HTML><!-- tpusight -->"), "report of TPUsight" },
	{ BYTES("<?xml version='1.0'?><Error><Code>NoSuchKey"), "XML" },
	{ BYTES("{\"message\": \"Not Found\"}"), "answer of a server" },
	{ BYTES("version https://git-lfs.github.com/spec/v1\noid"), "Git LFS" },
	{ BYTES("\x18\0\0\0\0\0\0\0crc.\x09timetime\x1a\x0d"
		"brain.Event:2"),
	  "TensorBoard" },
	{ BYTES("HloModule jit_f, is_scheduled=true"), "HLO" },
	{ BYTES("; ModuleID = 'a'\n"), "LLVM" },
	{ BYTES("\x0a\x0b\x0a\x05jit_f\x12\x02me"), "HloProto" },
	{ BYTES("NVR\0\1\2"), "Nsight Compute" },
	{ BYTES("PERFILE2"), "perf" },
	{ BYTES("\0\0\0\0\0\0\0\0"), "zero bytes" },
	{ BYTES("\n \t\r\n"), "blank" },
	{ BYTES("{\"schema\": \"tpusight/1\", \"generator\": {}}"), "report of TPUsight" },
	/* what is read, or what nothing is known of */
	{ BYTES("\x0a\x0d\x08\x01\x12\x09/host:CPU"), NULL },
	{ BYTES("\x0a\x09\x12\x07/h:CPU1"), NULL },
	{ BYTES("\x0a\x04\x08\x01\x10\x02\x12\x02\x08\x01"), NULL }, /* pprof */
	{ BYTES("{\"traceEvents\": [{\"ph\": \"X\", \"args\": {\"error\": 1}}]}"), NULL },
	{ BYTES("{\"error\": 1, \"traceEvents\": []}"), NULL },
	{ BYTES("{\"schemaVersion\": 1, \"nodes\": 1, \"traceEvents\": []}"), NULL },
	{ BYTES("{\"a\": \"<html>\", \"b\": \"tpusight/1\"}"), NULL },
	{ BYTES("[{\"ph\": \"X\"}]"), NULL },
	{ BYTES("[]"), NULL },
	{ BYTES("\x01\x02\x03"), NULL },
	{ BYTES("text"), NULL },
	{ BYTES(""), NULL },
};

static void assert_known(struct ts_bytes bytes, const struct row *row)
{
	const struct ts_foreign *foreign = ts_foreign_of(bytes);
	const char *what = foreign ? foreign->what : "nothing";

	if (row->word ? !strstr(what, row->word) : foreign != NULL)
		fail_msg("%.*s: %s", TS_ARG(row->head), what);
	if (foreign)
		assert_null(strstr(foreign->give, "profile again"));
}

TEST(formats_are_known_by_their_heads)
{
	(void)state;
	for (size_t i = 0; i < TS_NELEM(rows); i++)
		assert_known(rows[i].head, &rows[i]);
}

static void foreign_pack(struct ts_bytes text, struct ts_buf *packed)
{
	struct ts_gzip gz = TS_GZIP_INIT;

	assert_int_equal(ts_gzip_init(&gz, NULL), TS_OK);
	assert_int_equal(ts_gzip_member(&gz, packed, text, NULL, NULL), TS_OK);
	ts_gzip_release(&gz);
}

TEST(packed_ones_are_known_too)
{
	static const struct row twice = { { NULL, 0 }, "packed twice" };
	struct ts_buf again = TS_BUF_INIT;

	(void)state;
	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_buf packed = TS_BUF_INIT;

		if (rows[i].head.n == 0)
			continue;
		foreign_pack(rows[i].head, &packed);
		assert_known(ts_buf_bytes(&packed), &rows[i]);
		ts_buf_clear(&again);
		foreign_pack(ts_buf_bytes(&packed), &again);
		assert_known(ts_buf_bytes(&again), &twice);
		ts_buf_release(&packed);
	}
	ts_buf_release(&again);
}

/* Heads of any length: no byte behind the end is looked at (sanitizers see it). */
TEST(heads_may_be_cut)
{
	(void)state;
	for (size_t i = 0; i < TS_NELEM(rows); i++)
		for (size_t n = 0; n < rows[i].head.n; n++) {
			uint8_t *copy = malloc(n + 1);

			assert_non_null(copy);
			memcpy(copy, rows[i].head.p, n);
			(void)ts_foreign_of((struct ts_bytes){ copy, n });
			free(copy);
		}
}

TEST(names_say_what_contents_do_not)
{
	(void)state;
	assert_non_null(ts_foreign_named(TS_LIT("a/report1.nsys-rep")));
	assert_non_null(ts_foreign_named(TS_LIT("x.pftrace.gz")));
	assert_null(ts_foreign_named(TS_LIT("x.pt.trace.json.gz")));
	assert_null(ts_foreign_named(TS_LIT("h.xplane.pb")));
	assert_null(ts_foreign_named(TS_LIT("")));
}

TEST(a_refusal_says_what_to_give)
{
	struct ts_error err = TS_ERROR_INIT;

	(void)state;
	assert_int_equal(ts_foreign_refuse(NULL, &err), TS_OK);
	assert_int_equal(ts_foreign_refuse(ts_foreign_named(TS_LIT("a.qdrep")), &err),
			 TS_UNSUPPORTED);
	assert_string_equal(
		err.text, "this is a report of Nsight Systems (.qdrep), not a profile that is read "
			  "(give a trace of torch.profiler (export_chrome_trace) or a profile of "
			  "jax.profiler of the same program)");
}
