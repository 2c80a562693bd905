/*
 * What to do about each cause: a few sentences and a piece of code. The code runs as it stands on
 * today's JAX, on any backend, with small arrays in place of the user's.
 */
#include "analysis/run/capture.h"

#define SETUP                                         \
	"import tempfile\n"                           \
	"\n"                                          \
	"import jax\n"                                \
	"import jax.numpy as jnp\n"                   \
	"\n"                                          \
	"step = jax.jit(lambda x: jnp.tanh(x @ x))\n" \
	"x = jnp.ones((256, 256))\n"                  \
	"logdir = tempfile.mkdtemp()  # your log directory\n"

#define WARM "x = step(x).block_until_ready()  # compiles, before the profile\n"

/* Warm up, a few marked steps, and a wait inside the profile. */
#define GOOD_CAPTURE                                                                         \
	SETUP WARM "with jax.profiler.trace(logdir):\n"                                      \
		   "    for i in range(10):\n"                                               \
		   "        with jax.profiler.StepTraceAnnotation(\"train\", step_num=i):\n" \
		   "            x = step(x)\n"                                               \
		   "    x.block_until_ready()  # inside: what is still running is not recorded\n"

/* Options given whole: levels of 0 are what switched something off. */
#define WITH_OPTIONS                                                                             \
	SETUP WARM "options = jax.profiler.ProfileOptions()\n"                                   \
		   "options.host_tracer_level = 2     # the default; 0 records no host events\n" \
		   "options.device_tracer_level = 1   # the default; 0 records no device\n"      \
		   "options.python_tracer_level = 0   # fewer events; the others do without\n"   \
		   "options.enable_hlo_proto = True   # the default; the compiled modules\n"     \
		   "with jax.profiler.trace(logdir, profiler_options=options):\n"                \
		   "    for i in range(10):\n"                                                   \
		   "        with jax.profiler.StepTraceAnnotation(\"train\", step_num=i):\n"     \
		   "            x = step(x)\n"                                                   \
		   "    x.block_until_ready()\n"

const struct capture_cause capture_causes[] = {
	{ "only_annotation",
	  "Give the file that the profiler wrote: ours stands behind it, and was cut off here. "
	  "Without the "
	  "profile it cannot be made again; profile again.",
	  GOOD_CAPTURE, TS_CERTAIN },
	{ "ran_on_cpu",
	  "JAX found no accelerator and took the CPU. Install the TPU's runtime (pip install "
	  "\"jax[tpu]\") or "
	  "CUDA's, see that no other process holds the device, and do not set JAX_PLATFORMS=cpu. "
	  "Setting it to "
	  "tpu makes a missing TPU an error at start.",
	  "import jax\n"
	  "\n"
	  "print(jax.default_backend(), jax.devices())  # cpu: the accelerator is not used at all\n"
	  "try:\n"
	  "    print(jax.devices(\"tpu\"))\n"
	  "except RuntimeError as error:\n"
	  "    print(error)  # says why the TPU is not there\n",
	  TS_LIKELY },
	{ "no_device",
	  "Profile the process that holds the accelerator (in a job of many, the trainer; not the "
	  "launcher or "
	  "the input workers), with device_tracer_level at its default, and with no second "
	  "profiler at work on "
	  "the same device.",
	  "import jax\n"
	  "\n"
	  "print(jax.default_backend(), jax.local_devices())  # run this in the process that is "
	  "profiled\n" WITH_OPTIONS,
	  TS_CERTAIN },
	{ "device_ran_nothing",
	  "Run a compiled step inside the profile, and wait for its result before the profile "
	  "ends. A profile "
	  "taken from outside (a port, TensorBoard's button) must meet the job at work: take it "
	  "again, longer.",
	  GOOD_CAPTURE, TS_CERTAIN },
	{ "only_compilation",
	  "Run each step once, with the shapes of the run, before the profile starts: then it is "
	  "compiled, and "
	  "the profile shows the work. Keep compiled programs in the persistent cache.",
	  GOOD_CAPTURE, TS_CERTAIN },
	{ "warm_up_only", "Profile later: let some steps pass first, then capture about ten.",
	  GOOD_CAPTURE, TS_LIKELY },
	{ "ops_missing",
	  "Leave device_tracer_level at its default, and capture fewer steps: ops are the first to "
	  "go when the "
	  "device's trace buffer is full.",
	  WITH_OPTIONS, TS_LIKELY },
	{ "not_blocked",
	  "Calls of jitted functions return at once; the device works on. Wait for the last result "
	  "(block_until_ready) before the profile stops.",
	  GOOD_CAPTURE, TS_LIKELY },
	{ "device_trace_cut",
	  "Capture fewer steps (about ten), and less of the host (python_tracer_level 0): the "
	  "buffers then "
	  "suffice.",
	  WITH_OPTIONS, TS_LIKELY },
	{ "profiler_messages",
	  "Read the messages. Where events were dropped, capture fewer steps and switch the Python "
	  "tracer off; "
	  "where a tracer could not start, see that no other profiler is at work.",
	  WITH_OPTIONS, TS_CERTAIN },
	{ "damaged_input",
	  "Copy the profile again from where it was written, and check that the disk was not full "
	  "and the job "
	  "not killed while it was saved. What could be read was analysed.",
	  "", TS_CERTAIN },
	{ "host_windows_differ",
	  "Start and stop the profiler on all hosts in the same step: by step number, not by time "
	  "or by hand.",
	  SETUP "FIRST, LAST = 3, 7  # the same on every host\n"
		"for i in range(10):\n"
		"    if i == FIRST:\n"
		"        x.block_until_ready()\n"
		"        jax.profiler.start_trace(logdir)\n"
		"    with jax.profiler.StepTraceAnnotation(\"train\", step_num=i):\n"
		"        x = step(x)\n"
		"    if i == LAST:\n"
		"        x.block_until_ready()\n"
		"        jax.profiler.stop_trace()\n",
	  TS_CERTAIN },
	{ "unused_devices",
	  "Shard the work over all devices, or give the process only those it uses. Shares in this "
	  "report are of "
	  "the devices that ran something.",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "from jax.sharding import NamedSharding, PartitionSpec as P\n"
	  "\n"
	  "mesh = jax.make_mesh((len(jax.devices()),), (\"data\",))\n"
	  "batch = jax.device_put(jnp.ones((len(jax.devices()) * 8, 128)), NamedSharding(mesh, "
	  "P(\"data\")))\n"
	  "print(batch.sharding.device_set)  # all of them\n",
	  TS_CERTAIN },
	{ "host_tracing_off",
	  "Leave host_tracer_level at its default (2). The Python tracer may be off: it is not "
	  "needed, and makes "
	  "most of the events.",
	  WITH_OPTIONS, TS_CERTAIN },
	{ "no_hlo",
	  "Leave enable_hlo_proto at its default, and profile a program that is loaded before the "
	  "profile "
	  "starts or in it.",
	  WITH_OPTIONS, TS_CERTAIN },
	{ "steps_inferred",
	  "Mark steps, so that XProf and this report cut the time where the program does.",
	  GOOD_CAPTURE, TS_LIKELY },
	{ "too_many_steps",
	  "Ten steps show the same, in a file that opens at once and with buffers that do not "
	  "overflow.",
	  GOOD_CAPTURE, TS_CERTAIN },
	{ "file_too_large",
	  "Viewers parse at most 2 GiB of one profile. Capture fewer steps, and switch the Python "
	  "tracer off.",
	  WITH_OPTIONS, TS_CERTAIN },
	{ NULL, NULL, NULL, TS_CERTAIN },
};
