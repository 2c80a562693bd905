/* SPDX-License-Identifier: MIT */
/* Dumps of XLA's partitioner. See run/dumps.h. */
#include "run/dumps.h"

#include <dirent.h>
#include <errno.h>

#include "base/check.h"
#include "base/order.h"
#include "io/input.h"
#include "io/sys.h"
#include "read/hlo.h"

#define PASS "spmd-partition"

/* module_0004.jit_step.cl_9.0000.xla-partitioner.after_dce.before_tpu-spmd-partitioning.hlo.pb */
struct dump {
	struct ts_bytes name;	     /* of the file */
	struct ts_bytes compilation; /* module_0004.jit_step */
	struct ts_bytes module;	     /* jit_step */
	bool is_after;
};

struct dumps {
	struct ts_arena arena;
	struct dump *items;
	size_t nr, cap;
};

TS_ORDER(dumps_by_name, struct dump, TS_UP(name))

/* The pass behind WORD ("before_") is the partitioner's? */
static bool stands_by(struct ts_bytes name, const char *word)
{
	size_t at = ts_bytes_find(name, word);
	struct ts_bytes pass = ts_bytes_cut(name, TS_MIN(at + strlen(word), name.n), name.n);

	return at < name.n && ts_bytes_has(ts_bytes_cut(pass, 0, ts_bytes_find(pass, ".")), PASS);
}

static bool dump_of(struct ts_bytes name, struct dump *dump)
{
	size_t first = ts_bytes_find(name, "."), second;
	struct ts_bytes rest = ts_bytes_cut(name, TS_MIN(first + 1, name.n), name.n);

	second = ts_bytes_find(rest, ".");
	dump->name = name;
	dump->module = ts_bytes_cut(rest, 0, second);
	dump->compilation = ts_bytes_cut(name, 0, first + 1 + second);
	dump->is_after = stands_by(name, ".after_");
	return ts_bytes_starts(name, "module_") && ts_bytes_ends(name, ".hlo.pb") &&
	       dump->module.n > 0 && (dump->is_after || stands_by(name, ".before_"));
}

static enum ts_status list_dumps(struct dumps *dumps, const char *folder, struct ts_error *err)
{
	DIR *dir = ts_sys_opendir(folder);
	enum ts_status st = TS_OK;
	struct dirent *entry;

	if (!dir)
		return ts_fail_errno(err, errno, folder, "open the folder");
	while (st == TS_OK && (entry = readdir(dir)) != NULL) {
		struct dump dump;

		if (!dump_of(ts_bytes_of(entry->d_name), &dump))
			continue;
		dump_of(ts_arena_copy(&dumps->arena, dump.name), &dump);
		if (!dump.name.p ||
		    !ts_grow(&dumps->items, &dumps->cap, dumps->nr + 1, sizeof(dump)))
			st = ts_fail_nomem(err);
		else
			dumps->items[dumps->nr++] = dump;
	}
	closedir(dir);
	if (st == TS_OK)
		TS_SORT(dumps->items, dumps->nr, dumps_by_name);
	if (st == TS_OK && dumps->nr == 0)
		st = ts_fail(err, TS_NOTFOUND,
			     "%s has no dump of XLA's partitioner (XLA_FLAGS='--xla_dump_to=%s "
			     "--xla_dump_hlo_as_proto --xla_dump_hlo_pass_re=.*" PASS ".*')",
			     folder, folder);
	return st;
}

static enum ts_status read_dump(struct ts_profile *profile, const char *folder,
				const struct dump *dump, const struct ts_hlo_module **found,
				struct ts_error *err)
{
	struct ts_hlo_module *module = ts_arena_array(&profile->arena, 1, sizeof(*module));
	struct ts_bytes path =
		ts_arena_printf(&profile->arena, "%s/%.*s", folder, TS_ARG(dump->name));
	struct ts_input input = TS_INPUT_INIT;
	enum ts_status st;

	if (!module || !path.p)
		return ts_fail_nomem(err);
	st = ts_input_open(&input, (const char *)path.p, err);
	if (st == TS_OK)
		st = ts_hlo_read(&profile->arena, input.bytes, path, module, err);
	ts_input_release(&input);
	*found = st == TS_OK ? module : NULL;
	return st;
}

/* Do both take the same arguments? Those of the partitioned module are what each device has, too. */
static bool takes_the_same(const struct ts_hlo_module *module, const struct ts_hlo_module *other)
{
	const struct ts_hlo_comp *entry = &module->comps[module->entry],
				 *theirs = &other->comps[other->entry];

	if (entry->nr_params != theirs->nr_params)
		return false;
	for (uint32_t i = 0; i < entry->nr_params; i++) {
		const struct ts_shape *shape, *their;

		if (entry->params[i] == TS_NONE || theirs->params[i] == TS_NONE)
			return false;
		shape = &module->instrs[entry->params[i]].shape;
		their = &other->instrs[theirs->params[i]].shape;
		if (shape->dtype != their->dtype || !ts_shape_same_dims(shape, their))
			return false;
	}
	return true;
}

static const struct dump *other_half(const struct dumps *dumps, const struct dump *after)
{
	for (size_t i = 0; i < dumps->nr; i++)
		if (!dumps->items[i].is_after &&
		    ts_bytes_eq(dumps->items[i].compilation, after->compilation))
			return &dumps->items[i];
	return NULL;
}

static enum ts_status join_module(struct ts_profile *profile, struct ts_hlo_module *module,
				  const struct dumps *dumps, const char *folder,
				  struct ts_error *err)
{
	struct ts_bytes stem = ts_module_stem(module->name);

	for (size_t i = dumps->nr; i-- > 0;) {
		const struct dump *after = &dumps->items[i], *before;
		const struct ts_hlo_module *partitioned;
		enum ts_status st;

		if (!after->is_after || !ts_bytes_eq(ts_module_stem(after->module), stem))
			continue;
		before = other_half(dumps, after);
		st = before ? read_dump(profile, folder, after, &partitioned, err) : TS_OK;
		if (st || (before && takes_the_same(module, partitioned))) {
			module->partitioned = st ? NULL : partitioned;
			return st ? st
				  : read_dump(profile, folder, before, &module->unpartitioned, err);
		}
	}
	return TS_OK;
}

enum ts_status ts_dumps_join(struct ts_profile *profile, const char *folder, struct ts_error *err)
{
	struct dumps dumps = { .nr = 0 };
	enum ts_status st;

	TS_ASSERT(profile && folder);
	st = list_dumps(&dumps, folder, err);
	for (size_t i = 0; i < profile->nr_modules && st == TS_OK; i++)
		st = join_module(profile, &profile->modules[i], &dumps, folder, err);
	free(dumps.items);
	ts_arena_release(&dumps.arena);
	return st;
}
