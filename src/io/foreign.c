/* SPDX-License-Identifier: MIT */
/*
 * One table: what stands in the head, and what it is. The first row that fits counts, so a format comes before what
 * it is packed in (a database of Nsight Systems before SQLite). A row has to be sure: none of what a reader
 * reads may fit.
 *
 * Where they are from: what PyTorch's profiler and its memory snapshots write; Chakra's schema (MLCommons); the
 * documents of rocprofiler-sdk and Nsight Systems; Perfetto's TracePacket; git-lfs' and SQLite's specifications.
 */
#include "io/foreign.h"

#include "base/buf.h"
#include "base/check.h"
#include "io/gzip.h"
#include "io/jsonhead.h"
#include "io/wire.h"

#define HEAD_BYTES (64 * 1024)	     /* looked at, of a packed file unpacked */
#define DEEP_BYTES (4 * 1024 * 1024) /* of a database, whose tables are named anywhere */
#define NR_PACKETS 64		     /* of Perfetto, looked into */

#define GIVE_TORCH                                                                      \
	"give the trace that the same profiler writes: "                                \
	"torch.profiler.profile(...).export_chrome_trace(\"NAME.json\")"
#define GIVE_OTHER                                                                      \
	"give a trace of torch.profiler (export_chrome_trace) or a profile of "        \
	"jax.profiler of the same program"
#define GIVE_JSON                                                                       \
	"give it as JSON: PyTorch's export_chrome_trace(\"NAME.json\"), or traceconv json " \
	"FILE NAME.json (get.perfetto.dev/traceconv)"

struct look {
	struct ts_bytes head, deep; /* the same text; deep: more of it where there is more */
	bool packed;		    /* it was unpacked */
};

struct row {
	const char *magic; /* the head begins with it; NULL: any does */
	size_t nr_magic;
	const char *parts[2]; /* and has these texts anywhere; NULL: none */
	const char *keys[2];  /* and is an object with these members */
	bool (*is)(const struct look *look);
	struct ts_foreign foreign;
};

#define MAGIC(text) .magic = (text), .nr_magic = sizeof(text) - 1

/* --- protobuf */

/* JSON that begins with a line of its own reads as a message: "\n{" is a field of 123 bytes. */
static bool is_json(const struct look *look)
{
	struct ts_bytes text = ts_jsonhead_start(look->head);

	return ts_bytes_starts(text, "{") || ts_bytes_starts(text, "[");
}

/* A trace is packets of field 1 alone, and a packet has its time (8) or its writer's number (10). A plane of an xplane
 * has fields up to 6, a module of an HloProto other things there. */
static bool is_pftrace(const struct look *look)
{
	struct ts_bytes text = look->head, packet, value;
	uint64_t tag, inner;
	bool is = false;

	if (is_json(look))
		return false;
	for (int i = 0; i < NR_PACKETS && text.n > 0; i++) {
		if (!ts_wire_field(&text, &tag, &packet) || tag != TS_WIRE_BYTES(1))
			return false;
		while (packet.n > 0 && ts_wire_field(&packet, &inner, &value))
			is |= inner == TS_WIRE_VARINT(8) || inner == TS_WIRE_VARINT(10);
	}
	return is;
}

/* A module in its HloProto: where a plane of an xplane has a number, it has its name. */
static bool is_hlo(const struct look *look)
{
	struct ts_bytes text = look->head, module, value;
	uint64_t tag, inner;

	return !is_json(look) && ts_wire_field(&text, &tag, &module) && tag == TS_WIRE_BYTES(1) &&
	       ts_wire_field(&module, &inner, &value) && inner == TS_WIRE_BYTES(1) && value.n > 0;
}

/* Messages with their lengths in front, the first of them the version of the schema: "0.0.4". */
static bool is_chakra(const struct look *look)
{
	struct ts_bytes text = look->head, version;
	uint64_t n, tag;
	size_t nr_points = 0;

	if (!ts_wire_varint(&text, &n) || n > text.n)
		return false;
	text = ts_bytes_cut(text, 0, (size_t)n);
	if (!ts_wire_field(&text, &tag, &version) || tag != TS_WIRE_BYTES(1) || version.n < 5 ||
	    version.n > 16)
		return false;
	for (size_t i = 0; i < version.n; i++) {
		nr_points += version.p[i] == '.';
		if (version.p[i] != '.' && (version.p[i] < '0' || version.p[i] > '9'))
			return false;
	}
	return nr_points == 2;
}

/* --- JSON */

/* Lists in a list, numbers in those: of export_memory_timeline(), raw or as JSON. */
static bool is_memory_timeline(const struct look *look)
{
	struct ts_bytes text = ts_jsonhead_start(look->head);

	for (int i = 0; i < 2; i++) {
		if (!ts_bytes_starts(text, "["))
			return false;
		text = ts_jsonhead_start(ts_bytes_cut(text, 1, text.n));
	}
	return text.n > 0 && (text.p[0] == '-' || (text.p[0] >= '0' && text.p[0] <= '9'));
}

/* An answer of a server in place of the file: small, and it says why. */
static bool is_answer(const struct look *look)
{
	struct ts_jsonhead members = ts_jsonhead_of(look->head);
	bool says = false;

	if (look->deep.n >= HEAD_BYTES || ts_bytes_has(look->head, "\"traceEvents\""))
		return false;
	while (ts_jsonhead_next(&members))
		says |= ts_bytes_is(members.key, "error") || ts_bytes_is(members.key, "message") ||
			ts_bytes_is(members.key, "detail");
	return says;
}

/* --- texts */

static bool foreign_starts(struct ts_bytes text, const char *lower)
{
	size_t n = strlen(lower);

	for (size_t i = 0; i < n; i++)
		if (i >= text.n ||
		    (text.p[i] >= 'A' && text.p[i] <= 'Z' ? text.p[i] + 32 : text.p[i]) != lower[i])
			return false;
	return true;
}

static bool is_html(const struct look *look)
{
	struct ts_bytes text = ts_jsonhead_start(look->head);

	return foreign_starts(text, "<!doctype html") || foreign_starts(text, "<html") ||
	       foreign_starts(text, "<head") ||
	       (foreign_starts(text, "<!--") && ts_bytes_has(text, "<html"));
}

static bool is_xml(const struct look *look)
{
	return foreign_starts(ts_jsonhead_start(look->head), "<?xml") ||
	       foreign_starts(ts_jsonhead_start(look->head), "<error>");
}

static bool is_packed_twice(const struct look *look)
{
	return look->packed && ts_gzip_probe(look->head);
}

static bool is_nothing(const struct look *look)
{
	return look->deep.n > 0 && ts_bytes_are_zero(look->deep);
}

static bool is_blank(const struct look *look)
{
	size_t at = 0;

	while (at < look->head.n && strchr(" \t\r\n", look->head.p[at]) && look->head.p[at])
		at++;
	return at == look->head.n && at < HEAD_BYTES && (at > 0 || look->packed);
}

static const struct row rows[] = {
	/* profilers */
	{ .is = is_pftrace,
	  .parts = { "tpusight" },
	  .foreign = { "a trace in Perfetto's own form, made by TPUsight",
		       "give the profile that it was made of" } },
	{ .is = is_pftrace, .foreign = { "a trace in Perfetto's own form (.pftrace)", GIVE_JSON } },
	{ MAGIC("SQLite format 3"), .parts = { "rocpd_" },
	  .foreign = { "a database of rocprofv3 (rocpd, SQLite)", GIVE_OTHER } },
	{ MAGIC("SQLite format 3"), .parts = { "CUPTI_ACTIVITY_KIND" },
	  .foreign = { "an export of Nsight Systems (nsys export, SQLite)", GIVE_OTHER } },
	{ MAGIC("SQLite format 3"), .parts = { "META_DATA_EXPORT", "StringIds" },
	  .foreign = { "an export of Nsight Systems (nsys export, SQLite)", GIVE_OTHER } },
	{ MAGIC("SQLite format 3"), .foreign = { "a database (SQLite)", GIVE_OTHER } },
	{ .keys = { "rocprofiler-sdk-tool" },
	  .foreign = { "rocprofv3's own JSON (rocprofiler-sdk-tool)", GIVE_OTHER } },
	{ .keys = { "nodes", "start_ts" },
	  .foreign = { "an execution trace of PyTorch (Chakra, JSON)", GIVE_TORCH } },
	{ .keys = { "nodes", "schema" },
	  .parts = { "chakra" },
	  .foreign = { "an execution trace of PyTorch (Chakra, JSON)", GIVE_TORCH } },
	{ .is = is_chakra,
	  .foreign = { "an execution trace of Chakra (protobuf, .et)", GIVE_TORCH } },
	{ MAGIC("\x80"), .parts = { "segments", "total_size" },
	  .foreign = { "a memory snapshot of PyTorch (torch.cuda.memory._dump_snapshot, pickle)",
		       "record with torch.profiler.profile(profile_memory=True), and give what its "
		       "export_chrome_trace(\"NAME.json\") writes" } },
	{ .keys = { "segments" },
	  .parts = { "total_size" },
	  .foreign = { "a memory snapshot of PyTorch, as JSON",
		       "record with torch.profiler.profile(profile_memory=True), and give what its "
		       "export_chrome_trace(\"NAME.json\") writes" } },
	{ .is = is_memory_timeline,
	  .foreign = { "a memory timeline of torch.profiler (export_memory_timeline)",
		       GIVE_TORCH } },
	{ .is = is_html,
	  .parts = { "GPU Memory Timeline" },
	  .foreign = { "a memory timeline of torch.profiler, drawn (export_memory_timeline, HTML)",
		       GIVE_TORCH } },
	{ .is = is_html,
	  .parts = { "MemoryViz" },
	  .foreign = { "a page of PyTorch's memory snapshots (HTML)",
		       "record with torch.profiler.profile(profile_memory=True), and give what its "
		       "export_chrome_trace(\"NAME.json\") writes" } },
	{ .is = is_html,
	  .parts = { "trace-viewer" },
	  .foreign = { "a trace in a page of Chromium's trace viewer (HTML)",
		       "give the JSON that it was made of" } },
	{ .keys = { "$schema" },
	  .parts = { "speedscope" },
	  .foreign = { "a profile for speedscope (JSON)", GIVE_OTHER } },
	{ .keys = { "libs", "threads" },
	  .foreign = { "a profile of the Firefox Profiler (JSON)", GIVE_OTHER } },
	{ .keys = { "samples", "timeDeltas" },
	  .foreign = { "a CPU profile of V8 (.cpuprofile)", GIVE_OTHER } },
	{ MAGIC("PERFILE2"), .foreign = { "a recording of Linux's perf (perf.data)", GIVE_OTHER } },
	{ MAGIC("NVR\0"), .foreign = { "a report of Nsight Compute (.ncu-rep)", GIVE_OTHER } },
	{ MAGIC("\xfb)\x03"),
	  .foreign = { "statistics of Python's cProfile (marshal)", GIVE_OTHER } },
	/* what stands beside profiles */
	{ MAGIC("\x18\0\0\0\0\0\0\0"), .parts = { "brain.Event:" },
	  .foreign = { "an event file of TensorBoard (.tfevents: scalars)",
		       "give the folder, or LOGDIR/plugins/profile/SESSION below it" } },
	{ .is = is_hlo, .foreign = { "a compiled module (HloProto)", "give it to tpusight hlo" } },
	{ MAGIC("HloModule "),
	  .foreign = { "the text of a compiled module (HLO)",
		       "give its *.hlo_proto.pb to tpusight hlo: XLA_FLAGS=\"--xla_dump_to=DIR "
		       "--xla_dump_hlo_as_proto\" writes it" } },
	{ MAGIC("ML\xefR"),
	  .foreign = { "a module of MLIR (bytecode)",
		       "give the *.hlo_proto.pb of XLA's dump to tpusight hlo" } },
	{ MAGIC("module @"),
	  .foreign = { "a module of MLIR (StableHLO, text)",
		       "give the *.hlo_proto.pb of XLA's dump to tpusight hlo" } },
	{ MAGIC("; ModuleID"),
	  .foreign = { "a module of LLVM (text)",
		       "give the *.hlo_proto.pb of XLA's dump to tpusight hlo" } },
	{ MAGIC("BC\xc0\xde"),
	  .foreign = { "a module of LLVM (bitcode)",
		       "give the *.hlo_proto.pb of XLA's dump to tpusight hlo" } },
	{ MAGIC("\x7f"
		"ELF"),
	  .foreign = { "a program or library (ELF)", GIVE_OTHER } },
	{ .keys = { "cells", "nbformat" },
	  .foreign = { "a notebook (Jupyter)", "give the profile that it writes" } },
	{ MAGIC("PAR1"), .foreign = { "a table (Parquet)", "give the profile it was made of" } },
	{ MAGIC("ARROW1"), .foreign = { "a table (Arrow)", "give the profile it was made of" } },
	{ MAGIC("\x89HDF"), .foreign = { "a file of HDF5", GIVE_OTHER } },
	{ MAGIC("\x89PNG"), .foreign = { "a picture (PNG)", "give the profile it shows" } },
	{ MAGIC("%PDF"), .foreign = { "a document (PDF)", "give the profile it shows" } },
	{ .keys = { "cols", "rows" },
	  .foreign = { "a table that was saved from a tool of XProf (JSON)",
		       "give the *.xplane.pb of its session" } },
	/* ours */
	{ .is = is_html,
	  .parts = { "tpusight" },
	  .foreign = { "a report of TPUsight (HTML)", "give the profile it was made of" } },
	{ .keys = { "schema", "generator" },
	  .parts = { "\"tpusight/" },
	  .foreign = { "a report of TPUsight (JSON)", "give the profile it was made of" } },
	/* in the place of a file */
	{ MAGIC("version https://git-lfs.github.com/"),
	  .foreign = { "a pointer of Git LFS in the place of a file", "git lfs pull brings it" } },
	{ .is = is_html,
	  .foreign = { "a web page (HTML)",
		       "a download that failed or wants a log-in leaves one under the file's name: "
		       "download it again" } },
	{ .is = is_xml,
	  .foreign = { "XML",
		       "a store that refuses answers so: look into it, and download again" } },
	{ .is = is_answer,
	  .foreign = { "an answer of a server (JSON)",
		       "it says why: look into it, and download again" } },
	{ .is = is_packed_twice,
	  .foreign = { "a file that was packed twice (gzip inside gzip)",
		       "unpack it once: gzip -d" } },
	{ MAGIC("\x80\x02"), .foreign = { "an object of Python (pickle)", GIVE_OTHER } },
	{ MAGIC("\x80\x03"), .foreign = { "an object of Python (pickle)", GIVE_OTHER } },
	{ MAGIC("\x80\x04"), .foreign = { "an object of Python (pickle)", GIVE_OTHER } },
	{ MAGIC("\x80\x05"), .foreign = { "an object of Python (pickle)", GIVE_OTHER } },
	{ .is = is_nothing,
	  .foreign = { "nothing but zero bytes",
		       "a copy that broke off, or a full disk, leaves them: copy it again" } },
	{ .is = is_blank, .foreign = { "a blank text", "copy it again" } },
};

static const struct {
	const char *ending;
	struct ts_foreign foreign;
} names[] = {
	{ ".pftrace", { "a trace in Perfetto's own form (.pftrace)", GIVE_JSON } },
	{ ".perfetto-trace", { "a trace in Perfetto's own form", GIVE_JSON } },
	{ ".nsys-rep", { "a report of Nsight Systems (.nsys-rep)", GIVE_OTHER } },
	{ ".qdrep", { "a report of Nsight Systems (.qdrep)", GIVE_OTHER } },
	{ ".qdstrm", { "a stream of Nsight Systems (.qdstrm)", GIVE_OTHER } },
	{ ".ncu-rep", { "a report of Nsight Compute (.ncu-rep)", GIVE_OTHER } },
	{ ".rpd", { "a database of rocmProfileData (.rpd)", GIVE_OTHER } },
	{ ".otf2", { "an OTF2 archive", GIVE_OTHER } },
	{ ".et", { "an execution trace of Chakra (.et)", GIVE_TORCH } },
	{ "/data.pkl", { "an object that torch.save wrote", GIVE_OTHER } },
};

/* What stands anywhere is looked for last: that goes over megabytes, of every file that is read. */
static bool fits(const struct row *row, const struct look *look)
{
	if (row->magic &&
	    (look->head.n < row->nr_magic || memcmp(look->head.p, row->magic, row->nr_magic) != 0))
		return false;
	if (row->is && !row->is(look))
		return false;
	for (size_t i = 0; i < TS_NELEM(row->keys); i++)
		if (row->keys[i] && !ts_jsonhead_find(look->head, row->keys[i]).p)
			return false;
	for (size_t i = 0; i < TS_NELEM(row->parts); i++)
		if (row->parts[i] && !ts_bytes_has(look->deep, row->parts[i]))
			return false;
	return true;
}

const struct ts_foreign *ts_foreign_of(struct ts_bytes bytes)
{
	struct ts_buf unpacked = TS_BUF_INIT;
	struct look look = { ts_bytes_cut(bytes, 0, HEAD_BYTES),
			     ts_bytes_cut(bytes, 0, DEEP_BYTES) };
	const struct ts_foreign *found = NULL;
	enum ts_status st = TS_OK;

	TS_ASSERT(bytes.p || bytes.n == 0);
	look.packed = ts_gzip_probe(bytes);
	if (look.packed) {
		st = ts_gunzip_head(bytes, &unpacked, HEAD_BYTES, NULL);
		look.head = look.deep = ts_buf_bytes(&unpacked);
	}
	for (size_t i = 0; i < TS_NELEM(rows) && !found && (st == TS_OK || look.head.n > 0); i++)
		if (fits(&rows[i], &look))
			found = &rows[i].foreign;
	ts_buf_release(&unpacked);
	return found;
}

const struct ts_foreign *ts_foreign_named(struct ts_bytes name)
{
	TS_ASSERT(name.p || name.n == 0);
	if (ts_bytes_ends(name, ".gz"))
		name.n -= strlen(".gz");
	for (size_t i = 0; i < TS_NELEM(names); i++)
		if (ts_bytes_ends(name, names[i].ending))
			return &names[i].foreign;
	return NULL;
}

enum ts_status ts_foreign_refuse(const struct ts_foreign *foreign, struct ts_error *err)
{
	if (!foreign)
		return TS_OK;
	return ts_fail(err, TS_UNSUPPORTED, "this is %s, not a profile that is read (%s)",
		       foreign->what, foreign->give);
}
