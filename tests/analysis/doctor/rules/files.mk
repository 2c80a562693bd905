unit_tests += tests/analysis/doctor/rules/capacity_test
unit_tests += tests/analysis/doctor/rules/fusion_test
unit_tests += tests/analysis/doctor/rules/traffic_test
