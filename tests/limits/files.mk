EXTRA_DIST += tests/limits/bombs.py
