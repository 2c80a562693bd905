unit_tests += tests/analysis/capacity/allocators_test
unit_tests += tests/analysis/capacity/capacity_test
unit_tests += tests/analysis/capacity/memory_timeline_test
