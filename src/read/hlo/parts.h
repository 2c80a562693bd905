/* SPDX-License-Identifier: MIT */
/* The inside of the HLO reader, shared by the files of this folder alone. See read/hlo.h. */
#ifndef TS_READ_HLO_PARTS_H
#define TS_READ_HLO_PARTS_H

#include "base/limits.h"
#include "base/map.h"
#include "codec/pb.h"
#include "model/hlo.h"

#include "hlo.pb-c.h"

/* Stacks of source lines, one for each frame id an instruction names. */
struct ts_hlo_stack {
	const struct ts_hlo_frame *frames;
	uint32_t nr;
	bool made;
};

struct ts_hlo_frames {
	struct ts_bytes *files, *functions;
	struct ts_hlo_stack *stacks; /* by frame id - 1 */
	Tpusight__StackFrameIndex *index;
	size_t nr_files, nr_functions, nr_stacks;
	size_t nr_made; /* frames in all stacks */
};

struct ts_hlo_scan { /* what a first look over the bytes found */
	struct ts_bytes module, buffers;
	struct ts_bytes name, entry_name, frames, aliases;
	int64_t entry_id;
	struct ts_bytes *comps, *sequences; /* undecoded */
	size_t nr_comps, cap_comps, nr_sequences, cap_sequences;
	struct ts_map sequence_ids; /* computation id -> sequence */
	uint64_t nr_instrs;
	uint64_t nr_shapes;
};

struct ts_hlo_reader {
	struct ts_arena *arena;	  /* of the module */
	struct ts_arena temp;	  /* of protobuf-c's messages; released with each computation */
	struct ts_arena keep;	  /* what is needed until the module is done */
	bool nomem;		  /* an arena or a map was refused memory */
	ProtobufCAllocator alloc; /* on temp */
	struct ts_bytes file;
	struct ts_hlo_module *module;
	struct ts_hlo_scan scan;
	struct ts_map comp_ids;
	struct ts_strmap strings; /* of text already in the arena: op names repeat much */
	struct ts_bytes *texts;
	size_t nr_texts, cap_texts;
	struct ts_hlo_frames frames;
	struct ts_error *err;
};

/* copy.c. All of these note a lack of memory in reader->nomem and then give something empty. */
struct ts_bytes ts_hlo_text(struct ts_hlo_reader *reader, const char *text);
const int64_t *ts_hlo_numbers(struct ts_hlo_reader *reader, const int64_t *numbers, size_t nr);
void *ts_hlo_array(struct ts_hlo_reader *reader, size_t nr,
		   size_t size); /* in the module's arena */

/* scan.c: finds the parts and refuses what protobuf-c must not be given. */
enum ts_status ts_hlo_scan(struct ts_hlo_reader *reader, struct ts_bytes proto);
void ts_hlo_scan_release(struct ts_hlo_scan *scan);

/* instr.c: one instruction, all but its operands and calls. */
void ts_hlo_convert_instr(struct ts_hlo_reader *reader, const Tpusight__HloInstruction *from,
			  struct ts_hlo_instr *to);
enum ts_status ts_hlo_read_frames(struct ts_hlo_reader *reader);
void ts_hlo_set_frames(struct ts_hlo_reader *reader, int32_t frame_id, struct ts_hlo_instr *to);

/* devices.c: the devices of a collective's groups: of the first one, and how many are in one and in all. */
struct ts_hlo_groups {
	int64_t size, all; /* 0: unknown */
	struct ts_device_list first;
};
struct ts_hlo_groups ts_hlo_groups_of(struct ts_hlo_reader *reader,
				      const Tpusight__HloInstruction *from);
/* NULL: there is none, or none that is about axes. */
const struct ts_hlo_sharding *ts_hlo_sharding_of(struct ts_hlo_reader *reader,
						 const Tpusight__OpSharding *from);

/* buffers.c: what stands where, once all instructions are there. Damage: as if it said nothing. */
void ts_hlo_read_aliases(struct ts_hlo_reader *reader);
enum ts_status ts_hlo_read_buffers(struct ts_hlo_reader *reader);

/* backend.c: the JSON text of backend_config. */
void ts_hlo_convert_backend(struct ts_hlo_reader *reader, struct ts_bytes text,
			    struct ts_hlo_instr *to);

#endif
