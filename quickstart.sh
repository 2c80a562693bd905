#!/usr/bin/env bash
# Installs what is missing, builds, annotates a run and says what to open.
#
#   ./quickstart.sh [LOGDIR]       annotate LOGDIR (default: a copy of the bundled sample run)
#   ./quickstart.sh --build-only   install and build, nothing else
#
# Needs Debian or Ubuntu with root or sudo to install packages; elsewhere it names what is missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$here/build

say() { printf '\n\033[1m%s\033[0m\n' "$*" >&2; }

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
	TOOLS
	while read -r module package; do
		pkg-config --exists "$module" 2>/dev/null || echo "$package"
	done <<-'MODULES'
		zlib zlib1g-dev
		libprotobuf-c libprotobuf-c-dev
		libarchive libarchive-dev
		libcjson libcjson-dev
	MODULES
}

install_packages() {
	local run=()
	[ $# -gt 0 ] || return 0
	if ! command -v apt-get >/dev/null; then
		echo "quickstart: these are missing: $* (Debian's names). Install them with your package" \
			"manager; macOS: brew install autoconf automake pkg-config protobuf-c libarchive cjson" >&2
		exit 1
	fi
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null || {
			echo "quickstart: run as root or with sudo to install: $*" >&2
			exit 1
		}
		run=(sudo)
	fi
	say "Installing: $*"
	"${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null 2>&1 || {
		"${run[@]}" apt-get update -qq
		"${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null
	}
}

build_all() {
	[ -x "$here/configure" ] || "$here/bootstrap"
	mkdir -p "$build"
	[ -f "$build/Makefile" ] || (cd "$build" && "$here/configure" --quiet)
	make -C "$build" --no-print-directory -s -j"$(getconf _NPROCESSORS_ONLN)" all
}

# shellcheck disable=SC2046 # one word a package
install_packages $(missing_packages | sort -u)
say "Building in $build"
build_all
[ "${1:-}" != --build-only ] || exit 0

logdir=${1:-}
if [ -z "$logdir" ]; then
	logdir=$build/sample
	rm -rf "$logdir"
	cp -R "$here/tests/data/sample" "$logdir"
	chmod -R u+w "$logdir"
	say "Annotating a copy of the sample run: a training step of a small transformer, compiled by libtpu, with a simulated timeline"
else
	say "Annotating $logdir"
fi
"$build/bin/tpusight-annotate" "$logdir"
trace=$(find -L "$logdir" -name perfetto_trace.json.gz -path '*/plugins/profile/*' 2>/dev/null | head -n 1)
cat <<EOF

Now look at it:
  XProf      pip install xprof tensorboard 'setuptools<81' && tensorboard --logdir=$logdir
             then Profile > Trace Viewer: the rows "TPUsight" stand under each device
  Perfetto   drag ${trace:-perfetto_trace.json.gz} into https://ui.perfetto.dev
  Console    $build/bin/tpusight report $logdir
Undo:        $build/bin/tpusight-annotate --strip $logdir
EOF
