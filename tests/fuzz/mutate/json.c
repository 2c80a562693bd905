/* SPDX-License-Identifier: MIT */
/*
 * JSON as a tree: members and elements are nodes. A text that breaks off stays open at the top, and
 * what is nested very deep is one leaf. A change may leave a bracket open, write what is not quite
 * JSON (NaN, raw bytes in a string) and give a key twice.
 */
#include "codec/jtok.h"
#include "tests/fuzz/mutate/tree.h"

#define MAX_DEPTH 48
/* What a node is, in .wire: an object and an array by their brackets. */
#define STRING '"'
#define SCALAR '0'

static uint32_t hash(struct ts_bytes text) /* FNV-1a */
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < text.n; i++)
		h = (h ^ text.p[i]) * 16777619u;
	return h;
}

static struct node *parse_value(struct tree *tree, struct ts_bytes key, struct ts_bytes token,
				int depth);

/* Members are like others with their key, elements like those of lists with the same key. */
static void parse_inside(struct tree *tree, struct node *node, struct ts_bytes token, int depth)
{
	struct ts_jtok at = ts_jtok_enter(token);
	struct node **last = &node->first;
	bool object = node->wire == '{';

	while (object ? ts_jtok_member(&at) : ts_jtok_element(&at)) {
		*last = parse_value(tree, object ? at.key : node->key, at.value, depth + 1);
		if (!*last)
			return;
		(*last)->tag += !object;
		last = &(*last)->next;
	}
}

static struct node *parse_value(struct tree *tree, struct ts_bytes key, struct ts_bytes token,
				int depth)
{
	bool open = token.n > 0 && (token.p[0] == '{' || token.p[0] == '[');
	bool string = token.n > 1 && token.p[0] == '"';
	struct node *node;

	node = tree_node(tree,
			 open && depth < MAX_DEPTH ? NODE_INNER
			 : string		   ? NODE_TEXT
						   : NODE_NUMBER,
			 hash(key));
	if (!node)
		return NULL;
	node->key = key;
	node->wire = node->kind == NODE_INNER ? token.p[0] : string ? STRING : SCALAR;
	node->text = string ? ts_jtok_text(token) : token;
	if (node->kind == NODE_INNER)
		parse_inside(tree, node, token, depth);
	return node;
}

/* NULL: no object or array begins here. */
static struct node *parse(struct tree *tree, struct ts_bytes text)
{
	const uint8_t *end = text.n ? text.p + text.n : text.p, *behind;
	const uint8_t *p = ts_jtok_space(text.p, end);
	struct node *top;

	if (p == end || (*p != '{' && *p != '['))
		return NULL;
	behind = ts_jtok_value_end(p, end);
	top = parse_value(tree, (struct ts_bytes){ NULL, 0 },
			  (struct ts_bytes){ p, (size_t)((behind ? behind : end) - p) }, 0);
	if (top)
		top->lie = !behind;
	return top;
}

static void print_string(struct ts_buf *out, struct ts_bytes text)
{
	ts_buf_putc(out, '"');
	ts_buf_put(out, text);
	ts_buf_putc(out, '"');
}

static void print_value(struct ts_buf *out, const struct node *node)
{
	if (node->kind != NODE_INNER) {
		if (node->wire == STRING)
			print_string(out, node->text);
		else
			ts_buf_put(out, node->text);
		return;
	}
	ts_buf_putc(out, (char)node->wire);
	for (const struct node *child = node->first; child; child = child->next) {
		if (node->wire == '{') {
			print_string(out, child->key);
			ts_buf_putc(out, ':');
		}
		print_value(out, child);
		if (child->next)
			ts_buf_putc(out, ',');
	}
	if (!node->lie)
		ts_buf_putc(out, node->wire == '{' ? '}' : ']');
}

/* What may stand between quotes without more ado. */
static struct ts_bytes clean(struct tree *tree, struct ts_bytes text)
{
	struct ts_buf out = TS_BUF_INIT;

	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] >= ' ' && text.p[i] <= '~' && text.p[i] != '"' && text.p[i] != '\\')
			ts_buf_putc(&out, (char)text.p[i]);
	return tree_keep(tree, &out);
}

static struct ts_bytes other_text(struct tree *tree, struct ts_bytes text)
{
	struct ts_bytes changed = tree_bytes(tree, text);

	return tree->sound ? clean(tree, changed) : changed;
}

static void set_scalar(struct node *node, const char *text)
{
	*node = (struct node){ .next = node->next,
			       .kind = NODE_NUMBER,
			       .tag = node->tag,
			       .key = node->key,
			       .wire = SCALAR,
			       .text = ts_bytes_of(text) };
}

static const char *const scalars[] = {
	"null",
	"true",
	"false",
	"0",
	"-1",
	"0.001",
	"1e18",
	"-1e18",
	"9223372036854775807",
	"-9223372036854775808",
	"1e-300",
	"1e308",
	"1.5e3",
	"-0.0",
	"9007199254740993",
	"18446744073709551616",
	/* from here on it is not JSON */
	"NaN",
	"-Infinity",
	"0x10",
	"1e999",
	"",
	"01",
};
#define NR_SOUND 16

static void other_scalar(struct tree *tree, struct node *node)
{
	uint64_t nr = tree->sound ? NR_SOUND : TS_NELEM(scalars);
	struct ts_buf out = TS_BUF_INIT;
	int64_t value;

	if (!ts_bytes_i64(node->text, &value) || rng_below(tree->rng, 3) == 0) {
		set_scalar(node, scalars[rng_below(tree->rng, nr)]);
		return;
	}
	ts_buf_i64(&out, (int64_t)tree_number(tree->rng, (uint64_t)value));
	node->text = tree_keep(tree, &out);
}

/* A string's text becomes a number, a number's a string, whatever is in it. */
static void other_type(struct tree *tree, struct node *node)
{
	if (node->kind == NODE_TEXT || node->kind == NODE_INNER) {
		set_scalar(node, scalars[rng_below(tree->rng, NR_SOUND)]);
	} else {
		node->text = clean(tree, node->text);
		node->kind = NODE_TEXT;
		node->wire = STRING;
	}
}

static void other_key(struct tree *tree, struct node *node)
{
	const struct node *from = tree_any(tree);

	node->key = rng_below(tree->rng, 2) ? from->key : other_text(tree, node->key);
	node->tag = hash(node->key);
}

static void change(struct tree *tree, struct node *node)
{
	uint64_t what = rng_below(tree->rng, 12);

	if (what == 0)
		other_type(tree, node);
	else if (what == 1)
		other_key(tree, node);
	else if (node->kind == NODE_TEXT)
		node->text = other_text(tree, node->text);
	else if (node->kind == NODE_NUMBER)
		other_scalar(tree, node);
	else
		node->wire = node->wire ^ '{' ^ '['; /* an object of elements, a list of members */
}

static bool apply(const struct mutator *self, const struct mutation *mutation)
{
	static const struct tree_format format = { parse, print_value, change, tree_changes };

	(void)self;
	return tree_apply(&format, mutation);
}

const struct mutator mutator_json = { .name = "json", .apply = apply };
