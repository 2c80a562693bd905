#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Sets up what the tests need and runs every test. Ends with "N passed, N failed, N skipped".
#
#   ./check.sh           everything: quick lint unit dist fuzz sanitize quickstart threads
#   ./check.sh quick     what most changes break, in a minute: layers, the quick unit tests, the golden cases
#   ./check.sh NAME...   only these parts; torch and packaging are not among everything
#
# One suite runs whole, in `quick` and `unit`, but for the fuzz targets' seeds. The other builds run what differs there:
# `sanitize` the tests in C, the seeds and the cases, `threads` what uses threads, `quickstart` the cases in the build that
# users have. What is under test most comes first, in a row: quick, lint, unit. The other parts run beside it, one after the
# other, at a lower priority: they have the processors while a browser or a server is waited for. Packages are installed by
# name (apt-get, uv, npm) where they are missing, ccache among them, while the compiler runs. ../shared/corpus, when it is
# there, adds real profiles; without it those tests skip and say so.
#
# Time is bounded. Tests that take long (tests/longest) come last, each day others first; so do the parts that run beside; and what
# would begin after TS_MINUTES (45), a part or a test, skips and says so; 0: nothing does. A test that takes 20 minutes fails. After 80 minutes what still runs is named and ended. Of what
# is too much for one run each day tries a part (tests/turn.h): TS_DAY is another day, TS_TURNS=all tries all. TS_SHOTS is a folder for
# screenshots of the page.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=${TS_CHECK_DIR:-$here/build-check}
minutes=${TS_MINUTES:-45}
export TS_CORPUS=${TS_CORPUS:-$here/../shared/corpus}
export DEBIAN_FRONTEND=noninteractive
export CCACHE_BASEDIR=$here CCACHE_NOHASHDIR=1 # the folders of a build are as deep as distcheck's, which then compiles nothing
jobs=$(getconf _NPROCESSORS_ONLN)
export TS_DAY=${TS_DAY:-$(($(date +%s) / 86400))} # also of what begins after midnight
mkdir -p "$work"
tally=$work/tally # of all parts, also of those that run beside: a line each, WORD WHAT
: >"$tally"

say() { printf '\n== %s\n' "$*"; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

count() { echo "$*" >>"$tally"; }
counted() { awk -v word="$1" '$1 == word { n += $2 } END { print n + 0 }' "$tally"; }

# One thing that passes (0), skips (77) or fails.
step() {
	local name=$1 code=0
	shift
	say "$name"
	"$@" || code=$?
	case $code in
	0) count passed 1 ;;
	77) count skipped 1 ;;
	*) count failed 1 && count failure "$name" ;;
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
	local name=$1 dir=$2 log=$work/${1// /-}.log test
	say "$name"
	# one more than there are processors: many of them wait for a server, a browser or a clock
	make -C "$dir" --no-print-directory -j$((jobs + 1)) check "${@:3}" >"$log" 2>&1
	local code=$?
	grep -E '^(FAIL|ERROR|SKIP):' "$log"
	sed -n 's/^# PASS:/passed/p; s/^# SKIP:/skipped/p; s/^# \(FAIL\|ERROR\):/failed/p' "$log" >>"$tally"
	if [ $code != 0 ]; then
		tail -n 40 "$log"
		sed -n 's/^\(FAIL\|ERROR\): \([^ ]*\).*/\2/p' "$log" | while read -r test; do
			say "what $test printed"
			tail -n 40 "$dir/${test%.py}.log"
		done
		count failure "$name"
		grep -q '^# FAIL: *[1-9]\|^# ERROR: *[1-9]' "$log" || count failed 1
	fi
}

# The tests that take long in today's order: each day begins a sixth of them further on.
long_tests() {
	grep -v '^#' "$here/tests/longest" | awk -v day="$TS_DAY" '{ test[NR - 1] = $0 }
		END { for (i = 0; i < NR; i++) printf "%s ", test[(i + day * int(NR / 6 + 1)) % NR] }'
}

# What several parts need is done by the first of them, and the others wait: shared FUNCTION WORD...
shared() {
	local status=0
	{
		flock 8
		"$@" 8>&- || status=$?
	} 8>"$work/$1.lock"
	return $status
}

# Where the words are those of the last time, make knows whether configure has to run.
configure_in() {
	local dir=$1 cc=$2
	shift 2
	command -v ccache >/dev/null && cc="ccache $cc"
	mkdir -p "$dir"
	[ "$(cat "$dir/configured" 2>/dev/null)" != "$cc $*" ] || return 0
	(cd "$dir" && "$here/configure" --quiet CC="$cc" "$@" && echo "$cc $*" >configured)
}

# The build whose tests are `quick` and `unit`, and whose tarball is `dist`: both find its programs there, so that no two of them make
# the same file at one time.
build_unit() {
	configure_in "$work/unit" gcc --enable-devel && make -C "$work/unit" --no-print-directory -s page &&
		logged "$work/unit.log" make -C "$work/unit" --no-print-directory -s -j$((jobs + 1)) all
}

# Installs packages: those that the words name, and those of the lines TOOL PACKAGE on the input whose tool is not there.
install_missing() {
	local want=("$@") tool package
	while read -r tool package; do
		command -v "$tool" >/dev/null || want+=("$package")
	done
	[ ${#want[@]} -gt 0 ] || return 0
	"$here/quickstart.sh" --install-only "${want[@]}"
}

setup_system() {
	"$here/quickstart.sh" --install-only || return 1
	local want=()
	pkg-config --exists cmocka || want+=(libcmocka-dev)
	python3 -c 'import venv, ensurepip' 2>/dev/null || want+=(python3-venv)
	install_missing "${want[@]}" <<-'TOOLS' || return 1
		bc bc
		ccache ccache
		flock util-linux
		ps procps
		tar tar
		xz xz-utils
		unzip unzip
	TOOLS
	if [ -x "$here/configure" ]; then set -- --lists; fi
	"$here/bootstrap" "$@" >"$work/bootstrap.log" 2>&1 || { tail "$work/bootstrap.log"; return 1; }
}

# What the quick tests do without.
setup_tools() {
	install_missing <<-'TOOLS' || return 1
		clang clang
		node nodejs
		chromium chromium
		shellcheck shellcheck
		zsh zsh
		fish fish
		groff groff-base
		valgrind valgrind
	TOOLS
	# libFuzzer's runtime has a package of its own, named after clang's version
	local major
	major=$(clang -dumpversion | cut -d. -f1)
	ls /usr/lib/llvm-"$major"/lib/clang/*/lib/linux/libclang_rt.fuzzer-x86_64.a >/dev/null 2>&1 ||
		as_root apt-get install -y -qq "libclang-rt-$major-dev" >/dev/null || true
}

# uv, which makes ten environments for the time that pip takes for one: it fetches a wheel once, and compiles no module ahead.
setup_uv() {
	[ -x "$work/uv/bin/uv" ] || { python3 -m venv "$work/uv" && "$work/uv/bin/pip" install -q --disable-pip-version-check uv; }
}

# Makes the virtual environment $venv, if it is not there, and installs in it what the words say; 77: that could not be had.
into_venv() {
	shared setup_uv || return 77
	[ -x "$venv/bin/python" ] || "$work/uv/bin/uv" venv -q --clear --seed --python "$(command -v python3)" "$venv" || return 1
	"$work/uv/bin/uv" pip install -q --python "$venv/bin/python" "$@" || return 77
}

setup_viewers() {
	local venv=$work/venv lock=$here/tests/viewers/package-lock.json installed=$here/tests/viewers/node_modules/.package-lock.json
	into_venv -r "$here/tests/requirements.txt" || return 1
	[ "$installed" -nt "$lock" ] || (cd "$here/tests/viewers" && npm ci --silent --no-audit --no-fund) || return 1
	export TS_VIEWERS_PYTHON=$venv/bin/python PATH="$venv/bin:$PATH"
}

# The doctor's snippets and the notebooks run on the JAX of today, on the processor.
setup_jax() {
	local venv=$work/venv-jax
	into_venv jax nbclient ipykernel || return
	export TS_JAX_PYTHON=$venv/bin/python
}

# What tables become: readers of what `tpusight export` writes, DataFrames, pictures, spreadsheets; the client of `tpusight mcp`; what checks types.
setup_tables() {
	local venv=$work/venv-tables
	into_venv pyarrow duckdb mcp pandas polars matplotlib openpyxl mypy pyright || return
	export TS_TABLES_PYTHON=$venv/bin/python
}

# libtpu, which compiles for TPUs without one: 20 seconds, 1 GB.
setup_tpu() {
	local venv=$work/venv-tpu
	into_venv 'jax[tpu]' cloudpickle flatbuffers || return
	export TS_TPU_PYTHON=$venv/bin/python
}

# PyTorch on the processor: that of TS_TORCH_PYTHON; with TS_TORCH=pip pip's, which has all that is tested, and whose wheel for
# Linux wants CUDA's libraries, also where there is no GPU (5.4 GB in 70 seconds; later runs find it); else Debian's, in a minute: that
# of Debian 12 has neither Kineto nor torch.compile, so tests of these skip.
setup_torch() {
	local venv=$work/venv-torch
	[ -z "${TS_TORCH_PYTHON:-}" ] || return 0
	if [ "${TS_TORCH:-}" = pip ] || [ -x "$venv/bin/python" ]; then
		into_venv --no-cache-dir torch numpy || return
		export TS_TORCH_PYTHON=$venv/bin/python
		return
	fi
	/usr/bin/python3 -c 'import torch' 2>/dev/null ||
		as_root apt-get install -y -qq --no-install-recommends python3-torch >/dev/null || return 77
	export TS_TORCH_PYTHON=/usr/bin/python3
}

# How the sources look, and what other tools say of them.
part_lint() {
	[ -x "$here/tests/lint.sh" ] || return 0
	shared setup_tools
	step "lint" env TS_LINT_VENV="$work/venv-lint" "$here/tests/lint.sh"
}

part_quick() {
	step "configure --enable-devel" shared build_unit || return
	suite "quick tests" "$work/unit" TESTS=\$\(quick_tests\)
	quick_is_done=yes
}

# The viewers' tests are part of `make check` and skip where XProf is not installed.
part_unit() {
	[ -n "${quick_is_done:-}" ] || part_quick || return
	step "a browser, shells" shared setup_tools
	step "XProf and TensorBoard" shared setup_viewers
	step "JAX, for the doctor's snippets" shared setup_jax
	step "libtpu, for programs before they run" shared setup_tpu
	step "readers of tables" shared setup_tables
	step "fakes of buckets" shared setup_remote
	step "Ray, for pods" shared setup_ray
	step "kubeconform, for the manifest of pods" shared setup_kube
	suite "unit tests" "$work/unit" TESTS=\$\(other_tests\) long_tests="$(long_tests)"
}

# One build for sanitizers and for libFuzzer.
configure_sanitized() {
	shared setup_tools
	step "configure --enable-fuzz --enable-sanitize" configure_in "$work/sanitize" clang --enable-devel --enable-fuzz \
		--enable-sanitize CFLAGS="-gline-tables-only -O1"
}

part_sanitize() {
	configure_sanitized || return
	shared setup_jax >/dev/null
	suite "tests with sanitizers" "$work/sanitize" TESTS=\$\(sanitized_tests\) long_tests="$(long_tests)"
}

# What uses threads, under ThreadSanitizer. It needs a program of its own, because it does not go with the other sanitizers.
part_threads() {
	shared setup_tools
	step "configure --enable-sanitize=thread" configure_in "$work/threads" clang --enable-devel --enable-sanitize=thread \
		CFLAGS="-gline-tables-only -O1" || return
	suite "tests with ThreadSanitizer" "$work/threads" TESTS=\$\(thread_tests\)
}

part_fuzz() {
	configure_sanitized || return
	step "fuzz targets, a short run each" logged "$work/fuzz.log" \
		make -C "$work/sanitize" --no-print-directory -s -j"$jobs" fuzz-smoke
}

# Fakes of three clouds' stores, and the packages that speak to them: 3 minutes on a new machine, side by side.
setup_remote() {
	local venv=$work/venv-remote tools=$work/remote status=0 fetching=()
	mkdir -p "$tools"
	if command -v go >/dev/null; then
		GOBIN=$tools go install github.com/fsouza/fake-gcs-server@v1.56.1 >"$tools/go.log" 2>&1 &
		fetching+=($!)
	fi
	npm install --prefix "$tools" --no-audit --no-fund --loglevel=error azurite@3.37.0 >"$tools/npm.log" 2>&1 &
	fetching+=($!)
	into_venv -r "$here/tests/remote/requirements.txt" || status=$?
	wait "${fetching[@]}" # and not for the parts that run beside this one
	[ "$status" = 0 ] || return "$status"
	export TS_REMOTE_PYTHON=$venv/bin/python TS_REMOTE_TOOLS=$tools:$tools/node_modules/.bin
}

# Ray, for the clusters of the tests of pods: 18 seconds, 285 MB.
setup_ray() {
	local venv=$work/venv-ray
	into_venv ray || return
	export TS_RAY_PYTHON=$venv/bin/python
}

# What looks over the manifest for Kubernetes, and the schemas that it takes: 40 seconds.
setup_kube() {
	local venv=$work/venv-kube schemas
	command -v go >/dev/null || return 77
	into_venv --no-deps kubernetes_validate==1.37.0 || return
	GOBIN=$venv/bin logged "$work/kube.log" go install github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0 || return 77
	schemas=("$venv"/lib/python3*/site-packages/kubernetes_validate/kubernetes-json-schema/v1.33.0-local-strict)
	export TS_KUBE_SCHEMAS=${schemas[0]} TS_KUBECONFORM=$venv/bin/kubeconform
}

# Fetches side by side, while the compiler runs, what steps will set up: they wait for it, find it there, or say what is wrong.
ahead() {
	local setup
	for setup; do (shared "$setup") >"$work/$setup.log" 2>&1 & done
}

# What captures with torch.profiler, the examples of its guide, and traces of today's torch; elsewhere they skip.
part_torch() {
	step "PyTorch" setup_torch || return
	step "configure --enable-devel" shared build_unit || return
	suite "tests with PyTorch" "$work/unit" \
		TESTS="tests/python/torch_test.py tests/python/torch_operators_test.py tests/python/asked_test.py \
			tests/python/scripts_test.py tests/python/examples_test.py tests/truth/torch_test.sh"
}

# Is each wheel what its tag says? auditwheel is asked, and our own test.
wheels_are_good() {
	local wheel python=$work/venv-wheels/bin/python
	for wheel in "$work"/wheels/*.whl; do "$python" -m auditwheel show "$wheel" || return 1; done
	TS_WHEELS=$work/wheels srcdir=$here "$python" "$here/tests/packaging/packaging_test.py"
}

# Compilers, packagers and what makes fresh systems.
setup_packaging() {
	install_missing <<-'TOOLS' || return 1
		nasm nasm
		dpkg-source dpkg-dev
		dh debhelper
		fakeroot fakeroot
		lintian lintian
		mmdebstrap mmdebstrap
		arch-test arch-test
		qemu-aarch64-static qemu-user-static
		buildah buildah
	TOOLS
	command -v llvm-strip >/dev/null || ls /usr/lib/llvm-*/bin/llvm-strip >/dev/null 2>&1 || install_missing llvm </dev/null || return 1
	into_venv "setuptools>=64" wheel auditwheel build
}

# Is the program of the other machine a program, and does it say of the sample run what this machine's says?
foreign_program_runs() {
	command -v qemu-aarch64-static >/dev/null || return 77
	local at=$work/foreign machine
	mkdir -p "$at"
	for machine in x86_64 aarch64; do
		"qemu-$machine-static" "$TS_PACKAGING/$machine-linux/program/bin/tpusight" report -o "$at/$machine.json" "$here/tests/data/sample" || return 1
	done
	cmp "$at/x86_64.json" "$at/aarch64.json"
}

# Nobody answers for a package that is thrown away, and lintian refuses the address at localhost.
debian_package() {
	TS_MAINTAINER=${TS_MAINTAINER:-TPUsight check <check@example.org>} "$here/packaging/deb.sh" "$work/unit" "$work/deb" || return 1
	command -v lintian >/dev/null || return 77
	lintian --fail-on error --suppress-tags bad-distribution-in-changes-file "$work"/deb/*.changes
}

source_distribution() {
	rm -rf "$work/sdist"
	TPUSIGHT_BUILD=$work/unit "$TS_WHEEL_PYTHON" -m build --no-isolation --sdist --outdir "$work/sdist" "$here"
}

# What was built, installed where nothing else is: the files that follow on the release of Debian.
fresh_system() {
	[ "$(id -u)" = 0 ] && command -v mmdebstrap >/dev/null || return 77
	"$here/packaging/try.sh" "$@"
}

image_of_programs() {
	[ "$(id -u)" = 0 ] && command -v buildah >/dev/null || return 77
	"$here/packaging/try_image.sh" "$TS_PACKAGING/x86_64-linux/program/bin"
}

# Wheels of two machines, the Debian package, the source distribution and the image, each tried where nothing else is: half an hour
# on two cores the first time, most of it for musl and the libraries.
part_packaging() {
	local venv=$work/venv-wheels release
	export TS_PACKAGING=$work/packaging TS_WHEEL_PYTHON=$venv/bin/python
	step "what packages are made with" setup_packaging || return
	step "wheels" logged "$work/wheels.log" "$here/packaging/wheels.sh" "$work/wheels" && step "the wheels are good" wheels_are_good
	step "the program of arm64 runs" logged "$work/foreign.log" foreign_program_runs
	step "compiled for macOS" logged "$work/macos.log" "$here/packaging/static.sh" aarch64-macos
	step "configure --enable-devel" shared build_unit || return
	step "Debian package" logged "$work/deb.log" debian_package
	step "source distribution" logged "$work/sdist.log" source_distribution
	for release in bookworm trixie; do
		step "packages on a fresh $release" logged "$work/fresh-$release.log" \
			fresh_system "$release" "$work"/wheels/*_x86_64.whl "$work"/deb/tpusight_*.deb "$work"/sdist/*.tar.gz
	done
	step "the wheel on a fresh system of arm64" logged "$work/fresh-arm64.log" fresh_system bookworm "$work"/wheels/*_aarch64.whl
	step "the image" logged "$work/image.log" image_of_programs
}

# Of `dist`, and unpacked for `quickstart`.
make_tarball() {
	[ -n "${tarball_is_made:-}" ] || logged "$work/dist.log" make -C "$work/unit" --no-print-directory -s dist-xz && tarball_is_made=yes
}

# Each file that git knows is in the tarball, but for what concerns git and the CI. Outside a checkout this is skipped.
tarball_is_whole() {
	git -C "$here" rev-parse --git-dir >/dev/null 2>&1 || return 77
	make_tarball || return 1
	tar -tf "$work"/unit/tpusight-*.tar.xz | sed 's|^[^/]*/||' | sort >"$work/dist.has"
	git -C "$here" ls-files -- . ':!:.ci' ':!:.git*' ':!:**/.gitignore' | sort | comm -23 - "$work/dist.has" >"$work/dist.lacks"
	sed 's|$| is not in the tarball (EXTRA_DIST)|' "$work/dist.lacks"
	[ ! -s "$work/dist.lacks" ]
}

# distcheck finds what it compiles in ccache: the configuration is that of `unit`.
part_dist() {
	step "configure --enable-devel" shared build_unit || return
	step "the tarball is whole" tarball_is_whole
	step "the tarball is the same for everybody" "$here/tests/build/same_tarball.sh" "$work/same" "$work/unit/bin/tpusight"
	step "make distcheck" logged "$work/distcheck.log" make -C "$work/unit" --no-print-directory -s -j"$jobs" distcheck \
		DISTCHECK_CONFIGURE_FLAGS="--quiet --enable-devel CC='ccache gcc'" TESTS=\$\(dist_tests\)
}

# As someone does who sees the project for the first time: from the tarball, the build that users have, and its tests.
part_quickstart() {
	local sources=$work/quickstart
	step "configure --enable-devel" shared build_unit || return
	step "the tarball" make_tarball || return
	rm -rf "$sources"
	mkdir -p "$sources" && tar -xf "$work"/unit/tpusight-*.tar.xz -C "$sources" --strip-components=1 || return
	step "quickstart.sh" logged "$work/quickstart.log" env PATH="/usr/lib/ccache:$PATH" "$sources/quickstart.sh" || return
	suite "tests of the build that users have" "$sources/build" TESTS=\$\(dist_tests\)
}

# The words, from another one on each day.
in_turn() {
	local i
	for ((i = 0; i < $#; i++)); do
		echo "${@:((TS_DAY + i) % $# + 1):1}"
	done
}

# One part after the other, while there is time: what each took is counted.
in_a_row() {
	local part begin
	for part; do
		if [ -n "${TS_UNTIL:-}" ] && [ "$(date +%s)" -ge "$TS_UNTIL" ]; then
			say "$part: no time was left (TS_MINUTES)"
			count skipped 1
			continue
		fi
		begin=$SECONDS
		"part_$part"
		count seconds "$((SECONDS - begin)) $part"
	done
}

# What a part prints comes when it has ended.
beside() {
	local part
	for part; do
		in_a_row "$part" >"$work/part-$part.log" 2>&1
		cat "$work/part-$part.log"
	done
}

# What was done, and how it ended.
verdict() {
	echo
	sed -n 's/^seconds //p' "$tally" | while read -r seconds part; do printf '%5d s  %s\n' "$seconds" "$part"; done
	sed -n 's/^failure /failed: /p' "$tally"
	echo "$(counted passed) passed, $(counted failed) failed, $(counted skipped) skipped"
	[ "$(counted failed)" = 0 ]
}

# The processes below one, that one not among them: their numbers and command lines.
descendants() {
	ps -eo pid=,ppid=,args= | awk -v top="$1" '
		{ parent[$1] = $2; line[$1] = $0 }
		END { for (pid in parent) for (at = parent[pid]; at in parent; at = parent[at]) if (at == top) print line[pid] }'
}

# Who would stop a check from outside hears nothing of it: so it says itself what did not end, and ends.
end_after() {
	local pid others=()
	sleep "$1" & trap 'kill $!' TERM
	wait $! || return
	say "not ended after $(($1 / 60)) minutes"
	descendants $$ | cut -c1-160
	count failed 1
	verdict
	while read -r pid _; do
		[ "$pid" = "$BASHPID" ] || others+=("$pid")
	done < <(descendants $$)
	exec kill -KILL "${others[@]}" $$ 2>/dev/null
}

# shellcheck disable=SC2046 # words
[ $# -gt 0 ] || set -- quick lint unit dist $(in_turn fuzz sanitize quickstart threads)
first=() second=()
for part in "$@"; do
	declare -F "part_$part" >/dev/null || { sed -n '3,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
	case $part in
	sanitize | threads | dist | quickstart | fuzz) second+=("$part") ;;
	*) first+=("$part") ;;
	esac
done
ender=
if [ "$minutes" -gt 0 ]; then
	export TS_UNTIL=$(($(date +%s) + minutes * 60))
	end_after $(((minutes + 35) * 60)) &
	ender=$!
fi
step "packages and build" setup_system || { verdict; exit 1; }
case " $* " in *" unit "*) ahead setup_tools setup_viewers setup_jax setup_tpu setup_tables setup_remote setup_ray setup_kube ;; esac
if [ ${#first[@]} -gt 0 ]; then
	(renice -n 5 $BASHPID >/dev/null && beside "${second[@]}") &
	rest=$!
	in_a_row "${first[@]}"
	wait "$rest"
else
	in_a_row "${second[@]}"
fi
[ -z "$ender" ] || { kill "$ender" && wait "$ender"; } 2>/dev/null
verdict
