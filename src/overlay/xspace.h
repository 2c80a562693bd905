/*
 * The fields of XSpace (xplane.proto of OpenXLA's profiler) that an overlay is made of, and the
 * marks by which it is found again. Nobody outside src/overlay includes this.
 */
#ifndef TS_OVERLAY_XSPACE_H
#define TS_OVERLAY_XSPACE_H

enum { XSPACE_PLANES = 1 };
enum {
	XPLANE_ID = 1,
	XPLANE_NAME = 2,
	XPLANE_LINES = 3,
	XPLANE_EVENT_METADATA = 4,
	XPLANE_STAT_METADATA = 5,
	XPLANE_STATS = 6,
};
enum {
	XLINE_ID = 1,
	XLINE_NAME = 2,
	XLINE_TIMESTAMP_NS = 3,
	XLINE_EVENTS = 4,
};
enum {
	XEVENT_METADATA_ID = 1,
	XEVENT_OFFSET_PS = 2,
	XEVENT_DURATION_PS = 3,
	XEVENT_STATS = 4,
};
enum {
	XSTAT_METADATA_ID = 1,
	XSTAT_DOUBLE = 2,
	XSTAT_UINT64 = 3,
	XSTAT_STRING = 5,
};
enum { ENTRY_KEY = 1, ENTRY_VALUE = 2 }; /* of a map */
enum {
	METADATA_ID = 1, /* of events and of stats alike */
	METADATA_NAME = 2,
	METADATA_STATS = 5,
};

#define OVERLAY_PLANE	"/device:CUSTOM:TPUsight"
#define OVERLAY_MARK	"tpusight_native_bytes"
#define OVERLAY_MARK_ID 1 /* the stat metadata id of the mark in every plane of ours */

#endif
