/* SPDX-License-Identifier: MIT */
/*
 * What a memory profile says is held: each stack of calls with its bytes, by line of source and by
 * device.
 *
 * A stack's own line is the innermost that is not in a library (site-packages, Python's own): a
 * stack ends inside jax, and the line that called it is the one to change. Where all of it is
 * library, the innermost. Several memory profiles (of hosts, or of moments) are never added up.
 */
#include "analysis/capacity/capacity.h"

#include "base/map.h"
#include "base/order.h"
#include "result/schema/capacity.def"

#define MAX_SITES 200
#define MAX_LINES 200
#define MAX_CALLS 12 /* of a stack, from its own line outwards */

static const struct ts_frame *frame_at(const struct ts_profile *profile, const struct ts_site *site,
				       uint32_t depth)
{
	return &profile->frames[profile->stacked[site->first_frame + depth]];
}

static bool is_library(struct ts_bytes file)
{
	static const char *const parts[] = { "/site-packages/", "/dist-packages/", "/jax/_src/",
					     "/lib/python3.",	"/lib64/python3.", "bazel-out/" };

	for (size_t i = 0; i < TS_NELEM(parts); i++)
		if (ts_bytes_has(file, parts[i]))
			return true;
	return file.n == 0 || ts_bytes_starts(file, "<frozen ") || ts_bytes_is(file, "<string>");
}

/* The depth of the frame that gives a stack its name; nr_frames: the stack is empty. */
static uint32_t own_depth(const struct ts_profile *profile, const struct ts_site *site)
{
	for (uint32_t i = 0; i < site->nr_frames; i++)
		if (!is_library(frame_at(profile, site, i)->file))
			return i;
	return 0;
}

static struct ts_bytes place_text(struct ts_arena *arena, const struct ts_frame *frame)
{
	if (frame->file.n == 0)
		return (struct ts_bytes){ NULL, 0 };
	if (frame->line < 0)
		return frame->file;
	return ts_arena_printf(arena, "%.*s:%lld", TS_ARG(frame->file), (long long)frame->line);
}

static struct ts_bytes own_place(const struct ts_profile *profile, const struct ts_site *site,
				 struct ts_arena *arena)
{
	uint32_t depth = own_depth(profile, site);

	if (depth >= site->nr_frames)
		return (struct ts_bytes){ NULL, 0 };
	return place_text(arena, frame_at(profile, site, depth));
}

/* Sites that have something in common. */
struct group {
	const struct ts_site *largest;
	int64_t nr_bytes, nr_objects; /* objects -1: one of the sites does not say */
};

struct groups {
	struct group *items;
	size_t nr, cap;
	struct ts_strmap by_key;
};

/* What sites of a group share. Equal texts are one place in memory, so their addresses are compared. */
struct key {
	const uint8_t *file, *what;
	int64_t line;
};

static enum ts_status new_group(struct groups *groups, struct ts_bytes key,
				const struct ts_site *site, struct ts_arena *arena,
				struct ts_error *err)
{
	key = ts_arena_copy(arena, key);
	if (!key.p ||
	    !ts_grow(&groups->items, &groups->cap, groups->nr + 1, sizeof(*groups->items)) ||
	    !ts_strmap_set(&groups->by_key, key, (uint32_t)groups->nr))
		return ts_fail_nomem(err);
	groups->items[groups->nr++] = (struct group){ .largest = site };
	return TS_OK;
}

static enum ts_status capacity_sites_add_to_group(struct groups *groups, const struct key *key,
						  const struct ts_site *site,
						  struct ts_arena *arena, struct ts_error *err)
{
	struct ts_bytes bytes = { (const uint8_t *)key, sizeof(*key) };
	uint32_t at = ts_strmap_find(&groups->by_key, bytes);
	struct group *group;
	enum ts_status st;

	if (at == TS_NONE) {
		at = (uint32_t)groups->nr;
		st = new_group(groups, bytes, site, arena, err);
		if (st)
			return st;
	}
	group = &groups->items[at];
	if (site->nr_bytes == 0) /* an executable of a backend that does not say its size */
		return TS_OK;
	group->nr_bytes = ts_i64_add(group->nr_bytes, site->nr_bytes);
	if (site->nr_objects < 0)
		group->nr_objects = -1;
	else if (group->nr_objects >= 0)
		group->nr_objects = ts_i64_add(group->nr_objects, site->nr_objects);
	if (site->nr_bytes > group->largest->nr_bytes)
		group->largest = site;
	return TS_OK;
}

TS_ORDER(capacity_sites_by_bytes, struct group, TS_DOWN(nr_bytes) TS_UP(largest))

static void sort_groups(struct groups *groups)
{
	TS_SORT(groups->items, groups->nr, capacity_sites_by_bytes);
}

static void release_groups(struct groups *groups)
{
	free(groups->items);
	ts_strmap_release(&groups->by_key);
}

struct held {
	const struct ts_profile *profile;
	struct groups files, devices, lines;
	struct ts_arena scratch;
};

static struct key line_key(const struct ts_profile *profile, const struct ts_site *site)
{
	uint32_t depth = own_depth(profile, site);
	struct key key = { site->file.p, NULL, -1 };

	if (depth < site->nr_frames) {
		key.what = frame_at(profile, site, depth)->file.p;
		key.line = frame_at(profile, site, depth)->line;
	}
	return key;
}

static enum ts_status capacity_sites_gather(struct held *held, struct ts_error *err)
{
	enum ts_status st;

	for (size_t i = 0; i < held->profile->nr_sites; i++) {
		const struct ts_site *site = &held->profile->sites[i];
		struct key file = { site->file.p, NULL, 0 };
		struct key device = { site->file.p, site->device.p, 0 };
		struct key line = line_key(held->profile, site);

		st = capacity_sites_add_to_group(&held->files, &file, site, &held->scratch, err);
		if (st)
			return st;
		st = capacity_sites_add_to_group(&held->devices, &device, site, &held->scratch,
						 err);
		if (st)
			return st;
		st = capacity_sites_add_to_group(&held->lines, &line, site, &held->scratch, err);
		if (st)
			return st;
	}
	sort_groups(&held->files);
	sort_groups(&held->devices);
	sort_groups(&held->lines);
	return TS_OK;
}

static int64_t file_bytes(const struct held *held, const struct ts_site *site)
{
	for (size_t i = 0; i < held->files.nr; i++)
		if (ts_bytes_eq(held->files.items[i].largest->file, site->file))
			return held->files.items[i].nr_bytes;
	return 0;
}

static struct ts_value capacity_sites_share_of(const struct held *held, const struct ts_site *site,
					       int64_t nr_bytes)
{
	int64_t all = file_bytes(held, site);

	return all > 0 ? ts_share_pct((double)nr_bytes / (double)all) : ts_null();
}

/* "f a.py:3 < main a.py:9": who called whom, from the stack's own line outwards. */
static struct ts_value stack_of(const struct held *held, const struct ts_site *site,
				struct ts_result *result)
{
	struct ts_buf text = TS_BUF_INIT;
	uint32_t depth = own_depth(held->profile, site);
	struct ts_value cell;

	for (uint32_t i = depth; i < site->nr_frames && i < depth + MAX_CALLS; i++) {
		const struct ts_frame *frame = frame_at(held->profile, site, i);

		ts_buf_puts(&text, text.n ? " < " : "");
		ts_buf_put(&text, frame->function);
		ts_buf_putc(&text, ' ');
		ts_buf_put(&text, frame->file);
		if (frame->line >= 0)
			ts_buf_printf(&text, ":%lld", (long long)frame->line);
	}
	cell = ts_text_or_null(ts_result_text(result, "%.*s", TS_ARG(ts_buf_bytes(&text))));
	result->owner->failed |= text.failed;
	ts_buf_release(&text);
	return cell;
}

/* How jax goes into a compiled function says nothing of what was called. */
static struct ts_value callee_cell(struct ts_bytes function)
{
	static const char *const plumbing[] = { "reraise_with_filtered_traceback", "cache_miss",
						"__call__" };

	for (size_t i = 0; i < TS_NELEM(plumbing); i++)
		if (ts_bytes_is(function, plumbing[i]))
			return ts_null();
	return ts_text_or_null(function);
}

static struct ts_value capacity_sites_function_of(const struct held *held,
						  const struct ts_site *site)
{
	uint32_t depth = own_depth(held->profile, site);

	if (depth >= site->nr_frames)
		return ts_null();
	return ts_text_or_null(frame_at(held->profile, site, depth)->function);
}

static struct ts_value callee_of(const struct held *held, const struct ts_site *site)
{
	uint32_t depth = own_depth(held->profile, site);

	if (depth == 0 || depth >= site->nr_frames)
		return ts_null();
	return callee_cell(frame_at(held->profile, site, depth - 1)->function);
}

static struct ts_value capacity_sites_place_of(const struct held *held, const struct ts_site *site,
					       struct ts_result *result)
{
	return ts_text_or_null(own_place(held->profile, site, &result->owner->arena));
}

TS_ORDER_AT(by_site, struct ts_site, TS_DOWN(nr_bytes) TS_UP_ADDRESS)

#define SITE_CELLS(X) \
	X(bytes, ts_int(site->nr_bytes)) \
	X(count, ts_int_or_null(site->nr_objects)) \
	X(share_pct, capacity_sites_share_of(held, site, site->nr_bytes)) \
	X(kind, ts_text_or_null(site->kind)) \
	X(device, ts_text_or_null(site->device)) \
	X(function, capacity_sites_function_of(held, site)) \
	X(source, capacity_sites_place_of(held, site, result)) \
	X(callee, callee_of(held, site)) \
	X(file, ts_text_or_null(site->file)) \
	X(stack, stack_of(held, site, result))

/* Executables of backends that do not say their size are not listed. */
static enum ts_status put_sites(const struct held *held, struct ts_result *result,
				struct ts_error *err)
{
	struct ts_table *table = TS_TABLE(result, capacity_sites);
	size_t nr = held->profile->nr_sites;
	const struct ts_site **sites = calloc(nr + 1, sizeof(const struct ts_site *));

	if (!sites)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < nr; i++)
		sites[i] = &held->profile->sites[i];
	TS_SORT(sites, nr, by_site);
	for (size_t i = 0; i < nr && i < MAX_SITES && sites[i]->nr_bytes != 0; i++) {
		const struct ts_site *site = sites[i];

		TS_CELLS(result, table, capacity_sites, SITE_CELLS);
	}
	free(sites);
	return TS_OK;
}

#define LINE_CELLS(X) \
	X(source, capacity_sites_place_of(held, line->largest, result)) \
	X(function, capacity_sites_function_of(held, line->largest)) \
	X(bytes, ts_int(line->nr_bytes)) \
	X(count, ts_int_or_null(line->nr_objects)) \
	X(share_pct, capacity_sites_share_of(held, line->largest, line->nr_bytes)) \
	X(file, ts_text_or_null(line->largest->file))

static void capacity_sites_put_lines(const struct held *held, struct ts_result *result)
{
	struct ts_table *table = TS_TABLE(result, capacity_site_lines);

	for (size_t i = 0; i < held->lines.nr && i < MAX_LINES; i++) {
		const struct group *line = &held->lines.items[i];

		if (line->nr_bytes <= 0)
			break;
		TS_CELLS(result, table, capacity_site_lines, LINE_CELLS);
	}
}

static void capacity_sites_put_fields(const struct held *held, int64_t hbm_bytes,
				      struct ts_result *result)
{
	const struct group *file = &held->files.items[0], *device = &held->devices.items[0];
	bool known = hbm_bytes > 0 && !ts_bytes_starts(device->largest->device, "cpu");
	double share = known ? (double)device->nr_bytes / (double)hbm_bytes : NAN;

	TS_SET(result, capacity, held_bytes, ts_int(file->nr_bytes));
	TS_SET(result, capacity, held_objects, ts_int_or_null(file->nr_objects));
	TS_SET(result, capacity, held_device, ts_text_or_null(device->largest->device));
	TS_SET(result, capacity, held_device_bytes, ts_int(device->nr_bytes));
	TS_SET(result, capacity, held_pct, ts_share_pct(share))->label =
		known ? "of its memory" : NULL;
	if (held->files.nr > 1)
		ts_result_note(result,
			       "%zu memory profiles: each share is of its own; the sums are those "
			       "of the largest.",
			       held->files.nr);
}

enum ts_status ts_capacity_put_sites(const struct ts_context *ctx, int64_t hbm_bytes,
				     struct ts_result *result, struct ts_error *err)
{
	struct held held = { .profile = ctx->profile, .scratch = TS_ARENA_INIT };
	enum ts_status st = capacity_sites_gather(&held, err);

	if (st == TS_OK && held.files.nr > 0) {
		capacity_sites_put_fields(&held, hbm_bytes, result);
		st = put_sites(&held, result, err);
		capacity_sites_put_lines(&held, result);
	}
	release_groups(&held.files);
	release_groups(&held.devices);
	release_groups(&held.lines);
	ts_arena_release(&held.scratch);
	return st;
}
