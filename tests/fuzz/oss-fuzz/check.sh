#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds what OSS-Fuzz would, without its images, and runs each target for a second from its zip: what is wrong with
# build.sh shows here first. Needs clang, cmake, zip and the sources of the libraries, each in a folder (or a clone of it)
# of the name that Dockerfile gives it.
#	check.sh DEPS [SANITIZER...]		address undefined memory coverage; by default all four
# The environment is that of base-builder; its compiler is newer, and its libc++ is not here.
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
deps=${1:?the folder with zlib, isa-l, cJSON, protobuf-c, libarchive and curl}
shift
[ $# -gt 0 ] || set -- address undefined memory coverage
undefined=array-bounds,bool,builtin,enum,integer-divide-by-zero,null,object-size,return,returns-nonnull-attribute,shift
undefined=$undefined,signed-integer-overflow,unreachable,vla-bound
declare -A flags=(
	[address]="-fsanitize=address -fsanitize-address-use-after-scope -fsanitize=fuzzer-no-link"
	[undefined]="-fsanitize=$undefined,unsigned-integer-overflow -fno-sanitize-recover=$undefined -fsanitize=fuzzer-no-link"
	[memory]="-fsanitize=memory -fsanitize-memory-track-origins -fsanitize=fuzzer-no-link"
	[coverage]="-fprofile-instr-generate -fcoverage-mapping -pthread"
)
export UBSAN_OPTIONS=silence_unsigned_overflow=1 LLVM_PROFILE_FILE=/dev/null ASAN_OPTIONS=allocator_may_return_null=1 \
	MSAN_OPTIONS=allocator_may_return_null=1
nr_bad=0

bad() {
	echo "$*"
	nr_bad=$((nr_bad + 1))
}

# Nothing but what every machine has: the images that run the targets have no other libraries.
links() { ldd "$1" | grep -v -E 'linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|resolv)\.so'; }

story() { grep -m 1 -E 'ERROR|WARNING: |runtime error' "$1" || tail -n 1 "$1"; } # of a target that stopped

# Its inputs one by one, and what they reach, as the coverage report wants it.
cover_target() {
	local program=$1 seeds=$2 profile=$work/profile
	LLVM_PROFILE_FILE=$profile "$program" "$seeds"/* >"$program.log" 2>&1 || bad "$(basename "$program"): $(story "$program.log")"
	[ -s "$profile" ] || bad "$(basename "$program"): says nothing of its coverage"
	echo "coverage $(basename "$program"): $(find "$seeds" -type f | wc -l) inputs"
}

fuzz_target() {
	local program=$1 seeds=$2 name edges
	name=$(basename "$program")
	shift 2
	[ ! -f "$OUT/$name.dict" ] || set -- -dict="$OUT/$name.dict"
	"$program" "$@" -max_total_time=1 -rss_limit_mb=2560 -timeout=25 -max_len=65536 -artifact_prefix="$work/" \
		"$seeds" >"$program.log" 2>&1 || bad "$name: $(story "$program.log")"
	edges=$(sed -n 's/.*Loaded 1 modules* *(\([0-9]*\) inline.*/\1/p' "$program.log")
	[ "${edges:-0}" -ge 100 ] || bad "$name: is not instrumented"
	echo "$SANITIZER $name: $(sed -n 's/^#[0-9]*.*DONE *//p' "$program.log"), of $edges edges"
}

check_target() {
	local name seeds
	name=$(basename "$1")
	seeds=$work/seeds/$name
	mkdir -p "$seeds"
	unzip -q -o -d "$seeds" "$OUT/${name}_seed_corpus.zip" || bad "$name: its seeds are not a zip"
	! links "$1" || bad "$name: needs libraries that are not there"
	if [ "$SANITIZER" = coverage ]; then cover_target "$1" "$seeds"; else fuzz_target "$1" "$seeds"; fi
}

build_with() {
	work=$(mktemp -d "${TMPDIR:-/tmp}/oss-fuzz.XXXXXX")
	export SRC=$work/src WORK=$work/work OUT=$work/out SANITIZER=$1 FUZZING_ENGINE=libfuzzer ARCHITECTURE=x86_64
	export CC="${CC:-clang}" CXX="${CXX:-clang++}" LIB_FUZZING_ENGINE=-fsanitize=fuzzer
	export CFLAGS="-O1 -fno-omit-frame-pointer -gline-tables-only -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION ${flags[$1]}"
	export CXXFLAGS=$CFLAGS
	mkdir -p "$SRC" "$WORK" "$OUT"
	for source in zlib isa-l cJSON protobuf-c libarchive curl; do git clone -q --depth 1 "file://$(cd "$deps/$source" && pwd)" "$SRC/$source"; done
	git clone -q --depth 1 "file://$top" "$SRC/tpusight"
	if bash "$here/build.sh" >"$work/build.log" 2>&1; then
		for program in "$OUT"/*_fuzz; do check_target "$program"; done
	else
		tail -n 30 "$work/build.log"
		bad "$1: build.sh failed ($work/build.log)"
		return
	fi
	rm -rf "$work"
}

for sanitizer in "$@"; do build_with "$sanitizer"; done
[ "$nr_bad" = 0 ]
