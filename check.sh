#!/usr/bin/env bash
# Sets up what the tests need and runs every test. Ends with "N passed, N failed, N skipped".
#
#   ./check.sh           everything
#   ./check.sh NAME...   only these parts: layers unit dist sanitize fuzz; and torch, which is not among everything
#
# Packages are installed by name (apt-get, pip, npm) where they are missing. ../shared/corpus, when it
# is there, adds real profiles; without it those tests skip and say so.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=${TS_CHECK_DIR:-$here/build-check}
export TS_CORPUS=${TS_CORPUS:-$here/../shared/corpus}
export DEBIAN_FRONTEND=noninteractive
jobs=$(getconf _NPROCESSORS_ONLN)
passed=0 failed=0 skipped=0 failures=()
mkdir -p "$work"

say() { printf '\n== %s\n' "$*"; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# One thing that passes (0), skips (77) or fails.
step() {
	local name=$1 code=0
	shift
	say "$name"
	"$@" || code=$?
	case $code in
	0) passed=$((passed + 1)) ;;
	77) skipped=$((skipped + 1)) ;;
	*) failed=$((failed + 1)) failures+=("$name") ;;
	esac
	return $code
}

# A command that talks much: its end is shown when it fails, the rest is in LOG.
logged() {
	local log=$1 code=0
	shift
	"$@" >"$log" 2>&1 || code=$?
	[ $code = 0 ] || tail -n 60 "$log"
	return $code
}

# `make check` in a build folder, with what else is given: its tests count one by one.
suite() {
	local name=$1 dir=$2 log=$work/$(echo "$1" | tr ' ' '-').log n
	say "$name"
	make -C "$dir" --no-print-directory -j"$jobs" check "${@:3}" >"$log" 2>&1
	local code=$?
	grep -E '^(FAIL|ERROR|SKIP):' "$log"
	n=$(sed -n 's/^# PASS: *//p' "$log" | tail -n 1) && passed=$((passed + ${n:-0}))
	n=$(sed -n 's/^# SKIP: *//p' "$log" | tail -n 1) && skipped=$((skipped + ${n:-0}))
	n=$(sed -n 's/^# \(FAIL\|ERROR\): *//p' "$log" | paste -sd+ | bc) && failed=$((failed + ${n:-0}))
	if [ $code != 0 ]; then
		tail -n 40 "$log"
		failures+=("$name")
		grep -q '^# FAIL: *[1-9]\|^# ERROR: *[1-9]' "$log" || failed=$((failed + 1))
	fi
}

configure_in() {
	local dir=$1
	shift
	mkdir -p "$dir" && (cd "$dir" && "$here/configure" --quiet "$@")
}

setup_system() {
	"$here/quickstart.sh" --build-only || return 1
	local want=() tool package
	while read -r tool package; do
		command -v "$tool" >/dev/null || want+=("$package")
	done <<-'TOOLS'
		clang clang
		node nodejs
		npm npm
		chromium chromium
		bc bc
		tar tar
		xz xz-utils
		unzip unzip
	TOOLS
	pkg-config --exists cmocka || want+=(libcmocka-dev)
	python3 -c 'import venv, ensurepip' 2>/dev/null || want+=(python3-venv)
	if [ ${#want[@]} -gt 0 ]; then
		as_root apt-get update -qq
		as_root apt-get install -y -qq "${want[@]}" >/dev/null || return 1
	fi
	# libFuzzer's runtime has a package of its own, named after clang's version
	local major
	major=$(clang -dumpversion | cut -d. -f1)
	ls /usr/lib/llvm-"$major"/lib/clang/*/lib/linux/libclang_rt.fuzzer-x86_64.a >/dev/null 2>&1 ||
		as_root apt-get install -y -qq "libclang-rt-$major-dev" >/dev/null || true
}

setup_viewers() {
	local venv=$work/venv
	[ -x "$venv/bin/python" ] || python3 -m venv "$venv" || return 1
	"$venv/bin/pip" install -q --disable-pip-version-check -r "$here/tests/requirements.txt" || return 1
	(cd "$here/tests/viewers" && npm ci --silent --no-audit --no-fund) || return 1
	export TS_VIEWERS_PYTHON=$venv/bin/python TS_SHOTS=$work/screenshots PATH="$venv/bin:$PATH"
}

# The doctor's snippets run on the JAX of today, on the processor.
setup_jax() {
	local venv=$work/venv-jax
	[ -x "$venv/bin/python" ] || python3 -m venv "$venv" || return 1
	"$venv/bin/pip" install -q --disable-pip-version-check jax || return 77
	export TS_JAX_PYTHON=$venv/bin/python
}

# PyTorch on the processor. Its wheel for Linux wants CUDA's libraries, also where there is no GPU: 5.4 GB in 70 seconds.
setup_torch() {
	local venv=$work/venv-torch
	[ -x "$venv/bin/python" ] || python3 -m venv "$venv" || return 1
	"$venv/bin/pip" install -q --disable-pip-version-check --no-cache-dir torch numpy || return 77
	export TS_TORCH_PYTHON=$venv/bin/python
}

part_layers() { step "floors include only what stands below them" "$here/tests/layers.sh" "$here"; }

# The viewers' tests are part of `make check` and skip where XProf is not installed.
part_unit() {
	step "XProf, TensorBoard and a browser" setup_viewers
	step "JAX, for the doctor's snippets" setup_jax
	step "configure --enable-devel" configure_in "$work/unit" --enable-devel || return
	suite "unit tests" "$work/unit"
}

part_sanitize() {
	unset TS_VIEWERS_PYTHON TS_JAX_PYTHON # asked once is enough
	export TS_NO_BROWSER=1
	step "configure --enable-sanitize" configure_in "$work/sanitize" --enable-devel --enable-sanitize \
		CFLAGS="-g -O1" || return
	suite "unit tests with sanitizers" "$work/sanitize"
}

part_fuzz() {
	step "configure --enable-fuzz" configure_in "$work/fuzz" --enable-fuzz --enable-sanitize CC=clang \
		CFLAGS="-g -O1" || return
	step "fuzz targets, a short run each" logged "$work/fuzz.log" \
		make -C "$work/fuzz" --no-print-directory -s -j"$jobs" fuzz-smoke
}

# What captures with torch.profiler, the examples of its guide, and traces of today's torch; elsewhere they skip.
part_torch() {
	step "PyTorch" setup_torch || return
	step "configure --enable-devel" configure_in "$work/unit" --enable-devel || return
	suite "tests with PyTorch" "$work/unit" \
		TESTS="tests/python/torch_test.py tests/python/examples_test.py tests/truth/torch_test.sh"
}

part_dist() {
	unset TS_JAX_PYTHON # asked once is enough
	step "make distcheck" logged "$work/distcheck.log" \
		make -C "$work/unit" --no-print-directory -s distcheck DISTCHECK_CONFIGURE_FLAGS=--quiet
}

[ $# -gt 0 ] || set -- layers unit dist sanitize fuzz
step "packages and build" setup_system || { echo "$passed passed, $failed failed, $skipped skipped"; exit 1; }
for part in "$@"; do
	"part_$part"
done
echo
[ ${#failures[@]} = 0 ] || printf 'failed: %s\n' "${failures[@]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
