/* SPDX-License-Identifier: MIT */
/* Shardings as XLA writes them, and what jax.sharding.NamedSharding they were made of. */
#include "model/sharding.h"
#include "tests/test.h"

#define MAX 6

/* A sharding as XLA prints it, [TILES]<=[RESHAPE]T(ORDER), on a mesh; 0 ends a list, but for that of the order. */
struct written {
	const char *mesh;
	int64_t tiles[MAX], reshape[MAX], order[MAX];
	uint32_t nr_dims, nr_order;
	const char *spec; /* NULL: it does not fit into the mesh */
};

static const struct written all[] = {
	{ "data=2,model=2", { 2, 1, 2 }, { 4 }, { 0 }, 2, 1, "P(\"data\", None)" },
	{ "data=2,model=2", { 1, 2, 2 }, { 2, 2 }, { 1, 0 }, 2, 2, "P(None, \"model\")" },
	{ "data=2,model=2", { 2, 2 }, { 4 }, { 0 }, 2, 1, "P(\"data\", \"model\")" },
	{ "data=2,model=2", { 2, 2 }, { 2, 2 }, { 1, 0 }, 2, 2, "P(\"model\", \"data\")" },
	{ "data=2,model=2", { 1, 4 }, { 4 }, { 0 }, 2, 1, "P(None, (\"data\", \"model\"))" },
	{ "data=2,model=2", { 1, 4 }, { 2, 2 }, { 1, 0 }, 2, 2, "P(None, (\"model\", \"data\"))" },
	{ "a=2,b=3,c=4", { 4, 6 }, { 6, 4 }, { 1, 0 }, 2, 2, "P(\"c\", (\"a\", \"b\"))" },
	{ "a=2,b=3,c=4", { 3, 2, 4 }, { 2, 3, 4 }, { 1, 0, 2 }, 1, 3, "P(\"b\")" },
	{ "a=2,b=3,c=4", { 2, 4, 3 }, { 2, 3, 4 }, { 0, 2, 1 }, 2, 3, "P(\"a\", \"c\")" },
	{ "a=4,b=4", { 2, 8 }, { 16 }, { 0 }, 1, 1, NULL }, /* a half of an axis */
	{ "a=1,b=4", { 4 }, { 4 }, { 0 }, 1, 1, "P(\"b\")" },
};

static uint32_t length_of(const int64_t *list)
{
	uint32_t n = 0;

	while (n < MAX && list[n])
		n++;
	return n;
}

static struct ts_hlo_sharding sharding_of(const struct written *written)
{
	struct ts_hlo_sharding sharding = { .nr_tiles = length_of(written->tiles),
					    .nr_dims = written->nr_dims,
					    .tiles = written->tiles };

	sharding.devices = (struct ts_device_list){ .nr = 1,
						    .reshape = written->reshape,
						    .order = written->order,
						    .nr_reshape = written->nr_order };
	for (uint32_t i = 0; i < written->nr_order; i++)
		sharding.devices.nr *= written->reshape[i];
	return sharding;
}

static void assert_spec(const struct ts_mesh *mesh, const struct ts_hlo_sharding *sharding,
			uint32_t rank, const char *expected)
{
	struct ts_spec spec = ts_sharding_spec(mesh, sharding, rank);
	struct ts_buf text = TS_BUF_INIT;

	assert_int_equal(spec.is_known, expected != NULL);
	if (expected) {
		ts_spec_put(&text, mesh, &spec);
		assert_true(ts_bytes_is(ts_buf_bytes(&text), expected));
	}
	ts_buf_release(&text);
}

TEST(a_sharding_is_told_in_the_axes_of_its_mesh)
{
	for (size_t i = 0; i < TS_NELEM(all); i++) {
		struct ts_hlo_sharding sharding = sharding_of(&all[i]);
		struct ts_error err = TS_ERROR_INIT;
		struct ts_mesh mesh;

		assert_int_equal(ts_mesh_parse(ts_bytes_of(all[i].mesh), &mesh, &err), TS_OK);
		assert_spec(&mesh, &sharding, all[i].nr_dims, all[i].spec);
	}
}

/* Older compilers list the devices. */
TEST(listed_devices_are_the_same)
{
	static const int64_t tiles[] = { 1, 2, 2 }, devices[] = { 0, 2, 1, 3 };
	struct ts_hlo_sharding sharding = { 3, 2, tiles, { .nr = 4, .listed = devices } };
	struct ts_error err = TS_ERROR_INIT;
	struct ts_mesh mesh;

	assert_int_equal(ts_mesh_parse(TS_LIT("data=2,model=2"), &mesh, &err), TS_OK);
	assert_spec(&mesh, &sharding, 2, "P(None, \"model\")");
}

TEST(without_names_the_mesh_is_what_the_shardings_need)
{
	struct ts_hlo_sharding rows = sharding_of(&all[0]), columns = sharding_of(&all[1]);
	struct ts_mesh_edges edges = { .nr = 0 };
	struct ts_mesh mesh;

	ts_mesh_note(&edges, &rows);
	mesh = ts_mesh_of(&edges);
	assert_int_equal(mesh.nr, 2);
	ts_mesh_note(&edges, &columns);
	mesh = ts_mesh_of(&edges);
	assert_int_equal(mesh.nr, 2);
	assert_spec(&mesh, &rows, 2, "P(\"axis0\", None)");
	assert_spec(&mesh, &columns, 2, "P(None, \"axis1\")");
}

TEST(what_is_whole_is_known_and_what_has_no_sharding_is_not)
{
	struct ts_hlo_sharding whole = { .nr_tiles = 0 };
	struct ts_error err = TS_ERROR_INIT;
	struct ts_mesh mesh;

	assert_int_equal(ts_mesh_parse(TS_LIT("data=8"), &mesh, &err), TS_OK);
	assert_spec(&mesh, &whole, 3, "P(None, None, None)");
	assert_spec(&mesh, NULL, 3, NULL);
}

TEST(a_group_lies_along_axes)
{
	static const int64_t columns[] = { 0, 1 }, rows[] = { 0, 2 }, odd[] = { 0, 3 };
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf text = TS_BUF_INIT;
	struct ts_mesh mesh;

	assert_int_equal(ts_mesh_parse(TS_LIT("data=2,model=2"), &mesh, &err), TS_OK);
	ts_axes_put(&text, &mesh,
		    ts_mesh_axes_of(&mesh, &(struct ts_device_list){ 2, columns, NULL, NULL, 0 }));
	ts_buf_puts(&text, " ");
	ts_axes_put(&text, &mesh,
		    ts_mesh_axes_of(&mesh, &(struct ts_device_list){ 2, rows, NULL, NULL, 0 }));
	assert_true(ts_bytes_is(ts_buf_bytes(&text), "model data"));
	assert_true(ts_mesh_axes_of(&mesh, &(struct ts_device_list){ 2, odd, NULL, NULL, 0 }) == 0);
	ts_buf_release(&text);
}

TEST(what_is_no_mesh_is_refused)
{
	static const char *const texts[] = {
		"",	  "data",
		"data=",  "=2",
		"data=0", "data=2,",
		"data=x", "a=2,b=2,c=2,d=2,e=2,f=2,g=2,h=2,i=2,j=2,k=2,l=2,m=2,n=2,o=2,p=2"
	};
	struct ts_error err = TS_ERROR_INIT;
	struct ts_mesh mesh;

	for (size_t i = 0; i < TS_NELEM(texts); i++)
		assert_int_equal(ts_mesh_parse(ts_bytes_of(texts[i]), &mesh, &err), TS_USAGE);
}
