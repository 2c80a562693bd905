/* SPDX-License-Identifier: Apache-2.0 */
/* Heads of traces as Kineto writes them (libkineto/src/output_json.cpp of github.com/pytorch/kineto). */
#include "io/captures.h"

#include "base/check.h"
#include "io/gzip.h"
#include "io/input.h"
#include "io/tracefile.h"

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
	bool nomem;
};

/* The number behind "KEY":, or -1. */
static int64_t number_of(struct ts_bytes info, const char *key)
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
static struct ts_bytes first_device(struct ts_bytes head)
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

	one->rank = number_of(info, "\"rank\"");
	one->world_size = number_of(info, "\"world_size\"");
}

/* A file that cannot be read has an empty one; its reader will say why. False: no memory. */
static bool read_head(const char *path, struct ts_buf *head)
{
	struct ts_input in = TS_INPUT_INIT;
	enum ts_status st = ts_input_open_plain(&in, path, NULL);

	if (st)
		return st != TS_NOMEM;
	if (ts_gzip_probe(in.bytes))
		st = ts_gunzip_head(in.bytes, head, HEAD_BYTES, NULL);
	else
		ts_buf_put(head, ts_bytes_cut(in.bytes, 0, HEAD_BYTES));
	ts_input_release(&in);
	return st != TS_NOMEM && !head->failed;
}

/* NR: files in the folder, the size of a job whose ranks only their names say. */
static bool look_into(struct telling *telling, struct one *one, const struct ts_hostfile *file,
		      size_t nr)
{
	struct ts_buf head = TS_BUF_INIT;
	bool good = read_head(file->path, &head);
	struct ts_bytes device = first_device(ts_buf_bytes(&head));

	read_info(one, ts_buf_bytes(&head));
	if (device.n > 0) {
		one->device = ts_arena_printf(&telling->arena, "%.*s", TS_ARG(device));
		good = good && one->device.p;
	}
	ts_buf_release(&head);
	if (one->rank < 0) {
		one->rank = ts_tracefile_rank(ts_bytes_of(file->name));
		one->world_size = one->rank < 0 ? -1 : (int64_t)nr;
	}
	return good;
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
		"cpu_op",	"user_annotation", "gpu_user_annotation",
		"cuda_runtime", "cuda_driver",	   "gpu_memcpy",
		"gpu_memset",	"python_function", "privateuse1_runtime"
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

bool ts_captures_is_rank(const char *path, struct ts_bytes name, bool any_name)
{
	bool is_named = ts_tracefile_rank(name) >= 0, is_rank;
	struct ts_buf head = TS_BUF_INIT;

	TS_ASSERT(path);
	if (ts_tracefile_stem(name).n == name.n || ts_tracefile_is_ours(name) ||
	    !(is_named || any_name))
		return false;
	is_rank = read_head(path, &head) && is_rank_head(ts_buf_bytes(&head), is_named);
	ts_buf_release(&head);
	return is_rank;
}

static int by_time(const void *a, const void *b)
{
	const struct one *x = a, *y = b;

	if (x->time_s != y->time_s)
		return x->time_s < y->time_s ? -1 : 1;
	return (x->file > y->file) - (x->file < y->file);
}

static bool is_inside(const struct telling *telling, const char *key)
{
	return ts_strmap_find(&telling->inside, ts_bytes_of(key)) != TS_NONE;
}

static const char *key_of(struct telling *telling, size_t group, char sign, struct ts_bytes text)
{
	struct ts_bytes key =
		ts_arena_printf(&telling->arena, "%zu%c%.*s", group, sign, TS_ARG(text));

	telling->nomem |= !key.p;
	return key.p ? (const char *)key.p : "";
}

static const char *rank_key(struct telling *telling, size_t group, int64_t rank)
{
	struct ts_bytes text = ts_arena_printf(&telling->arena, "%lld", (long long)rank);

	telling->nomem |= !text.p;
	return key_of(telling, group, '#', text);
}

static bool may_join(struct telling *telling, size_t group, const struct one *one, bool is_session)
{
	const struct group *known = &telling->groups[group];

	if (is_inside(telling, key_of(telling, group, '/', one->worker)))
		return false;
	if (is_session)
		return true;
	return one->world_size > 1 && one->world_size == known->world_size &&
	       (one->device.n == 0 || known->device.n == 0 ||
		ts_bytes_eq(one->device, known->device)) &&
	       (one->time_s < 0) == (known->time_s < 0) &&
	       one->time_s - known->time_s <= TS_CAPTURE_S &&
	       !is_inside(telling, rank_key(telling, group, one->rank));
}

/* The group that takes it: the earliest of those that are near enough in time, or a new one. */
static size_t group_of(struct telling *telling, const struct one *one, bool is_session)
{
	size_t first = telling->nr_groups;

	while (first > 0 &&
	       (is_session || one->time_s - telling->groups[first - 1].time_s <= TS_CAPTURE_S))
		first--;
	for (; first < telling->nr_groups; first++)
		if (may_join(telling, first, one, is_session))
			return first;
	telling->groups[telling->nr_groups] =
		(struct group){ .time_s = one->time_s, .world_size = one->world_size };
	return telling->nr_groups++;
}

static void put(struct telling *telling, const char *key)
{
	telling->nomem |= !ts_strmap_set(&telling->inside, ts_bytes_of(key), 0);
}

static void take(struct telling *telling, const struct one *one, bool is_session, uint32_t *capture)
{
	size_t group = group_of(telling, one, is_session);

	if (telling->groups[group].device.n == 0)
		telling->groups[group].device = one->device;
	put(telling, key_of(telling, group, '/', one->worker));
	if (one->rank >= 0)
		put(telling, rank_key(telling, group, one->rank));
	capture[one->file] = (uint32_t)group;
}

bool ts_captures_tell(const struct ts_hostfile *files, size_t nr, bool is_session,
		      uint32_t *capture)
{
	struct telling telling = { .ones = calloc(nr + 1, sizeof(struct one)),
				   .groups = calloc(nr + 1, sizeof(struct group)),
				   .arena = TS_ARENA_INIT };

	TS_ASSERT(files && capture);
	telling.nomem = !telling.ones || !telling.groups;
	for (size_t i = 0; i < nr && !telling.nomem; i++) {
		struct ts_bytes host = ts_bytes_of(files[i].host);
		struct one *one = &telling.ones[i];

		*one = (struct one){ .file = (uint32_t)i,
				     .worker = ts_tracefile_worker(host),
				     .time_s = ts_tracefile_seconds(host),
				     .rank = -1,
				     .world_size = -1 };
		if (!is_session && nr > 1)
			telling.nomem = !look_into(&telling, one, &files[i], nr);
	}
	if (!telling.nomem)
		qsort(telling.ones, nr, sizeof(struct one), by_time);
	for (size_t i = 0; i < nr && !telling.nomem; i++)
		take(&telling, &telling.ones[i], is_session, capture);
	ts_strmap_release(&telling.inside);
	ts_arena_release(&telling.arena);
	free(telling.ones);
	free(telling.groups);
	return !telling.nomem;
}
