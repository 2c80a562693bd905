# SPDX-License-Identifier: MIT
# Our numbers against those of others: of libtpu, XProf, HTA, PyTorch, and of runs whose truth was put in.
EXTRA_DIST += tests/truth/capacity.py tests/truth/clocks.py tests/truth/compare.py tests/truth/compilations.py tests/truth/flame.py tests/truth/gpu_job.py \
	tests/truth/executions.py tests/truth/fusion.py tests/truth/hlo_modules.py tests/truth/hlo_stats.py tests/truth/hta_answers.py \
	tests/truth/hta_live.py tests/truth/hta_raw.py tests/truth/kernels.py tests/truth/memory.py \
	tests/truth/memory_timeline.py tests/truth/operators.py tests/truth/modules.py tests/truth/planted.py tests/truth/prediction.py tests/truth/roofline.py \
	tests/truth/sample.py tests/truth/scopes.py tests/truth/sites.py tests/truth/sparsecore.py \
	tests/truth/timeline.py tests/truth/torch_compile.py tests/truth/tracelens.py tests/truth/working.py \
	tests/truth/torch_modes.py tests/truth/torch_steps.py tests/truth/hta_critical_path.py
