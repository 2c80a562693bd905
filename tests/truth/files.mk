TESTS += tests/truth/truth_test.sh tests/truth/planted_test.sh tests/truth/sparsecore_test.sh
EXTRA_DIST += tests/truth/truth_test.sh tests/truth/hlo_stats.py tests/truth/hlo_modules.py tests/truth/roofline.py \
	 tests/truth/sample.py tests/truth/fusion.py tests/truth/memory.py tests/truth/memory_timeline.py tests/truth/compilations.py \
	tests/truth/sample.py tests/truth/fusion.py tests/truth/compilations.py tests/truth/capacity.py tests/truth/sites.py \
	tests/truth/torch_compile.py tests/truth/torch_modes.py \
	tests/truth/planted_test.sh tests/truth/planted.py \
	tests/truth/sparsecore_test.sh tests/truth/sparsecore.py
TESTS += tests/truth/compare_test.sh
TESTS += tests/truth/kernels_test.sh tests/truth/timeline_test.sh
EXTRA_DIST += tests/truth/timeline_test.sh tests/truth/timeline.py
EXTRA_DIST += tests/truth/kernels_test.sh tests/truth/kernels.py
EXTRA_DIST += tests/truth/compare_test.sh tests/truth/compare.py tests/truth/torch_steps.py
TESTS += tests/truth/hta_test.sh
TESTS += tests/truth/flame_test.sh
EXTRA_DIST += tests/truth/flame_test.sh tests/truth/flame.py
EXTRA_DIST += tests/truth/hta_test.sh tests/truth/hta_answers.py tests/truth/hta_raw.py tests/truth/hta_live.py
TESTS += tests/truth/torch_test.sh
EXTRA_DIST += tests/truth/torch_test.sh
