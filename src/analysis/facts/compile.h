/* SPDX-License-Identifier: MIT */
/*
 * What the analysis compile knows of PyTorch's compiler, for the rules about it. Texts are those of
 * the report; .n 0 is unknown, and so is -1.
 */
#ifndef TS_ANALYSIS_FACTS_COMPILE_H
#define TS_ANALYSIS_FACTS_COMPILE_H

#include "base/bytes.h"

/* A place where a graph broke: by the log, or by regions that run inside one another. */
struct ts_compile_break {
	struct ts_bytes source, function, reason;
	struct ts_bytes region, continued_as; /* ids: of the graph in front, of the one behind */
	int64_t nr_compiled;		      /* compilations that met it */
	int64_t nr_runs, continued_ps;	      /* of the graph behind it; host time */
	struct ts_bytes explanation, hint, stack;
	const char *known_from;
};

/* A frame that was compiled once more. */
struct ts_compile_recompile {
	struct ts_bytes region, function, source, reason;
	int64_t nr_calls, compile_ps;
};

enum ts_compiler { TS_COMPILER_UNKNOWN, TS_COMPILER_TORCH, TS_COMPILER_XLA };

struct ts_compile_facts {
	enum ts_compiler compiler;
	int64_t nr_breaks, nr_recompiles;      /* all of them; of XLA's programs nr_breaks is -1 */
	const struct ts_compile_break *breaks; /* the first ones */
	size_t nr_listed_breaks;
	const struct ts_compile_recompile *recompiles; /* likewise; of PyTorch's compiler alone */
	size_t nr_listed_recompiles;
	int64_t nr_cuda_graph_launches; /* -1: there was no GPU */
};

#endif
