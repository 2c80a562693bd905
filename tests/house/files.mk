script_tests += tests/house/house_test.py
