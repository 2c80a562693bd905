TESTS += tests/house/house_test.py
EXTRA_DIST += tests/house/house_test.py
