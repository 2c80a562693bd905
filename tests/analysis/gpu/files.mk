unit_tests += tests/analysis/gpu/flame_test
unit_tests += tests/analysis/gpu/hta_test
unit_tests += tests/analysis/gpu/kernels_test
unit_tests += tests/analysis/gpu/timeline_test
