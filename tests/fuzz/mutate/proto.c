/* SPDX-License-Identifier: MIT */
/* Protobuf's wire format (protobuf.dev, "Encoding") as a tree and back. */
#include "tests/fuzz/mutate/proto.h"

#include "codec/pb.h"
#include "codec/pbw.h"

#define MAX_DEPTH 24
#define RAW_WIRE  7 /* bytes behind a damage: not a field, written as they are */

struct node *proto_field(struct tree *tree, uint32_t field, uint32_t wire)
{
	struct node *node;

	node = tree_node(tree, wire == TS_PB_BYTES ? NODE_TEXT : NODE_NUMBER, field << 3 | wire);
	if (node)
		node->wire = wire;
	return node;
}

static bool is_plain(struct ts_bytes text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] < ' ' || text.p[i] > '~')
			return false;
	return true;
}

static struct node *parse_fields(struct tree *tree, struct ts_bytes bytes, int depth, bool whole);

static struct node *parse_field(struct tree *tree, const struct ts_pb *pb, int depth)
{
	struct node *node = proto_field(tree, pb->field, pb->wire);

	if (!node)
		return NULL;
	node->number = pb->value;
	node->text = ts_pb_bytes(pb);
	if (pb->wire == TS_PB_BYTES && depth < MAX_DEPTH && !is_plain(node->text))
		node->first = parse_fields(tree, node->text, depth + 1, true);
	if (node->first)
		node->kind = NODE_INNER;
	return node;
}

/* The rest, from the first bad byte on. */
static struct node *damaged(struct tree *tree, struct ts_bytes bytes, const uint8_t *at)
{
	struct node *node = tree_node(tree, NODE_TEXT, 0);

	if (node) {
		node->wire = RAW_WIRE;
		node->text = ts_bytes_cut(bytes, (size_t)(at - bytes.p), bytes.n);
	}
	return node;
}

/* NULL: not one field, or not whole where that is asked for. */
static struct node *parse_fields(struct tree *tree, struct ts_bytes bytes, int depth, bool whole)
{
	struct ts_pb_error err = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(bytes, &err);
	struct node *first = NULL, **last = &first;
	const uint8_t *at = bytes.p;

	while (ts_pb_next(&pb)) {
		*last = parse_field(tree, &pb, depth);
		if (!*last)
			return NULL;
		last = &(*last)->next;
		at = pb.p;
	}
	if (err.cause && whole)
		return NULL;
	if (err.cause && first)
		*last = damaged(tree, bytes, at);
	return first;
}

struct node *proto_parse(struct tree *tree, struct ts_bytes bytes)
{
	struct node *top = tree_node(tree, NODE_INNER, TS_PB_BYTES);

	if (!top)
		return NULL;
	top->wire = TS_PB_BYTES;
	top->first = parse_fields(tree, bytes, 0, false);
	return top->first ? top : NULL;
}

static void put_varint(struct ts_buf *out, uint64_t value)
{
	if (ts_buf_room(out, TS_PBW_VARINT))
		out->n = (size_t)(ts_pbw_store(out->p + out->n, value) - out->p);
}

static void print_node(struct ts_buf *out, const struct node *node);

static void print_inside(struct ts_buf *out, const struct node *node)
{
	for (const struct node *child = node->first; child; child = child->next)
		print_node(out, child);
}

static void print_bytes(struct ts_buf *out, const struct node *node)
{
	size_t mark;

	if (node->lie) {
		put_varint(out, node->tag);
		put_varint(out, node->text.n + node->lie);
		ts_buf_put(out, node->text);
	} else if (node->kind == NODE_INNER) {
		mark = ts_pbw_begin(out, node->tag >> 3);
		print_inside(out, node);
		ts_pbw_end(out, mark);
	} else {
		ts_pbw_bytes(out, node->tag >> 3, node->text);
	}
}

static void print_node(struct ts_buf *out, const struct node *node)
{
	uint32_t half = (uint32_t)node->number;

	switch (node->wire) {
	case TS_PB_VARINT:  ts_pbw_u64(out, node->tag >> 3, node->number); break;
	case TS_PB_FIXED64: ts_pbw_fixed64(out, node->tag >> 3, node->number); break;
	case TS_PB_BYTES:   print_bytes(out, node); break;
	case TS_PB_FIXED32:
		put_varint(out, node->tag);
		ts_buf_put(out, (struct ts_bytes){ (const uint8_t *)&half, sizeof(half) });
		break;
	default: ts_buf_put(out, node->text); break;
	}
}

void proto_print(struct ts_buf *out, const struct node *top)
{
	print_inside(out, top);
}

/* Another wire type: the value of the old one, as far as it can be had. */
static void other_wire(struct tree *tree, struct node *node)
{
	static const uint32_t wires[] = { TS_PB_VARINT, TS_PB_FIXED64, TS_PB_BYTES, TS_PB_FIXED32 };

	node->wire = wires[rng_below(tree->rng, TS_NELEM(wires))];
	node->tag = (node->tag & ~7u) | node->wire;
	node->kind = node->wire == TS_PB_BYTES ? NODE_TEXT : NODE_NUMBER;
	if (node->wire != TS_PB_BYTES)
		node->first = NULL;
	else if (node->first)
		node->kind = NODE_INNER;
}

static void other_field(struct tree *tree, struct node *node)
{
	uint32_t field = 1 + (uint32_t)rng_below(tree->rng, rng_below(tree->rng, 8) ? 16 : 1 << 28);

	node->tag = field << 3 | node->wire;
}

/* Numbers one behind the other: one of them changes. */
static bool change_packed(struct tree *tree, struct node *node)
{
	const uint8_t *p = node->text.p, *end = node->text.n ? p + node->text.n : p;
	struct ts_buf out = TS_BUF_INIT;
	uint64_t nr = 0, chosen, value;

	while (p < end && ts_pb_varint(&p, end, &value))
		nr++;
	if (nr == 0 || p != end)
		return false;
	chosen = rng_below(tree->rng, nr);
	p = node->text.p;
	for (uint64_t i = 0; i < nr && ts_pb_varint(&p, end, &value); i++)
		put_varint(&out, i == chosen ? tree_number(tree->rng, value) : value);
	node->text = tree_keep(tree, &out);
	return true;
}

static void change_value(struct tree *tree, struct node *node)
{
	if (node->kind == NODE_NUMBER)
		node->number = tree_number(tree->rng, node->number);
	else if (node->kind == NODE_TEXT &&
		 (is_plain(node->text) || rng_below(tree->rng, 2) || !change_packed(tree, node)))
		node->text = tree_bytes(tree, node->text);
}

void proto_change(struct tree *tree, struct node *node)
{
	uint64_t what = rng_below(tree->rng, 12);

	if (node->wire == RAW_WIRE)
		node->text = tree_bytes(tree, node->text);
	else if (what == 0)
		other_wire(tree, node);
	else if (what == 1)
		other_field(tree, node);
	else
		change_value(tree, node);
}

void proto_unpack(struct tree *tree, struct node *node, uint32_t field)
{
	for (struct node **at = &node->first; *at; at = &(*at)->next) {
		struct node *packed = *at, *one, **last = at;
		const uint8_t *p = packed->text.p, *end = packed->text.n ? p + packed->text.n : p;
		uint64_t value;

		if (packed->tag != (field << 3 | TS_PB_BYTES))
			continue;
		while (p < end && ts_pb_varint(&p, end, &value) &&
		       (one = proto_field(tree, field, TS_PB_VARINT))) {
			one->number = value;
			*last = one;
			last = &one->next;
		}
		*last = packed->next;
		if (!*at)
			return;
	}
}

void proto_pack(struct tree *tree, struct node *node, uint32_t field)
{
	struct node *packed = proto_field(tree, field, TS_PB_BYTES), **at = &node->first,
		    **place = NULL;
	struct ts_buf out = TS_BUF_INIT;

	while (packed && *at) {
		if ((*at)->tag != (field << 3 | TS_PB_VARINT)) {
			at = &(*at)->next;
			continue;
		}
		put_varint(&out, (*at)->number);
		place = place ? place : at;
		*at = (*at)->next;
	}
	if (place) {
		packed->text = tree_keep(tree, &out);
		packed->next = *place;
		*place = packed;
	}
}

static bool apply(const struct mutator *self, const struct mutation *mutation)
{
	static const struct tree_format format = { proto_parse, proto_print, proto_change,
						   tree_changes };

	(void)self;
	return tree_apply(&format, mutation);
}

const struct mutator mutator_proto = { .name = "proto", .apply = apply };
