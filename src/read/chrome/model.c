/* SPDX-License-Identifier: MIT */
/*
 * What the scan found becomes the model: processes are planes, tracks are lines. A GPU's process
 * and the host's threads may go by the same number (PyTorch numbers GPUs from 0), so the category
 * of an event says which plane it stands on. Where no category says so, the process's name does, as
 * in traces that JAX's profiler wrote.
 */
#include "base/units.h"

#include "base/check.h"
#include "model/plane_kind.h"
#include "read/chrome/chrome.h"
#include "base/order.h"

#define ABSOLUTE_US INT64_C(100000000000000) /* 1973: a time above it counts from the epoch */

struct making {
	struct chrome_file *file;
	struct ts_profile *profile;
	uint32_t host;
	struct ts_error *err;
};

static const struct chrome_device *device_called(const struct chrome_file *file, int64_t id)
{
	for (size_t i = 0; i < file->nr_devices && id != TS_UNKNOWN; i++)
		if (file->devices[i].id == id)
			return &file->devices[i];
	return NULL;
}

#define SAME_MEMORY 50 /* of two cards of one kind the sizes differ by less than 1 in so many */

static bool is_same_kind(const struct chrome_device *a, const struct chrome_device *b)
{
	int64_t apart = ts_i64_sub(a->memory_bytes, b->memory_bytes);

	return ts_bytes_eq(a->name, b->name) && a->cc_major == b->cc_major &&
	       a->cc_minor == b->cc_minor && a->core_count == b->core_count &&
	       TS_MAX(apart, -apart) <= TS_MAX(a->memory_bytes, 0) / SAME_MEMORY;
}

/* The entry of the only kind that the file lists; NULL: it lists several, or none. */
static const struct chrome_device *device_of_one_kind(const struct chrome_file *file)
{
	for (size_t i = 1; i < file->nr_devices; i++)
		if (!is_same_kind(&file->devices[0], &file->devices[i]))
			return NULL;
	return file->nr_devices > 0 ? &file->devices[0] : NULL;
}

/*
 * What the file says of the device of these tracks. Its kernels say its number; the pid is that number too, but not
 * where ranks were merged. A process that sees some of the machine's devices lists these from 0 on, and its kernels may
 * bear the number that the machine has for them: then one kind is the kind of all.
 */
static const struct chrome_device *properties_of(const struct chrome_file *file,
						 const uint32_t *tracks, size_t nr)
{
	const struct chrome_track *first = &file->names.tracks[tracks[0]];
	const struct chrome_device *found = NULL;
	bool says = false;
	int64_t pid;

	for (size_t i = 0; i < nr && !found; i++) {
		found = device_called(file, file->names.tracks[tracks[i]].device);
		says |= file->names.tracks[tracks[i]].device != TS_UNKNOWN;
	}
	if (!says && ts_bytes_i64(file->names.processes[first->process].pid, &pid))
		found = device_called(file, pid);
	return found ? found : device_of_one_kind(file);
}

static enum ts_status model_add_device(struct making *making, uint32_t plane,
				       const uint32_t *tracks, size_t nr)
{
	struct ts_device *device = ts_profile_add_plane_device(making->profile, plane);
	const struct chrome_device *known = properties_of(making->file, tracks, nr);

	if (!device)
		return ts_fail_nomem(making->err);
	if (!known)
		return TS_OK;
	device->kind = known->name.n > 0 ? known->name : device->kind;
	device->hbm_bytes = known->memory_bytes > 0 ? known->memory_bytes : TS_UNKNOWN;
	device->cc_major = known->cc_major;
	device->cc_minor = known->cc_minor;
	device->core_count = known->core_count;
	return TS_OK;
}

/* A process that only marks moments, or spans of the profiler itself, is not a host. */
static bool has_threads(const struct chrome_file *file, const uint32_t *tracks, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (file->names.tracks[tracks[i]].class == CHROME_MAIN)
			return true;
	return false;
}

/* What a process shows that is a device's (named as ours and XLA's are, for instance) is that device's, whatever
 * category it has: what a viewer adds to a device has others than its kernels. */
static uint8_t side_of(const struct chrome_names *names, const struct chrome_track *track)
{
	return names->processes[track->process].shows == CHROME_SHOWS_DEVICE ? CHROME_DEVICE
									     : track->side;
}

static enum ts_plane_kind model_kind_of(const struct chrome_file *file, const uint32_t *tracks,
					size_t nr)
{
	const struct chrome_track *track = &file->names.tracks[tracks[0]];
	enum ts_plane_kind kind = ts_plane_kind_of(file->names.processes[track->process].name);

	if (side_of(&file->names, track) == CHROME_DEVICE)
		return TS_PLANE_GPU;
	if (kind != TS_PLANE_OTHER)
		return kind;
	if (file->names.processes[track->process].shows != CHROME_SHOWS_THREADS)
		return TS_PLANE_OTHER;
	return has_threads(file, tracks, nr) ? TS_PLANE_HOST : TS_PLANE_OTHER;
}

static struct ts_bytes plane_name(struct making *making, const struct chrome_track *track)
{
	const struct chrome_process *process = &making->file->names.processes[track->process];
	struct ts_arena *arena = &making->profile->arena;

	if (ts_plane_kind_of(process->name) != TS_PLANE_GPU &&
	    side_of(&making->file->names, track) == CHROME_DEVICE)
		return ts_arena_printf(arena, "/device:%.*s:%.*s", TS_ARG(process->word),
				       TS_ARG(process->by_thread ? track->tid : process->pid));
	if (process->name.n)
		return process->name;
	return ts_arena_printf(arena, "process %.*s", TS_ARG(process->pid));
}

static const struct chrome_category *category_of(const struct chrome_names *names,
						 const struct chrome_track *track)
{
	return track->category == TS_NONE ? NULL : &names->categories[track->category];
}

/* Calls of a runtime, and the like, which are shown beside a device's streams. */
static bool is_beside_streams(const struct chrome_names *names, const struct chrome_track *track)
{
	const struct chrome_category *category = category_of(names, track);

	return names->processes[track->process].shows == CHROME_SHOWS_DEVICE && category &&
	       category->side == CHROME_HOST && category->seen != CHROME_SEEN_OPEN;
}

static enum ts_line_kind line_kind(const struct chrome_names *names, enum ts_plane_kind plane,
				   const struct chrome_track *track)
{
	const struct chrome_process *process = &names->processes[track->process];

	if (track->class == CHROME_STEPS)
		return plane == TS_PLANE_GPU ? TS_LINE_STEPS : TS_LINE_OTHER;
	if (track->class == CHROME_ANNOTATION)
		return TS_LINE_DERIVED;
	if (track->class != CHROME_MAIN)
		return TS_LINE_OTHER;
	if (track->side == CHROME_DEVICE)
		return TS_LINE_OPS;
	if (process->shows == CHROME_SHOWS_DERIVED)
		return TS_LINE_DERIVED;
	if (is_beside_streams(names, track))
		return TS_LINE_OTHER;
	if (ts_bytes_starts(track->name, "TPUsight: "))
		return TS_LINE_DERIVED; /* an earlier annotation */
	return ts_line_kind_of(plane, track->name);
}

/* Kineto writes "stream 7 ". */
static struct ts_bytes without_blanks_behind(struct ts_bytes name)
{
	while (name.n > 0 && name.p[name.n - 1] == ' ')
		name.n--;
	return name;
}

static struct ts_bytes line_name(struct making *making, const struct chrome_track *track)
{
	static const char *const words[] = {
		[CHROME_MAIN] = "thread",      [CHROME_ANNOTATION] = "annotations",
		[CHROME_OTHER] = "other",      [CHROME_INSTANT] = "instants",
		[CHROME_COUNTER] = "counters", [CHROME_STEPS] = "Steps",
	};
	const char *word = words[track->class];

	if (track->name.n)
		return without_blanks_behind(track->name);
	if (track->class == CHROME_STEPS)
		return TS_LIT("Steps");
	if (track->class == CHROME_MAIN && side_of(&making->file->names, track) == CHROME_DEVICE)
		word = "stream";
	return ts_arena_printf(&making->profile->arena, "%s %.*s", word, TS_ARG(track->tid));
}

/* A number that systems give to a process or a thread; -1: it is not one. */
static int64_t system_id(struct ts_bytes text)
{
	int64_t id;

	return ts_bytes_i64(text, &id) && id >= 0 && id <= INT32_MAX ? id : -1;
}

/* What of it no rule takes; empty: its events are known. */
static struct ts_bytes model_unread(struct making *making, const struct chrome_track *track)
{
	const struct chrome_names *names = &making->file->names;
	const struct chrome_category *category = category_of(names, track);
	const struct chrome_process *process = &names->processes[track->process];
	struct ts_arena *arena = &making->profile->arena;

	if (category && category->is_unread)
		return ts_arena_printf(arena, "category %.*s", TS_ARG(category->name));
	if (process->shows != CHROME_SHOWS_UNREAD || track->class != CHROME_MAIN)
		return (struct ts_bytes){ NULL, 0 };
	if (category && category->name.n > 0)
		return ts_arena_printf(arena, "category %.*s", TS_ARG(category->name));
	return TS_LIT("no category");
}

static enum ts_status model_add_line(struct making *making, uint32_t plane, uint32_t index)
{
	struct chrome_file *file = making->file;
	const struct chrome_track *track = &file->names.tracks[index];
	struct ts_line *line = ts_profile_add_line(making->profile);

	if (!line)
		return ts_fail_nomem(making->err);
	line->plane = plane;
	if (!ts_bytes_i64(track->tid, &line->id))
		line->id = index;
	line->name = line_name(making, track);
	line->kind = line_kind(&file->names, making->profile->planes[plane].kind, track);
	line->unread = model_unread(making, track);
	line->nr_events = track->nr_events;
	line->repeats = track->class == CHROME_STEPS;
	line->has_points = track->class == CHROME_COUNTER;
	if (track->class == CHROME_MAIN && track->side == side_of(&file->names, track))
		line->thread = TS_MAX(system_id(track->tid), 0);
	file->line_tracks[making->profile->nr_lines - 1 - file->first_line] = index;
	making->profile->planes[plane].nr_lines++;
	return TS_OK;
}

/* TRACKS: those of one process on one side. */
static enum ts_status add_plane(struct making *making, const uint32_t *tracks, size_t nr)
{
	struct chrome_file *file = making->file;
	const struct chrome_track *first = &file->names.tracks[tracks[0]];
	uint32_t index = (uint32_t)making->profile->nr_planes;
	struct ts_plane *plane = ts_profile_add_plane(making->profile);
	int64_t pid = system_id(file->names.processes[first->process].pid);
	uint8_t side = side_of(&file->names, first);
	enum ts_status st = TS_OK;

	if (!plane)
		return ts_fail_nomem(making->err);
	plane->host = making->host;
	plane->id = index;
	plane->pid = pid > 0 && side == CHROME_HOST ? pid : TS_UNKNOWN; /* a GPU's is its index */
	plane->name = plane_name(making, first);
	plane->kind = model_kind_of(file, tracks, nr);
	file->planes[2 * first->process + first->side] = index;
	making->profile->hosts[making->host].nr_planes++;
	if (plane->kind == TS_PLANE_OURS)
		return TS_OK;
	if (plane->kind == TS_PLANE_GPU || plane->kind == TS_PLANE_TPU)
		st = model_add_device(making, index, tracks, nr);
	if (st == TS_OK && side == CHROME_DEVICE && file->step_track != TS_NONE)
		st = model_add_line(making, index, file->step_track);
	for (size_t i = 0; i < nr && st == TS_OK; i++)
		if (tracks[i] != file->step_track)
			st = model_add_line(making, index, tracks[i]);
	return st;
}

struct order {
	const struct chrome_track *track;
	uint32_t index;
	uint8_t side;
};

/* Devices first, then processes as the trace met them, lines likewise; in a process what its name
 * is for first. */
TS_ORDER(by_plane, struct order,
	 TS_DOWN(side) TS_UP(track->process) TS_UP(track->side) TS_UP(index))

/* The tracks with events, in the order of planes; *NR of them. */
static uint32_t *ordered_tracks(const struct chrome_names *names, size_t *nr)
{
	struct order *order = calloc(names->nr_tracks + 1, sizeof(*order));
	uint32_t *tracks = calloc(names->nr_tracks + 1, sizeof(*tracks));

	*nr = 0;
	for (uint32_t i = 0; order && tracks && i < names->nr_tracks; i++)
		if (names->tracks[i].nr_events > 0)
			order[(*nr)++] = (struct order){ &names->tracks[i], i,
							 side_of(names, &names->tracks[i]) };
	if (*nr > 0)
		qsort(order, *nr, sizeof(*order), by_plane);
	for (size_t i = 0; order && tracks && i < *nr; i++)
		tracks[i] = order[i].index;
	if (!order) {
		free(tracks);
		tracks = NULL;
	}
	free(order);
	return tracks;
}

static bool same_plane(const struct chrome_names *names, uint32_t a, uint32_t b)
{
	if (names->processes[names->tracks[a].process].by_thread &&
	    !ts_bytes_eq(names->tracks[a].tid, names->tracks[b].tid))
		return false;
	return names->tracks[a].process == names->tracks[b].process &&
	       side_of(names, &names->tracks[a]) == side_of(names, &names->tracks[b]);
}

static enum ts_status model_add_planes(struct making *making)
{
	struct chrome_file *file = making->file;
	const struct chrome_names *names = &file->names;
	enum ts_status st = TS_OK;
	size_t nr, end;
	uint32_t *tracks = ordered_tracks(names, &nr);

	/* Every device may show the steps beside its own. */
	file->line_tracks = calloc(2 * nr + 1, sizeof(*file->line_tracks));
	file->planes = calloc(2 * names->nr_processes + 1, sizeof(*file->planes));
	for (size_t i = 0; file->planes && i < 2 * names->nr_processes; i++)
		file->planes[i] = TS_NONE;
	file->first_line = (uint32_t)making->profile->nr_lines;
	if (!tracks || !file->line_tracks || !file->planes)
		st = ts_fail_nomem(making->err);
	for (size_t at = 0; st == TS_OK && at < nr; at = end) {
		for (end = at + 1; end < nr && same_plane(names, tracks[at], tracks[end]); end++)
			;
		if (ts_profile_takes_device(making->profile))
			st = add_plane(making, tracks + at, end - at);
		else
			file->nr_planes_over++;
	}
	free(tracks);
	return st;
}

/* Args of a device's op in a trace that JAX's profiler wrote, by their names there. */
static void take_args(struct ts_arena *arena, struct ts_op *op, struct ts_bytes args)
{
	struct ts_jtok members = ts_jtok_enter(args);

	while (ts_jtok_member(&members)) {
		const struct {
			const char *name;
			struct ts_bytes *text;
			int64_t *number;
		} places[] = {
			{ "hlo_category", &op->category, NULL },
			{ "long_name", &op->text, NULL },
			{ "tf_op", &op->framework_op, NULL },
			{ "source", &op->source, NULL },
			{ "source_stack", &op->source_stack, NULL },
			{ "shape_with_layout", &op->shape, NULL },
			{ "flops", NULL, &op->flops },
			{ "model_flops", NULL, &op->model_flops },
			{ "bytes_accessed", NULL, &op->bytes_accessed },
		};
		struct ts_bytes value = ts_jtok_text(members.value);

		for (size_t i = 0; i < TS_NELEM(places); i++) {
			if (!ts_bytes_is(members.key, places[i].name))
				continue;
			if (places[i].text)
				*places[i].text = ts_jtok_unescape(arena, value);
			else
				ts_bytes_i64(value, places[i].number);
		}
	}
}

/* Where an event has no category, its line says what it is. */
static void model_by_line(struct making *making, struct ts_op *op, const struct chrome_op *from)
{
	const struct chrome_track *track = &making->file->names.tracks[from->track];
	const struct chrome_names *names = &making->file->names;
	enum ts_plane_kind plane =
		side_of(names, track) == CHROME_DEVICE
			? TS_PLANE_GPU
			: ts_plane_kind_of(names->processes[track->process].name);
	enum ts_line_kind line = line_kind(names, plane, track);
	struct ts_bytes category = names->categories[from->category].name;

	op->is_event = true;
	if (line == TS_LINE_MODULES) {
		op->kind = TS_OP_MODULE;
	} else if (line == TS_LINE_STEPS) {
		op->kind = TS_OP_STEP;
	} else if (line == TS_LINE_OPS) {
		op->is_event = false;
		op->is_traced = true;
		take_args(&making->profile->arena, op, from->args);
		if (op->category.n == 0 && plane == TS_PLANE_GPU)
			op->category = TS_LIT("kernel");
		op->program_id = ts_hash(op->category, 0); /* hosts have ranges of these names */
	} else if (category.n > 0) {
		op->category = category;
		op->program_id = ts_hash(category, 0);
	}
}

/* Ops of one name are different ops in different categories: a range on the host and its kernels. */
static enum ts_status model_add_op(struct making *making, struct chrome_op *from)
{
	const struct chrome_category *category = &making->file->names.categories[from->category];
	struct ts_op op;

	ts_op_init(&op);
	op.name = ts_jtok_unescape(&making->profile->arena, from->raw);
	if (from->number != TS_NO_NUMBER) {
		op.kind = TS_OP_STEP;
	} else if (from->track != TS_NONE) {
		model_by_line(making, &op, from);
	} else {
		/* that of another maker's device is known as Kineto's own kernels are */
		op.category =
			category->kernel && category->device ? TS_LIT("kernel") : category->name;
		op.is_traced = category->kernel;
		op.is_event = !category->kernel;
		op.program_id = ts_hash(category->name, 0);
	}
	from->profile_op = op.name.p ? ts_profile_intern_op(making->profile, &op) : TS_NONE;
	return from->profile_op == TS_NONE ? ts_fail_nomem(making->err) : TS_OK;
}

/* What the events may take up: no slice begins before the earliest one, but points may. */
static struct ts_capture_time model_time_of(const struct chrome_file *file)
{
	int64_t end_ps = file->max_ps - file->min_ps;
	struct ts_capture_time time = { -TS_CAPTURE_GAP_PS, ts_i64_add(end_ps, TS_CAPTURE_GAP_PS),
					end_ps };

	struct ts_capture_time narrow;

	if (file->profiler_ps[0] == INT64_MAX)
		return time;
	narrow = ts_capture_time_between(time, ts_i64_sub(file->profiler_ps[0], file->min_ps),
					 ts_i64_sub(file->profiler_ps[1], file->min_ps));
	return ts_time_samples_are_in(&file->samples, ts_i64_add(narrow.first_ps, file->min_ps),
				      ts_i64_add(narrow.last_ps, file->min_ps))
		       ? narrow
		       : time;
}

/* Time 0 is the earliest event; when that was, the file says or the times themselves do. */
static void model_set_time(const struct chrome_file *file, struct ts_host *host)
{
	int64_t start_ns;

	if (!file->has_time || file->min_ps > file->max_ps)
		return;
	start_ns = ts_i64_add(ts_i64_mul(file->first_us, 1000), file->min_ps / TS_PS_PER_NS);
	host->trace_start_ns = start_ns;
	host->trace_ps = file->max_ps - file->min_ps;
	host->time = model_time_of(file);
	if (file->base_unix_ns > 0)
		start_ns = ts_i64_add(start_ns, file->base_unix_ns);
	else if (file->first_us < ABSOLUTE_US)
		return;
	host->start_unix_ns = start_ns;
	host->stop_unix_ns = ts_i64_add(start_ns, (file->max_ps - file->min_ps) / TS_PS_PER_NS);
}

static bool model_has_device(const struct ts_profile *profile, uint32_t host)
{
	for (size_t i = 0; i < profile->nr_devices; i++)
		if (profile->devices[i].host == host)
			return true;
	return false;
}

/* The trace lists devices, and shows the work of none of them. */
static void note_meant(const struct chrome_file *file, struct ts_profile *profile, uint32_t host)
{
	struct ts_bytes name;

	if (file->nr_devices == 0 || model_has_device(profile, host))
		return;
	name = file->devices[0].name;
	profile->hosts[host].meant =
		ts_arena_printf(&profile->arena, "deviceProperties: %.*s",
				TS_ARG(name.n > 0 ? name : TS_LIT("a device")));
}

enum ts_status ts_chrome_to_model(struct chrome_file *file, struct ts_profile *profile,
				  uint32_t host, struct ts_error *err)
{
	struct making making = { file, profile, host, err };
	enum ts_status st;

	TS_ASSERT(file && profile);
	TS_ASSERT(host < profile->nr_hosts);
	ts_chrome_find_devices(&file->names);
	st = model_add_planes(&making);
	for (size_t i = 0; i < file->names.nr_ops && st == TS_OK; i++)
		st = model_add_op(&making, &file->names.ops[i]);
	note_meant(file, profile, host);
	profile->hosts[host].rank = file->rank;
	profile->hosts[host].world_size = file->world_size;
	model_set_time(file, &profile->hosts[host]);
	return st;
}
