/* SPDX-License-Identifier: MIT */
/*
 * What belongs together: the compiler's thread and the one that waits for it, a compilation and the
 * program it made, a gap of a device and the compilation it waited for.
 */
#include "analysis/compile/cache.h"
#include "base/order.h"

#define MAX_OPEN 64 /* requests looked at for one compiler's work */

static bool cache_match_is_word(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       c == '_' || c == '.' || c == '-' || c >= 0x80;
}

enum ts_status ts_cache_module_name(struct ts_arena *arena, struct ts_bytes call,
				    struct ts_bytes *name, struct ts_error *err)
{
	struct ts_bytes function = ts_host_function(call);
	uint8_t *p;

	TS_ASSERT(arena && name);
	*name = (struct ts_bytes){ NULL, 0 };
	if (function.n == 0)
		return TS_OK;
	p = ts_arena_alloc(arena, function.n + strlen("jit_"));
	if (!p)
		return ts_fail_nomem(err);
	memcpy(p, "jit_", strlen("jit_"));
	for (size_t i = 0; i < function.n; i++)
		p[strlen("jit_") + i] = cache_match_is_word(function.p[i]) ? function.p[i] : '_';
	*name = (struct ts_bytes){ p, function.n + strlen("jit_") };
	return TS_OK;
}

/* What holds another stands before it. */
TS_ORDER(cache_match_by_start, struct cache_request, TS_UP(start_ps) TS_DOWN(end_ps) TS_UP(line))

static uint32_t cache_match_host_of(const struct ts_profile *profile,
				    const struct cache_request *request)
{
	return profile->planes[profile->lines[request->line].plane].host;
}

static bool waits_for(const struct ts_profile *profile, const struct cache_request *request,
		      const struct cache_request *work)
{
	return !request->is_backend && !request->is_restored && !request->has_backend &&
	       request->module.n == 0 && request->line != work->line &&
	       request->start_ps <= work->start_ps && request->end_ps >= work->end_ps &&
	       cache_match_host_of(profile, request) == cache_match_host_of(profile, work);
}

/* Does the call's function name the module? */
static bool is_named_for(const struct ts_profile *profile, const struct cache_request *request,
			 struct ts_bytes module)
{
	struct ts_bytes function;

	if (request->call_op == TS_NONE || module.n < strlen("jit_"))
		return false;
	function = ts_host_function(profile->ops[request->call_op].name);
	return ts_bytes_eq(function, ts_bytes_cut(module, strlen("jit_"), module.n));
}

/* The request of another thread that WORK was done for: the latest, best one of the same name. */
static struct cache_request *find_waiting(struct cache_state *sum, size_t work,
					  const struct ts_profile *profile)
{
	struct cache_request *best = NULL;

	for (size_t i = work, n = 0; i > 0 && n < MAX_OPEN; i--, n++) {
		struct cache_request *request = &sum->requests[i - 1];

		if (!waits_for(profile, request, &sum->requests[work]))
			continue;
		if (is_named_for(profile, request, sum->requests[work].module))
			return request;
		best = best ? best : request;
	}
	return best;
}

void ts_cache_match_backends(struct cache_state *sum, const struct ts_profile *profile)
{
	size_t nr = 0;

	TS_ASSERT(sum && profile);
	TS_SORT(sum->requests, sum->nr_requests, cache_match_by_start);
	for (size_t i = 0; i < sum->nr_requests; i++) {
		struct cache_request *work = &sum->requests[i], *request = NULL;

		if (work->is_backend)
			request = find_waiting(sum, i, profile);
		if (!request)
			continue;
		request->passes_ps = work->passes_ps;
		request->codegen_ps = work->codegen_ps;
		request->module = work->module;
		request->has_backend = true;
		sum->counts.nr_compiled--;
		sum->counts.compile_ps -= ts_i64_sub(work->end_ps, work->start_ps);
		work->line = TS_NONE;
	}
	for (size_t i = 0; i < sum->nr_requests; i++)
		if (sum->requests[i].line != TS_NONE)
			sum->requests[nr++] = sum->requests[i];
	sum->nr_requests = nr;
}

struct first_run {
	uint64_t stem;
	int64_t first_ps;
	uint32_t program; /* TS_NONE: it has its compilation */
};

TS_ORDER(by_stem, struct first_run, TS_UP(stem) TS_UP(first_ps) TS_UP(program))

static struct ts_bytes program_name(const struct ts_profile *profile,
				    const struct cache_program *program)
{
	if (program->module != TS_NONE)
		return profile->modules[program->module].name;
	return program->op != TS_NONE ? profile->ops[program->op].name
				      : (struct ts_bytes){ NULL, 0 };
}

static uint32_t take_first(struct first_run *runs, size_t nr, uint64_t stem, int64_t from_ps)
{
	size_t lo = 0, hi = nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (runs[mid].stem < stem ||
		    (runs[mid].stem == stem && runs[mid].first_ps < from_ps))
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < nr && runs[lo].stem == stem; lo++)
		if (runs[lo].program != TS_NONE) {
			uint32_t program = runs[lo].program;

			runs[lo].program = TS_NONE;
			return program;
		}
	return TS_NONE;
}

static const struct ts_hlo_instr *code_of(const struct ts_profile *profile,
					  const struct cache_program *program)
{
	return program->module == TS_NONE ? NULL
					  : ts_hlo_sourced(&profile->modules[program->module]);
}

enum ts_status ts_cache_match_programs(struct cache_state *sum, const struct ts_profile *profile,
				       struct ts_error *err)
{
	struct first_run *runs = calloc(sum->nr_programs + 1, sizeof(*runs));
	size_t nr = 0;

	TS_ASSERT(sum->nr_programs <= sum->cap_programs);
	if (!runs)
		return ts_fail_nomem(err);
	for (uint32_t i = 0; i < sum->nr_programs; i++) {
		struct ts_bytes stem = ts_module_stem(program_name(profile, &sum->programs[i]));

		if (stem.n > 0 && sum->programs[i].nr_runs > 0)
			runs[nr++] = (struct first_run){ ts_hash(stem, 0),
							 sum->programs[i].first_ps, i };
	}
	TS_SORT(runs, nr, by_stem);
	for (size_t i = 0; i < sum->nr_requests; i++) {
		struct cache_request *request = &sum->requests[i];
		uint64_t stem = ts_hash(ts_module_stem(request->module), 0);

		request->program = request->module.n > 0
					   ? take_first(runs, nr, stem, request->end_ps)
					   : TS_NONE;
		request->code = request->program == TS_NONE
					? NULL
					: code_of(profile, &sum->programs[request->program]);
	}
	free(runs);
	return TS_OK;
}

static int64_t share_gap(struct cache_state *sum, int64_t start_ps, int64_t end_ps)
{
	int64_t all_ps = 0;

	for (size_t i = 0; i < sum->nr_requests && sum->requests[i].start_ps < end_ps; i++) {
		struct cache_request *request = &sum->requests[i];
		int64_t from_ps = TS_MAX(start_ps, request->start_ps);
		int64_t to_ps = TS_MIN(end_ps, request->end_ps);

		if (request->is_restored || from_ps >= to_ps)
			continue;
		request->wait_ps = ts_i64_add(TS_MAX(request->wait_ps, 0), to_ps - from_ps);
		all_ps = ts_i64_add(all_ps, to_ps - from_ps);
		start_ps = to_ps; /* of two at once the first has the moment */
	}
	return all_ps;
}

int64_t ts_cache_match_waits(struct cache_state *sum, const struct ts_time_facts *time)
{
	int64_t all_ps = 0;

	TS_ASSERT(sum && time);
	for (size_t i = 0; i < sum->nr_requests; i++)
		sum->requests[i].wait_ps = -1;
	if (time->nr_cores == 0)
		return -1;
	for (size_t i = 0; i < time->nr_gaps; i++) {
		const struct ts_time_gap *gap = &time->gaps[i];

		all_ps = ts_i64_add(all_ps, share_gap(sum, gap->start_ps,
						      ts_i64_add(gap->start_ps, gap->dur_ps)));
	}
	return all_ps;
}
