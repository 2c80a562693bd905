unit_tests += tests/compare/compare_test
unit_tests += tests/compare/gate_test
unit_tests += tests/compare/modes_test
unit_tests += tests/compare/rank_test
