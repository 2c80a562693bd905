# SPDX-License-Identifier: MIT
# Built on demand: make bench/make_big
EXTRA_PROGRAMS += bench/make_big
bench_make_big_SOURCES = bench/make_big.c
bench_make_big_LDADD = libtpusight.a
EXTRA_PROGRAMS += bench/make_records
bench_make_records_SOURCES = bench/make_records.c
bench_make_records_LDADD = libtpusight.a
EXTRA_DIST += bench/README.md bench/run.sh bench/same.sh bench/compare.py bench/make_big_trace.py bench/page.mjs bench/pod.py bench/states.py \
	bench/before_models.py bench/before_programs.py bench/make_shapes.py bench/part.py
