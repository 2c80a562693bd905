/* SPDX-License-Identifier: MIT */
/* Protobuf's wire format as far as heads of files need it: to see what a file is. codec/pb.h reads what is read. */
#ifndef TS_IO_WIRE_H
#define TS_IO_WIRE_H

#include "base/bytes.h"

#define TS_WIRE_VARINT(field) ((uint64_t)(field) << 3)
#define TS_WIRE_BYTES(field)  ((uint64_t)(field) << 3 | 2)

/* Each takes what it read off the front of TEXT; false: there is none. */
bool ts_wire_varint(struct ts_bytes *text, uint64_t *value);
/* A field: its tag (the number and the wire type) and its bytes, cut where the text ends; none of a varint. */
bool ts_wire_field(struct ts_bytes *text, uint64_t *tag, struct ts_bytes *value);

#endif
