/* SPDX-License-Identifier: MIT */
/* Endings of names: torch/profiler/profiler.py of PyTorch, jax/_src/profiler.py of JAX. */
#include "io/tracefile.h"

#include "base/check.h"
#include "io/gzip.h"
#include "io/jsonhead.h"

#define HEAD_BYTES 512 /* in which an annotated copy says what it is */

/* The longest first: of two that fit, it is the more exact one. */
static const char *const endings[] = { ".pt.trace.json.gz", ".pt.trace.json", ".trace.json.gz",
				       ".trace.json" };
#define NR_PYTORCH 2

static const char *tracefile_ending_of(struct ts_bytes name, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (ts_bytes_ends(name, endings[i]) && name.n > strlen(endings[i]))
			return endings[i];
	return NULL;
}

bool ts_tracefile_is(struct ts_bytes name)
{
	TS_ASSERT_HOT(name.p || name.n == 0);
	return tracefile_ending_of(name, TS_NELEM(endings)) || ts_bytes_is(name, "trace.json") ||
	       ts_bytes_is(name, "trace.json.gz") || ts_tracefile_is_perfetto(name);
}

bool ts_tracefile_is_named(struct ts_bytes name)
{
	TS_ASSERT(name.p || name.n == 0);
	return ts_bytes_ends(name, ".json") || ts_bytes_ends(name, ".json.gz") ||
	       ts_bytes_ends(name, ".trace") || ts_bytes_ends(name, ".trace.gz");
}

bool ts_tracefile_is_pytorch(struct ts_bytes name)
{
	TS_ASSERT(name.p || name.n == 0);
	return tracefile_ending_of(name, NR_PYTORCH) != NULL;
}

bool ts_tracefile_is_torch_log(struct ts_bytes name)
{
	TS_ASSERT(name.p || name.n == 0);
	return ts_bytes_starts(name, "dedicated_log_torch_trace_") &&
	       (ts_bytes_ends(name, ".log") || ts_bytes_ends(name, ".log.gz"));
}

bool ts_tracefile_is_ours(struct ts_bytes name)
{
	TS_ASSERT(name.p || name.n == 0);
	return ts_bytes_ends(ts_tracefile_stem(name), ".tpusight") ||
	       ts_bytes_ends(name, TS_ANNOTATED_PFTRACE_SUFFIX) ||
	       ts_bytes_ends(name, TS_ANNOTATED_REPORT_SUFFIX);
}

static size_t nr_leading(struct ts_bytes text, const char *of)
{
	size_t n = 0;

	while (n < text.n && strchr(of, text.p[n]) && text.p[n])
		n++;
	return n;
}

/* The digits behind a "rank" and what stands between the two; of several the last: rank0, rank_3, trace_rank1_step5. */
int64_t ts_tracefile_rank(struct ts_bytes name)
{
	static const char word[] = "rank";
	struct ts_bytes rest = ts_tracefile_stem(name);
	int64_t rank = -1, number;
	size_t at;

	TS_ASSERT(name.p || name.n == 0);
	if (rest.n == name.n)
		return -1;
	while ((at = ts_bytes_find(rest, word)) < rest.n) {
		rest = ts_bytes_cut(rest, at + strlen(word), rest.n);
		rest = ts_bytes_cut(rest, nr_leading(rest, "_-"), rest.n);
		if (ts_bytes_i64(ts_bytes_cut(rest, 0, nr_leading(rest, "0123456789")), &number))
			rank = number;
	}
	return rank;
}

bool ts_tracefile_is_perfetto(struct ts_bytes name)
{
	TS_ASSERT(name.p || name.n == 0);
	return ts_bytes_is(name, "perfetto_trace.json") ||
	       ts_bytes_is(name, "perfetto_trace.json.gz");
}

struct ts_bytes ts_tracefile_host(struct ts_bytes name)
{
	const char *ending = tracefile_ending_of(name, TS_NELEM(endings));

	TS_ASSERT(name.p || name.n == 0);
	return ending ? ts_bytes_cut(name, 0, name.n - strlen(ending)) : name;
}

struct ts_bytes ts_tracefile_worker(struct ts_bytes host)
{
	size_t n = host.n;

	TS_ASSERT(host.p || host.n == 0);
	while (n > 0 && host.p[n - 1] >= '0' && host.p[n - 1] <= '9')
		n--;
	return n > 1 && n < host.n && host.p[n - 1] == '.' ? ts_bytes_cut(host, 0, n - 1) : host;
}

/* PyTorch writes ns, before 2.0 ms; by hand people write seconds. */
int64_t ts_tracefile_seconds(struct ts_bytes host)
{
	static const struct {
		size_t max_digits;
		uint64_t per_s;
	} units[] = { { 11, 1 }, { 14, 1000 }, { 17, 1000000 }, { 20, 1000000000 } };
	struct ts_bytes worker = ts_tracefile_worker(host), digits;
	uint64_t time;

	TS_ASSERT(host.p || host.n == 0);
	digits = ts_bytes_cut(host, worker.n + 1, host.n);
	if (worker.n == host.n || !ts_bytes_u64(digits, &time))
		return -1;
	for (size_t i = 0; i < TS_NELEM(units); i++)
		if (digits.n <= units[i].max_digits)
			return (int64_t)(time / units[i].per_s);
	return -1;
}

struct ts_bytes ts_tracefile_stem(struct ts_bytes name)
{
	static const char *const packs[] = { ".json.gz", ".json" };

	TS_ASSERT(name.p || name.n == 0);
	for (size_t i = 0; i < TS_NELEM(packs); i++)
		if (ts_bytes_ends(name, packs[i]) && name.n > strlen(packs[i]))
			return ts_bytes_cut(name, 0, name.n - strlen(packs[i]));
	return name;
}

static bool says_annotated(struct ts_bytes head)
{
	head = ts_jsonhead_start(head);
	return ts_bytes_starts(head, "{" TS_ANNOTATED_OBJECT) ||
	       ts_bytes_starts(head, "[" TS_ANNOTATED_ARRAY);
}

bool ts_tracefile_is_annotated(struct ts_bytes bytes, struct ts_error *err)
{
	struct ts_buf head = TS_BUF_INIT;
	struct ts_error damage = TS_ERROR_INIT;
	bool says = false;

	TS_ASSERT(bytes.p || bytes.n == 0);
	if (!ts_gzip_probe(bytes))
		return says_annotated(ts_bytes_cut(bytes, 0, HEAD_BYTES));
	(void)ts_gunzip_head(bytes, &head, HEAD_BYTES, &damage);
	if (damage.status == TS_NOMEM)
		ts_fail_nomem(err);
	else
		says = says_annotated(ts_buf_bytes(&head));
	ts_buf_release(&head);
	return says;
}

bool ts_report_is_ours(struct ts_bytes file)
{
	TS_ASSERT(file.p || file.n == 0);
	return ts_bytes_starts(ts_jsonhead_find(ts_bytes_cut(file, 0, TS_REPORT_HEAD), "schema"),
			       TS_REPORT_FAMILY);
}
