/* SPDX-License-Identifier: MIT */
/*
 * Archives of tar (POSIX.1-2017, pax, "ustar Interchange Format") as trees: a node is a file, its
 * key the header of 512 bytes. Sizes and checksums are written anew, so that a changed header is
 * believed; what is in a file is changed by the mutator that its name asks for.
 */
#include "tests/fuzz/mutate/tree.h"

#define BLOCK 512

/* A field of a header. */
struct tar_field {
	size_t at, n;
};

static const struct tar_field size_field = { 124, 12 }, sum_field = { 148, 8 };
/* What matters most stands more than once. */
static const struct tar_field fields[] = {
	{ 0, 100 },   { 0, 100 }, /* the name */
	{ 156, 1 },   { 156, 1 }, /* the type */
	{ 157, 100 },		  /* what a link leads to */
	{ 345, 155 },		  /* what stands in front of the name */
	{ 257, 8 },		  /* the magic */
	{ 100, 8 },		  /* the mode */
	{ 136, 12 },		  /* the time */
};

static uint64_t octal(const uint8_t *p, size_t n)
{
	uint64_t value = 0;

	for (size_t i = 0; i < n && p[i] != '\0' && p[i] != ' '; i++)
		value = value << 3 | (p[i] & 7);
	return value;
}

static bool is_end(const uint8_t *header)
{
	for (size_t i = 0; i < BLOCK; i++)
		if (header[i])
			return false;
	return true;
}

static struct node *parse_member(struct tree *tree, struct ts_bytes *rest)
{
	struct node *node = tree_node(tree, NODE_TEXT, 1);
	uint64_t size = octal(rest->p + size_field.at, size_field.n), packed;

	if (!node)
		return NULL;
	node->key = ts_bytes_cut(*rest, 0, BLOCK);
	*rest = ts_bytes_cut(*rest, BLOCK, rest->n);
	size = TS_MIN(size, rest->n);
	node->text = ts_bytes_cut(*rest, 0, size);
	packed = (size + BLOCK - 1) / BLOCK * BLOCK;
	*rest = ts_bytes_cut(*rest, packed, rest->n);
	return node;
}

/* NULL: no header is there. */
static struct node *parse(struct tree *tree, struct ts_bytes bytes)
{
	struct node *top = tree_node(tree, NODE_INNER, 0), **last = top ? &top->first : NULL;

	while (last && bytes.n >= BLOCK && !is_end(bytes.p)) {
		*last = parse_member(tree, &bytes);
		last = *last ? &(*last)->next : NULL;
	}
	return top && top->first && ts_bytes_starts(ts_bytes_cut(top->first->key, 257, 5), "ustar")
		       ? top
		       : NULL;
}

static void put_octal(uint8_t *p, size_t n, uint64_t value)
{
	p[n - 1] = '\0';
	for (size_t i = n - 1; i-- > 0; value >>= 3)
		p[i] = (uint8_t)('0' + (value & 7));
}

static void sum(uint8_t *header)
{
	uint64_t all = 0;

	memset(header + sum_field.at, ' ', sum_field.n);
	for (size_t i = 0; i < BLOCK; i++)
		all += header[i];
	put_octal(header + sum_field.at, 7, all);
}

static void print(struct ts_buf *out, const struct node *top)
{
	for (const struct node *node = top->first; node; node = node->next) {
		uint8_t header[BLOCK];

		memcpy(header, node->key.p, BLOCK);
		put_octal(header + size_field.at, size_field.n, node->text.n + node->lie);
		sum(header);
		ts_buf_put(out, (struct ts_bytes){ header, BLOCK });
		ts_buf_put(out, node->text);
		ts_buf_pad(out, '\0', (BLOCK - node->text.n % BLOCK) % BLOCK);
	}
	ts_buf_pad(out, '\0', top->lie ? 0 : 2 * BLOCK);
}

static void other_header(struct tree *tree, struct node *node)
{
	const struct tar_field *field = &fields[rng_below(tree->rng, TS_NELEM(fields))];
	struct ts_bytes changed = tree_bytes(tree, ts_bytes_cut(node->key, field->at, field->n));
	uint8_t *header = ts_arena_alloc(tree->arena, BLOCK);

	if (!header)
		return;
	memcpy(header, node->key.p, BLOCK);
	memset(header + field->at, 0, field->n);
	memcpy(header + field->at, changed.p, TS_MIN(changed.n, field->n));
	node->key = (struct ts_bytes){ header, BLOCK };
}

static const struct mutator *mutator_of(struct ts_bytes header)
{
	struct ts_bytes name = ts_bytes_cut(header, 0, strnlen((const char *)header.p, 100));

	return ts_bytes_has(name, ".json") || ts_bytes_has(name, "prof") ? &mutator_profile
	       : ts_bytes_ends(name, ".pb")				 ? &mutator_proto
									 : &mutator_bytes;
}

static void other_content(struct tree *tree, struct node *node)
{
	struct ts_buf out = TS_BUF_INIT;
	struct mutation mutation = {
		.rng = tree->rng, .in = node->text, .sound = tree->sound, .out = &out
	};
	const struct mutator *inner = mutator_of(node->key);

	if (inner->apply(inner, &mutation))
		node->text = tree_keep(tree, &out);
	else
		ts_buf_release(&out);
}

static void change(struct tree *tree, struct node *node)
{
	if (rng_below(tree->rng, 2))
		other_header(tree, node);
	else
		other_content(tree, node);
}

static bool apply(const struct mutator *self, const struct mutation *mutation)
{
	static const struct tree_format format = { parse, print, change, tree_changes };

	(void)self;
	return tree_apply(&format, mutation);
}

const struct mutator mutator_tar = { .name = "tar", .apply = apply };
