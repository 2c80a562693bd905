#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs packages of TPUsight on a fresh system, as who gets them would, and tries there what README says.
#
#   packaging/try.sh RELEASE FILE...     RELEASE: bookworm (Debian 12), trixie (13), ...
#                                        FILE: tpusight_*.deb, tpusight-*.whl, or tpusight-*.tar.gz, which `python -m build --sdist .` makes
#
# Each file gets a system of its own, of the machine that the file's name says: a .deb is installed by apt, a wheel by pip where there
# is no compiler, the .tar.gz by pip with what debian/control names. What is tried stands in packaging/installed.sh. All of them have to
# give the same report of the sample run, byte for byte. TS_TRY_TENSORBOARD=1 also installs TensorBoard and XProf beside a wheel and asks them.
#
# Needs root, mmdebstrap and Debian's keys; for programs of arm64 also arch-test and qemu-user-static. Nothing of this machine is
# changed: a system has processes, mounts, users and foreign programs (binfmt_misc) of its own. What was downloaded for a release is
# kept in TS_PACKAGING/try (default: build-packaging/try), with the log and the report of each file.
# TS_DEBIAN_MIRROR and TS_DEBIAN_KEYS are those of sources.sh. TS_TRY_KEEP=1 leaves the systems there.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
[ $# -ge 2 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
release=$1
shift
keys=${TS_DEBIAN_KEYS:-/usr/share/keyrings/debian-archive-keyring.gpg}
mirror=${TS_DEBIAN_MIRROR:-http://deb.debian.org}
work=${TS_PACKAGING:-$root/build-packaging}/try
native=$(dpkg --print-architecture)

say() { printf 'try.sh: %s\n' "$*"; }
fail() { printf 'try.sh: %s\n' "$*" >&2; exit 1; }

# The machine that a file is made for, as Debian calls it; sources are for this one.
machine_of() {
	case $1 in
	*_arm64.deb | *_aarch64.whl) echo arm64 ;;
	*_amd64.deb | *_x86_64.whl) echo amd64 ;;
	*.tar.gz) echo "$native" ;;
	*) fail "$1: what it is made for is not in its name (*.deb, *.whl and *.tar.gz are known)" ;;
	esac
}

# A command with its own users, mounts and processes, in which root is root. Users are mapped from outside, once they are its own.
apart() {
	local gate pid code=0
	gate=$(mktemp -u "$work/gate.XXXXXX")
	mkfifo "$gate"
	# shellcheck disable=SC2016 # for the shell inside
	unshare --user --mount --pid --fork --kill-child bash -c \
		'read -r _ <"$0"; exec bash -c "mount -t proc proc /proc; exec \"\$@\"" bash "$@"' "$gate" "$@" &
	pid=$!
	until [ "$(readlink "/proc/$pid/ns/user" || echo gone)" != "$(readlink /proc/self/ns/user)" ]; do sleep 0.05; done
	echo "0 0 65536" >"/proc/$pid/uid_map"
	echo "0 0 65536" >"/proc/$pid/gid_map"
	echo go >"$gate"
	wait "$pid" || code=$?
	rm -f "$gate"
	return $code
}

# Lets the kernel start programs of MACHINE by qemu, for what runs apart. A part of a script that runs there.
foreign() {
	local cpu row
	[ "$1" != "$native" ] || return 0
	case $1 in arm64) cpu=aarch64 ;; amd64) cpu=x86_64 ;; esac
	row=/usr/lib/binfmt.d/qemu-$cpu.conf
	if [ ! -r "$row" ] || ! command -v arch-test >/dev/null; then fail "programs of $1 do not run here (apt-get install qemu-user-static arch-test)"; fi
	printf 'mount -t binfmt_misc none /proc/sys/fs/binfmt_misc; cat %s >/proc/sys/fs/binfmt_misc/register;' "$row"
}

sources_of() {
	local at=debian
	for suite in "$1" "$1-updates" "$1-security"; do
		[ "$suite" != "$1-security" ] || at=debian-security
		printf 'Types: deb\nURIs: %s/%s\nSuites: %s\nComponents: main\nSigned-By: %s\n\n' "$mirror" "$at" "$suite" "$keys"
	done
}

# The archive of a system of this release and machine that has apt and nothing else.
base_of() {
	local base=$work/$release-$1.tar qemu
	[ -s "$base" ] && return
	qemu=$(foreign "$1") || exit 1
	say "downloading a system of $release for $1" >&2
	sources_of "$release" >"$work/$release.sources"
	# shellcheck disable=SC2016
	apart bash -c "$qemu"' exec "$@"' bash mmdebstrap --quiet --mode=root --format=tar --variant=apt --skip=cleanup/apt/lists --architectures="$1" \
		"$release" "$base.new" "$work/$release.sources" >"$work/$release-$1.log" 2>&1 ||
		{ tail -n 20 "$work/$release-$1.log" >&2; fail "a system of $release for $1 could not be made: $work/$release-$1.log"; }
	mv "$base.new" "$base"
}

# A new system in FOLDER: this machine's name servers and certificates, our sources to read, the file.
lay_out() {
	local system=$1 archive=$2 file=$3
	rm -rf "$system"
	mkdir "$system"
	tar -xf "$archive" -C "$system" --exclude='./dev/*'
	mkdir -p "$system/etc/ssl/certs" "$system/try/source" "$system/try/out"
	cp -L /etc/resolv.conf "$system/etc/resolv.conf"
	cp -L /etc/ssl/certs/ca-certificates.crt "$system/try/certificates.crt"
	cp "$file" "$system/try"
}

# Runs installed.sh in it, with a clean environment.
try_in() {
	local system=$1 machine=$2 name=$3 script qemu
	qemu=$(foreign "$machine") || exit 1
	# shellcheck disable=SC2016 # for the shell inside
	script="$qemu"'
		set -e
		mount --rbind /dev "$1/dev"
		mount --rbind /proc "$1/proc"
		mount --bind "$2" "$1/try/source"
		mount -o remount,bind,ro "$1/try/source"
		system=$1
		shift 2
		exec chroot "$system" /usr/bin/env -i "$@"'
	apart bash -c "$script" bash "$system" "$root" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive PIP_CERT=/try/certificates.crt PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore \
		SSL_CERT_FILE=/try/certificates.crt TS_TRY_TENSORBOARD="${TS_TRY_TENSORBOARD:-}" bash /try/source/packaging/installed.sh "/try/$name"
}

# Installs one file and tries it.
one_file() {
	local file=$1 name machine system code=0
	name=$(basename "$file")
	machine=$(machine_of "$name")
	base_of "$machine"
	system=$work/$release-$machine-${name##*.}
	lay_out "$system" "$work/$release-$machine.tar" "$file"
	say "$release, $machine: $name"
	try_in "$system" "$machine" "$name" 2>&1 | tee "$system.log"
	[ "${PIPESTATUS[0]}" = 0 ] || code=1
	cp "$system/try/out/report.json" "$system.report.json" 2>/dev/null || code=1
	[ -n "${TS_TRY_KEEP:-}" ] || rm -rf "$system"
	reports+=("$system.report.json")
	return $code
}

for file in "$@"; do
	[ -f "$file" ] || fail "$file: no such file (packaging/deb.sh and packaging/wheels.sh make them)"
	machine_of "$file" >/dev/null
done
[ "$(id -u)" = 0 ] || fail "a system is made by root: run it with sudo"
command -v mmdebstrap >/dev/null || fail "mmdebstrap is missing (Debian, Ubuntu: apt-get install mmdebstrap)"
[ -r "$keys" ] || fail "$keys is missing (apt-get install debian-archive-keyring)"
mkdir -p "$work"
work=$(cd "$work" && pwd)

reports=() failed=0
for file in "$@"; do one_file "$file" || failed=1; done
for report in "${reports[@]}"; do
	cmp "${reports[0]}" "$report" || failed=1
done
[ $failed = 0 ] && say "all is well on $release, and ${#reports[@]} reports of the sample run are the same"
exit $failed
