/* SPDX-License-Identifier: MIT */
/*
 * What an overlay in an XSpace is made of, and the marks by which it is found again. Only files
 * of src/overlay include it.
 */
#ifndef TS_OVERLAY_XSPACE_H
#define TS_OVERLAY_XSPACE_H

#include "codec/xspace.h"

#define OVERLAY_PLANE	"/device:CUSTOM:TPUsight"
#define OVERLAY_MARK	"tpusight_native_bytes"
#define OVERLAY_GENERATOR "tpusight"
#define OVERLAY_NOTE	"made by TPUsight; tpusight-annotate --strip takes it out again"
#define OVERLAY_MARK_ID 1 /* the stat metadata id of the mark in every plane of ours */

#endif
