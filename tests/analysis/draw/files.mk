unit_tests += tests/analysis/draw/heatmap_test
unit_tests += tests/analysis/draw/marks_test
