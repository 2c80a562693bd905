/* What capture_fixes.c has for users of JAX, for users of PyTorch; causes that only XLA knows have no row. */
#include "analysis/run/capture.h"

/* What this PyTorch can use. */
#define CHECK                                                              \
	"import torch\n"                                                   \
	"\n"                                                               \
	"print(torch.__version__, torch.version.cuda, torch.version.hip, " \
	"torch.cuda.is_available())\n"

/* Wait and warm up, a few marked steps, into the folder that TensorBoard looks at. */
#define GOOD_CAPTURE                                                                             \
	"import tempfile\n"                                                                      \
	"\n"                                                                                     \
	"import torch\n"                                                                         \
	"from torch.profiler import ProfilerActivity, profile, schedule, "                       \
	"tensorboard_trace_handler\n"                                                            \
	"\n"                                                                                     \
	"model = torch.nn.Linear(256, 256)\n"                                                    \
	"logdir = tempfile.mkdtemp()  # your log directory\n"                                    \
	"activities = [ProfilerActivity.CPU]\n"                                                  \
	"if torch.cuda.is_available():\n"                                                        \
	"    activities.append(ProfilerActivity.CUDA)\n"                                         \
	"with profile(activities=activities, schedule=schedule(wait=1, warmup=2, active=5, "     \
	"repeat=1),\n"                                                                           \
	"             on_trace_ready=tensorboard_trace_handler(logdir), record_shapes=True) as " \
	"prof:\n"                                                                                \
	"    for i in range(8):\n"                                                               \
	"        model(torch.ones(64, 256)).sum().backward()\n"                                  \
	"        prof.step()  # marks the steps, and starts and stops the recording\n"

const struct capture_fix capture_torch_fixes[] = {
	{ "ran_on_cpu",
	  "The tensors lay on the CPU. Install the PyTorch that belongs to the GPU's driver "
	  "(torch.version.cuda, "
	  "torch.version.hip), look at CUDA_VISIBLE_DEVICES, and move model and batches there with "
	  ".to(\"cuda\").",
	  CHECK },
	{ "no_device",
	  "Profile the process that uses the device (the trainer, not a launcher or a worker of "
	  "the DataLoader), "
	  "with ProfilerActivity.CUDA among the activities, and with no second profiler (nsys, "
	  "ncu, another "
	  "torch.profiler) at work. If the tensors lie on the CPU, there is no device to see.",
	  CHECK GOOD_CAPTURE },
	{ "device_ran_nothing",
	  "Record steps that work: let the schedule wait and warm up first, and call prof.step() "
	  "at the end of "
	  "each step.",
	  GOOD_CAPTURE },
	{ "only_compilation",
	  "Run each shape once before the recording starts: torch.compile compiles at the first "
	  "call. A schedule "
	  "with warm-up steps keeps that out of the trace.",
	  GOOD_CAPTURE },
	{ "warm_up_only",
	  "Record later: let some steps pass first (schedule's wait and warmup), then about five.",
	  GOOD_CAPTURE },
	{ "ops_missing",
	  "Record fewer steps (schedule's active): kernels are the first to go when CUPTI's or "
	  "roctracer's buffers "
	  "are full.",
	  GOOD_CAPTURE },
	{ "not_blocked",
	  "Calls return before the device has done the work. Let the profiler stop the recording "
	  "(prof.step() or "
	  "the end of the with block wait for the device), not a hard exit of the process.",
	  GOOD_CAPTURE },
	{ "device_trace_cut",
	  "Record fewer steps (schedule's active), and less of the host (with_stack=False, "
	  "profile_memory=False): "
	  "the buffers then suffice.",
	  GOOD_CAPTURE },
	{ "host_windows_differ",
	  "Record the same steps on all ranks: by the step's number (schedule), not by time or by "
	  "hand.",
	  GOOD_CAPTURE },
	{ "unused_devices",
	  "Give the process only the devices it uses (CUDA_VISIBLE_DEVICES; one a rank with "
	  "torchrun), or spread "
	  "the work. Shares in this report are of the devices that ran something.",
	  "import os\n"
	  "\n"
	  "import torch\n"
	  "\n"
	  "rank = int(os.environ.get(\"LOCAL_RANK\", 0))  # set by torchrun\n"
	  "if torch.cuda.is_available():\n"
	  "    torch.cuda.set_device(rank)\n"
	  "print(rank, torch.cuda.device_count())\n" },
	{ "host_tracing_off",
	  "Keep ProfilerActivity.CPU among the activities: without it nothing tells what the "
	  "device waited for.",
	  GOOD_CAPTURE },
	{ "steps_inferred",
	  "Call prof.step() at the end of each step: viewers and this report then cut the time "
	  "where the program "
	  "does.",
	  GOOD_CAPTURE },
	{ "too_many_steps",
	  "Five to ten steps show the same, in a file that opens at once (schedule's active).",
	  GOOD_CAPTURE },
	{ NULL, NULL, NULL },
};
