unit_tests += tests/analysis/compile/cache_family_test
unit_tests += tests/analysis/compile/cache_test
unit_tests += tests/analysis/compile/compile_test
