/* SPDX-License-Identifier: MIT */
/*
 * Compiled modules: the bytes of an HloProto or an HloModuleProto -> struct ts_hlo_module.
 *
 * Such bytes come from /host:metadata of a profile (stat "Hlo Proto"), from *.hlo_proto.pb files
 * and from compiler dumps. Everything the module holds lives in ARENA, but module->file and
 * module->proto, which are the views given; memory used on the way is given back. After a failure
 * what was put into the arena stays there until it is released, and *MODULE is empty.
 *
 * program_id is 0: it is not in the bytes; a profile has it in the name "<module>(<id>)". Different
 * modules may be read on different threads, each into its own arena.
 */
#ifndef TS_READ_HLO_H
#define TS_READ_HLO_H

#include "model/hlo.h"

/*
 * TS_FORMAT: not a module, or damaged. TS_LIMIT: nested too deep, or larger than can be right.
 * What a module can do without (an unknown operand, a layout that cannot be) is left out instead.
 */
enum ts_status ts_hlo_read(struct ts_arena *arena, struct ts_bytes proto, struct ts_bytes file,
			   struct ts_hlo_module *module, struct ts_error *err);

/* What the bytes of a program are; none of the last three is read here. */
enum ts_hlo_program {
	TS_HLO_COMPILED,  /* a module, or no program at all: ts_hlo_read() tells */
	TS_HLO_STABLEHLO, /* as text, or as MLIR's bytecode */
	TS_HLO_EXPORT,	  /* StableHLO, as jax.export writes it */
	TS_HLO_TEXT,	  /* a compiled module as text (--xla_dump_to) */
};
enum ts_hlo_program ts_hlo_program_of(struct ts_bytes bytes);

#endif
