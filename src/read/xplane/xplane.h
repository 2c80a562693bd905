/* SPDX-License-Identifier: MIT */
/*
 * The xplane reader's own header: what it remembers of a plane to decode its events. Only files of
 * src/read/xplane include it.
 */
#ifndef TS_READ_XPLANE_XPLANE_H
#define TS_READ_XPLANE_XPLANE_H

#include "codec/pb.h"
#include "codec/xspace.h"
#include "io/scratch.h"
#include "model/nest.h"
#include "read/reader.h"

/* Stats that mean something here, by name. */
enum role {
	ROLE_NONE,
	/* of events */
	ROLE_DEVICE_OFFSET,
	ROLE_DEVICE_DURATION,
	ROLE_STEP_NUM,
	ROLE_RUN_ID,
	ROLE_CORRELATION,
	ROLE_HLO_OP,
	ROLE_HLO_MODULE,
	ROLE_DEVICE_ORDINAL,
	/* of events and of event metadata */
	ROLE_PROGRAM_ID,
	ROLE_FLOPS,
	ROLE_BYTES_ACCESSED,
	/* of events and of event metadata: of counters of the hardware */
	ROLE_COUNTER_VALUE,
	ROLE_COUNTER,
	/* of event metadata */
	ROLE_SYMBOL_ID,
	ROLE_MODEL_FLOPS,
	ROLE_BREAKDOWN,
	ROLE_CATEGORY,
	ROLE_TF_OP,
	ROLE_SOURCE,
	ROLE_SOURCE_STACK,
	ROLE_SHAPE,
	ROLE_HLO_PROTO,
	/* of planes */
	ROLE_DEVICE_TYPE,
	ROLE_GPU_NAME,
	ROLE_VENDOR,
	ROLE_PEAK_TFLOPS,
	ROLE_PEAK_HBM,
	ROLE_PEAK_VMEM_RD,
	ROLE_PEAK_VMEM_WR,
	ROLE_PEAK_CMEM_RD,
	ROLE_PEAK_CMEM_WR,
	ROLE_MEGACORE,
	ROLE_CORE_DETAILS,
	ROLE_CLOCK_RATE,
	ROLE_CORE_COUNT,
	ROLE_MEMORY_BANDWIDTH,
	ROLE_MEMORY_SIZE,
	ROLE_CC_MAJOR,
	ROLE_CC_MINOR,
	ROLE_PREDICTED,
	ROLE_LIBTPU,
	ROLE_LIBTPU_VERSION,
	ROLE_DEVICE_ID,
	ROLE_START_TIME,
	ROLE_STOP_TIME,
	ROLE_MEANT,	/* it says that another device than a CPU was meant, */
	ROLE_PLATFORMS, /* or may say it */
	ROLE_MXU_UTILIZATION,
	ROLE_HBM_UTILIZATION,
};

/* A decoded XStat. */
struct xstat {
	int64_t id;
	uint32_t field; /* XSTAT_...: which value it has; 0: no value */
	uint64_t number;
	double real;
	struct ts_bytes text;
};

/* Ids of a plane -> something small: an array while ids are small, a map for the rest. */
struct id_table {
	uint32_t *dense;
	size_t nr_dense, nr_set;
	struct ts_map sparse;
};

void ts_id_table_release(struct id_table *table);

static inline uint32_t id_table_find(const struct id_table *table, int64_t id)
{
	if ((uint64_t)id < table->nr_dense)
		return table->dense[id];
	return table->sparse.nr ? ts_map_find(&table->sparse, (uint64_t)id) : TS_NONE;
}

/*
 * A profile may come in pieces, one XSpace after the other (riegeli.c): a plane's later pieces have its name, and lines
 * that go on have their ids. Such a part of a line has the ids of its own piece, and counts from a start of its own.
 */
struct xplane_part {
	uint32_t line; /* of the profile */
	struct ts_bytes body;
	const struct xplane_plane *plane; /* whose ids it has */
	int64_t offset_ps;		  /* its start, from that of the line */
};

struct xplane_plane {
	struct id_table roles; /* stat metadata id -> enum role */
	struct id_table names; /* stat metadata id -> index into stat_names, for ref values */
	struct ts_bytes *stat_names;
	size_t nr_stat_names, cap_stat_names;
	struct id_table ops; /* event metadata id -> op */
	struct id_table
		metadata; /* likewise -> index into op_metadata, of ops of programs and of counters */
	struct ts_bytes *op_metadata;
	size_t nr_op_metadata, cap_op_metadata;
	struct ts_map hlo_ops;	   /* key of (hlo_op, program) -> op, where events name their op */
	bool has_variants;	   /* of an op, see struct ts_op */
	bool has_counters;	   /* some event may be a counter of the hardware */
	bool has_links;		   /* some event may say which launch it belongs to */
	bool names_ops;		   /* some event may name the op that it is */
	bool ops_by_stats;	   /* a GPU: events name their op, their metadata only the kernel */
	uint32_t unknown_op;	   /* for events whose metadata is missing */
	const uint8_t *file_base;  /* for offsets in messages */
	struct xplane_part *parts; /* of its lines, from its later pieces, in their order */
	size_t nr_parts, cap_parts;
	uint64_t shared_bytes; /* of texts that ops have by reference, each time */
	uint64_t max_shared;   /* TS_LIMIT_SHARED_RATIO times the plane */
	uint64_t nr_unshared;  /* that were left out */
};

/* All planes of a file; freed with the profile's host. */
struct xplane_file {
	struct xplane_plane *planes;
	size_t nr_planes, nr_read, nr_lines;
	uint64_t nr_planes_over, nr_devices_over, nr_lines_over; /* that were left out */
	struct ts_scratch unpacked; /* what its bytes lie in, when they were packed */
};

/* index.c: IN_PIECES: planes of one name are one plane. */
enum ts_status ts_xplane_read(struct ts_profile *profile, const struct ts_read_request *request,
			      bool in_pieces, struct ts_error *err);

/* A text by reference is cut to TS_LIMIT_SHARED_TEXT: events without number may share it. */
struct ts_bytes ts_xstat_text(const struct xplane_plane *plane, const struct xstat *stat);

static inline void xstat_read(struct ts_pb pb, struct xstat *stat)
{
	*stat = (struct xstat){ .id = 0 };
	while (ts_pb_next(&pb)) {
		if (pb.field == XSTAT_METADATA_ID) {
			stat->id = ts_pb_i64(&pb);
			continue;
		}
		if (pb.field > XSTAT_REF)
			continue;
		stat->field = pb.field;
		if (pb.field == XSTAT_DOUBLE)
			stat->real = ts_pb_double(&pb);
		else if (pb.wire == TS_PB_BYTES)
			stat->text = ts_pb_bytes(&pb);
		else
			stat->number = ts_pb_u64(&pb);
	}
}

/* The number of a stat whatever its type; a double is rounded down. */
static inline int64_t xstat_int(const struct xstat *stat)
{
	if (stat->field != XSTAT_DOUBLE)
		return (int64_t)stat->number;
	return stat->real > -9.2e18 && stat->real < 9.2e18 ? (int64_t)stat->real : TS_UNKNOWN;
}

static inline double xstat_real(const struct xstat *stat)
{
	return stat->field == XSTAT_DOUBLE ? stat->real : (double)stat->number;
}

/* meta.c: event metadata -> op drafts; HLO protos -> modules. */
enum ts_status ts_xplane_read_metadata(struct ts_profile *profile, uint32_t plane_index,
				       struct xplane_plane *plane, struct ts_pb pb,
				       struct ts_error *err);
enum ts_status ts_xplane_read_modules(struct ts_profile *profile,
				      const struct ts_read_request *request,
				      struct xplane_plane *plane, struct ts_pb pb,
				      struct ts_error *err);

/* The metadata of events with this id, where the plane keeps it; .n 0: it does not. */
static inline struct ts_bytes xplane_metadata(const struct xplane_plane *plane, int64_t id)
{
	uint32_t at = id_table_find(&plane->metadata, id);

	return at < plane->nr_op_metadata ? plane->op_metadata[at] : (struct ts_bytes){ NULL, 0 };
}

/* Has it a stat of this role? */
bool ts_xplane_metadata_has(const struct xplane_plane *plane, int64_t id, enum role role);

/* The op that events name by their stats, or (TS_OP_MODULE) the program. */
uint32_t ts_xplane_hlo_op(const struct xplane_plane *plane, const struct xstat *name,
			  uint64_t program_id, enum ts_op_kind kind);
enum ts_status ts_xplane_add_hlo_op(struct ts_profile *profile, struct xplane_plane *plane,
				    const struct xstat *name, uint64_t program_id,
				    enum ts_op_kind kind, struct ts_error *err);

/* cpu.c: the CPUs that ran what the host shows; once the times of its lines are known. */
enum ts_status ts_xplane_add_cpus(struct ts_profile *profile, uint32_t host, struct ts_error *err);
/* Does the line show a CPU's executions or steps, which are made of other lines' events? */
bool ts_xplane_is_made(const struct ts_profile *profile, const struct ts_line *line);
enum ts_status ts_xplane_stream_made(const struct ts_profile *profile, uint32_t line,
				     struct ts_nest *nest, struct ts_error *err);

/* events.c */
enum ts_status ts_xplane_find_gpu_ops(struct ts_profile *profile, struct ts_bytes line,
				      struct xplane_plane *plane, struct ts_error *err);
enum ts_status ts_xplane_stream(const struct ts_profile *profile, uint32_t line, bool sort,
				const struct ts_sink *sink, struct ts_error *err);
uint64_t ts_xplane_place(const struct ts_profile *profile, const struct ts_line *line,
			 struct ts_bytes body);

#endif
