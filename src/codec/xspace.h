/* SPDX-License-Identifier: MIT */
/*
 * Field numbers of XSpace, what an .xplane.pb file is (tsl/profiler/protobuf/xplane.proto), for all
 * code that reads or writes it on the wire.
 */
#ifndef TS_CODEC_XSPACE_H
#define TS_CODEC_XSPACE_H

enum { XSPACE_PLANES = 1, XSPACE_ERRORS = 2, XSPACE_WARNINGS = 3, XSPACE_HOSTNAMES = 4 };
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
	XLINE_DURATION_PS = 9,
	XLINE_DISPLAY_ID = 10,
	XLINE_DISPLAY_NAME = 11,
};
enum {
	XEVENT_METADATA_ID = 1,
	XEVENT_OFFSET_PS = 2,
	XEVENT_DURATION_PS = 3,
	XEVENT_STATS = 4,
	XEVENT_NUM_OCCURRENCES = 5,
};
enum {
	XSTAT_METADATA_ID = 1,
	XSTAT_DOUBLE = 2,
	XSTAT_UINT64 = 3,
	XSTAT_INT64 = 4,
	XSTAT_STR = 5,
	XSTAT_BYTES = 6,
	XSTAT_REF = 7,
};
enum {
	XEVENTMETA_ID = 1,
	XEVENTMETA_NAME = 2,
	XEVENTMETA_METADATA = 3,
	XEVENTMETA_DISPLAY_NAME = 4,
	XEVENTMETA_STATS = 5,
	XEVENTMETA_CHILD_ID = 6,
};
enum { XSTATMETA_ID = 1, XSTATMETA_NAME = 2 };
/* Of a device's plane: nothing ran; the text is the topology for which its times were predicted. */
#define TS_PREDICTED_STAT "tpusight_predicted"
#define TS_LIBTPU_STAT	  "tpusight_libtpu"

enum { MAP_KEY = 1, MAP_VALUE = 2 };

#endif
