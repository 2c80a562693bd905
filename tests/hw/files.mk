unit_tests += tests/hw/chips_test
unit_tests += tests/hw/roofline_test
