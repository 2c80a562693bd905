/* SPDX-License-Identifier: MIT */
/* Heads of traces as Kineto writes them (libkineto/src/output_json.cpp of github.com/pytorch/kineto). */
#include "io/captures.h"

#include "base/check.h"
#include "io/gzip.h"
#include "io/input.h"
#include "io/tracefile.h"
#include "base/order.h"

#define HEAD_BYTES 65536 /* what the file says about the job stands before the events */
#define INFO_BYTES 4096

struct one { /* a trace */
	uint32_t file;
	struct ts_bytes worker;
	int64_t time_s;		  /* of its name; -1 */
	int64_t rank, world_size; /* -1 */
	struct ts_bytes device;	  /* the name of its first device; empty: its head has none */
};

struct group {
	int64_t time_s, world_size; /* of the first of it */
	struct ts_bytes device;	    /* of the first that names one */
};

struct telling {
	struct one *ones;
	struct group *groups;
	size_t nr_groups;
	struct ts_arena arena;	 /* of the keys, and of names of devices */
	struct ts_strmap inside; /* "GROUP/WORKER" and "GROUP#RANK" */
};

/* The number behind "KEY":, or -1. */
static int64_t captures_number_of(struct ts_bytes info, const char *key)
{
	size_t at = ts_bytes_find(info, key) + strlen(key), n;
	int64_t number;

	while (at < info.n && (info.p[at] == ' ' || info.p[at] == ':'))
		at++;
	for (n = 0; at + n < info.n && info.p[at + n] >= '0' && info.p[at + n] <= '9'; n++)
		;
	return ts_bytes_i64(ts_bytes_cut(info, at, n), &number) ? number : -1;
}

/* "deviceProperties": [{"id": 0, "name": "NVIDIA H100", ...}, ...] */
static struct ts_bytes captures_first_device(struct ts_bytes head)
{
	static const char key[] = "\"name\"";
	struct ts_bytes list =
		ts_bytes_cut(head, ts_bytes_find(head, "\"deviceProperties\""), head.n);
	size_t at, end;

	list = ts_bytes_cut(list, 0, ts_bytes_find(list, "]"));
	at = ts_bytes_find(list, key) + strlen(key);
	while (at < list.n && list.p[at] != '"')
		at++;
	for (end = at + 1; end < list.n && list.p[end] != '"'; end++)
		;
	return end < list.n ? ts_bytes_cut(list, at + 1, end) : (struct ts_bytes){ 0 };
}

static void read_info(struct one *one, struct ts_bytes head)
{
	size_t at = ts_bytes_find(head, "\"distributedInfo\"");
	struct ts_bytes info = ts_bytes_cut(head, at, INFO_BYTES);

	one->rank = captures_number_of(info, "\"rank\"");
	one->world_size = captures_number_of(info, "\"world_size\"");
}

/* A file that cannot be read has an empty one; its reader will say why. */
static enum ts_status captures_read_head(const char *path, struct ts_buf *head,
					 struct ts_error *err)
{
	struct ts_input in = TS_INPUT_INIT;
	enum ts_status st = ts_input_open_plain(&in, path, NULL);

	if (st == TS_OK && ts_gzip_probe(in.bytes))
		st = ts_gunzip_head(in.bytes, head, HEAD_BYTES, NULL);
	else if (st == TS_OK)
		ts_buf_put(head, ts_bytes_cut(in.bytes, 0, HEAD_BYTES));
	ts_input_release(&in);
	return st == TS_NOMEM || head->failed ? ts_fail_nomem(err) : TS_OK;
}

/* NR: files in the folder, the size of a job whose ranks only their names say. */
static enum ts_status captures_look_into(struct telling *telling, struct one *one,
					 const struct ts_hostfile *file, size_t nr,
					 struct ts_error *err)
{
	struct ts_buf head = TS_BUF_INIT;
	enum ts_status st = captures_read_head(file->path, &head, err);
	struct ts_bytes device = captures_first_device(ts_buf_bytes(&head));

	read_info(one, ts_buf_bytes(&head));
	if (st == TS_OK && device.n > 0) {
		one->device = ts_arena_printf(&telling->arena, "%.*s", TS_ARG(device));
		st = one->device.p ? TS_OK : ts_fail_nomem(err);
	}
	ts_buf_release(&head);
	if (one->rank < 0) {
		one->rank = ts_tracefile_rank(ts_bytes_of(file->name));
		one->world_size = one->rank < 0 ? -1 : (int64_t)nr;
	}
	return st;
}

static bool is_trace_head(struct ts_bytes head)
{
	return ts_bytes_has(head, "\"traceEvents\"") || ts_bytes_has(head, "\"ph\"");
}

/* What stands behind "cat":, up to the next quote. */
static struct ts_bytes category_at(struct ts_bytes rest)
{
	size_t at = 0;

	while (at < rest.n && (rest.p[at] == ' ' || rest.p[at] == ':'))
		at++;
	if (at == rest.n || rest.p[at] != '"')
		return (struct ts_bytes){ 0 };
	rest = ts_bytes_cut(rest, at + 1, rest.n);
	return ts_bytes_cut(rest, 0, ts_bytes_find(rest, "\""));
}

/* Events of a kind that Kineto alone has (libkineto/src/ActivityType.cpp): other programs write traces too. */
static bool has_kineto_event(struct ts_bytes head)
{
	static const char key[] = "\"cat\"";
	static const char *const kinds[] = {
		"cpu_op",	"user_annotation",    "gpu_user_annotation",
		"cuda_runtime", "cuda_driver",	      "gpu_memcpy",
		"gpu_memset",	"python_function",    "privateuse1_runtime",
		"mtia_runtime", "mtia_ccp_events",    "hpu_op",
		"xpu_runtime",	"cuda_profiler_range"
	};
	size_t at;

	while ((at = ts_bytes_find(head, key)) < head.n) {
		struct ts_bytes kind;

		head = ts_bytes_cut(head, at + strlen(key), head.n);
		kind = category_at(head);
		for (size_t i = 0; i < TS_NELEM(kinds); i++)
			if (ts_bytes_is(kind, kinds[i]))
				return true;
	}
	return false;
}

/*
 * Its first members, which may be longer than the head: what the profiler says of itself and of the devices. Who
 * writes a trace anew, with notes of their own in front, leaves them behind the events: then the events say it.
 */
static bool is_kineto_head(struct ts_bytes head)
{
	if (ts_bytes_has(head, "\"schemaVersion\"") && ts_bytes_has(head, "\"deviceProperties\""))
		return true;
	return is_trace_head(head) &&
	       (ts_bytes_has(head, "\"schemaVersion\"") || has_kineto_event(head));
}

static bool is_rank_head(struct ts_bytes head, bool is_named)
{
	return ts_bytes_has(head, "\"distributedInfo\"") || is_kineto_head(head) ||
	       (is_named && (is_trace_head(head) || ts_bytes_has(head, "\"schemaVersion\"")));
}

enum ts_status ts_captures_is_rank(const char *path, struct ts_bytes name, bool any_name,
				   bool *is_rank, struct ts_error *err)
{
	bool is_named = ts_tracefile_rank(name) >= 0;
	struct ts_buf head = TS_BUF_INIT;
	enum ts_status st;

	TS_ASSERT(path && is_rank);
	*is_rank = false;
	if (ts_tracefile_stem(name).n == name.n || ts_tracefile_is_ours(name) ||
	    !(is_named || any_name))
		return TS_OK;
	st = captures_read_head(path, &head, err);
	if (st == TS_OK)
		*is_rank = is_rank_head(ts_buf_bytes(&head), is_named);
	ts_buf_release(&head);
	return st;
}

TS_ORDER(captures_by_time, struct one, TS_UP(time_s) TS_UP(file))

/* The keys of .inside; NULL: no memory. */
static const char *worker_key(struct telling *telling, size_t group, struct ts_bytes worker)
{
	struct ts_bytes key = ts_arena_printf(&telling->arena, "%zu/%.*s", group, TS_ARG(worker));

	return (const char *)key.p;
}

static const char *rank_key(struct telling *telling, size_t group, int64_t rank)
{
	struct ts_bytes key = ts_arena_printf(&telling->arena, "%zu#%lld", group, (long long)rank);

	return (const char *)key.p;
}

static bool captures_is_near(const struct group *known, const struct one *one)
{
	return one->world_size > 1 && one->world_size == known->world_size &&
	       (one->device.n == 0 || known->device.n == 0 ||
		ts_bytes_eq(one->device, known->device)) &&
	       (one->time_s < 0) == (known->time_s < 0) &&
	       one->time_s - known->time_s <= TS_CAPTURE_S;
}

static enum ts_status may_join(struct telling *telling, size_t group, const struct one *one,
			       bool is_session, bool *may, struct ts_error *err)
{
	const char *worker = worker_key(telling, group, one->worker);
	const char *rank = rank_key(telling, group, one->rank);

	if (!worker || !rank)
		return ts_fail_nomem(err);
	*may = ts_strmap_find(&telling->inside, ts_bytes_of(worker)) == TS_NONE &&
	       (is_session || (captures_is_near(&telling->groups[group], one) &&
			       ts_strmap_find(&telling->inside, ts_bytes_of(rank)) == TS_NONE));
	return TS_OK;
}

/* The group that takes it: the earliest of those that are near enough in time, or a new one. */
static enum ts_status find_group(struct telling *telling, const struct one *one, bool is_session,
				 size_t *group, struct ts_error *err)
{
	size_t first = telling->nr_groups;

	while (first > 0 &&
	       (is_session || one->time_s - telling->groups[first - 1].time_s <= TS_CAPTURE_S))
		first--;
	for (*group = first; *group < telling->nr_groups; ++*group) {
		bool may = false;
		enum ts_status st = may_join(telling, *group, one, is_session, &may, err);

		if (st || may)
			return st;
	}
	telling->groups[telling->nr_groups++] =
		(struct group){ .time_s = one->time_s, .world_size = one->world_size };
	return TS_OK;
}

/* KEY NULL: there was no memory for it. */
static enum ts_status captures_put(struct telling *telling, const char *key, struct ts_error *err)
{
	if (!key || !ts_strmap_set(&telling->inside, ts_bytes_of(key), 0))
		return ts_fail_nomem(err);
	return TS_OK;
}

static enum ts_status captures_take(struct telling *telling, const struct one *one, bool is_session,
				    uint32_t *capture, struct ts_error *err)
{
	size_t group;
	enum ts_status st = find_group(telling, one, is_session, &group, err);

	if (st)
		return st;
	if (telling->groups[group].device.n == 0)
		telling->groups[group].device = one->device;
	capture[one->file] = (uint32_t)group;
	st = captures_put(telling, worker_key(telling, group, one->worker), err);
	if (st == TS_OK && one->rank >= 0)
		st = captures_put(telling, rank_key(telling, group, one->rank), err);
	return st;
}

enum ts_status ts_captures_tell(const struct ts_hostfile *files, size_t nr, bool is_session,
				uint32_t *capture, struct ts_error *err)
{
	struct telling telling = { .ones = calloc(nr + 1, sizeof(struct one)),
				   .groups = calloc(nr + 1, sizeof(struct group)),
				   .arena = TS_ARENA_INIT };
	enum ts_status st = TS_OK;

	TS_ASSERT(files && capture);
	if (!telling.ones || !telling.groups)
		st = ts_fail_nomem(err);
	for (size_t i = 0; i < nr && st == TS_OK; i++) {
		struct ts_bytes host = ts_bytes_of(files[i].host);
		struct one *one = &telling.ones[i];

		*one = (struct one){ .file = (uint32_t)i,
				     .worker = ts_tracefile_worker(host),
				     .time_s = ts_tracefile_seconds(host),
				     .rank = -1,
				     .world_size = -1 };
		if (!is_session && nr > 1)
			st = captures_look_into(&telling, one, &files[i], nr, err);
	}
	if (st == TS_OK)
		qsort(telling.ones, nr, sizeof(struct one), captures_by_time);
	for (size_t i = 0; i < nr && st == TS_OK; i++)
		st = captures_take(&telling, &telling.ones[i], is_session, capture, err);
	ts_strmap_release(&telling.inside);
	ts_arena_release(&telling.arena);
	free(telling.ones);
	free(telling.groups);
	return st;
}
