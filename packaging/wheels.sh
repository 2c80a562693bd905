#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the wheels of Linux: programs that bind no library (static.sh), and the tags of the machines that they run on.
#
#   packaging/wheels.sh FOLDER [MACHINE...]      MACHINE: x86_64-linux, aarch64-linux (default: both)
#
# TS_WHEEL_PYTHON: a Python with setuptools and wheel (default: python3). A wheel of more than 12 MB is refused.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
[ $# -gt 0 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- x86_64-linux aarch64-linux
"$here/tools.sh" "$@" wheel
most_bytes=$((12 << 20))
export TS_PACKAGING=${TS_PACKAGING:-$root/build-packaging}

# A static program asks nothing of the C library of the machine: the oldest tag of each kind fits.
platforms() { printf 'manylinux_2_17_%s.manylinux2014_%s.musllinux_1_1_%s' "$1" "$1" "$1"; }

one_wheel() {
	local cpu=${1%-linux} wheel bytes
	"$here/static.sh" "$1"
	rm -rf "$root/plugin/build" "$folder"/tpusight-*"_$cpu.whl"
	TPUSIGHT_BUILD=$TS_PACKAGING/$1/program TPUSIGHT_PLATFORM=$(platforms "$cpu") \
		"${TS_WHEEL_PYTHON:-python3}" -m pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w "$folder" "$root"
	rm -rf "$root/plugin/build"
	wheel=$(ls "$folder"/tpusight-*"_$cpu.whl")
	bytes=$(stat -c %s "$wheel")
	echo "$wheel: $bytes bytes"
	[ "$bytes" -le $most_bytes ] || { echo "wheels.sh: that is more than $most_bytes bytes" >&2; return 1; }
}

for machine in "$@"; do one_wheel "$machine"; done
