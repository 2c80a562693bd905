/* SPDX-License-Identifier: MIT */
/*
 * Families: the programs of one name, and what makes them different: the sizes of which parameters,
 * or types, layouts, the code itself.
 *
 * Sources: the compiled modules of the profile, which hold every executable that was alive at its
 * end (JAX on CPU and GPU) or ran (TPU), and the programs that ran. What the modules do not show
 * (sharding, donation, values of constants) is one class.
 */
#include "analysis/compile/cache.h"

#include "base/check.h"
#include "base/order.h"

#define MAX_AXES    8
#define MAX_SOURCES 64 /* instructions looked at for their source */

uint32_t ts_cache_nr_parameters(const struct ts_hlo_module *module)
{
	TS_ASSERT(module);
	return module->entry < module->nr_comps ? module->comps[module->entry].nr_params : 0;
}

const struct ts_shape *ts_cache_parameter(const struct ts_hlo_module *module, uint32_t number)
{
	uint32_t at;

	if (number >= ts_cache_nr_parameters(module))
		return NULL;
	at = module->comps[module->entry].params[number];
	return at < module->nr_instrs ? &module->instrs[at].shape : NULL;
}

static const struct ts_hlo_module *cache_family_module_of(const struct ts_profile *profile,
							  const struct ts_cache_variant *variant)
{
	return variant->module == TS_NONE ? NULL : &profile->modules[variant->module];
}

/* By family; then those with a module, in the order in which they first ran. */
static bool cache_family_is_unseen(uint32_t module)
{
	return module == TS_NONE;
}

TS_ORDER(by_family, struct ts_cache_variant,
	 TS_UP(stem) TS_UP_OF(cache_family_is_unseen, module) TS_UP(first_ps) TS_UP(program_id))

static struct ts_cache_variant *add_variant(struct cache_families *families, struct ts_bytes name,
					    uint64_t program_id, uint32_t module)
{
	struct ts_cache_variant *variant = &families->variants[families->nr_variants++];

	*variant = (struct ts_cache_variant){
		.name = name,
		.stem = ts_module_stem(name),
		.program_id = program_id,
		.module = module,
		.first_ps = INT64_MAX,
		.function = TS_NONE,
	};
	return variant;
}

/* The modules stand first, by their index; then programs that ran without one. */
static void list_variants(struct cache_families *families, const struct cache_state *sum,
			  const struct ts_profile *profile, uint32_t *variant_of)
{
	for (uint32_t i = 0; i < profile->nr_modules; i++)
		add_variant(families, profile->modules[i].name, profile->modules[i].program_id, i);
	for (uint32_t i = 0; i < sum->nr_programs; i++) {
		const struct cache_program *program = &sum->programs[i];
		struct ts_cache_variant *variant;

		if (program->module == TS_NONE && program->op == TS_NONE) {
			families->has_strangers = true;
			continue;
		}
		variant = program->module == TS_NONE
				  ? add_variant(families, profile->ops[program->op].name,
						program->id, TS_NONE)
				  : &families->variants[program->module];
		variant_of[i] = (uint32_t)(variant - families->variants);
		variant->first_ps = program->first_ps;
		variant->nr_runs = program->nr_runs;
		variant->time_ps = program->time_ps;
	}
}

static void add_requests(struct cache_families *families, const struct cache_state *sum,
			 const uint32_t *variant_of)
{
	for (size_t i = 0; i < sum->nr_requests; i++) {
		const struct cache_request *request = &sum->requests[i];
		struct ts_cache_variant *variant;

		if (request->program == TS_NONE || variant_of[request->program] == TS_NONE ||
		    request->is_restored)
			continue;
		variant = &families->variants[variant_of[request->program]];
		variant->nr_compiled++;
		variant->compile_ps = ts_i64_add(variant->compile_ps,
						 ts_i64_sub(request->end_ps, request->start_ps));
	}
}

bool ts_cache_may_be_one_function(const struct ts_hlo_module *a, const struct ts_hlo_module *b)
{
	bool some_a = false, some_b = false;

	TS_ASSERT(a && b);

	for (size_t i = 0, n = 0; i < a->nr_instrs && n < MAX_SOURCES; i++) {
		if (a->instrs[i].source_file.n == 0)
			continue;
		n++;
		some_a = true;
		for (size_t k = 0, m = 0; k < b->nr_instrs && m < MAX_SOURCES; k++) {
			m += b->instrs[k].source_file.n > 0;
			some_b |= b->instrs[k].source_file.n > 0;
			if (a->instrs[i].source_file.n > 0 &&
			    a->instrs[i].source_line == b->instrs[k].source_line &&
			    ts_bytes_eq(a->instrs[i].source_file, b->instrs[k].source_file))
				return true;
		}
	}
	return !some_a || !some_b;
}

static bool cache_family_same_layout(const struct ts_shape *a, const struct ts_shape *b)
{
	if (!a->has_layout || !b->has_layout || a->memory_space != b->memory_space)
		return a->has_layout == b->has_layout && a->memory_space == b->memory_space;
	return memcmp(a->minor_to_major, b->minor_to_major, a->rank * sizeof(*a->minor_to_major)) ==
	       0;
}

static unsigned shape_differences(const struct ts_shape *a, const struct ts_shape *b)
{
	unsigned found = 0;

	if (a->dtype != b->dtype || a->dtype == TS_TUPLE)
		return a->dtype != b->dtype ? TS_DIFFERS_DTYPE : 0;
	if (a->rank != b->rank)
		return TS_DIFFERS_RANK;
	if (a->rank > 0 && memcmp(a->dims, b->dims, a->rank * sizeof(*a->dims)) != 0)
		found |= TS_DIFFERS_SHAPE;
	else if (a->rank > 0 && !cache_family_same_layout(a, b))
		found |= TS_DIFFERS_LAYOUT;
	return found;
}

static bool same_code(const struct ts_hlo_module *a, const struct ts_hlo_module *b)
{
	if (a->nr_instrs != b->nr_instrs)
		return false;
	for (size_t i = 0; i < a->nr_instrs; i++)
		if (!ts_bytes_eq(a->instrs[i].opcode_text, b->instrs[i].opcode_text) ||
		    shape_differences(&a->instrs[i].shape, &b->instrs[i].shape))
			return false;
	return true;
}

/* NULL: a module that is not whole. */
static const struct ts_shape *cache_family_result_of(const struct ts_hlo_module *module)
{
	uint32_t root =
		module->entry < module->nr_comps ? module->comps[module->entry].root : TS_NONE;

	return root < module->nr_instrs ? &module->instrs[root].shape : NULL;
}

static bool same_result(const struct ts_hlo_module *a, const struct ts_hlo_module *b)
{
	const struct ts_shape *x = cache_family_result_of(a), *y = cache_family_result_of(b);

	return !x || !y || shape_differences(x, y) == 0;
}

static unsigned module_differences(const struct ts_hlo_module *a, const struct ts_hlo_module *b)
{
	unsigned found = 0;

	if (!ts_cache_may_be_one_function(a, b))
		return TS_DIFFERS_FUNCTION;
	if (ts_cache_nr_parameters(a) != ts_cache_nr_parameters(b))
		return TS_DIFFERS_COUNT;
	for (uint32_t p = 0; p < ts_cache_nr_parameters(a); p++) {
		const struct ts_shape *x = ts_cache_parameter(a, p), *y = ts_cache_parameter(b, p);

		if (x && y)
			found |= shape_differences(x, y);
	}
	if (found)
		return found;
	if (!same_result(a, b))
		return TS_DIFFERS_RESULT;
	return same_code(a, b) ? TS_DIFFERS_CONSTANT : TS_DIFFERS_CODE;
}

#define MAX_COMPARED 16 /* variants that each other one is held against */

static void find_differences(struct ts_cache_family *family, const struct ts_profile *profile)
{
	for (size_t i = 1; i < family->nr_known; i++)
		for (size_t k = 0; k < TS_MIN(i, MAX_COMPARED); k++)
			family->differences |= module_differences(
				cache_family_module_of(profile, &family->variants[k]),
				cache_family_module_of(profile, &family->variants[i]));
}

/* The sizes of one dimension in all variants; false: it is the same in all. */
static bool read_values(const struct ts_cache_family *family, const struct ts_profile *profile,
			struct ts_cache_place place, int64_t *values)
{
	bool changes = false;

	for (size_t i = 0; i < family->nr_known; i++) {
		const struct ts_shape *shape = ts_cache_parameter(
			cache_family_module_of(profile, &family->variants[i]), place.parameter);

		if (!shape || place.dim >= shape->rank)
			return false;
		values[i] = shape->dims[place.dim];
		changes |= values[i] != values[0];
	}
	return changes;
}

/* The axes of a family in the making. */
struct axes {
	struct ts_cache_axis *items;
	size_t nr;
};

static enum ts_status add_axis(struct axes *axes, struct ts_arena *arena, const int64_t *values,
			       size_t size, struct ts_error *err)
{
	int64_t *kept;

	if (axes->nr == MAX_AXES)
		return TS_OK;
	if (!axes->items)
		axes->items = ts_arena_array(arena, MAX_AXES, sizeof(*axes->items));
	kept = ts_arena_alloc(arena, size);
	if (!axes->items || !kept)
		return ts_fail_nomem(err);
	memcpy(kept, values, size);
	axes->items[axes->nr++] = (struct ts_cache_axis){ .values = kept, .waste_share = NAN };
	return TS_OK;
}

static enum ts_status cache_family_add_place(struct axes *axes, struct ts_arena *arena,
					     struct ts_cache_place place, const int64_t *values,
					     size_t nr_values, struct ts_error *err)
{
	size_t size = nr_values * sizeof(*values), at = 0;
	struct ts_cache_axis *axis;
	enum ts_status st;

	while (at < axes->nr && memcmp(axes->items[at].values, values, size) != 0)
		at++;
	st = at == axes->nr ? add_axis(axes, arena, values, size, err) : TS_OK;
	if (st)
		return st;
	if (at == axes->nr) /* there are too many to keep this one */
		return TS_OK;
	axis = &axes->items[at];
	axis->nr_all_places++;
	if (axis->nr_places < TS_CACHE_MAX_PLACES)
		axis->places[axis->nr_places++] = place;
	return TS_OK;
}

static enum ts_status find_axes(struct axes *axes, struct ts_arena *arena,
				const struct ts_cache_family *family,
				const struct ts_profile *profile, int64_t *values,
				struct ts_error *err)
{
	const struct ts_hlo_module *first = cache_family_module_of(profile, &family->variants[0]);
	enum ts_status st;

	for (uint32_t p = 0; p < ts_cache_nr_parameters(first); p++) {
		const struct ts_shape *shape = ts_cache_parameter(first, p);

		for (uint32_t d = 0; shape && d < shape->rank; d++) {
			struct ts_cache_place place = { p, d };

			if (!read_values(family, profile, place, values))
				continue;
			st = cache_family_add_place(axes, arena, place, values, family->nr_known,
						    err);
			if (st)
				return st;
		}
	}
	return TS_OK;
}

/* Padding ends it only where sizes are all that differs, and the parameters are the same ones. */
static enum ts_status cache_family_find_buckets(struct ts_cache_family *family,
						const struct ts_profile *profile,
						struct ts_arena *arena, struct ts_error *err)
{
	unsigned others = TS_DIFFERS_FUNCTION | TS_DIFFERS_COUNT | TS_DIFFERS_RANK;
	struct axes axes = { NULL, 0 };
	int64_t *values, *weights;
	enum ts_status st;

	if (family->nr_known < 2 || !(family->differences & TS_DIFFERS_SHAPE) ||
	    (family->differences & others))
		return TS_OK;
	values = ts_arena_array(arena, family->nr_known, sizeof(*values));
	weights = ts_arena_array(arena, family->nr_known, sizeof(*weights));
	if (!values || !weights)
		return ts_fail_nomem(err);
	st = find_axes(&axes, arena, family, profile, values, err);
	if (st)
		return st;
	for (size_t i = 0; i < family->nr_known; i++)
		weights[i] = family->variants[i].nr_runs;
	for (size_t i = 0; i < axes.nr; i++)
		ts_cache_axis_buckets(&axes.items[i], family->nr_known, weights);
	family->axes = axes.items;
	family->nr_axes = axes.nr;
	return TS_OK;
}

struct ts_cache_family *ts_cache_family_find(const struct cache_families *families,
					     struct ts_bytes stem)
{
	size_t lo = 0, hi = families->nr;

	while (lo < hi) { /* they stand in the order of their names */
		size_t mid = lo + (hi - lo) / 2;
		int order = ts_bytes_cmp(families->items[mid].stem, stem);

		if (order == 0)
			return &families->items[mid];
		if (order < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

static void group(struct cache_families *families)
{
	struct ts_cache_family *family = NULL;

	for (size_t i = 0; i < families->nr_variants; i++) {
		struct ts_cache_variant *variant = &families->variants[i];

		if (!family || !ts_bytes_eq(family->stem, variant->stem)) {
			family = &families->items[families->nr++];
			*family = (struct ts_cache_family){ .stem = variant->stem,
							    .wait_ps = -1,
							    .again_wait_ps = -1,
							    .nr_calls = -1,
							    .variants = variant };
		}
		family->nr_variants++;
		family->nr_known += variant->module != TS_NONE;
		family->nr_runs = ts_i64_add(family->nr_runs, variant->nr_runs);
		family->time_ps = ts_i64_add(family->time_ps, variant->time_ps);
	}
}

static int64_t cache_family_add_known(int64_t sum, int64_t more)
{
	return more < 0 ? sum : ts_i64_add(TS_MAX(sum, 0), more);
}

static void sum_request(struct ts_cache_family *family, const struct cache_request *request)
{
	int64_t dur_ps = ts_cache_duration(request);

	if (request->is_restored) {
		family->nr_restored++;
		return;
	}
	family->nr_compiled++;
	family->compile_ps = ts_i64_add(family->compile_ps, dur_ps);
	family->wait_ps = cache_family_add_known(family->wait_ps, request->wait_ps);
	if (request->code && (!family->code || request->cause == CACHE_AGAIN))
		family->code = request->code;
	if (request->cause != CACHE_AGAIN)
		return;
	family->nr_again++;
	family->again_ps = ts_i64_add(family->again_ps, dur_ps);
	family->again_wait_ps = cache_family_add_known(family->again_wait_ps, request->wait_ps);
}

enum ts_status ts_cache_families_sum(struct cache_families *families, const struct cache_state *sum,
				     const struct ts_profile *profile, struct ts_error *err)
{
	struct ts_cache_family *family;
	enum ts_status st;

	TS_ASSERT(families->arena && sum && profile);
	for (size_t i = 0; i < sum->nr_requests; i++) {
		family = ts_cache_family_find(families, ts_module_stem(sum->requests[i].module));
		if (family)
			sum_request(family, &sum->requests[i]);
	}
	for (size_t i = 0; i < sum->nr_functions; i++) {
		const struct cache_function *function = &sum->functions[i];
		struct ts_bytes call = profile->ops[function->op].name, name;

		st = ts_cache_module_name(families->arena, call, &name, err);
		if (st)
			return st;
		family = name.p ? ts_cache_family_find(families, ts_module_stem(name)) : NULL;
		if (family)
			family->nr_calls = cache_family_add_known(family->nr_calls,
								  ts_cache_nr_calls(function));
	}
	return TS_OK;
}

enum ts_status ts_cache_families_make(struct cache_families *families,
				      const struct cache_state *sum,
				      const struct ts_profile *profile, struct ts_arena *arena,
				      struct ts_error *err)
{
	size_t max = profile->nr_modules + sum->nr_programs + 1;
	uint32_t *variant_of = calloc(sum->nr_programs + 1, sizeof(*variant_of));
	enum ts_status st = TS_OK;

	TS_ASSERT(families && arena && sum->nr_programs <= sum->cap_programs);
	*families =
		(struct cache_families){ .arena = arena, .has_threads = sum->counts.nr_events > 0 };
	families->variants = ts_arena_array(arena, max, sizeof(*families->variants));
	families->items = ts_arena_array(arena, max, sizeof(*families->items));
	if (!variant_of || !families->variants || !families->items) {
		free(variant_of);
		return ts_fail_nomem(err);
	}
	for (size_t i = 0; i < sum->nr_programs; i++)
		variant_of[i] = TS_NONE;
	list_variants(families, sum, profile, variant_of);
	add_requests(families, sum, variant_of);
	free(variant_of);
	TS_SORT(families->variants, families->nr_variants, by_family);
	group(families);
	for (size_t i = 0; i < families->nr && !st; i++) {
		if (families->items[i].nr_known > 0)
			families->items[i].code = ts_hlo_sourced(
				cache_family_module_of(profile, families->items[i].variants));
		find_differences(&families->items[i], profile);
		st = cache_family_find_buckets(&families->items[i], profile, arena, err);
	}
	return st;
}

TS_ORDER(cache_family_longest_compiled_first, struct ts_cache_family,
	 TS_DOWN(compile_ps) TS_DOWN(time_ps) TS_DOWN(nr_variants) TS_UP(stem))

/* On a CPU an executable from the persistent cache has the program id of the process that compiled
 * it: then a program that seems not to have run may have run. */
static int64_t known_runs(const struct cache_families *families, int64_t nr_runs)
{
	return nr_runs == 0 && families->has_strangers ? -1 : nr_runs;
}

static void mark_unknown(struct cache_families *families)
{
	for (size_t i = 0; i < families->nr; i++) {
		struct ts_cache_family *family = &families->items[i];

		family->time_ps = family->nr_runs ? family->time_ps : -1;
		family->nr_runs = known_runs(families, family->nr_runs);
	}
	for (size_t i = 0; i < families->nr_variants; i++) {
		struct ts_cache_variant *variant = &families->variants[i];

		variant->first_ps = variant->nr_runs ? variant->first_ps : -1;
		variant->time_ps = variant->nr_runs ? variant->time_ps : -1;
		variant->nr_runs = known_runs(families, variant->nr_runs);
	}
}

/* One program is not a family, unless it was compiled again; nor are those of which nothing was compiled or
 * ran here. */
void ts_cache_families_choose(struct cache_families *families)
{
	size_t nr = 0;

	TS_ASSERT(families->nr <= families->nr_variants);
	for (size_t i = 0; i < families->nr; i++) {
		const struct ts_cache_family *family = &families->items[i];

		if (family->nr_again > 0 ||
		    (family->nr_variants >= 2 &&
		     family->nr_compiled + family->nr_restored + family->nr_runs > 0))
			families->items[nr++] = *family;
	}
	families->nr = nr;
	TS_SORT(families->items, nr, cache_family_longest_compiled_first);
	mark_unknown(families);
	if (!families->has_threads) {
		for (size_t i = 0; i < families->nr; i++) {
			families->items[i].nr_compiled = families->items[i].compile_ps = -1;
			families->items[i].nr_restored = families->items[i].nr_again = -1;
		}
		for (size_t i = 0; i < families->nr_variants; i++)
			families->variants[i].nr_compiled = families->variants[i].compile_ps = -1;
	}
}
