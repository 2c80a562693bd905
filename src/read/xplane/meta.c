/* SPDX-License-Identifier: MIT */
/*
 * Metadata of a plane: names of stats, ops from event metadata, modules from HLO protos.
 * Meaning of the stats: xla/tsl/profiler/utils/xplane_schema.cc.
 */
#include "read/hlo.h"

#include "base/check.h"
#include "base/limits.h"
#include "read/xplane/xplane.h"

#define DENSE_MAX (1 << 20)

struct role_row {
	const char *name;
	enum role role;
};

static const struct role_row role_rows[] = {
	{ "device_offset_ps", ROLE_DEVICE_OFFSET },
	{ "device_duration_ps", ROLE_DEVICE_DURATION },
	{ "step_num", ROLE_STEP_NUM },
	{ "run_id", ROLE_RUN_ID },
	{ "correlation_id", ROLE_CORRELATION },
	{ "hlo_op", ROLE_HLO_OP },
	{ "hlo_module", ROLE_HLO_MODULE },
	{ "device_ordinal", ROLE_DEVICE_ORDINAL },
	{ "program_id", ROLE_PROGRAM_ID },
	{ "flops", ROLE_FLOPS },
	{ "bytes_accessed", ROLE_BYTES_ACCESSED },
	{ "counter_value", ROLE_COUNTER_VALUE },
	{ "performance_counter_id", ROLE_COUNTER },
	{ "performance_counter_description", ROLE_COUNTER },
	{ "performance_counter_sets", ROLE_COUNTER },
	{ "symbol_id", ROLE_SYMBOL_ID },
	{ "model_flops", ROLE_MODEL_FLOPS },
	{ "memory_access_breakdown", ROLE_BREAKDOWN },
	{ "hlo_category", ROLE_CATEGORY },
	{ "tf_op", ROLE_TF_OP },
	{ "source", ROLE_SOURCE },
	{ "source_stack", ROLE_SOURCE_STACK },
	{ "shape_with_layout", ROLE_SHAPE },
	{ "Hlo Proto", ROLE_HLO_PROTO },
	{ "hlo_proto", ROLE_HLO_PROTO },
	{ "device_type_string", ROLE_DEVICE_TYPE },
	{ "gpu_device_name", ROLE_GPU_NAME },
	{ "device_vendor", ROLE_VENDOR },
	{ "peak_teraflops_per_second", ROLE_PEAK_TFLOPS },
	{ "peak_hbm_bw_gigabytes_per_second", ROLE_PEAK_HBM },
	{ "peak_vmem_rd_bw_gigabytes_per_second", ROLE_PEAK_VMEM_RD },
	{ "peak_vmem_wr_bw_gigabytes_per_second", ROLE_PEAK_VMEM_WR },
	{ "peak_cmem_rd_bw_gigabytes_per_second", ROLE_PEAK_CMEM_RD },
	{ "peak_cmem_wr_bw_gigabytes_per_second", ROLE_PEAK_CMEM_WR },
	{ "has_megacore", ROLE_MEGACORE },
	{ "core_details", ROLE_CORE_DETAILS },
	{ "clock_rate", ROLE_CLOCK_RATE },
	{ "core_count", ROLE_CORE_COUNT },
	{ "memory_bandwidth", ROLE_MEMORY_BANDWIDTH },
	{ "memory_size", ROLE_MEMORY_SIZE },
	{ "compute_cap_major", ROLE_CC_MAJOR },
	{ "compute_cap_minor", ROLE_CC_MINOR },
	{ TS_PREDICTED_STAT, ROLE_PREDICTED },
	{ TS_LIBTPU_STAT, ROLE_LIBTPU },
	{ "libtpu_version", ROLE_LIBTPU_VERSION },
	{ "device_id", ROLE_DEVICE_ID },
	{ "profile_start_time", ROLE_START_TIME },
	{ "profile_stop_time", ROLE_STOP_TIME },
	{ "JAX_PLATFORMS", ROLE_PLATFORMS },
	{ "JAX_PLATFORM_NAME", ROLE_PLATFORMS },
	{ "tpu_topology", ROLE_MEANT },
	{ "TPU_TOPOLOGY", ROLE_MEANT },
	{ "TPU_ACCELERATOR_TYPE", ROLE_MEANT },
	{ "tpu_version", ROLE_MEANT }, /* as cpu_version: jax writes its platform's */
	{ "cuda_version", ROLE_MEANT },
	{ "gpu_version", ROLE_MEANT },
	{ "rocm_version", ROLE_MEANT },
	{ "matrix_unit_utilization_percent", ROLE_MXU_UTILIZATION },
	{ "hbm_utilization_percent", ROLE_HBM_UTILIZATION },
};

static enum role xplane_role(struct ts_bytes name)
{
	TS_ASSERT_HOT(name.p || name.n == 0);
	for (size_t i = 0; i < TS_NELEM(role_rows); i++)
		if (ts_bytes_is(name, role_rows[i].name))
			return role_rows[i].role;
	return ROLE_NONE;
}

static bool id_table_set(struct id_table *table, int64_t id, uint32_t value)
{
	size_t old = table->nr_dense, cap = old;

	TS_ASSERT_HOT(table);
	/* Dense while ids follow each other closely: at most four times the room of those set so far. */
	table->nr_set++;
	if (id >= 0 && id < DENSE_MAX &&
	    ((size_t)id < old || (size_t)id < 4 * (table->nr_set + 64))) {
		if ((size_t)id >= old) {
			if (!ts_grow(&table->dense, &cap, (size_t)id + 1, sizeof(*table->dense)))
				return false;
			for (size_t i = old; i < cap; i++)
				table->dense[i] =
					table->sparse.nr ? ts_map_find(&table->sparse, i) : TS_NONE;
			table->nr_dense = cap;
		}
		table->dense[id] = value;
		return true;
	}
	return ts_map_set(&table->sparse, (uint64_t)id, value);
}

void ts_id_table_release(struct id_table *table)
{
	TS_ASSERT(table);
	free(table->dense);
	ts_map_release(&table->sparse);
}

struct ts_bytes ts_xstat_text(const struct xplane_plane *plane, const struct xstat *stat)
{
	uint32_t at;

	TS_ASSERT_HOT(plane && stat);
	if (stat->field != XSTAT_REF)
		return stat->text;
	at = id_table_find(&plane->names, (int64_t)stat->number);
	if (at == TS_NONE)
		return (struct ts_bytes){ NULL, 0 };
	return ts_bytes_cut(plane->stat_names[at], 0, TS_LIMIT_SHARED_TEXT);
}

static void meta_add_to(int64_t *sum, int64_t n)
{
	*sum = ts_i64_add(TS_MAX(*sum, 0), n);
}

static void add_access(struct ts_op *op, uint64_t space, bool is_write, int64_t n)
{
	if (space == 1)
		meta_add_to(is_write ? &op->hbm_write_bytes : &op->hbm_read_bytes, n);
	else if (space == 2)
		meta_add_to(is_write ? &op->cmem_write_bytes : &op->cmem_read_bytes, n);
	else if (space == 3)
		meta_add_to(is_write ? &op->vmem_write_bytes : &op->vmem_read_bytes, n);
	if (space == 2 || space == 3)
		meta_add_to(&op->onchip_bytes, n);
}

/* MemoryAccessBreakdown {1: repeated {1 operation_type, 2 memory_space, 3 bytes_accessed}}:
 * operation 1 reads, 2 writes; space 1 is HBM, 2 CMEM, 3 VMEM (facts: b4). */
static void read_breakdown(struct ts_op *op, struct ts_bytes bytes)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(bytes, &error);

	while (ts_pb_next(&pb)) {
		struct ts_pb access = ts_pb_enter(&pb);
		uint64_t operation = 0, space = 0;
		int64_t n = 0;

		if (pb.field != 1)
			continue;
		while (ts_pb_next(&access)) {
			if (access.field == 1)
				operation = ts_pb_u64(&access);
			else if (access.field == 2)
				space = ts_pb_u64(&access);
			else if (access.field == 3)
				n = ts_pb_i64(&access);
		}
		if (n >= 0)
			add_access(op, space, operation == 2, n);
	}
}

static struct ts_bytes without_colon(struct ts_bytes text)
{
	size_t colon = ts_bytes_find(text, ":");

	return ts_bytes_cut(text, 0, colon); /* "jit(f)/add:Add" is scope and type */
}

/* What reports print at every op: a short reference may stand for a long text. */
static struct ts_bytes printed_text(struct xplane_plane *plane, const struct xstat *stat)
{
	struct ts_bytes text = ts_xstat_text(plane, stat);

	if (stat->field != XSTAT_REF)
		return text;
	plane->shared_bytes += text.n;
	if (plane->shared_bytes <= plane->max_shared)
		return text;
	plane->nr_unshared++;
	return (struct ts_bytes){ NULL, 0 };
}

static void meta_take_stat(struct xplane_plane *plane, struct ts_op *op, const struct xstat *stat)
{
	uint32_t role = id_table_find(&plane->roles, stat->id);

	switch (role) {
	case ROLE_PROGRAM_ID:
		op->program_id = (uint64_t)xstat_int(stat);
		op->has_program = true;
		break;
	case ROLE_SYMBOL_ID:	  op->symbol_id = (uint64_t)xstat_int(stat); break;
	case ROLE_FLOPS:	  op->flops = xstat_int(stat); break;
	case ROLE_MODEL_FLOPS:	  op->model_flops = xstat_int(stat); break;
	case ROLE_BYTES_ACCESSED: op->bytes_accessed = xstat_int(stat); break;
	case ROLE_BREAKDOWN:	  read_breakdown(op, ts_xstat_text(plane, stat)); break;
	case ROLE_CATEGORY:	  op->category = printed_text(plane, stat); break;
	case ROLE_TF_OP:	  op->framework_op = without_colon(printed_text(plane, stat)); break;
	case ROLE_SOURCE:	  op->source = printed_text(plane, stat); break;
	case ROLE_SOURCE_STACK:	  op->source_stack = ts_xstat_text(plane, stat); break;
	case ROLE_SHAPE:	  op->shape = printed_text(plane, stat); break;
	default:		  break;
	}
}

/* "jit_f(12190760917235803885)" is an execution of a module. */
static bool split_module_name(struct ts_bytes name, struct ts_bytes *stem, uint64_t *program_id)
{
	size_t open = name.n;

	if (!ts_bytes_ends(name, ")"))
		return false;
	while (open > 0 && name.p[open - 1] != '(')
		open--;
	if (open == 0 || !ts_bytes_u64(ts_bytes_cut(name, open, name.n - open - 1), program_id))
		return false;
	*stem = ts_bytes_cut(name, 0, TS_MIN(open - 1, TS_LIMIT_NAME));
	return true;
}

static void read_event_metadata(struct xplane_plane *plane, struct ts_pb pb, struct ts_op *op,
				struct ts_bytes *full_name)
{
	struct ts_bytes display = { NULL, 0 };
	struct xstat stat;

	*full_name = display;
	while (ts_pb_next(&pb)) {
		switch (pb.field) {
		case XEVENTMETA_NAME:	      *full_name = ts_pb_bytes(&pb); break;
		case XEVENTMETA_DISPLAY_NAME: display = ts_pb_bytes(&pb); break;
		case XEVENTMETA_STATS:
			xstat_read(ts_pb_enter(&pb), &stat);
			meta_take_stat(plane, op, &stat);
			break;
		default: break;
		}
	}
	op->name = display.n ? display : *full_name;
	if (display.n)
		op->text = *full_name;
}

static bool enter_entry(struct ts_pb entry, int64_t *key, struct ts_pb *value)
{
	bool found = false;

	*key = 0;
	while (ts_pb_next(&entry)) {
		if (entry.field == MAP_KEY)
			*key = ts_pb_i64(&entry);
		if (entry.field == MAP_VALUE) {
			*value = ts_pb_enter(&entry);
			found = true;
		}
	}
	return found;
}

static bool meta_has(const struct xplane_plane *plane, struct ts_bytes body, enum role role)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(body, &error);
	struct xstat stat;

	while (ts_pb_next(&pb)) {
		if (pb.field != XEVENTMETA_STATS)
			continue;
		xstat_read(ts_pb_enter(&pb), &stat);
		if (id_table_find(&plane->roles, stat.id) == role)
			return true;
	}
	return false;
}

bool ts_xplane_metadata_has(const struct xplane_plane *plane, int64_t id, enum role role)
{
	TS_ASSERT(plane);
	return meta_has(plane, xplane_metadata(plane, id), role);
}

/* Does the metadata say something of a counter, which its events then need not say? */
static bool meta_is_of_counter(const struct xplane_plane *plane, struct ts_bytes body)
{
	return plane->has_counters &&
	       (meta_has(plane, body, ROLE_COUNTER_VALUE) || meta_has(plane, body, ROLE_COUNTER));
}

/* Asynchronous ops of a program may have one name ("async-copy") and all else of their own. */
static enum ts_status keep_metadata(const struct ts_rooms *rooms, struct ts_op *op,
				    struct ts_bytes text, struct xplane_plane *plane, int64_t key,
				    struct ts_bytes body, struct ts_error *err)
{
	bool is_of_program = op->has_program && text.n > 0;

	if (!is_of_program && !meta_is_of_counter(plane, body))
		return TS_OK;
	op->has_variants |= is_of_program && !ts_bytes_eq(op->text, text);
	plane->has_variants |= op->has_variants;
	if (!ts_room_grow(rooms, &plane->op_metadata, &plane->cap_op_metadata,
			  plane->nr_op_metadata + 1, sizeof(*plane->op_metadata)))
		return ts_fail_nomem(err);
	plane->op_metadata[plane->nr_op_metadata] = body;
	if (!id_table_set(&plane->metadata, key, (uint32_t)plane->nr_op_metadata++))
		return ts_fail_nomem(err);
	return TS_OK;
}

static enum ts_status meta_add_op(struct ts_profile *profile, enum ts_plane_kind kind,
				  struct xplane_plane *plane, int64_t key, struct ts_pb value,
				  struct ts_error *err)
{
	struct ts_bytes body = { value.p, (size_t)(value.end - value.p) }, full_name, stem;
	struct ts_op op;
	uint32_t index;

	ts_op_init(&op);
	read_event_metadata(plane, value, &op, &full_name);
	if (kind == TS_PLANE_TPU && !op.has_program &&
	    split_module_name(full_name, &stem, &op.program_id)) {
		op.kind = TS_OP_MODULE;
		op.has_program = true;
		op.name = stem;
		op.text = full_name;
	}
	index = ts_profile_intern_op(profile, &op);
	if (index == TS_NONE || !id_table_set(&plane->ops, key, index))
		return ts_fail_nomem(err);
	return keep_metadata(profile->rooms, &profile->ops[index], op.text, plane, key, body, err);
}

static enum ts_status add_stat_name(struct xplane_plane *plane, int64_t key, struct ts_pb value,
				    struct ts_error *err)
{
	struct ts_bytes name = { NULL, 0 };
	enum role role;

	while (ts_pb_next(&value))
		if (value.field == XSTATMETA_NAME)
			name = ts_pb_bytes(&value);
	role = xplane_role(name);
	plane->has_counters |= role == ROLE_COUNTER_VALUE;
	plane->has_links |= role == ROLE_CORRELATION;
	plane->names_ops |= role == ROLE_HLO_OP;
	if (!ts_grow(&plane->stat_names, &plane->cap_stat_names, plane->nr_stat_names + 1,
		     sizeof(*plane->stat_names)) ||
	    !id_table_set(&plane->names, key, (uint32_t)plane->nr_stat_names) ||
	    (role != ROLE_NONE && !id_table_set(&plane->roles, key, role)))
		return ts_fail_nomem(err);
	plane->stat_names[plane->nr_stat_names++] = name;
	return TS_OK;
}

enum ts_status ts_xplane_read_metadata(struct ts_profile *profile, uint32_t plane_index,
				       struct xplane_plane *plane, struct ts_pb pb,
				       struct ts_error *err)
{
	enum ts_plane_kind kind = profile->planes[plane_index].kind;
	struct ts_pb names = pb, value;
	enum ts_status st = TS_OK;
	struct ts_op unknown;
	int64_t key;

	TS_ASSERT(profile && plane);
	plane->max_shared = ts_u64_add(ts_u64_mul((uint64_t)(pb.end - pb.p), TS_LIMIT_SHARED_RATIO),
				       TS_LIMIT_SHARED_FLOOR);
	while (st == TS_OK &&
	       ts_pb_next(&names)) /* first: stats of events are known by these names */
		if (names.field == XPLANE_STAT_METADATA &&
		    enter_entry(ts_pb_enter(&names), &key, &value))
			st = add_stat_name(plane, key, value, err);
	if (st || kind == TS_PLANE_OURS)
		return st;
	while (st == TS_OK && kind != TS_PLANE_METADATA && ts_pb_next(&pb)) /* there: modules */
		if (pb.field == XPLANE_EVENT_METADATA &&
		    enter_entry(ts_pb_enter(&pb), &key, &value))
			st = meta_add_op(profile, kind, plane, key, value, err);
	if (st)
		return st;
	ts_op_init(&unknown);
	unknown.name = TS_LIT("(event without metadata)");
	plane->unknown_op = ts_profile_intern_op(profile, &unknown);
	return plane->unknown_op == TS_NONE ? ts_fail_nomem(err) : TS_OK;
}

static uint64_t meta_hlo_key(const struct xstat *name, uint64_t program_id, enum ts_op_kind kind)
{
	uint64_t key = name->field == XSTAT_REF ? name->number : ts_hash(name->text, 1);

	if (kind == TS_OP_MODULE) /* by its program alone */
		key = UINT64_MAX;
	return ts_hash((struct ts_bytes){ (const uint8_t *)&key, sizeof(key) }, program_id);
}

uint32_t ts_xplane_hlo_op(const struct xplane_plane *plane, const struct xstat *name,
			  uint64_t program_id, enum ts_op_kind kind)
{
	TS_ASSERT_HOT(plane && name);
	return ts_map_find(&plane->hlo_ops, meta_hlo_key(name, program_id, kind));
}

/* "a::b::c": the last is the innermost op, the one XProf counts. */
static struct ts_bytes meta_innermost(struct ts_bytes names)
{
	for (size_t at = names.n; at >= 2; at--)
		if (names.p[at - 1] == ':' && names.p[at - 2] == ':')
			return ts_bytes_cut(names, at, names.n);
	return names;
}

enum ts_status ts_xplane_add_hlo_op(struct ts_profile *profile, struct xplane_plane *plane,
				    const struct xstat *name, uint64_t program_id,
				    enum ts_op_kind kind, struct ts_error *err)
{
	uint64_t key = meta_hlo_key(name, program_id, kind);
	struct ts_op op;
	uint32_t at;

	TS_ASSERT(profile && plane && name);
	if (ts_map_find(&plane->hlo_ops, key) != TS_NONE)
		return TS_OK;
	ts_op_init(&op);
	op.kind = kind;
	op.name = meta_innermost(ts_xstat_text(plane, name));
	op.program_id = program_id;
	op.has_program = true;
	at = ts_profile_intern_op(profile, &op);
	return at != TS_NONE && ts_map_set(&plane->hlo_ops, key, at) ? TS_OK : ts_fail_nomem(err);
}

static void meta_note_module(struct ts_profile *profile, const struct ts_read_request *request,
			     struct ts_bytes proto, uint64_t program_id, const char *cause)
{
	size_t at = profile->nr_damage;

	ts_profile_add_damage(profile, request->file, (uint64_t)(proto.p - request->bytes.p), cause,
			      true);
	if (profile->nr_damage > at) {
		profile->damage[at].of_module = true;
		profile->damage[at].program_id = program_id;
	}
}

/*
 * One entry of /host:metadata. An entry that is not a module, or cannot be read, is left out and
 * noted.
 */
static enum ts_status meta_add_module(struct ts_profile *profile,
				      const struct ts_read_request *request,
				      const struct xplane_plane *plane, int64_t key,
				      struct ts_pb pb, struct ts_error *err)
{
	struct ts_bytes name = { NULL, 0 }, proto = { NULL, 0 }, stem = { NULL, 0 };
	uint64_t program_id = (uint64_t)key;
	struct ts_error cause = TS_ERROR_INIT;
	struct ts_hlo_module module, *kept;
	struct xstat stat;
	enum ts_status st;

	while (ts_pb_next(&pb)) {
		if (pb.field == XEVENTMETA_NAME)
			name = ts_pb_bytes(&pb);
		if (pb.field != XEVENTMETA_STATS)
			continue;
		xstat_read(ts_pb_enter(&pb), &stat);
		if (id_table_find(&plane->roles, stat.id) == ROLE_HLO_PROTO)
			proto = ts_xstat_text(plane, &stat);
	}
	split_module_name(name, &stem, &program_id);
	if (proto.n == 0 || ts_profile_module_of(profile, program_id) != TS_NONE)
		return TS_OK;
	memset(&module, 0, sizeof(module));
	st = ts_hlo_read(&profile->arena, proto, request->file, &module, &cause);
	if (st == TS_NOMEM)
		return ts_fail_nomem(err);
	if (st) {
		meta_note_module(profile, request, proto, program_id, cause.text);
		return TS_OK;
	}
	kept = ts_profile_add_module(profile, program_id);
	if (!kept)
		return ts_fail_nomem(err);
	*kept = module;
	kept->program_id = program_id;
	kept->proto = proto;
	return TS_OK;
}

enum ts_status ts_xplane_read_modules(struct ts_profile *profile,
				      const struct ts_read_request *request,
				      struct xplane_plane *plane, struct ts_pb pb,
				      struct ts_error *err)
{
	enum ts_status st = TS_OK;
	struct ts_pb value;
	int64_t key;

	TS_ASSERT(profile && request && plane);
	while (st == TS_OK && ts_pb_next(&pb))
		if (pb.field == XPLANE_EVENT_METADATA &&
		    enter_entry(ts_pb_enter(&pb), &key, &value))
			st = meta_add_module(profile, request, plane, key, value, err);
	return st;
}
