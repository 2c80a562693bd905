/* SPDX-License-Identifier: MIT */
/*
 * What a gap waited for is what the launching thread did until the launch. A core runs in [0, 10) and from 110 us
 * on; each scene says what threads do meanwhile, and how much of the 100 us is input.
 */
#include "tests/analysis/given.h"

#define MAX_EVENTS 6
#define GAP_US	   100

struct spell {
	const char *name;
	int64_t start_us, dur_us;
	bool is_step;
};

struct thread {
	const char *name;
	struct spell spells[MAX_EVENTS]; /* by start */
};

struct scene {
	const char *what;
	struct thread threads[2];
	int64_t input_us;
	const char *event, *thread; /* of the gap */
	const char *says, *advice;  /* the finding about it: in its evidence, in its advice */
	const char *input_names;
};

#define LAUNCH	   { "PjitFunction(step)", 95, 10 }
#define READ_AHEAD { "tf_data", { { "Iterator::Prefetch", 0, 112 } } }

static const struct scene scenes[] = {
	/* 10..12, 90..95 and 105..110 main is in nothing while the other thread reads */
	{ "a prefetch that is ahead",
	  { { "main", { { "write_metrics", 12, 78 }, LAUNCH } }, READ_AHEAD },
	  12,
	  "write_metrics",
	  "main",
	  "The launch waited for write_metrics on main",
	  "read metrics every n steps",
	  NULL },
	{ "a prefetch that is waited for in nothing",
	  { { "main", { LAUNCH } }, READ_AHEAD },
	  90,
	  "Iterator::Prefetch",
	  "tf_data",
	  "Meanwhile the host is in Iterator::Prefetch on tf_data",
	  "Prepare batches",
	  NULL },
	{ "a prefetch that is waited for in a frame",
	  { { "main", { { "$train.py:7 loop", 0, 130 }, LAUNCH } }, READ_AHEAD },
	  90,
	  "Iterator::Prefetch",
	  "tf_data",
	  "Iterator::Prefetch",
	  "Prepare batches",
	  NULL },
	{ "a prefetch that is waited for in a queue",
	  { { "main", { { "$queue.py:171 get", 12, 78 }, LAUNCH } }, READ_AHEAD },
	  90,
	  "Iterator::Prefetch",
	  "tf_data",
	  "Iterator::Prefetch",
	  "Prepare batches",
	  NULL },
	/* next_one holds 1 us more on each side of the queue, which is work */
	{ "a prefetch that is waited for in a queue, inside of what the user named",
	  { { "main", { { "next_one", 11, 80 }, { "$queue.py:171 get", 12, 78 }, LAUNCH } },
	    READ_AHEAD },
	  88,
	  "Iterator::Prefetch",
	  "tf_data",
	  "Iterator::Prefetch",
	  "Prepare batches",
	  NULL },
	/* what holds launches is not what they wait for, but for what is behind the last of them */
	{ "a scope of all, and one of what is left of it",
	  { { "main", { { "all_of_it", 0, 200 }, LAUNCH, { "PjitFunction(step)", 195, 5 } } },
	    READ_AHEAD },
	  90,
	  "Iterator::Prefetch",
	  "tf_data",
	  "Iterator::Prefetch",
	  "Prepare batches",
	  NULL },
	{ "a scope that launched at its begin",
	  { { "main", { { "evaluate", 11, 79 }, { "PjitFunction(mean)", 12, 2 }, LAUNCH } },
	    READ_AHEAD },
	  12, /* the launch in it is at 12 */
	  "evaluate",
	  "main",
	  "The launch waited for evaluate on main",
	  "The host is in evaluate. Take that out of the loop",
	  NULL },
	{ "a step is not work",
	  { { "main", { { "train", 5, 90, true }, { "PjitFunction(f)", 6, 2 }, LAUNCH } },
	    READ_AHEAD },
	  90,
	  "Iterator::Prefetch",
	  "tf_data",
	  "Iterator::Prefetch",
	  "Prepare batches",
	  NULL },
	{ "a step in which nothing is recorded",
	  { { "main", { { "train", 5, 105, true }, { "PjitFunction(f)", 6, 2 }, LAUNCH } } },
	  0,
	  "train",
	  "main",
	  "Meanwhile the host is in train on main",
	  "Give the device more work",
	  NULL },
	/* both threads call; the steps are marked where they are launched */
	{ "a reader that calls",
	  { { "main", { { "train", 0, 111, true }, { "write_it", 12, 78 }, LAUNCH } },
	    { "reader",
	      { { "Iterator::Prefetch", 0, 112 }, { "PjitFunction(convert)", 50, 5 } } } },
	  12,
	  "write_it",
	  "main",
	  "The launch waited for write_it on main",
	  "The host is in write_it. Take that out of the loop",
	  NULL },
	{ "input by the user's name",
	  { { "main", { { "fetch_batch", 12, 78 }, LAUNCH } } },
	  78,
	  "fetch_batch",
	  "main",
	  "The launch waited for fetch_batch on main",
	  "Prepare batches",
	  NULL },
	{ "input by the name of the config file",
	  { { "main", { { "read_records", 12, 78 }, LAUNCH } } },
	  78,
	  "read_records",
	  "main",
	  "The launch waited for read_records on main",
	  "Prepare batches",
	  "others\nread_*\n" },
	{ "the same without it",
	  { { "main", { { "read_records", 12, 78 }, LAUNCH } } },
	  0,
	  "read_records",
	  "main",
	  "The launch waited for read_records on main",
	  "The host is in read_records. Take that out of the loop",
	  "others\nrea\n" },
	{ "a checkpoint",
	  { { "main", { { "write_checkpoint", 12, 78 }, LAUNCH } }, READ_AHEAD },
	  12,
	  "write_checkpoint",
	  "main",
	  "The launch waited for write_checkpoint on main",
	  "Save checkpoints beside the steps",
	  NULL },
	/* a transfer is made behind the launch, on whatever thread */
	{ "a transfer on a thread of the runtime",
	  { { "main", { { "PjitFunction(step)", 5, 10 }, { "write_it", 16, 100 } } },
	    { "pool", { { "TransferToDevice", 20, 60 } } } },
	  60,
	  "TransferToDevice",
	  "pool",
	  "TransferToDevice",
	  "Prepare batches",
	  NULL },
	/* no call is seen: the runtime's own is what there is */
	{ "the runtime launches",
	  { { "executor", { { "write_it", 12, 78 }, { "DoEnqueueProgram", 95, 10 } } },
	    READ_AHEAD },
	  12,
	  "write_it",
	  "executor",
	  "The launch waited for write_it on executor",
	  "The host is in write_it.",
	  NULL },
	/* a thread that only copies decides nothing */
	{ "a reader that copies ahead",
	  { { "main", { { "write_it", 12, 78 }, { "cudaLaunchKernel", 95, 10 } } },
	    { "reader", { { "Iterator::Prefetch", 0, 112 }, { "cudaMemcpyAsync", 50, 5 } } } },
	  12,
	  "write_it",
	  "main",
	  "The launch waited for write_it on main",
	  "The host is in write_it.",
	  NULL },
	/* nobody is seen to launch: any thread's input counts */
	{ "nobody launches",
	  { { "main", { { "write_it", 12, 78 } } }, READ_AHEAD },
	  100,
	  "Iterator::Prefetch",
	  "tf_data",
	  "Meanwhile the host is in Iterator::Prefetch on tf_data",
	  "Prepare batches",
	  NULL },
};

static void put_thread(struct given *given, const struct thread *thread)
{
	struct xp xp = xp_plane(&given->bytes, "/host:CPU");
	const struct spell *spell = thread->spells;

	for (int64_t i = 0; i < MAX_EVENTS && spell[i].name; i++)
		xp_name(&xp, i + 1, spell[i].name);
	xp_line(&xp, thread->name, 0);
	for (int64_t i = 0; i < MAX_EVENTS && spell[i].name; i++) {
		size_t event =
			xp_begin_event(&xp, i + 1, spell[i].start_us * US, spell[i].dur_us * US);

		if (spell[i].is_step)
			xp_stat_int(&xp, XP_EVENT_STATS, "step_num", 3);
		ts_pbw_end(xp.out, event);
	}
	xp_line_end(&xp);
	xp_plane_end(&xp);
}

static void put_core(struct given *given)
{
	struct xp xp = given_core(given, "/device:TPU:0");

	xp_op(&xp, 1, "fusion.1", "loop fusion", PROGRAM, 1);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, 1, 0, 10);
	given_event(&xp, 1, 10 + GAP_US, 10);
	xp_line_end(&xp);
	xp_plane_end(&xp);
}

static struct given *given_scene(const struct scene *scene)
{
	struct given *given = given_nothing();

	put_core(given);
	for (size_t i = 0; i < TS_NELEM(scene->threads) && scene->threads[i].name; i++)
		put_thread(given, &scene->threads[i]);
	if (scene->input_names)
		given->mem.settings.input_names = ts_bytes_of(scene->input_names);
	analyse(given, 0);
	return given;
}

static void assert_says(const struct scene *scene, struct ts_bytes text, const char *part)
{
	if (!ts_bytes_has(text, part))
		fail_msg("%s: \"%.*s\" lacks \"%s\"", scene->what, TS_ARG(text), part);
}

static void assert_scene(const struct scene *scene)
{
	struct given *given = given_scene(scene);
	int64_t input_ps = ts_value_int(field(given, "time", "buckets.input_ps"));
	int64_t launch_ps = ts_value_int(field(given, "time", "buckets.launch_ps"));
	bool is_input = 2 * scene->input_us > GAP_US;
	const struct ts_finding *finding = finding_by(given, is_input ? "input_bound" : "idle");

	if (!finding)
		fail_msg("%s: no finding", scene->what);
	if (input_ps != scene->input_us * US)
		fail_msg("%s: %lld ps are input", scene->what, (long long)input_ps);
	assert_us(given, "time", "buckets.idle_ps", GAP_US - scene->input_us - launch_ps / US);
	assert_says(scene, cell(given, "time", "idle_gaps", 0, "host_event").as.s, scene->event);
	assert_says(scene, cell(given, "time", "idle_gaps", 0, "host_thread").as.s, scene->thread);
	assert_says(scene, finding->evidence, scene->says);
	assert_says(scene, finding->advice, scene->advice);
	done(given);
}

TEST(a_gap_waited_for_what_its_launching_thread_did)
{
	for (size_t i = 0; i < TS_NELEM(scenes); i++)
		assert_scene(&scenes[i]);
}

/* Two hosts with a core each: one waits 80 us for input, the other 10; the finding says which waits more. */
TEST(a_finding_says_which_host_waits)
{
	static const struct thread threads[] = {
		{ "main", { { "IteratorGetNext", 85, 10 }, LAUNCH } },
		{ "main", { { "IteratorGetNext", 12, 80 }, LAUNCH } },
	};
	struct given *given = given_nothing();
	struct ts_error err = TS_ERROR_INIT;
	const struct ts_finding *finding;
	size_t ends[2];

	for (size_t i = 0; i < 2; i++) {
		put_core(given);
		put_thread(given, &threads[i]);
		ends[i] = ts_buf_bytes(&given->bytes).n;
	}
	for (size_t i = 0; i < 2; i++) {
		size_t from = i ? ends[i - 1] : 0;
		struct ts_bytes file =
			ts_bytes_cut(ts_buf_bytes(&given->bytes), from, ends[i] - from);

		assert_int_equal(memory_run_add(&given->mem, file, i ? "host1" : "host0", &err), 0);
	}
	assert_int_equal(memory_run_analyse(&given->mem, 0, &err), 0);
	finding = finding_by(given, "input_bound");
	assert_non_null(finding);
	assert_us(given, "time", "buckets.input_ps", 90);
	assert_true(ts_bytes_has(finding->evidence, "waited for IteratorGetNext on main of host1"));
	assert_true(ts_bytes_has(finding->evidence, "Most on host1 /device:TPU:0 (80.0"));
	done(given);
}
