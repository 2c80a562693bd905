/* SPDX-License-Identifier: Apache-2.0 */
/* Large arrays in temporary files without a name (base/room.h), a file each, in the folder of io/scratch.h. */
#ifndef TS_IO_ROOMS_H
#define TS_IO_ROOMS_H

#include "base/room.h"

extern const struct ts_rooms ts_file_rooms;

#endif
