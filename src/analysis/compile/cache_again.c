/* SPDX-License-Identifier: MIT */
/*
 * Why a function was compiled: for the first time, again though it had an executable, or because the
 * program asked for it by hand (jit(f).lower(x).compile()).
 *
 * A function is what has one name and a line of source in common. It had an executable if this host made one
 * earlier in the capture, or if a program of it exists that no request of the capture made.
 */
#include "analysis/compile/cache.h"

#include "base/map.h"

#define MAX_FUNCTIONS 16 /* of one name that are told apart */
#define ANY	      (TS_NONE - 1)

struct again {
	struct cache_state *sum;
	const struct cache_families *families;
	const struct ts_profile *profile;
	struct ts_map variant_of; /* a program's id -> index into the variants */
	struct ts_map made;	  /* host and function -> the first request that made one */
	int64_t *nr_stray;	  /* of each family: requests whose program did not run */
};

/* Gives the variants that share a line of source one number. */
static void number_functions(const struct ts_cache_family *family,
			     struct ts_cache_variant *variants, const struct ts_profile *profile)
{
	uint32_t first[MAX_FUNCTIONS], nr = 0;

	for (uint32_t i = 0; i < family->nr_known; i++) {
		const struct ts_hlo_module *module = &profile->modules[variants[i].module];
		uint32_t at = 0;

		while (at < TS_MIN(nr, MAX_FUNCTIONS) &&
		       !ts_cache_may_be_one_function(module,
						     &profile->modules[variants[first[at]].module]))
			at++;
		variants[i].function = at < TS_MIN(nr, MAX_FUNCTIONS) ? at : nr;
		if (variants[i].function < nr)
			continue;
		if (nr < MAX_FUNCTIONS)
			first[nr] = i;
		nr++;
	}
}

static struct ts_cache_variant *variant_of(const struct again *again,
					   const struct cache_request *request)
{
	uint32_t at;

	if (request->program == TS_NONE)
		return NULL;
	at = ts_map_find(&again->variant_of, again->sum->programs[request->program].id);
	return at == TS_NONE ? NULL : &again->families->variants[at];
}

/* Is there a program of the function that the capture saw no request for? */
static bool had_program(const struct again *again, const struct ts_cache_family *family,
			uint32_t function, const struct cache_request *request)
{
	int64_t nr_older = 0;
	bool ran = false;

	for (size_t i = 0; i < family->nr_variants; i++) {
		const struct ts_cache_variant *variant = &family->variants[i];

		if (variant->is_made || (variant->function != TS_NONE && function != TS_NONE &&
					 variant->function != function))
			continue;
		nr_older++;
		ran |= variant->first_ps < request->start_ps;
	}
	return ran || nr_older > again->nr_stray[family - again->families->items];
}

static uint64_t made_key(const struct again *again, const struct cache_request *request,
			 uint32_t function)
{
	const struct ts_line *line = &again->profile->lines[request->line];
	uint64_t parts[3] = { ts_hash(ts_module_stem(request->module), 0),
			      again->profile->planes[line->plane].host, function };

	return ts_hash((struct ts_bytes){ (const uint8_t *)parts, sizeof(parts) }, 0);
}

static bool was_made_before(const struct again *again, const struct cache_request *request,
			    uint32_t function)
{
	uint32_t at = ts_map_find(&again->made, made_key(again, request, function));

	return at != TS_NONE && again->sum->requests[at].end_ps <= request->start_ps;
}

static bool had_executable(const struct again *again, const struct cache_request *request,
			   const struct ts_cache_family *family, uint32_t function)
{
	if (was_made_before(again, request, function == TS_NONE ? ANY : function) ||
	    was_made_before(again, request, TS_NONE))
		return true;
	return family && had_program(again, family, function, request);
}

static enum ts_status note_made(struct again *again, uint32_t index, uint32_t function,
				struct ts_error *err)
{
	const uint32_t functions[] = { function, ANY };

	for (size_t i = 0; i < TS_NELEM(functions); i++) {
		uint64_t key = made_key(again, &again->sum->requests[index], functions[i]);

		if (ts_map_find(&again->made, key) == TS_NONE &&
		    !ts_map_set(&again->made, key, index))
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

static enum ts_status cache_again_judge(struct again *again, uint32_t index, struct ts_error *err)
{
	struct cache_request *request = &again->sum->requests[index];
	const struct ts_cache_variant *variant = variant_of(again, request);
	uint32_t function = variant ? variant->function : TS_NONE;

	request->cause = CACHE_FIRST;
	if (request->module.n == 0)
		return TS_OK;
	/* JAX lowered it on this thread, and no call needed it. */
	if (request->call_op == TS_NONE && request->lower_ps >= 0 && !request->is_backend &&
	    ts_bytes_starts(request->module, "jit_"))
		request->cause = CACHE_BY_HAND;
	else if (had_executable(
			 again, request,
			 ts_cache_family_find(again->families, ts_module_stem(request->module)),
			 function))
		request->cause = CACHE_AGAIN;
	return note_made(again, index, function, err);
}

/* Which variants were made here, and how many requests of each family have not shown their program. */
static void match_requests(const struct again *again)
{
	for (size_t i = 0; i < again->sum->nr_requests; i++) {
		const struct cache_request *request = &again->sum->requests[i];
		struct ts_cache_variant *variant = variant_of(again, request);
		const struct ts_cache_family *family =
			ts_cache_family_find(again->families, ts_module_stem(request->module));

		if (variant)
			variant->is_made = true;
		else if (family)
			again->nr_stray[family - again->families->items]++;
	}
}

static enum ts_status index_variants(struct again *again, struct ts_error *err)
{
	for (uint32_t i = 0; i < again->families->nr_variants; i++)
		if (!ts_map_set(&again->variant_of, again->families->variants[i].program_id, i))
			return ts_fail_nomem(err);
	for (size_t i = 0; i < again->families->nr; i++) {
		const struct ts_cache_family *family = &again->families->items[i];

		number_functions(
			family,
			&again->families->variants[family->variants - again->families->variants],
			again->profile);
	}
	return TS_OK;
}

enum ts_status ts_cache_find_again(struct cache_state *sum, const struct cache_families *families,
				   const struct ts_profile *profile, struct ts_error *err)
{
	struct again again = { .sum = sum, .families = families, .profile = profile };
	enum ts_status st;

	TS_ASSERT(sum && families && profile);
	again.nr_stray = calloc(families->nr + 1, sizeof(*again.nr_stray));
	if (!again.nr_stray)
		return ts_fail_nomem(err);
	st = index_variants(&again, err);
	if (st)
		goto done;
	match_requests(&again);
	for (uint32_t i = 0; i < sum->nr_requests && !st; i++)
		st = cache_again_judge(&again, i,
				       err); /* they stand in the order of their starts */
done:
	ts_map_release(&again.variant_of);
	ts_map_release(&again.made);
	free(again.nr_stray);
	return st;
}
