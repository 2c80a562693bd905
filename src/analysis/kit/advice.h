/* SPDX-License-Identifier: MIT */
/*
 * What to change, and how: a few sentences for each finding, and a piece of code that runs as it
 * stands. Each is a file, analysis/advice/FRAMEWORK/RULE.py, and a new file is all that a new
 * advice needs: the build finds it (analysis/advice/embed.sh) and puts it into a table that is
 * sorted by name.
 *
 * The code for users of JAX runs on any backend with today's JAX, that for users of PyTorch on
 * PyTorch 2.4 and later with or without a GPU. Rules that look into XLA's programs have no file for
 * PyTorch, and rules about what only profiles of PyTorch show have none for JAX.
 */
#ifndef TS_ANALYSIS_KIT_ADVICE_H
#define TS_ANALYSIS_KIT_ADVICE_H

#include "model/profile.h"

/* Whose words the advice is in. */
enum ts_framework { TS_JAX, TS_TORCH, TS_NR_FRAMEWORKS };

/* The name is that of a rule of the doctor, of one case of a rule ("unfused_collective"), or of a
 * cause for doubt about the capture ("capture/no_device"). */
struct ts_advice {
	const char *name, *advice, *code; /* code: may be empty */
};

struct ts_advice_list {
	const struct ts_advice *rows; /* sorted by name */
	size_t nr;
};
extern const struct ts_advice_list ts_advice_lists[TS_NR_FRAMEWORKS]; /* made by the build */

enum ts_framework ts_framework_of(const struct ts_profile *profile);

/* Never NULL; without a file for either framework all texts are empty. Where only the other
 * framework has one, that is taken: what it says does not depend on the framework then. */
const struct ts_advice *ts_advice_find(enum ts_framework framework, const char *name);

#endif
