/* SPDX-License-Identifier: MIT */
/*
 * The variants of a program: one name, compiled for several shapes. Runs are held against each other by
 * the sets of their variants, for which of them ran most is an accident of the capture.
 */
#include "compare/parts.h"

#include "base/check.h"
#include "result/schema/ops.def"

/* The name and what it takes in, as one text. What finds no memory is noted in the arena. */
static struct ts_bytes variants_key_of(const struct ts_hlo_module *module, struct ts_arena *arena)
{
	uint32_t nr = module->nr_comps ? module->comps[module->entry].nr_params : 0;
	struct ts_buf text = TS_BUF_INIT;
	struct ts_bytes key;

	ts_buf_put(&text, module->name);
	for (uint32_t i = 0; i < nr; i++) {
		ts_buf_putc(&text, '\n');
		ts_buf_put(&text, ts_compare_parameter(module, i, arena));
	}
	key = ts_arena_copy(arena, ts_buf_bytes(&text));
	arena->failed |= text.failed;
	ts_buf_release(&text);
	return key;
}

static enum ts_status chain_names(struct variants *variants, struct ts_error *err)
{
	const struct ts_profile *profile = variants->profile;

	for (size_t m = profile->nr_modules; m-- > 0;) {
		variants->next[m] = ts_strmap_find(&variants->first, profile->modules[m].name);
		if (!ts_strmap_set(&variants->first, profile->modules[m].name, (uint32_t)m))
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

enum ts_status ts_variants_init(struct variants *variants, const struct ts_profile *profile,
				struct ts_arena *arena, struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(variants && profile && arena);
	*variants = (struct variants){ .profile = profile };
	variants->keys = ts_arena_array(arena, profile->nr_modules + 1, sizeof(*variants->keys));
	variants->next = ts_arena_array(arena, profile->nr_modules + 1, sizeof(*variants->next));
	if (!variants->keys || !variants->next)
		return ts_fail_nomem(err);
	st = chain_names(variants, err);
	if (st)
		return st;
	for (size_t m = 0; m < profile->nr_modules; m++) {
		variants->keys[m] = variants_key_of(&profile->modules[m], arena);
		if (!ts_strmap_set(&variants->set, variants->keys[m], (uint32_t)m))
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

void ts_variants_release(struct variants *variants)
{
	TS_ASSERT(variants);
	ts_strmap_release(&variants->set);
	ts_strmap_release(&variants->first);
}

size_t ts_variants_count(const struct variants *variants, struct ts_bytes name)
{
	size_t nr = 0;

	TS_ASSERT(variants);
	for (uint32_t m = ts_strmap_find(&variants->first, name); m != TS_NONE;
	     m = variants->next[m]) /* of twins the last counts */
		nr += ts_strmap_find(&variants->set, variants->keys[m]) == m;
	return nr;
}

const struct ts_hlo_module *ts_variants_only_in(const struct variants *variants,
						const struct variants *other, struct ts_bytes name,
						const struct ts_table *modules)
{
	const struct ts_hlo_module *found = NULL;
	int64_t most = -2;

	TS_ASSERT(variants && other);
	for (uint32_t m = ts_strmap_find(&variants->first, name); m != TS_NONE;
	     m = variants->next[m]) {
		const struct ts_hlo_module *module = &variants->profile->modules[m];
		int64_t nr;

		if (module->nr_comps == 0)
			continue;
		nr = ts_value_int(TS_CELL_OF(modules, ops_modules, m, executions));
		if (nr == 0 || nr <= most ||
		    ts_strmap_find(&other->set, variants->keys[m]) != TS_NONE)
			continue;
		found = module;
		most = nr;
	}
	return found;
}
