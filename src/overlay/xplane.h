/* SPDX-License-Identifier: MIT */
/*
 * The overlay in a profile: planes of ours behind the user's own bytes.
 *
 * An xplane file is one serialized XSpace. XSpace.planes is repeated, so the bytes of a second
 * XSpace put behind it are more planes of the same, and cutting them off brings the file back
 * byte for byte. XProf's trace viewer shows each plane named /device:CUSTOM:... as a group of
 * rows; its other tools pass it over.
 *
 * Every plane of ours is named "/device:CUSTOM:TPUsight ..." and carries the number of native
 * bytes, the length of the file in front of the overlay, as a stat. Only when that number is the
 * place where the first of them stands, and only planes of ours with the same number follow
 * until the end of the file, is the tail taken for an overlay. All else is the user's and is
 * never cut:
 *  - a file that somebody appended to after us, or put together from annotated ones, has no
 *    overlay; a new one goes behind everything, and taking it out leaves what was there before it;
 *  - a profile that was made anew has none either;
 *  - in a damaged or cut file nothing is known to be ours.
 *
 * A profile in records (HOST.xplane.riegeli) is XSpaces one after the other: a chunk of ours behind them has
 * the planes as one more record, and its place is where the chunk begins. XProf reads all records, so it shows the
 * same rows; tried on 2.24.2.
 *
 * A strip knows more: ts_overlay_cut(). Each plane of ours says in its first bytes, several times,
 * whose it is, so what a cut or a changed byte left of one is known still.
 */
#ifndef TS_OVERLAY_XPLANE_H
#define TS_OVERLAY_XPLANE_H

#include "model/profile.h"
#include "result/result.h"

/* Bytes of a message, in every protobuf library: of a profile with its overlay, or of a record. */
#define TS_OVERLAY_FILE_MAX INT32_MAX
#define TS_OVERLAY_TOO_BIG                                                \
	"%s: with the overlay it would pass 2 GiB, which XProf cannot read " \
	"(record fewer steps); the other results are written"

/* Bytes of the user's own part, of an XSpace or of records: file.n when no overlay is known to be there. Cost: a look at each
 * plane's first fields, whatever the size. */
size_t ts_overlay_native_bytes(struct ts_bytes file);

/* The same. TS_FORMAT with offset and cause when the fields of the XSpace do not end where the file
 * ends: planes put behind that would be swallowed by the field that is cut. */
enum ts_status ts_overlay_find(struct ts_bytes file, size_t *native_bytes, struct ts_error *err);

/*
 * Where to cut the file for all of ours to be out, damaged planes of ours included: from the place
 * that one of them gives as its own, nothing but planes of ours may follow. *REMAINS: there are
 * others of ours, which stand in front of the user's bytes or do not say where they begin; they stay.
 * TS_FORMAT: the file is damaged, and whether something of ours is behind that is not known.
 */
enum ts_status ts_overlay_cut(struct ts_bytes file, size_t *native_bytes, bool *remains,
			      struct ts_error *err);

/*
 * Appends the serialized planes of one host. Each of its devices that a result has tracks for gets up to three: one
 * with a row for each track of slices (by .order, then in the order of results); "counters" with three at most, the
 * first of each unit; "more counters" with the others, behind those of all devices. A counter that is 0 all the time is
 * left out. Nothing is appended when there are no tracks. The bytes depend on the arguments
 * alone, and their size on the number of slices, points and labels.
 *
 * Times are written on the clock of the device's own lines: with a native line's timestamp as their
 * base, so that every viewer puts slices where it puts the events they speak of.
 */
enum ts_status ts_overlay_planes(struct ts_buf *out, const struct ts_profile *profile,
				 uint32_t host, const struct ts_results *results,
				 size_t native_bytes, struct ts_error *err);

/* What stands behind NATIVE, the user's own part of the host's file: these planes as it takes them. */
enum ts_status ts_overlay_tail(struct ts_buf *out, struct ts_bytes native,
			       const struct ts_profile *profile, uint32_t host,
			       const struct ts_results *results, struct ts_error *err);
/* Can every protobuf library read NATIVE with so many bytes of ours behind it? */
bool ts_overlay_fits(struct ts_bytes native, size_t tail_bytes);

#endif
