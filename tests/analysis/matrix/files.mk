unit_tests += tests/analysis/matrix/padding_test
unit_tests += tests/analysis/matrix/systolic_test
