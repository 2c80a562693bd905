unit_tests += tests/analysis/ops/custom_calls_test
unit_tests += tests/analysis/ops/ops_test
unit_tests += tests/analysis/ops/rates_test
unit_tests += tests/analysis/ops/roofline_test
