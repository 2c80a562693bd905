/* SPDX-License-Identifier: MIT */
/*
 * Protobuf messages as trees, without their schema: a field that holds bytes is a message when all
 * of it reads as one and it is not plain text. Lengths are written anew, so those of the parents are
 * right whatever was changed.
 */
#ifndef TESTS_FUZZ_MUTATE_PROTO_H
#define TESTS_FUZZ_MUTATE_PROTO_H

#include "tests/fuzz/mutate/tree.h"

/* What could be read; bytes behind the first damage stay as they are. NULL: not one field. */
struct node *proto_parse(struct tree *tree, struct ts_bytes bytes);
void proto_print(struct ts_buf *out, const struct node *top);
void proto_change(struct tree *tree, struct node *node);
/* A field that stands below the top, or in another field. */
struct node *proto_field(struct tree *tree, uint32_t field, uint32_t wire);
/* Numbers of this field that are packed in NODE become fields of their own, and again packed. */
void proto_unpack(struct tree *tree, struct node *node, uint32_t field);
void proto_pack(struct tree *tree, struct node *node, uint32_t field);

#endif
