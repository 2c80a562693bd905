#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what is missing, builds, annotates a run and says what to open.
#
#   ./quickstart.sh [LOGDIR]       annotate LOGDIR (default: a copy of the bundled sample run)
#   ./quickstart.sh --build-only   install and build, nothing else
#   ./quickstart.sh --install-only [PACKAGE...]   these too
#
# Needs Debian or Ubuntu with root or sudo to install packages; elsewhere it names what is missing.
# Exit status: that of tpusight-annotate; 2 wrong usage; 1 it could not be installed or built.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$here/build
log=$build/quickstart.log

say() { printf '\n%s\n' "$*" >&2; }
usage() { sed -n '3,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

# What the build needs: a test that it is there, and its package.
missing_packages() {
	local tool package
	while read -r tool package; do
		command -v "$tool" >/dev/null || echo "$package"
	done <<-'TOOLS'
		cc gcc
		make make
		autoreconf autoconf
		automake automake
		pkg-config pkg-config
		protoc-c protobuf-c-compiler
		npm npm
	TOOLS
	while read -r module package; do
		pkg-config --exists "$module" 2>/dev/null || echo "$package"
	done <<-'MODULES'
		zlib zlib1g-dev
		libisal libisal-dev
		libbrotlidec libbrotli-dev
		libzstd libzstd-dev
		libprotobuf-c libprotobuf-c-dev
		libarchive libarchive-dev
		libcjson libcjson-dev
		libmicrohttpd libmicrohttpd-dev
		libcurl libcurl4-openssl-dev
	MODULES
}

# Lists of packages that do not fit each other make apt-get refuse them all, while each alone can be had.
apt_install() {
	local root=(env DEBIAN_FRONTEND=noninteractive) package failed=()
	[ "$(id -u)" = 0 ] || root=(sudo "${root[@]}")
	"${root[@]}" apt-get install -y -qq "$@" >/dev/null 2>&1 && return
	"${root[@]}" apt-get update -qq || true
	"${root[@]}" apt-get install -y -qq "$@" >/dev/null && return
	for package; do
		"${root[@]}" apt-get install -y -qq "$package" >/dev/null || failed+=("$package")
	done
	[ ${#failed[@]} = 0 ] || {
		echo "quickstart: apt-get cannot install: ${failed[*]}" >&2
		return 1
	}
}

install_packages() {
	[ $# -gt 0 ] || return 0
	if ! command -v apt-get >/dev/null; then
		echo "quickstart: these are missing: $* (Debian's names). Install them with your package" \
			"manager; macOS: brew install autoconf automake pkg-config protobuf-c isa-l libarchive cjson libmicrohttpd curl" >&2
		exit 1
	fi
	[ "$(id -u)" = 0 ] || command -v sudo >/dev/null || {
		echo "quickstart: run as root or with sudo to install: $*" >&2
		exit 1
	}
	say "Installing: $*"
	apt_install "$@"
}

build_all() {
	[ -x "$here/configure" ] || "$here/bootstrap" || return
	[ -f "$build/Makefile" ] || (cd "$build" && "$here/configure" --quiet) || return
	make -C "$build" --no-print-directory -s -j"$(getconf _NPROCESSORS_ONLN)" all
}

# The log is for the day it fails: then its end is shown.
build_quietly() {
	mkdir -p "$build"
	build_all >"$log" 2>&1 && return
	tail -n 20 "$log" >&2
	echo "quickstart: the build failed (all of it is in $log)" >&2
	exit 1
}

copy_sample() {
	rm -rf "$build/sample"
	cp -R "$here/tests/data/sample" "$build/sample"
	chmod -R u+w "$build/sample"
}

what_next() {
	local trace words bin
	trace=$(find -L "$logdir" -name perfetto_trace.json.gz 2>/dev/null | head -n 1)
	words=$(printf %q "$logdir")
	bin=$(printf %q "$build/bin")
	cat <<EOF

Now look at it:
  XProf      pip install xprof tensorboard 'setuptools<81' && tensorboard --logdir=$words
             then Profile > Trace Viewer: the rows "TPUsight" stand under each device
  Perfetto   drag ${trace:-perfetto_trace.json.gz} into https://ui.perfetto.dev
  Console    $bin/tpusight report $words
Undo:        $bin/tpusight-annotate --strip $words
EOF
}

logdir='' more=()
case ${1:-} in
--help | -h)
	usage
	exit 0
	;;
--build-only | --install-only | '') ;;
-*)
	usage >&2
	exit 2
	;;
*)
	logdir=$1
	[ -e "$logdir" ] || {
		echo "quickstart: $logdir: no such file or folder (check the path)" >&2
		exit 2
	}
	;;
esac

[ "${1:-}" != --install-only ] || more=("${@:2}")
# shellcheck disable=SC2046 # one word a package
install_packages $(missing_packages | sort -u) ${more[@]+"${more[@]}"}
[ "${1:-}" != --install-only ] || exit 0
say "Building in $build (a minute the first time)"
build_quietly
[ "${1:-}" != --build-only ] || exit 0

if [ -z "$logdir" ]; then
	logdir=$build/sample
	copy_sample
	say "Annotating a copy of the sample run: a training step of a small transformer, compiled by libtpu, with a simulated timeline"
else
	say "Annotating $logdir"
fi
code=0
"$build/bin/tpusight-annotate" "$logdir" || code=$?
[ $code = 3 ] || what_next # 4: some of it failed, the rest is there
exit $code
