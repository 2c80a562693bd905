/* SPDX-License-Identifier: MIT */
/* Names, marks and heads are those of trace/trace.c, run/annotated.c and trace/perfetto. */
#include "serve/traces.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "codec/json.h"
#include "trace/trace.h"
#include "io/file.h"
#include "io/gzip.h"
#include "io/rundir.h"
#include "io/sys.h"
#include "io/tracefile.h"
#include "codec/zip.h"
#include "remote/remote.h"
#include "serve/roots.h"

#define HEAD_BYTES   4096 /* in which a trace of ours says what it is, and its shift */
#define MAX_VARINT   10
#define MAX_UI	     512
#define SHIFT_JSON   "\"shift_ns\":"
#define SHIFT_PB     "\x0a\x11tpusight.shift_ns\x10" /* key of an attribute, then its number */
#define ZIP_MARK                                                              \
	"{\"perfetto_manifest\":{\"version\":1,\"attributes\":{\"generator\":\"tpusight\"," \
	"\"tpusight.first_trace\":"
#define MAX_SHIFT    24

static bool is_json(struct ts_bytes head, const struct ts_session *session)
{
	return ts_trace_is_ours(head, &ts_perfetto_json);
}

static bool is_pftrace(struct ts_bytes head, const struct ts_session *session)
{
	return ts_trace_is_ours(head, &ts_perfetto_pb);
}

static bool is_copy(struct ts_bytes head, const struct ts_session *session)
{
	struct ts_error err = TS_ERROR_INIT;

	return ts_tracefile_is_annotated(head, &err);
}

/* Of this session, and not of another one in the folder: its manifest names the first trace. */
static bool is_zip(struct ts_bytes head, const struct ts_session *session)
{
	struct ts_buf manifest = TS_BUF_INIT, mark = TS_BUF_INIT;
	bool is;

	ts_zip_head(head, "perfetto_manifest.json", HEAD_BYTES, &manifest);
	ts_buf_puts(&mark, ZIP_MARK);
	ts_json_quote(&mark, ts_bytes_of(session->files[0].name));
	ts_buf_putc(&mark, '\0');
	is = !mark.failed && !manifest.failed &&
	     ts_bytes_starts(ts_buf_bytes(&manifest), (const char *)mark.p);
	ts_buf_release(&manifest);
	ts_buf_release(&mark);
	return is;
}

/* One for all hosts of a session, and one for each of its files. The better one stands first. */
static const struct kind {
	const char *name;   /* of the file, or */
	const char *suffix; /* behind the stem of a trace's name */
	bool (*is_ours)(struct ts_bytes head, const struct ts_session *session);
} kinds[] = {
	{ "ALL_RANKS.perfetto.zip", NULL, is_zip },
	{ "perfetto_trace.pftrace", NULL, is_pftrace },
	{ "perfetto_trace.json.gz", NULL, is_json },
	{ NULL, TS_ANNOTATED_PFTRACE_SUFFIX, is_pftrace },
	{ NULL, TS_ANNOTATED_SUFFIX, is_copy },
};

struct trace {
	const char *name, *path, *host;
	uint64_t nr_bytes;
	int fd;
	bool has_shift;
	int64_t shift_ns;
};

/* A number at the beginning of TEXT, behind which something else stands. */
static bool traces_read_decimal(struct ts_bytes text, int64_t *value)
{
	size_t n = text.n > 0 && text.p[0] == '-';

	while (n < text.n && text.p[n] >= '0' && text.p[n] <= '9')
		n++;
	return n < text.n && ts_bytes_i64(ts_bytes_cut(text, 0, n), value);
}

static bool read_varint(struct ts_bytes text, int64_t *value)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < text.n && i < MAX_VARINT; i++) {
		sum |= (uint64_t)(text.p[i] & 0x7f) << (7 * i);
		if (text.p[i] < 0x80) {
			*value = (int64_t)sum;
			return true;
		}
	}
	return false;
}

static void read_shift(struct trace *trace, struct ts_bytes head)
{
	static const struct {
		const char *mark;
		bool (*read)(struct ts_bytes text, int64_t *value);
	} forms[] = { { SHIFT_JSON, traces_read_decimal }, { SHIFT_PB, read_varint } };

	for (size_t i = 0; i < TS_NELEM(forms) && !trace->has_shift; i++) {
		size_t at = ts_bytes_find(head, forms[i].mark);

		if (at < head.n)
			trace->has_shift = forms[i].read(
				ts_bytes_cut(head, at + strlen(forms[i].mark), head.n),
				&trace->shift_ns);
	}
}

/* The first bytes, packed or not, as they are when unpacked. */
static bool traces_read_head(int fd, struct ts_buf *head)
{
	uint8_t packed[HEAD_BYTES];
	struct ts_error damage = TS_ERROR_INIT;
	ssize_t n = ts_sys_pread(fd, packed, sizeof(packed), 0);
	struct ts_bytes bytes = { packed, n > 0 ? (size_t)n : 0 };

	if (ts_gzip_probe(bytes))
		(void)ts_gunzip_head(bytes, head, HEAD_BYTES,
				     &damage); /* what came out is enough */
	else
		ts_buf_put(head, bytes);
	return !head->failed && head->n > 0;
}

static bool traces_is_ours(const struct kind *kind, const struct ts_session *session,
			   struct trace *trace)
{
	struct ts_buf head = TS_BUF_INIT;
	bool ours =
		traces_read_head(trace->fd, &head) && kind->is_ours(ts_buf_bytes(&head), session);

	if (ours)
		read_shift(trace, ts_buf_bytes(&head));
	ts_buf_release(&head);
	return ours;
}

/* False: there is nothing more to do. */
typedef bool visit_fn(void *ctx, const struct trace *trace);

struct search {
	const struct ts_traces_options *options;
	const struct ts_session *session;
	visit_fn *visit;
	void *ctx;
	struct ts_buf path;
	bool has_ended;
};

/* True: trace->fd is the caller's. */
static bool traces_open_trace(const struct search *search, const struct kind *kind,
			      struct trace *trace)
{
	struct stat st;

	if (!ts_roots_hold_beside(search->options->paths, search->options->nr_paths, trace->path))
		return false;
	trace->fd = ts_file_open_to_read(trace->path);
	if (trace->fd < 0)
		return false;
	if (fstat(trace->fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    traces_is_ours(kind, search->session, trace)) {
		trace->nr_bytes = (uint64_t)st.st_size;
		return true;
	}
	close(trace->fd);
	return false;
}

/* Of a session in a bucket, the content. False: it did not come. */
static bool traces_hold(const struct ts_session *session, const char *path)
{
	return !session->remote ||
	       (ts_remote_has(session->remote, path) &&
		ts_remote_hold(session->remote, &path, 1, 0, NULL, NULL) == TS_OK);
}

static void traces_drop(struct ts_remote *remote, const char *path)
{
	if (remote)
		ts_remote_drop(remote, &path, 1);
}

static void traces_look_at(struct search *search, const struct kind *kind, const char *host)
{
	struct trace trace = { .path = (const char *)search->path.p, .host = host, .fd = -1 };
	const char *slash;

	if (search->path.failed || search->has_ended || !traces_hold(search->session, trace.path))
		return;
	slash = strrchr(trace.path, '/');
	trace.name = slash ? slash + 1 : trace.path;
	if (traces_open_trace(search, kind, &trace)) {
		search->has_ended = !search->visit(search->ctx, &trace);
		close(trace.fd);
	}
	traces_drop(search->session->remote, trace.path);
}

static void look_beside(struct search *search, const struct kind *kind,
			const struct ts_hostfile *file)
{
	struct ts_bytes path = ts_bytes_of(file->path), name = ts_bytes_of(file->name);
	struct ts_bytes stem = ts_tracefile_stem(name);

	if (stem.n == name.n || path.n < name.n)
		return; /* not a trace */
	search->path.n = 0;
	ts_buf_put(&search->path, ts_bytes_cut(path, 0, path.n - name.n + stem.n));
	ts_buf_puts(&search->path, kind->suffix);
	ts_buf_putc(&search->path, '\0');
	traces_look_at(search, kind, file->host);
}

static void look_for(struct search *search, const struct kind *kind)
{
	const struct ts_session *session = search->session;

	if (kind->name) {
		search->path.n = 0;
		(void)ts_session_path(session, kind->name, &search->path);
		traces_look_at(search, kind, NULL);
		return;
	}
	for (size_t i = 0; i < session->nr_files; i++)
		look_beside(search, kind, &session->files[i]);
}

static void traces_visit_all(const struct ts_traces_options *options,
			     const struct ts_session *session, visit_fn *visit, void *ctx)
{
	struct search search = { options, session, visit, ctx, TS_BUF_INIT, false };

	for (size_t i = 0; session->kind != TS_SESSION_STREAM && i < TS_NELEM(kinds); i++)
		look_for(&search, &kinds[i]);
	ts_buf_release(&search.path);
}

static bool traces_put_trace(void *ctx, const struct trace *trace)
{
	struct ts_json *json = ctx;
	char shift[MAX_SHIFT];

	snprintf(shift, sizeof(shift), "%" PRId64, trace->shift_ns);
	ts_json_object(json);
	ts_json_put_text(json, "file", trace->name);
	ts_json_put_text(json, "path", trace->path);
	ts_json_put_text(json, "host", trace->host);
	ts_json_put_i64(json, "bytes", (int64_t)trace->nr_bytes);
	ts_json_put_text(json, "shift_ns", trace->has_shift ? shift : NULL);
	ts_json_object_end(json);
	return true;
}

struct ts_answer ts_traces_list(const struct ts_traces_options *options,
				const struct ts_session *session)
{
	TS_ASSERT(options != NULL && options->ui != NULL && session != NULL);

	struct ts_buf text = TS_BUF_INIT;
	struct ts_json json = ts_json_of(&text, TS_JSON_COMPACT);

	ts_json_object(&json);
	ts_json_put_text(&json, "ui", options->ui);
	ts_json_key(&json, "traces");
	ts_json_array(&json);
	traces_visit_all(options, session, traces_put_trace, &json);
	ts_json_array_end(&json);
	ts_json_object_end(&json);
	return ts_answer_json(&text);
}

/* A file on its way to a client. One that is replaced meanwhile is sent as it was; one that is cut short is
 * broken off. */
struct sending {
	int fd;
	uint64_t at, nr_bytes;
	struct ts_remote *remote; /* of a bucket: it is held */
	char *path;
};

static enum ts_source_state read_sending(void *ctx, char *out, size_t cap, size_t *n)
{
	struct sending *sending = ctx;
	size_t wanted = (size_t)TS_MIN((uint64_t)cap, sending->nr_bytes - sending->at);
	ssize_t got;

	if (wanted == 0)
		return TS_SOURCE_END;
	got = ts_sys_pread(sending->fd, out, wanted, (off_t)sending->at);
	if (got <= 0)
		return TS_SOURCE_BROKEN;
	sending->at += (uint64_t)got;
	*n = (size_t)got;
	return TS_SOURCE_MORE;
}

static void drop_sending(void *ctx)
{
	struct sending *sending = ctx;

	close(sending->fd);
	if (sending->path)
		traces_drop(sending->remote, sending->path);
	free(sending->path);
	free(sending);
}

struct wanted {
	const char *file;
	const struct ts_session *session;
	struct sending *found;
};

static bool take_trace(void *ctx, const struct trace *trace)
{
	struct wanted *wanted = ctx;
	char *path;
	int fd;

	if (strcmp(trace->name, wanted->file) != 0)
		return true;
	fd = fcntl(trace->fd, F_DUPFD_CLOEXEC, 0);
	path = fd >= 0 ? strdup(trace->path) : NULL;
	wanted->found =
		path && traces_hold(wanted->session, path) ? malloc(sizeof(*wanted->found)) : NULL;
	if (wanted->found) {
		*wanted->found =
			(struct sending){ fd, 0, trace->nr_bytes, wanted->session->remote, path };
		return false;
	}
	free(path);
	if (fd >= 0)
		close(fd);
	return false;
}

struct ts_answer ts_traces_get(const struct ts_traces_options *options,
			       const struct ts_session *session, const char *file)
{
	TS_ASSERT(options != NULL && session != NULL);

	struct wanted wanted = { file ? file : "", session, NULL };

	traces_visit_all(options, session, take_trace, &wanted);
	if (!wanted.found)
		return ts_answer_error(404, "this run has no trace of this name (/api/traces lists "
					    "them)");
	return (struct ts_answer){ .status = 200,
				   .type = "application/octet-stream",
				   .source = { .read = read_sending,
					       .drop = drop_sending,
					       .ctx = wanted.found,
					       .nr_bytes = wanted.found->nr_bytes } };
}

bool ts_traces_is_ui(const char *text)
{
	static const char *const schemes[] = { "https://", "http://" };
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-._~:[]/";

	TS_ASSERT(text != NULL);
	for (size_t i = 0; i < TS_NELEM(schemes); i++) {
		size_t n = strlen(schemes[i]);

		if (strncmp(text, schemes[i], n) == 0)
			return text[n] && text[n] != '/' && strlen(text) <= MAX_UI &&
			       text[n + strspn(text + n, letters)] == '\0';
	}
	return false;
}
