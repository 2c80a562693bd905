/* SPDX-License-Identifier: MIT */
/*
 * The xplane reader: XSpace protos (tsl/profiler/protobuf/xplane.proto) as JAX, TensorFlow and
 * PyTorch/XLA write them. Here: planes, lines and devices. The file is walked by lengths; of the
 * lines only their own fields are read, events are skipped over and counted.
 *
 * A plane's metadata stands behind its lines, so a plane is walked more than once; that costs
 * nothing, a line is one step of the walk.
 *
 * Left out: names of the planes' children, XEventMetadata.child_id (no analysis asks for them).
 */
#include <math.h>

#include "base/limits.h"
#include "base/units.h"
#include "base/work.h"
#include "model/plane_kind.h"
#include "read/xplane/xplane.h"

#define MAX_ERROR   200		       /* bytes of a message of the profiler that are shown */
#define ABSOLUTE_NS 100000000000000000 /* 1973: a timestamp above it counts from the epoch */

#define SAMPLES 16 /* events of a line, evenly over it, by which it is known when it was */

struct samples {
	struct ts_bytes events[SAMPLES];
	uint64_t stride; /* each so many events one */
	size_t nr;
};

static void index_take_sample(struct samples *samples, uint64_t at, struct ts_bytes event)
{
	if (at % samples->stride != 0)
		return;
	if (samples->nr == SAMPLES) {
		for (size_t i = 0; i < SAMPLES / 2; i++)
			samples->events[i] = samples->events[2 * i];
		samples->nr = SAMPLES / 2;
		samples->stride *= 2;
		if (at % samples->stride != 0)
			return;
	}
	samples->events[samples->nr++] = event;
}

/* When an event begins and ends, since its line does; it ends when it begins where its length cannot be. */
static struct ts_span index_span_of(struct ts_bytes event)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(event, &error);
	int64_t start_ps = 0, dur_ps = 0;

	while (ts_pb_next(&pb)) {
		if (pb.field == XEVENT_OFFSET_PS)
			start_ps = ts_pb_i64(&pb);
		else if (pb.field == XEVENT_DURATION_PS)
			dur_ps = ts_pb_i64(&pb);
	}
	if (dur_ps < 0 || dur_ps > TS_CAPTURE_GAP_PS)
		dur_ps = 0;
	return (struct ts_span){ start_ps, ts_i64_add(start_ps, dur_ps) };
}

/* Of a line: when the most of its samples are, since it begins. LAST: its last event. */
static void index_find_middle(struct ts_line *line, const struct samples *samples,
			      struct ts_bytes last)
{
	struct ts_time_groups groups = { .gap = TS_CAPTURE_GAP_PS };
	const struct ts_time_group *most;

	for (size_t i = 0; i <= samples->nr; i++) {
		struct ts_span span = index_span_of(i < samples->nr ? samples->events[i] : last);
		uint32_t at = ts_time_groups_add(&groups, span.start_ps, 1);

		if (at < TS_TIME_GROUPS)
			groups.items[at].end = TS_MAX(groups.items[at].end, span.end_ps);
	}
	most = ts_time_groups_most(&groups);
	line->usual = (struct ts_span){ most->first, TS_MAX(most->end, most->last) };
}

/* A line's own fields, wherever they stand among the events. */
static void index_read_head(struct ts_line *line)
{
	struct samples samples = { .stride = 1 };
	struct ts_bytes display = { NULL, 0 }, last = { NULL, 0 };
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(line->body, &error);

	while (ts_pb_next(&pb)) {
		switch (pb.field) {
		case XLINE_EVENTS:
			if (pb.wire != TS_PB_BYTES)
				break;
			last = ts_pb_bytes(&pb);
			index_take_sample(&samples, line->nr_events++, last);
			break;
		case XLINE_ID:		 line->id = ts_pb_i64(&pb); break;
		case XLINE_NAME:	 line->name = ts_pb_bytes(&pb); break;
		case XLINE_DISPLAY_NAME: display = ts_pb_bytes(&pb); break;
		case XLINE_TIMESTAMP_NS: line->timestamp_ns = ts_pb_i64(&pb); break;
		default:		 break;
		}
	}
	if (display.n)
		line->name = display;
	line->name = ts_bytes_cut(line->name, 0, TS_LIMIT_NAME);
	if (line->nr_events > 0)
		index_find_middle(line, &samples, last);
}

struct line_job {
	struct ts_profile *profile;
	uint32_t first_line;
};

static enum ts_status read_line_head(void *ctx, size_t job, size_t thread, struct ts_error *err)
{
	struct line_job *jobs = ctx;

	index_read_head(&jobs->profile->lines[jobs->first_line + job]);
	return TS_OK; /* damage is noted when the events are read */
}

static void core_details(struct ts_device *device, struct ts_bytes bytes)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(bytes, &error);

	device->local_chip_id = 0; /* CoreDetails: zero values are not written */
	while (ts_pb_next(&pb))
		if (pb.field == 4) /* local_chip_id */
			device->local_chip_id = ts_pb_i64(&pb);
}

static void take_device_stat(struct ts_device *device, enum role role, const struct xstat *stat,
			     struct ts_bytes text)
{
	double giga = xstat_real(stat) * 1e9;

	switch (role) {
	case ROLE_DEVICE_TYPE:
	case ROLE_GPU_NAME:	    device->kind = text; break;
	case ROLE_VENDOR:	    device->vendor = text; break;
	case ROLE_PEAK_TFLOPS:	    device->peak_flops_per_s = giga * 1e3; break;
	case ROLE_PEAK_HBM:	    device->hbm_bytes_per_s = giga; break;
	case ROLE_PEAK_VMEM_RD:	    device->vmem_read_bytes_per_s = giga; break;
	case ROLE_PEAK_VMEM_WR:	    device->vmem_write_bytes_per_s = giga; break;
	case ROLE_PEAK_CMEM_RD:	    device->cmem_read_bytes_per_s = giga; break;
	case ROLE_PEAK_CMEM_WR:	    device->cmem_write_bytes_per_s = giga; break;
	case ROLE_MEGACORE:	    device->has_megacore = xstat_int(stat) != 0; break;
	case ROLE_CORE_DETAILS:	    core_details(device, text); break;
	case ROLE_CLOCK_RATE:	    device->clock_khz = xstat_int(stat); break;
	case ROLE_CORE_COUNT:	    device->core_count = xstat_int(stat); break;
	case ROLE_MEMORY_BANDWIDTH: device->hbm_bytes_per_s = xstat_real(stat); break;
	case ROLE_MEMORY_SIZE:	    device->hbm_bytes = xstat_int(stat); break;
	case ROLE_CC_MAJOR:	    device->cc_major = xstat_int(stat); break;
	case ROLE_CC_MINOR:	    device->cc_minor = xstat_int(stat); break;
	case ROLE_PREDICTED:	    device->predicted = text; break;
	case ROLE_LIBTPU:	    device->libtpu = text; break;
	case ROLE_DEVICE_ID:	    device->device_id = xstat_int(stat); break;
	default:		    break;
	}
}

/* "tpu", "tpu,cpu"; but "cpu,tpu" is satisfied with a CPU. */
static bool is_other_than_cpu(struct ts_bytes platforms)
{
	return platforms.n > 0 && !ts_bytes_starts(platforms, "cpu");
}

static void take_meant(struct ts_profile *profile, struct ts_host *host,
		       const struct xplane_plane *data, enum role role, const struct xstat *stat)
{
	uint32_t name = id_table_find(&data->names, stat->id);
	struct ts_bytes text = ts_bytes_cut(ts_xstat_text(data, stat), 0, TS_LIMIT_NAME);

	if (host->meant.n > 0 || name == TS_NONE ||
	    (role == ROLE_PLATFORMS && !is_other_than_cpu(text)))
		return;
	host->meant = ts_arena_printf(&profile->arena, "%.*s=%.*s", TS_ARG(data->stat_names[name]),
				      TS_ARG(text));
}

static void take_host_stat(struct ts_host *host, enum role role, const struct xstat *stat)
{
	switch (role) {
	case ROLE_START_TIME:	   host->start_unix_ns = xstat_int(stat); break;
	case ROLE_STOP_TIME:	   host->stop_unix_ns = xstat_int(stat); break;
	case ROLE_MXU_UTILIZATION: host->mxu_utilization_pct = xstat_real(stat); break;
	case ROLE_HBM_UTILIZATION: host->hbm_utilization_pct = xstat_real(stat); break;
	default:		   break;
	}
}

/* A rate of zero is not a rate: libtpu writes 0 for memories that a chip does not have. */
static void zero_is_unknown(struct ts_device *device)
{
	double *rates[] = { &device->peak_flops_per_s,	    &device->hbm_bytes_per_s,
			    &device->vmem_read_bytes_per_s, &device->vmem_write_bytes_per_s,
			    &device->cmem_read_bytes_per_s, &device->cmem_write_bytes_per_s };

	for (size_t i = 0; i < TS_NELEM(rates); i++)
		if (!(*rates[i] > 0) || !isfinite(*rates[i]))
			*rates[i] = NAN;
}

static void read_plane_stats(struct ts_profile *profile, const struct ts_plane *plane,
			     const struct xplane_plane *data, struct ts_pb pb)
{
	struct ts_device *device =
		plane->device == TS_NONE ? NULL : &profile->devices[plane->device];
	struct ts_host *host = &profile->hosts[plane->host];
	struct xstat stat;

	while (ts_pb_next(&pb)) {
		enum role role;
		uint32_t found;

		if (pb.field != XPLANE_STATS)
			continue;
		xstat_read(ts_pb_enter(&pb), &stat);
		found = id_table_find(&data->roles, stat.id);
		role = found == TS_NONE ? ROLE_NONE : (enum role)found;
		if (role == ROLE_LIBTPU_VERSION)
			host->libtpu = ts_bytes_cut(ts_xstat_text(data, &stat), 0, TS_LIMIT_NAME);
		else if (device)
			take_device_stat(device, role, &stat, ts_xstat_text(data, &stat));
		else if (role == ROLE_MEANT || role == ROLE_PLATFORMS)
			take_meant(profile, host, data, role, &stat);
		else
			take_host_stat(host, role, &stat);
	}
	if (device)
		zero_is_unknown(device);
}

/* Is the plane's field a line to be read? Those past the limit are counted, and left out. */
static bool takes_line(struct xplane_file *file, const struct ts_pb *pb)
{
	if (pb->field != XPLANE_LINES || pb->wire != TS_PB_BYTES)
		return false;
	if (file->nr_lines == TS_LIMIT_LINES) {
		file->nr_lines_over++;
		return false;
	}
	file->nr_lines++;
	return true;
}

/* Does the event have the value of a counter, or its metadata? */
static bool index_is_counter(const struct xplane_plane *plane, struct ts_bytes event)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(event, &error);
	struct xstat stat;
	int64_t id = 0;

	while (ts_pb_next(&pb)) {
		if (pb.field == XEVENT_METADATA_ID)
			id = ts_pb_i64(&pb);
		if (pb.field != XEVENT_STATS)
			continue;
		xstat_read(ts_pb_enter(&pb), &stat);
		if (id_table_find(&plane->roles, stat.id) == ROLE_COUNTER_VALUE)
			return true;
	}
	return ts_xplane_metadata_has(plane, id, ROLE_COUNTER_VALUE);
}

/* Counters that were read when the capture ended stand in lines of any name. */
static bool index_has_counters(const struct xplane_plane *plane, struct ts_bytes line)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(line, &error);

	while (plane->has_counters && ts_pb_next(&pb))
		if (pb.field == XLINE_EVENTS && pb.wire == TS_PB_BYTES &&
		    index_is_counter(plane, ts_pb_bytes(&pb)))
			return true;
	return false;
}

/* What the line with this BODY is for. Of planes without events of their own, and of a viewer's rows, nothing is missed. */
static void index_set_kind(struct ts_profile *profile, struct ts_line *line,
			   const struct xplane_plane *data, struct ts_bytes body)
{
	enum ts_plane_kind plane = profile->planes[line->plane].kind;

	line->kind = ts_line_kind_of(plane, line->name);
	if (line->kind == TS_LINE_OTHER && plane == TS_PLANE_TPU && index_has_counters(data, body))
		line->kind = TS_LINE_COUNTERS;
	line->has_points = line->kind == TS_LINE_SAMPLES;
	if (ts_bytes_starts(profile->planes[line->plane].name, TS_MEGASCALE_PLANE))
		return;
	if (line->kind == TS_LINE_OTHER && plane != TS_PLANE_METADATA && plane != TS_PLANE_TASK)
		line->unread = ts_arena_printf(&profile->arena, "line %.*s", TS_ARG(line->name));
}

static enum ts_status index_read_lines(struct ts_profile *profile, struct xplane_file *file,
				       uint32_t plane_index, struct ts_pb pb, size_t nr_threads,
				       struct ts_error *err)
{
	struct ts_plane *plane = &profile->planes[plane_index];
	struct line_job job = { .profile = profile, .first_line = (uint32_t)profile->nr_lines };
	enum ts_status st;

	plane->first_line = job.first_line;
	while (ts_pb_next(&pb)) {
		struct ts_line *line;

		if (!takes_line(file, &pb))
			continue;
		line = ts_profile_add_line(profile);
		if (!line)
			return ts_fail_nomem(err);
		line->plane = plane_index;
		line->body = ts_pb_bytes(&pb);
		plane->nr_lines++;
	}
	st = ts_work_run(nr_threads, plane->nr_lines, read_line_head, &job, err);
	for (uint32_t i = 0; i < plane->nr_lines; i++) {
		struct ts_line *line = &profile->lines[job.first_line + i];

		index_set_kind(profile, line, plane->reader_data, line->body);
	}
	return st;
}

/* A line that goes on, or begins, in a later piece of its plane. */
static enum ts_status add_part(struct ts_profile *profile, struct xplane_plane *first,
			       const struct xplane_plane *data, const struct ts_line *head,
			       uint32_t at, struct ts_error *err)
{
	struct ts_line *line = &profile->lines[at];

	if (!ts_grow(&first->parts, &first->cap_parts, first->nr_parts + 1, sizeof(*first->parts)))
		return ts_fail_nomem(err);
	first->parts[first->nr_parts++] = (struct xplane_part){
		.line = at,
		.body = head->body,
		.plane = data,
		.offset_ps = ts_i64_mul(ts_i64_sub(head->timestamp_ns, line->timestamp_ns),
					TS_PS_PER_NS),
	};
	line->nr_events += head->nr_events;
	first->has_links |= data->has_links;
	first->names_ops |= data->names_ops;
	return TS_OK;
}

static uint32_t index_add_line(struct ts_profile *profile, uint32_t plane_index,
			       const struct xplane_plane *data, const struct ts_line *head)
{
	struct ts_plane *plane = &profile->planes[plane_index];
	struct ts_line *line = ts_profile_add_line(profile);

	if (!line)
		return TS_NONE;
	line->plane = plane_index;
	line->id = head->id;
	line->name = head->name;
	line->timestamp_ns = head->timestamp_ns;
	index_set_kind(profile, line, data, head->body);
	plane->nr_lines++;
	return (uint32_t)profile->nr_lines - 1;
}

/* A plane in pieces, while it is read. */
struct whole {
	uint32_t index;
	struct xplane_plane *first; /* of its first piece */
	struct ts_map ids;	    /* of its lines so far */
};

/* The lines of a later piece, with DATA. */
static enum ts_status index_read_parts(struct ts_profile *profile, struct xplane_file *file,
				       struct whole *whole, const struct xplane_plane *data,
				       struct ts_pb pb, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	while (st == TS_OK && ts_pb_next(&pb)) {
		struct ts_line head = { .body = ts_pb_bytes(&pb) };
		uint32_t at;

		if (!takes_line(file, &pb))
			continue;
		index_read_head(&head);
		at = ts_map_find(&whole->ids, (uint64_t)head.id);
		if (at == TS_NONE) {
			at = index_add_line(profile, whole->index, data, &head);
			if (at == TS_NONE || !ts_map_set(&whole->ids, (uint64_t)head.id, at))
				return ts_fail_nomem(err);
		}
		st = add_part(profile, whole->first, data, &head, at, err);
	}
	return st;
}

static bool index_is_device(enum ts_plane_kind kind)
{
	return kind == TS_PLANE_TPU || kind == TS_PLANE_GPU;
}

/* Metadata of one piece of a plane that is not ours: what its ids mean. */
static enum ts_status read_ids(struct ts_profile *profile, const struct ts_read_request *request,
			       struct xplane_plane *data, uint32_t index, struct ts_pb pb,
			       struct ts_error *err)
{
	enum ts_plane_kind kind = profile->planes[index].kind;
	enum ts_status st;

	data->file_base = request->bytes.p;
	data->ops_by_stats = kind == TS_PLANE_GPU;
	st = ts_xplane_read_metadata(profile, index, data, pb, err);
	if (st == TS_OK && kind == TS_PLANE_METADATA)
		st = ts_xplane_read_modules(profile, request, data, pb, err);
	return st;
}

/* What is behind the head of a plane that is not ours. */
static enum ts_status index_read_body(struct ts_profile *profile,
				      const struct ts_read_request *request,
				      struct xplane_file *file, uint32_t index, struct ts_pb pb,
				      struct ts_error *err)
{
	struct xplane_plane *data = &file->planes[file->nr_read++];
	struct ts_plane *plane = &profile->planes[index];
	enum ts_status st;

	plane->reader_data = data;
	if (index_is_device(plane->kind) && !ts_profile_add_plane_device(profile, index))
		return ts_fail_nomem(err);
	st = read_ids(profile, request, data, index, pb, err);
	if (st == TS_OK)
		st = index_read_lines(profile, file, index, pb, request->nr_threads, err);
	if (st == TS_OK)
		read_plane_stats(profile, plane, data, pb);
	for (uint32_t i = 0; data->ops_by_stats && st == TS_OK && i < plane->nr_lines; i++)
		if (profile->lines[plane->first_line + i].kind == TS_LINE_OPS)
			st = ts_xplane_find_gpu_ops(
				profile, profile->lines[plane->first_line + i].body, data, err);
	return st;
}

/* A later piece of a plane. */
static enum ts_status read_piece(struct ts_profile *profile, const struct ts_read_request *request,
				 struct xplane_file *file, struct whole *whole, struct ts_pb pb,
				 struct ts_error *err)
{
	struct xplane_plane *data = &file->planes[file->nr_read++];
	const struct xplane_plane *first = whole->first;
	size_t nr_parts = first->nr_parts;
	enum ts_status st = read_ids(profile, request, data, whole->index, pb, err);

	if (st == TS_OK)
		st = index_read_parts(profile, file, whole, data, pb, err);
	if (st == TS_OK)
		read_plane_stats(profile, &profile->planes[whole->index], data, pb);
	for (size_t i = nr_parts; data->ops_by_stats && st == TS_OK && i < first->nr_parts; i++)
		if (profile->lines[first->parts[i].line].kind == TS_LINE_OPS)
			st = ts_xplane_find_gpu_ops(profile, first->parts[i].body, data, err);
	return st;
}

static struct ts_plane index_head_of(struct ts_pb pb)
{
	struct ts_plane head = { .id = 0 };

	while (ts_pb_next(&pb)) {
		if (pb.field == XPLANE_ID)
			head.id = ts_pb_i64(&pb);
		if (pb.field == XPLANE_NAME)
			head.name = ts_bytes_cut(ts_pb_bytes(&pb), 0, TS_LIMIT_NAME);
	}
	head.kind = ts_plane_kind_of(head.name);
	return head;
}

/* Planes of ours are not counted: there is one for each that was there. */
static enum ts_status read_plane(struct ts_profile *profile, const struct ts_read_request *request,
				 uint32_t host, struct xplane_file *file, struct ts_pb pb,
				 struct ts_error *err)
{
	struct ts_plane head = index_head_of(pb), *plane;
	uint32_t index = (uint32_t)profile->nr_planes;

	if (head.kind != TS_PLANE_OURS && file->nr_read == file->nr_planes) {
		file->nr_planes_over++;
		return TS_OK;
	}
	if (index_is_device(head.kind) && !ts_profile_takes_device(profile)) {
		file->nr_devices_over++;
		return TS_OK;
	}
	plane = ts_profile_add_plane(profile);
	if (!plane)
		return ts_fail_nomem(err);
	plane->host = host;
	plane->id = head.id;
	plane->name = head.name;
	plane->kind = head.kind;
	profile->hosts[host].nr_planes++;
	return head.kind == TS_PLANE_OURS ? TS_OK
					  : index_read_body(profile, request, file, index, pb, err);
}

static enum ts_status find_ids(const struct ts_profile *profile, uint32_t plane, struct ts_map *ids,
			       struct ts_error *err)
{
	uint32_t first = profile->planes[plane].first_line, nr = profile->planes[plane].nr_lines;

	for (uint32_t i = nr; i-- > 0;) /* of lines with one id the first goes on */
		if (!ts_map_set(ids, (uint64_t)profile->lines[first + i].id, first + i))
			return ts_fail_nomem(err);
	return TS_OK;
}

static void index_note_damage(struct ts_profile *profile, const struct ts_read_request *request,
			      struct ts_pb_error *error)
{
	if (error->cause)
		ts_profile_add_damage(profile, request->file,
				      (uint64_t)(error->at - request->bytes.p), error->cause,
				      false);
	*error = (struct ts_pb_error){ NULL, NULL };
}

/* A plane of one XSpace of several. Read: .body has no bytes any more. */
struct piece {
	struct ts_bytes body, name;
};

struct pieces {
	struct piece *items;
	size_t nr, cap;
};

static enum ts_status add_piece(struct pieces *pieces, struct ts_bytes body, struct ts_error *err)
{
	struct ts_pb_error none = { NULL, NULL };

	if (!ts_grow(&pieces->items, &pieces->cap, pieces->nr + 1, sizeof(*pieces->items)))
		return ts_fail_nomem(err);
	pieces->items[pieces->nr++] =
		(struct piece){ body, index_head_of(ts_pb_of(body, &none)).name };
	return TS_OK;
}

/* The plane that begins at PIECES[0], with what goes on with it among the NR. */
static enum ts_status read_all_pieces(struct ts_profile *profile,
				      const struct ts_read_request *request, uint32_t host,
				      struct xplane_file *file, struct piece *pieces, size_t nr,
				      struct ts_error *err)
{
	struct ts_pb_error error = { NULL, NULL };
	struct whole whole = { .index = (uint32_t)profile->nr_planes,
			       .first = &file->planes[file->nr_read] };
	enum ts_status st =
		read_plane(profile, request, host, file, ts_pb_of(pieces[0].body, &error), err);
	bool is_read = profile->nr_planes > whole.index &&
		       profile->planes[whole.index].reader_data == whole.first;

	if (st == TS_OK && is_read)
		st = find_ids(profile, whole.index, &whole.ids, err);
	for (size_t i = 1; i < nr && st == TS_OK; i++) {
		if (!pieces[i].body.p || !ts_bytes_eq(pieces[0].name, pieces[i].name))
			continue;
		if (is_read && file->nr_read < file->nr_planes)
			st = read_piece(profile, request, file, &whole,
					ts_pb_of(pieces[i].body, &error), err);
		pieces[i].body.p = NULL;
	}
	ts_map_release(&whole.ids);
	index_note_damage(profile, request, &error);
	return st;
}

static enum ts_status read_pieces(struct ts_profile *profile, const struct ts_read_request *request,
				  uint32_t host, struct xplane_file *file, struct pieces *pieces,
				  struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < pieces->nr && st == TS_OK; i++)
		if (pieces->items[i].body.p)
			st = read_all_pieces(profile, request, host, file, &pieces->items[i],
					     pieces->nr - i, err);
	return st;
}

/* When a line begins: since START_NS, where that is known and the line counts from the epoch. */
static int64_t index_begin_ns(const struct ts_line *line, int64_t start_ns)
{
	return start_ns > ABSOLUTE_NS && line->timestamp_ns > ABSOLUTE_NS
		       ? line->timestamp_ns - start_ns
		       : line->timestamp_ns;
}

static int64_t index_usual_ns(const struct ts_line *line, int64_t start_ns)
{
	return ts_i64_add(index_begin_ns(line, start_ns), line->usual.start_ps / TS_PS_PER_NS);
}

/* Are its events at a time? Counters that were read when the capture ended are at none. */
static bool index_is_timed(const struct ts_line *line)
{
	return line->nr_events > 0 && line->kind != TS_LINE_COUNTERS;
}

/* The lines' times that the most events are at, or (nothing but counters) lines are; NULL: there is none. */
static const struct ts_time_group *index_group_lines(const struct ts_profile *profile,
						     uint32_t first_line, int64_t start_ns,
						     struct ts_time_groups *groups)
{
	bool is_any_timed = false;

	*groups = (struct ts_time_groups){ .gap = TS_CAPTURE_GAP_PS / TS_PS_PER_NS };
	for (size_t i = first_line; i < profile->nr_lines; i++)
		is_any_timed |= index_is_timed(&profile->lines[i]);
	for (size_t i = first_line; i < profile->nr_lines; i++)
		if (is_any_timed ? index_is_timed(&profile->lines[i])
				 : profile->lines[i].nr_events > 0)
			ts_time_groups_add(groups, index_usual_ns(&profile->lines[i], start_ns),
					   profile->lines[i].nr_events);
	return ts_time_groups_most(groups);
}

/* A line that is of another time than the others. */
static void index_leave_out(struct ts_profile *profile, struct ts_line *line, struct ts_bytes file)
{
	const struct xplane_plane *plane = profile->planes[line->plane].reader_data;
	char text[256];

	snprintf(text, sizeof(text),
		 "%llu event%s of the line %.*s %s at times that cannot be and %s left out",
		 (unsigned long long)line->nr_events, line->nr_events == 1 ? "" : "s",
		 TS_ARG(ts_bytes_cut(line->name, 0, 80)), line->nr_events == 1 ? "is" : "are",
		 line->nr_events == 1 ? "was" : "were");
	ts_profile_note_damage(
		profile, &(struct ts_damage){ .file = file,
					      .offset = (uint64_t)(line->body.p - plane->file_base),
					      .cause = ts_bytes_of(text),
					      .minor = true,
					      .nr_events = line->nr_events });
	line->kind = TS_LINE_OTHER;
	line->nr_events = 0;
}

/* Are the most events, by their lines, of this time? Else the profiler's clock is another one. */
static bool index_are_in(const struct ts_profile *profile, uint32_t first_line,
			 const struct ts_capture_time *time)
{
	uint64_t nr = 0, nr_all = 0;

	for (size_t i = first_line; i < profile->nr_lines; i++) {
		const struct ts_line *line = &profile->lines[i];
		int64_t usual_ps = ts_i64_add(line->host_ps, line->usual.start_ps);

		if (!index_is_timed(line))
			continue;
		nr_all = ts_u64_add(nr_all, line->nr_events);
		if (usual_ps >= time->first_ps && usual_ps <= time->last_ps)
			nr = ts_u64_add(nr, line->nr_events);
	}
	return nr >= nr_all / 2;
}

/* What the events may take up: an hour before and behind what is known of lines, or what the profiler says. */
static void index_bound(const struct ts_profile *profile, struct ts_host *host, uint32_t first_line)
{
	struct ts_capture_time time = { INT64_MAX, INT64_MIN, INT64_MIN };

	for (size_t i = first_line; i < profile->nr_lines; i++) {
		const struct ts_line *line = &profile->lines[i];

		if (!index_is_timed(line))
			continue;
		time.first_ps =
			TS_MIN(time.first_ps, ts_i64_add(line->host_ps, line->usual.start_ps));
		time.end_ps = TS_MAX(time.end_ps, ts_i64_add(line->host_ps, line->usual.end_ps));
	}
	if (time.first_ps > time.end_ps)
		return;
	time.first_ps = ts_i64_sub(time.first_ps, TS_CAPTURE_GAP_PS);
	time.last_ps = ts_i64_add(time.end_ps, TS_CAPTURE_GAP_PS);
	host->time = time;
	if (host->start_unix_ns <= ABSOLUTE_NS || host->stop_unix_ns <= host->start_unix_ns)
		return;
	time = ts_capture_time_between(
		time, 0, ts_i64_mul(host->stop_unix_ns - host->start_unix_ns, TS_PS_PER_NS));
	if (index_are_in(profile, first_line, &time))
		host->time = time;
}

/*
 * Lines say when they begin in ns: since the epoch, or since the profiler's start (the Task
 * Environment plane's profile_start_time). Without that, the earliest line of the capture is the start.
 */
static void set_time_base(struct ts_profile *profile, struct ts_host *host, uint32_t first_line)
{
	int64_t earliest = INT64_MAX, start = TS_MAX(host->start_unix_ns, 0);
	struct ts_time_groups groups;
	const struct ts_time_group *most = index_group_lines(profile, first_line, start, &groups);

	for (size_t i = first_line; i < profile->nr_lines; i++) {
		struct ts_line *line = &profile->lines[i];
		int64_t ns = index_usual_ns(line, start);
		bool is_of_capture = most && ns >= most->first && ns <= most->last;

		if (line->nr_events == 0)
			continue;
		if (is_of_capture)
			earliest = TS_MIN(earliest, line->timestamp_ns);
		else if (index_is_timed(line))
			index_leave_out(profile, line, host->file);
	}
	if (host->start_unix_ns <= ABSOLUTE_NS && earliest > ABSOLUTE_NS && earliest < INT64_MAX)
		host->start_unix_ns = earliest;
	start = TS_MAX(host->start_unix_ns, 0);
	for (size_t i = first_line; i < profile->nr_lines; i++) {
		struct ts_line *line = &profile->lines[i];

		line->host_ps = ts_i64_mul(index_begin_ns(line, start), TS_PS_PER_NS);
	}
	index_bound(profile, host, first_line);
}

static void release_file(void *data)
{
	struct xplane_file *file = data;

	for (size_t i = 0; i < file->nr_planes; i++) {
		struct xplane_plane *plane = &file->planes[i];

		ts_id_table_release(&plane->roles);
		ts_id_table_release(&plane->names);
		ts_id_table_release(&plane->ops);
		ts_id_table_release(&plane->metadata);
		ts_room_free(plane->op_metadata);
		ts_map_release(&plane->hlo_ops);
		free(plane->stat_names);
		free(plane->parts);
	}
	free(file->planes);
	ts_scratch_release(&file->unpacked);
	free(file);
}

static size_t index_count_planes(struct ts_pb pb)
{
	size_t nr = 0;

	while (nr < TS_LIMIT_PLANES && ts_pb_next(&pb))
		nr += pb.field == XSPACE_PLANES;
	return nr;
}

static struct xplane_file *index_new_file(size_t nr_planes)
{
	struct xplane_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->planes = calloc(nr_planes + 1, sizeof(*file->planes));
	if (!file->planes) {
		free(file);
		return NULL;
	}
	file->nr_planes = nr_planes;
	file->unpacked = (struct ts_scratch)TS_SCRATCH_INIT;
	return file;
}

static void note_over(struct ts_profile *profile, struct ts_bytes file, uint64_t nr,
		      const char *what)
{
	char text[160];

	if (nr == 0)
		return;
	snprintf(text, sizeof(text), "%llu %s", (unsigned long long)nr, what);
	ts_profile_add_damage(profile, file, 0, text, true);
}

static void note_limits(struct ts_profile *profile, struct ts_bytes name,
			const struct xplane_file *file)
{
	uint64_t nr_cut = 0;

	for (size_t i = 0; i < file->nr_read; i++)
		nr_cut += file->planes[i].nr_unshared;
	note_over(profile, name, file->nr_planes_over,
		  "planes were left out " TS_OVER(TS_LIMIT_PLANES));
	note_over(profile, name, file->nr_devices_over,
		  "devices were left out " TS_OVER(TS_LIMIT_DEVICES));
	note_over(profile, name, file->nr_lines_over,
		  "lines were left out " TS_OVER(TS_LIMIT_LINES));
	note_over(profile, name, nr_cut,
		  "texts that ops share were left out " TS_OVER(TS_LIMIT_SHARED_RATIO));
}

/* There is not one plane: the first damage says why. */
static enum ts_status no_plane(const struct ts_profile *profile, size_t nr_damage,
			       struct ts_error *err)
{
	const struct ts_host *host = &profile->hosts[profile->nr_hosts - 1];
	const struct ts_damage *damage;

	if (profile->nr_damage == nr_damage && host->nr_errors > 0)
		return ts_fail(err, TS_FORMAT, "byte 0: an XSpace without planes: \"%.*s\"",
			       TS_ARG(ts_bytes_cut(host->errors[0], 0, MAX_ERROR)));
	if (profile->nr_damage == nr_damage)
		return ts_fail(err, TS_FORMAT,
			       "byte 0: an XSpace without planes: the profiler recorded nothing "
			       "(start it before a step, and stop it after the step's result is "
			       "there)");
	damage = &profile->damage[nr_damage];
	return ts_fail(err, TS_FORMAT,
		       "byte %llu: %.*s (is it a profile, and was it copied whole?)",
		       (unsigned long long)damage->offset, TS_ARG(damage->cause));
}

/* Errors and warnings of the profiler: a few of them are enough. */
static enum ts_status take_message(struct ts_arena *arena, struct ts_bytes **kept, size_t *nr,
				   struct ts_bytes text, struct ts_error *err)
{
	if (!*kept)
		*kept = ts_arena_array(arena, TS_MAX_MESSAGES, sizeof(**kept));
	if (!*kept)
		return ts_fail_nomem(err);
	if (*nr < TS_MAX_MESSAGES)
		(*kept)[*nr] = text;
	++*nr;
	return TS_OK;
}

static enum ts_status read_message(struct ts_profile *profile, uint32_t index, struct ts_pb *pb,
				   struct ts_error *err)
{
	struct ts_host *host = &profile->hosts[index];
	bool is_error = pb->field == XSPACE_ERRORS;

	if (pb->wire != TS_PB_BYTES)
		return TS_OK;
	return take_message(&profile->arena, is_error ? &host->errors : &host->warnings,
			    is_error ? &host->nr_errors : &host->nr_warnings, ts_pb_bytes(pb), err);
}

static enum ts_status index_add_host(struct ts_profile *profile,
				     const struct ts_read_request *request,
				     struct xplane_file **file, struct ts_error *err)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_host *host = ts_profile_add_host(profile);

	if (!host)
		return ts_fail_nomem(err);
	host->name = request->host;
	host->file = request->file;
	host->file_bytes = request->bytes.n;
	*file = index_new_file(index_count_planes(ts_pb_of(request->bytes, &error)));
	if (!*file)
		return ts_fail_nomem(err);
	host->reader_data = *file;
	host->reader_release = release_file;
	return TS_OK;
}

/* One XSpace is read plane by plane. Of several, PIECES gathers the planes. */
static enum ts_status read_space(struct ts_profile *profile, const struct ts_read_request *request,
				 uint32_t host_index, struct xplane_file *file,
				 struct pieces *pieces, struct ts_error *err)
{
	struct ts_pb_error error = { NULL, NULL }, inner = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(request->bytes, &error);
	const uint8_t *start = pb.p;
	enum ts_status st = TS_OK;

	for (; st == TS_OK && ts_pb_next(&pb); start = pb.p) {
		size_t nr_planes = profile->nr_planes;

		if (pb.field == XSPACE_ERRORS || pb.field == XSPACE_WARNINGS)
			st = read_message(profile, host_index, &pb, err);
		if (pb.field != XSPACE_PLANES)
			continue;
		if (pieces) {
			st = add_piece(pieces, ts_pb_bytes(&pb), err);
			continue;
		}
		st = read_plane(profile, request, host_index, file,
				ts_pb_of(ts_pb_bytes(&pb), &inner), err);
		index_note_damage(profile, request, &inner);
		if (st == TS_OK && profile->nr_planes > nr_planes &&
		    profile->planes[nr_planes].kind == TS_PLANE_OURS)
			profile->hosts[host_index].file_bytes -= (size_t)(pb.p - start);
	}
	index_note_damage(profile, request, &error);
	return st;
}

enum ts_status ts_xplane_read(struct ts_profile *profile, const struct ts_read_request *request,
			      bool in_pieces, struct ts_error *err)
{
	uint32_t first_line = (uint32_t)profile->nr_lines, host_index = (uint32_t)profile->nr_hosts;
	struct pieces pieces = { NULL, 0, 0 };
	size_t nr_damage = profile->nr_damage;
	struct xplane_file *file;
	enum ts_status st = index_add_host(profile, request, &file, err);

	if (st)
		return st;
	st = read_space(profile, request, host_index, file, in_pieces ? &pieces : NULL, err);
	if (st == TS_OK)
		st = read_pieces(profile, request, host_index, file, &pieces, err);
	free(pieces.items);
	note_limits(profile, request->file, file);
	if (st == TS_OK && profile->hosts[host_index].nr_planes == 0)
		st = no_plane(profile, nr_damage, err);
	if (st)
		return st;
	set_time_base(profile, &profile->hosts[host_index], first_line);
	return ts_xplane_add_cpus(profile, host_index, err);
}

static enum ts_status xplane_read(struct ts_profile *profile, const struct ts_read_request *request,
				  struct ts_error *err)
{
	return ts_xplane_read(profile, request, false, err);
}

/* An XSpace begins with a plane: field 1, whose first field is an id, a name or a line. */
static int xplane_probe(struct ts_bytes file, struct ts_bytes bytes)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(bytes, &error), plane;
	bool named = ts_bytes_ends(file, ".xplane.pb") || ts_bytes_ends(file, "xplane.pb");

	if (!ts_pb_next(&pb))
		return named ? 50 : 0;
	if (pb.field != XSPACE_PLANES || pb.wire != TS_PB_BYTES)
		return named ? 50 : 0;
	plane = ts_pb_enter(&pb);
	if (ts_pb_next(&plane) && plane.field <= XPLANE_STATS)
		return named ? 90 : 30; /* an HloProto begins with field 1 too */
	return named ? 50 : 0;
}

const struct ts_reader ts_reader_xplane = {
	.name = "xplane",
	.title = "XPlane profile (.xplane.pb)",
	.annotate = TS_ANNOTATE_BEHIND,
	.form = TS_FORM_XSPACE,
	.probe = xplane_probe,
	.read = xplane_read,
	.stream = ts_xplane_stream,
	.place = ts_xplane_place,
};
