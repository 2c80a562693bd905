/* SPDX-License-Identifier: MIT */
/*
 * The profile's arrays, and what follows from what a reader found: which host came first, which
 * module an op belongs to, what kind of op it is (model/op_kind.c).
 */
#include "model/profile.h"

#include "base/check.h"
#include "base/limits.h"

#include <math.h>

#include "base/units.h"
#include "model/cost.h"
#include "model/launched.h"
#include "model/nest.h"
#include "model/op_kind.h"
#include "base/order.h"

#define MAX_DAMAGE 100
#define FIRST_SLOTS 64

void ts_profile_init(struct ts_profile *profile)
{
	TS_ASSERT(profile);
	memset(profile, 0, sizeof(*profile));
	profile->start_unix_ns = TS_UNKNOWN;
	profile->capture_ps = TS_UNKNOWN;
	profile->op_seed = (uint64_t)(uintptr_t)profile;
}

void ts_profile_release(struct ts_profile *profile)
{
	TS_ASSERT(profile);
	for (size_t i = 0; i < profile->nr_hosts; i++)
		if (profile->hosts[i].reader_release)
			profile->hosts[i].reader_release(profile->hosts[i].reader_data);
	ts_map_release(&profile->program_modules);
	ts_room_free(profile->op_slots);
	free(profile->hosts);
	free(profile->planes);
	free(profile->lines);
	free(profile->devices);
	ts_room_free(profile->ops);
	free(profile->modules);
	free(profile->damage);
	free(profile->sites);
	free(profile->frames);
	free(profile->stacked);
	ts_torch_log_release(&profile->torch_log);
	ts_launched_free(profile->launched);
	ts_arena_release(&profile->arena);
	ts_profile_init(profile);
}

struct ts_host *ts_profile_add_host(struct ts_profile *profile)
{
	struct ts_host *host;

	TS_ASSERT(profile);
	if (!ts_grow(&profile->hosts, &profile->cap_hosts, profile->nr_hosts + 1, sizeof(*host)))
		return NULL;
	host = &profile->hosts[profile->nr_hosts++];
	*host = (struct ts_host){
		.start_unix_ns = TS_UNKNOWN,
		.stop_unix_ns = TS_UNKNOWN,
		.mxu_utilization_pct = NAN,
		.hbm_utilization_pct = NAN,
		.rank = TS_UNKNOWN,
		.world_size = TS_UNKNOWN,
		.trace_start_ns = TS_UNKNOWN,
		.trace_ps = TS_UNKNOWN,
		.time = ts_capture_time_any,
		.first_plane = (uint32_t)profile->nr_planes,
	};
	return host;
}

struct ts_plane *ts_profile_add_plane(struct ts_profile *profile)
{
	struct ts_plane *plane;

	TS_ASSERT(profile);
	if (!ts_grow(&profile->planes, &profile->cap_planes, profile->nr_planes + 1,
		     sizeof(*plane)))
		return NULL;
	plane = &profile->planes[profile->nr_planes++];
	*plane = (struct ts_plane){ .pid = TS_UNKNOWN,
				    .device = TS_NONE,
				    .tensor_core = TS_NONE,
				    .first_line = (uint32_t)profile->nr_lines };
	return plane;
}

struct ts_line *ts_profile_add_line(struct ts_profile *profile)
{
	struct ts_line *line;

	TS_ASSERT(profile);
	if (!ts_grow(&profile->lines, &profile->cap_lines, profile->nr_lines + 1, sizeof(*line)))
		return NULL;
	line = &profile->lines[profile->nr_lines++];
	*line = (struct ts_line){ .plane = TS_NONE, .at_reader = (uint32_t)profile->nr_lines - 1 };
	return line;
}

struct ts_device *ts_profile_add_device(struct ts_profile *profile)
{
	struct ts_device *device;

	TS_ASSERT(profile);
	if (!ts_grow(&profile->devices, &profile->cap_devices, profile->nr_devices + 1,
		     sizeof(*device)))
		return NULL;
	device = &profile->devices[profile->nr_devices++];
	*device = (struct ts_device){
		.peak_flops_per_s = NAN,
		.hbm_bytes_per_s = NAN,
		.vmem_read_bytes_per_s = NAN,
		.vmem_write_bytes_per_s = NAN,
		.cmem_read_bytes_per_s = NAN,
		.cmem_write_bytes_per_s = NAN,
		.hbm_bytes = TS_UNKNOWN,
		.clock_khz = TS_UNKNOWN,
		.core_count = TS_UNKNOWN,
		.cc_major = TS_UNKNOWN,
		.cc_minor = TS_UNKNOWN,
		.local_chip_id = TS_UNKNOWN,
		.device_id = TS_UNKNOWN,
	};
	return device;
}

static uint64_t profile_bytes_of(const struct ts_profile *profile)
{
	uint64_t nr_bytes = 0;

	for (size_t i = 0; i < profile->nr_hosts; i++)
		nr_bytes = ts_u64_add(nr_bytes, profile->hosts[i].file_bytes);
	return nr_bytes;
}

bool ts_profile_takes_device(const struct ts_profile *profile)
{
	TS_ASSERT(profile);
	return profile->nr_devices < TS_LIMIT_DEVICES ||
	       profile->nr_devices <
		       TS_LIMIT_DEVICES + profile_bytes_of(profile) / TS_LIMIT_DEVICE_BYTES;
}

struct ts_hlo_module *ts_profile_add_module(struct ts_profile *profile, uint64_t program_id)
{
	struct ts_hlo_module *module;

	TS_ASSERT(profile);
	if (!ts_grow(&profile->modules, &profile->cap_modules, profile->nr_modules + 1,
		     sizeof(*module)))
		return NULL;
	if (!ts_map_set(&profile->program_modules, program_id, (uint32_t)profile->nr_modules))
		return NULL;
	module = &profile->modules[profile->nr_modules++];
	*module = (struct ts_hlo_module){ .program_id = program_id };
	return module;
}

enum ts_status ts_profile_add_site(struct ts_profile *profile, const struct ts_site *site,
				   struct ts_error *err)
{
	TS_ASSERT(profile && site);
	if (!ts_grow(&profile->sites, &profile->cap_sites, profile->nr_sites + 1, sizeof(*site)))
		return ts_fail_nomem(err);
	profile->sites[profile->nr_sites++] = *site;
	return TS_OK;
}

enum ts_status ts_profile_add_frame(struct ts_profile *profile, const struct ts_frame *frame,
				    struct ts_error *err)
{
	TS_ASSERT(profile && frame);
	if (!ts_grow(&profile->frames, &profile->cap_frames, profile->nr_frames + 1,
		     sizeof(*frame)))
		return ts_fail_nomem(err);
	profile->frames[profile->nr_frames++] = *frame;
	return TS_OK;
}

enum ts_status ts_profile_stack_frame(struct ts_profile *profile, uint32_t frame,
				      struct ts_error *err)
{
	TS_ASSERT(profile);
	if (!ts_grow(&profile->stacked, &profile->cap_stacked, profile->nr_stacked + 1,
		     sizeof(*profile->stacked)))
		return ts_fail_nomem(err);
	profile->stacked[profile->nr_stacked++] = frame;
	return TS_OK;
}

/* Lines are read more than once; damage in them is noted once. */
static bool is_known_damage(const struct ts_profile *profile, const struct ts_damage *damage)
{
	for (size_t i = 0; i < profile->nr_damage; i++) {
		const struct ts_damage *known = &profile->damage[i];

		if (known->offset == damage->offset && ts_bytes_eq(known->file, damage->file) &&
		    ts_bytes_eq(known->cause, damage->cause))
			return true;
	}
	return false;
}

bool ts_profile_is_whole(const struct ts_profile *profile)
{
	TS_ASSERT(profile);
	for (size_t i = 0; i < profile->nr_damage; i++)
		if (profile->damage[i].nr_events == 0)
			return false;
	return true;
}

bool ts_profile_is_damaged(const struct ts_profile *profile)
{
	TS_ASSERT(profile);
	for (size_t i = 0; i < profile->nr_damage; i++)
		if (!profile->damage[i].minor)
			return true;
	return false;
}

void ts_profile_add_damage(struct ts_profile *profile, struct ts_bytes file, uint64_t offset,
			   const char *cause, bool minor)
{
	TS_ASSERT(profile && cause);
	TS_ASSERT(file.p || file.n == 0);
	ts_profile_note_damage(profile, &(struct ts_damage){ .file = file,
							     .offset = offset,
							     .cause = ts_bytes_of(cause),
							     .minor = minor });
}

void ts_profile_note_damage(struct ts_profile *profile, const struct ts_damage *damage)
{
	TS_ASSERT(profile && damage);
	if (profile->nr_damage >= MAX_DAMAGE || is_known_damage(profile, damage))
		return;
	if (!ts_grow(&profile->damage, &profile->cap_damage, profile->nr_damage + 1,
		     sizeof(*profile->damage))) {
		profile->arena.failed = true;
		return;
	}
	profile->damage[profile->nr_damage] = *damage;
	profile->damage[profile->nr_damage++].cause = ts_arena_copy(&profile->arena, damage->cause);
}

void ts_op_init(struct ts_op *op)
{
	TS_ASSERT_HOT(op);
	*op = (struct ts_op){
		.partner = TS_NONE,
		.module = TS_NONE,
		.instr = TS_NONE,
		.flops = TS_UNKNOWN,
		.model_flops = TS_UNKNOWN,
		.bytes_accessed = TS_UNKNOWN,
		.hbm_read_bytes = TS_UNKNOWN,
		.hbm_write_bytes = TS_UNKNOWN,
		.onchip_bytes = TS_UNKNOWN,
		.vmem_read_bytes = TS_UNKNOWN,
		.vmem_write_bytes = TS_UNKNOWN,
		.cmem_read_bytes = TS_UNKNOWN,
		.cmem_write_bytes = TS_UNKNOWN,
	};
}

/* Modules, steps and all other events live in name spaces of their own. */
static unsigned name_space(const struct ts_op *op)
{
	return op->kind == TS_OP_MODULE || op->kind == TS_OP_STEP ? (unsigned)op->kind : 0;
}

static bool same_op(const struct ts_op *a, const struct ts_op *b)
{
	return a->has_program == b->has_program && a->program_id == b->program_id &&
	       name_space(a) == name_space(b) && ts_bytes_eq(a->name, b->name);
}

/* Where the profile lies differs from run to run: names cannot be made to have one hash (base/map). */
static uint64_t op_hash(const struct ts_profile *profile, const struct ts_op *op)
{
	return ts_hash(op->name, profile->op_seed + op->program_id * 31 + op->has_program * 7 +
					 name_space(op));
}

/* Two planes describe one op; the second may have what the first lacks. */
static void fill_gaps(struct ts_op *op, const struct ts_op *draft)
{
	struct ts_bytes *to[] = { &op->text,   &op->category,	  &op->framework_op,
				  &op->source, &op->source_stack, &op->shape };
	const struct ts_bytes from[] = { draft->text,	draft->category,     draft->framework_op,
					 draft->source, draft->source_stack, draft->shape };
	int64_t *to_number[] = { &op->flops,	       &op->model_flops,      &op->bytes_accessed,
				 &op->hbm_read_bytes,  &op->hbm_write_bytes,  &op->onchip_bytes,
				 &op->vmem_read_bytes, &op->vmem_write_bytes, &op->cmem_read_bytes,
				 &op->cmem_write_bytes };
	const int64_t from_number[] = { draft->flops,		draft->model_flops,
					draft->bytes_accessed,	draft->hbm_read_bytes,
					draft->hbm_write_bytes, draft->onchip_bytes,
					draft->vmem_read_bytes, draft->vmem_write_bytes,
					draft->cmem_read_bytes, draft->cmem_write_bytes };

	for (size_t i = 0; i < TS_NELEM(to); i++)
		if (to[i]->n == 0)
			*to[i] = from[i];
	for (size_t i = 0; i < TS_NELEM(to_number); i++)
		if (*to_number[i] == TS_UNKNOWN)
			*to_number[i] = from_number[i];
	if (op->symbol_id == 0)
		op->symbol_id = draft->symbol_id;
}

/* The slot of the op with this identity, or the one where it would stand. There is one. */
static uint32_t *op_slot(const struct ts_profile *profile, const struct ts_op *wanted)
{
	size_t mask = profile->cap_op_slots - 1, at = op_hash(profile, wanted) & mask;

	while (profile->op_slots[at] != TS_NONE &&
	       !same_op(&profile->ops[profile->op_slots[at]], wanted))
		at = (at + 1) & mask;
	return &profile->op_slots[at];
}

/* Room for one more; at most three quarters are taken. */
static bool grow_slots(struct ts_profile *profile)
{
	size_t cap = TS_MAX(2 * profile->cap_op_slots, FIRST_SLOTS);
	uint32_t *slots;

	if (profile->nr_ops < profile->cap_op_slots / 4 * 3)
		return true;
	slots = ts_room_alloc(profile->rooms, cap * sizeof(*slots));
	if (!slots)
		return false;
	memset(slots, 0xff, cap * sizeof(*slots)); /* TS_NONE */
	ts_room_free(profile->op_slots);
	profile->op_slots = slots;
	profile->cap_op_slots = cap;
	for (size_t i = 0; i < profile->nr_ops; i++)
		*op_slot(profile, &profile->ops[i]) = (uint32_t)i;
	return true;
}

uint32_t ts_profile_intern_op(struct ts_profile *profile, const struct ts_op *draft)
{
	uint32_t *slot;

	TS_ASSERT_HOT(profile && draft);
	if (!grow_slots(profile))
		return TS_NONE;
	slot = op_slot(profile, draft);
	if (*slot != TS_NONE) {
		fill_gaps(&profile->ops[*slot], draft);
		return *slot;
	}
	if (profile->nr_ops >= TS_NONE - 1 ||
	    !ts_room_grow(profile->rooms, &profile->ops, &profile->cap_ops, profile->nr_ops + 1,
			  sizeof(*draft)))
		return TS_NONE;
	profile->ops[profile->nr_ops] = *draft;
	profile->ops[profile->nr_ops].category_id = ts_opcode_of(draft->category);
	*slot = (uint32_t)profile->nr_ops++;
	return *slot;
}

static uint32_t profile_find_op(const struct ts_profile *profile, const struct ts_op *wanted)
{
	return profile->cap_op_slots ? *op_slot(profile, wanted) : TS_NONE;
}

uint32_t ts_profile_find_op(const struct ts_profile *profile, enum ts_op_kind kind,
			    struct ts_bytes name)
{
	struct ts_op wanted;

	TS_ASSERT(profile);
	ts_op_init(&wanted);
	wanted.kind = kind;
	wanted.name = name;
	return profile_find_op(profile, &wanted);
}

uint32_t ts_profile_module_of(const struct ts_profile *profile, uint64_t program_id)
{
	TS_ASSERT_HOT(profile);
	return ts_map_find(&profile->program_modules, program_id);
}

const struct ts_device *ts_line_device(const struct ts_profile *profile, const struct ts_line *line)
{
	uint32_t device = profile->planes[line->plane].device;

	TS_ASSERT_HOT(profile && line);
	return device == TS_NONE ? NULL : &profile->devices[device];
}

bool ts_host_next_line(const struct ts_profile *profile, uint32_t host, uint32_t *line)
{
	const struct ts_host *of = &profile->hosts[host];
	uint32_t plane = *line == TS_NONE ? of->first_plane : profile->lines[*line].plane;
	uint32_t next = *line == TS_NONE ? 0 : *line + 1;

	TS_ASSERT_HOT(profile && line && host < profile->nr_hosts);
	for (; plane < of->first_plane + of->nr_planes; plane++) {
		const struct ts_plane *in = &profile->planes[plane];

		next = TS_MAX(next, in->first_line);
		if (next >= in->first_line + in->nr_lines)
			continue;
		*line = next;
		return true;
	}
	return false;
}

bool ts_line_is_core(const struct ts_profile *profile, const struct ts_line *line)
{
	enum ts_plane_kind kind = profile->planes[line->plane].kind;

	TS_ASSERT_HOT(profile && line);
	return line->kind == TS_LINE_OPS && (kind == TS_PLANE_TPU || kind == TS_PLANE_GPU);
}

/* Names of a module's instructions -> their indices, for one module at a time. */
static enum ts_status link_module(struct ts_profile *profile, uint32_t module_index,
				  const uint32_t *ops, size_t nr_ops, struct ts_error *err)
{
	const struct ts_hlo_module *module = &profile->modules[module_index];
	struct ts_strmap names = { NULL, 0, 0 };
	bool good = true;

	for (uint32_t i = 0; i < module->nr_instrs && good; i++)
		good = ts_strmap_set(&names, module->instrs[i].name, i);
	for (size_t i = 0; i < nr_ops && good; i++) {
		struct ts_op *op = &profile->ops[ops[i]];

		op->module = module_index;
		if (op->kind != TS_OP_MODULE)
			op->instr = ts_strmap_find(&names, op->name);
	}
	ts_strmap_release(&names);
	return good ? TS_OK : ts_fail_nomem(err);
}

struct program_op {
	uint32_t module, op;
};

TS_ORDER(profile_by_module, struct program_op, TS_UP(module) TS_UP(op))

/* Gives every op of a known program its module and instruction, a module at a time. */
static enum ts_status profile_link_ops(struct ts_profile *profile, struct ts_error *err)
{
	struct program_op *pairs = malloc((profile->nr_ops + 1) * sizeof(*pairs));
	uint32_t *ops = malloc((profile->nr_ops + 1) * sizeof(*ops));
	enum ts_status st = TS_OK;
	size_t nr = 0, end;

	if (!pairs || !ops) {
		st = ts_fail_nomem(err);
		goto done;
	}
	for (uint32_t i = 0; i < profile->nr_ops; i++) {
		const struct ts_op *op = &profile->ops[i];
		uint32_t module =
			op->has_program ? ts_profile_module_of(profile, op->program_id) : TS_NONE;

		if (module != TS_NONE)
			pairs[nr++] = (struct program_op){ module, i };
	}
	TS_SORT(pairs, nr, profile_by_module);
	for (size_t at = 0; at < nr && st == TS_OK; at = end) {
		for (end = at; end < nr && pairs[end].module == pairs[at].module; end++)
			ops[end - at] = pairs[end].op;
		st = link_module(profile, pairs[at].module, ops, end - at, err);
	}
done:
	free(pairs);
	free(ops);
	return st;
}

/* The compiler's own words fill what the profile left out (GPU profiles have no cost stats). */
static void fill_from_module(struct ts_profile *profile, struct ts_op *op)
{
	const struct ts_hlo_instr *instr = ts_op_instr(profile, op);
	struct ts_cost cost;

	if (!instr)
		return;
	if (op->category.n == 0)
		op->category = ts_hlo_category(instr);
	if (op->framework_op.n == 0)
		op->framework_op = instr->op_name;
	if (op->source.n == 0 && instr->source_file.n > 0)
		op->source = ts_arena_printf(&profile->arena, "%.*s:%d", TS_ARG(instr->source_file),
					     instr->source_line);
	if (op->flops != TS_UNKNOWN && op->bytes_accessed != TS_UNKNOWN)
		return;
	cost = ts_hlo_cost(&profile->modules[op->module], op->instr);
	if (op->flops == TS_UNKNOWN)
		op->flops = cost.flops;
	if (op->model_flops == TS_UNKNOWN)
		op->model_flops = cost.flops;
	if (op->bytes_accessed == TS_UNKNOWN)
		op->bytes_accessed = cost.bytes_accessed;
}

static void find_partner(struct ts_profile *profile, uint32_t index)
{
	struct ts_op *op = &profile->ops[index];
	struct ts_op wanted;
	uint32_t partner;

	if (op->async != TS_ASYNC_DONE)
		return;
	ts_op_init(&wanted);
	wanted.has_program = op->has_program;
	wanted.program_id = op->program_id;
	wanted.name = ts_op_start_name(profile, op);
	partner = wanted.name.n ? profile_find_op(profile, &wanted) : TS_NONE;
	if (partner == TS_NONE || profile->ops[partner].async != TS_ASYNC_START)
		return; /* what a -done waits for may be a plain op: a send, or another's name */
	op->partner = partner;
	profile->ops[partner].partner = index;
}

/* Hosts of other days are a week apart, so that times stay within what a run may have. */
int64_t ts_host_lag_ps(const struct ts_profile *profile, const struct ts_host *host)
{
	int64_t lag_ns;

	TS_ASSERT(profile && host);
	if (host->start_unix_ns == TS_UNKNOWN || profile->start_unix_ns == TS_UNKNOWN)
		return 0;
	lag_ns = ts_i64_sub(host->start_unix_ns, profile->start_unix_ns);
	return TS_MIN(ts_i64_mul(lag_ns, TS_PS_PER_NS), TS_TIME_MAX / 4);
}

/* Time 0 is the earliest start of a host; each line is moved by its host's lag behind it. */
static void align_hosts(struct ts_profile *profile)
{
	int64_t first = TS_UNKNOWN, last = TS_UNKNOWN;

	profile->capture_ps = TS_UNKNOWN;
	for (size_t i = 0; i < profile->nr_hosts; i++) {
		const struct ts_host *host = &profile->hosts[i];

		if (host->start_unix_ns != TS_UNKNOWN &&
		    (first == TS_UNKNOWN || host->start_unix_ns < first))
			first = host->start_unix_ns;
		last = TS_MAX(last, host->stop_unix_ns);
		profile->capture_ps = TS_MAX(profile->capture_ps, host->trace_ps);
	}
	profile->start_unix_ns = first;
	if (first != TS_UNKNOWN && last > first)
		profile->capture_ps = ts_i64_mul(ts_i64_sub(last, first), TS_PS_PER_NS);
	for (size_t i = 0; i < profile->nr_lines; i++) {
		struct ts_line *line = &profile->lines[i];
		const struct ts_host *host = &profile->hosts[profile->planes[line->plane].host];

		line->start_ps = ts_i64_add(line->host_ps, ts_host_lag_ps(profile, host));
	}
}

/* Hosts number their devices alike: with several, "host1 /device:TPU:0". */
static enum ts_status label_devices(struct ts_profile *profile, struct ts_error *err)
{
	for (size_t i = 0; i < profile->nr_devices; i++) {
		struct ts_device *device = &profile->devices[i];

		device->label = device->name;
		if (profile->nr_hosts < 2)
			continue;
		device->label = ts_arena_printf(&profile->arena, "%.*s %.*s",
						TS_ARG(profile->hosts[device->host].name),
						TS_ARG(device->name));
		if (!device->label.p)
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

/* "/device:TPU:0 SparseCore 1" works for "/device:TPU:0" of its host. */
static bool is_core_of(const struct ts_plane *plane, const struct ts_device *device)
{
	size_t n = device->name.n;

	return device->host == plane->host && n < plane->name.n && plane->name.p[n] == ' ' &&
	       ts_bytes_eq(ts_bytes_cut(plane->name, 0, n), device->name);
}

static void link_sparse_cores(struct ts_profile *profile)
{
	uint32_t first = 0; /* device of the plane's host: both stand in the order of hosts */

	for (size_t p = 0; p < profile->nr_planes; p++) {
		struct ts_plane *plane = &profile->planes[p];

		plane->tensor_core = TS_NONE;
		while (first < profile->nr_devices && profile->devices[first].host < plane->host)
			first++;
		for (uint32_t i = first;
		     plane->kind == TS_PLANE_SPARSECORE && i < profile->nr_devices &&
		     profile->devices[i].host == plane->host;
		     i++)
			if (is_core_of(plane, &profile->devices[i]))
				plane->tensor_core = i;
	}
}

/* Analyses keep something of each op on each line: lines beyond what that may take are not read. */
static void bound_lines(struct ts_profile *profile)
{
	uint64_t cells = ts_u64_add(ts_u64_mul(profile_bytes_of(profile), TS_LIMIT_CELLS_A_BYTE),
				    TS_LIMIT_CELLS);
	uint64_t left = cells / TS_MAX(profile->nr_ops, 1), nr_over = 0;
	char text[160];

	for (size_t i = 0; i < profile->nr_lines; i++) {
		struct ts_line *line = &profile->lines[i];

		if (line->kind == TS_LINE_OTHER)
			continue;
		if (left > 0) {
			left--;
			continue;
		}
		line->kind = TS_LINE_OTHER;
		nr_over++;
	}
	if (nr_over == 0)
		return;
	snprintf(text, sizeof(text),
		 "%llu lines were left out: too many for so many ops " TS_OVER(TS_LIMIT_CELLS),
		 (unsigned long long)nr_over);
	ts_profile_add_damage(profile, profile->hosts[0].file, 0, text, true);
}

/* A CPU is a device where no other is: beside those of other hosts it is its host alone. */
static void drop_cpus(struct ts_profile *profile)
{
	size_t nr = 0;

	for (size_t i = 0; i < profile->nr_devices; i++) {
		const struct ts_device *device = &profile->devices[i];
		struct ts_plane *plane = &profile->planes[device->plane];

		plane->device = device->is_cpu ? TS_NONE : (uint32_t)nr;
		if (!device->is_cpu) {
			profile->devices[nr++] = *device;
			continue;
		}
		plane->kind = TS_PLANE_OTHER;
		for (uint32_t l = 0; l < plane->nr_lines; l++) {
			profile->lines[plane->first_line + l].kind = TS_LINE_OTHER;
			profile->lines[plane->first_line + l].nr_events = 0;
		}
	}
	profile->nr_devices = nr;
}

static bool has_others_than_cpus(const struct ts_profile *profile)
{
	bool has_cpu = false, has_other = false;

	for (size_t i = 0; i < profile->nr_devices; i++) {
		has_cpu |= profile->devices[i].is_cpu;
		has_other |= !profile->devices[i].is_cpu;
	}
	return has_cpu && has_other;
}

void ts_profile_count_lines(struct ts_profile *profile)
{
	TS_ASSERT(profile);
	for (size_t i = 0; i < profile->nr_hosts; i++)
		profile->hosts[i].nr_core_lines = 0;
	for (size_t i = 0; i < profile->nr_planes; i++)
		profile->planes[i].nr_core_lines = 0;
	for (size_t i = 0; i < profile->nr_lines; i++) {
		const struct ts_line *line = &profile->lines[i];
		struct ts_plane *plane = &profile->planes[line->plane];

		if (!ts_line_is_core(profile, line))
			continue;
		profile->hosts[plane->host].nr_core_lines++;
		plane->nr_core_lines += line->nr_events > 0;
	}
}

enum ts_status ts_profile_finish(struct ts_profile *profile, struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(profile);
	if (has_others_than_cpus(profile))
		drop_cpus(profile);
	bound_lines(profile);
	ts_profile_count_lines(profile);
	align_hosts(profile);
	link_sparse_cores(profile);
	st = label_devices(profile, err);
	if (st)
		return st;
	st = profile_link_ops(profile, err);
	if (st)
		return st;
	for (size_t i = 0; i < profile->nr_ops; i++) {
		struct ts_op *op = &profile->ops[i];

		fill_from_module(profile, op);
		ts_op_classify(profile, op);
	}
	for (uint32_t i = 0; i < profile->nr_ops; i++)
		find_partner(profile, i);
	return TS_OK;
}
