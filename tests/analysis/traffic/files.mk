unit_tests += tests/analysis/traffic/fusion_test
unit_tests += tests/analysis/traffic/memory_test
unit_tests += tests/analysis/traffic/remat_test
