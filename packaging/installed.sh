#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs a package of TPUsight on the system that it runs on, and tries it: packaging/try.sh runs this in a fresh one. It changes the
# system: do not run it on your own.
#
#   installed.sh FILE                 FILE: tpusight_*.deb, tpusight-*.whl or tpusight-*.tar.gz
#   installed.sh --programs VERSION   installs nothing: tries the programs that PATH has (packaging/try_image.sh)
#
# Prints a line for each thing tried: "ok" or what went wrong, its seconds, and those of them that the processor worked for it. The folder TS_TRY_AT (default: /try) has our sources in
# source/, and is what is written to: out/ is what comes back.
# shellcheck disable=SC2317 # functions are called through `try`
set -uo pipefail
file=$1
at=${TS_TRY_AT:-/try}
source=$at/source
wrong=0

# One thing that is tried, its time, and at a failure what it printed.
try() {
	local what=$1 word=ok TIMEFORMAT='%R s, %U s'
	shift
	if ! { time "$@" >"$at/said" 2>&1; } 2>"$at/took"; then
		word=FAILED wrong=$((wrong + 1))
	fi
	printf '%-7s %20s  %s\n' "$word" "$(tail -n 1 "$at/took")" "$what"
	[ $word = ok ] || tail -n 30 "$at/said"
}
figure() { printf '%-7s %20s  %s\n' "" "$1" "$2"; }
# What everything after it needs.
must() {
	local before=$wrong
	try "$@"
	[ $wrong = $before ] || exit 1
}

# Is TEXT in what the command says?
says() {
	local text=$1
	shift
	grep -q -e "$text" <("$@")
}
packages() { apt-get -qq update && apt-get -qq -y install --no-install-recommends "$@"; }
has_no_compiler() { ! command -v cc gcc c++ clang tcc make; }
is_version() { [ "$(tpusight --version)" = "tpusight $1" ] && [ "$(tpusight-annotate --version)" = "tpusight $1" ]; }
has_licences() { says 'MIT License' tpusight --licenses && says libmicrohttpd tpusight --licenses; }
reports() { tpusight report "$1" && tpusight report -o "$at/out/report.json" "$1" && tpusight report -o "$at/out/report.html" "$1"; }
sums() { (cd "$1" && find . -type f -exec sha256sum {} + | sort -k 2); }

# What annotate wrote is taken out again: the same files with the same bytes.
is_undone() {
	local before
	before=$(sums "$1")
	tpusight-annotate "$1" || return 1
	if diff <(echo "$before") <(sums "$1") >/dev/null; then echo "nothing was written"; return 1; fi
	tpusight-annotate --strip "$1" && diff <(echo "$before") <(sums "$1")
}

# The server answers with the page and with the run.
serves() {
	local address server
	set -m # a process group of its own, as what runs it in a container has children
	tpusight serve --port=0 "$1" >"$at/served" 2>&1 &
	server=$! # says starts others
	set +m
	until grep -q 'http://' "$at/served"; do kill -0 "$server" || { cat "$at/served"; return 1; }; sleep 0.1; done
	address=$(grep -o -m 1 'http://[0-9.:]*' "$at/served")
	says '<html' ask "$address/" && says '"runs"' ask "$address/api/runs"
	local code=$?
	kill -- "-$server" && wait "$server"
	return "$code"
}
# The body of an answer, without curl: HTTP/1.0 by the shell.
ask() {
	local host=${1#http://}
	local path=/${host#*/}
	host=${host%%/*}
	exec 7<>"/dev/tcp/${host%:*}/${host#*:}"
	printf 'GET %s HTTP/1.0\r\nHost: %s\r\n\r\n' "$path" "$host" >&7
	tr -d '\0' <&7
	exec 7<&-
}

try_programs() {
	local version=$1
	cp -R "$source/tests/data/sample" "$at/sample"
	chmod -R u+w "$at/sample"
	try "both programs say version $version" is_version "$version"
	try "tpusight --licenses has the licence and the notices" has_licences
	try "tpusight report: text, JSON, HTML" reports "$at/sample"
	try "tpusight-annotate, and --strip gives the same bytes back" is_undone "$at/sample"
	try "tpusight serve answers" serves "$at/sample"
}

# Manual pages and completions

has_manuals() {
	local page
	says --strip man tpusight-annotate || return 1
	for page in tpusight tpusight-report tpusight-serve tpusight-compare; do says '^SYNOPSIS' man "$page" || return 1; done
}
completes() {
	# shellcheck disable=SC1091
	. "$1/share/bash-completion/completions/tpusight" && complete -p tpusight &&
		head -n 1 "$1/share/zsh/site-functions/_tpusight" | grep -q '^#compdef.*tpusight' &&
		grep -q 'complete -c tpusight' "$1/share/fish/vendor_completions.d/tpusight.fish"
}

# Kinds of packages

try_deb() {
	local version before
	version=$(dpkg-deb -f "$file" Version)
	try "apt-get update" apt-get -qq update
	try "man-db" packages man-db # a system of users has it
	before=$(find /usr /etc -xdev | sort)
	dpkg-query -W -f '${Package}\n' >"$at/before"
	must "apt install ./$(basename "$file")" apt-get -qq -y install --no-install-recommends "$file"
	figure "$(stat -c %s "$file")" "bytes of the package"
	figure "$(dpkg-query -W -f '${Installed-Size}' tpusight)" "KiB installed"
	figure "$(dpkg-query -W -f '${Package}\n' | grep -c -v -x -F -f "$at/before")" "packages that were new, tpusight among them"
	try_programs "$version"
	try "man tpusight, tpusight-annotate, tpusight-report" has_manuals
	try "completions of bash, zsh and fish" completes /usr
	try "no file differs from the package's sums" dpkg --verify tpusight
	try "apt purge" apt-get -qq -y purge --autoremove tpusight
	try "nothing is left of it" diff <(echo "$before" | grep tpusight) <(find /usr /etc -xdev | sort | grep tpusight)
}

# Into a virtual environment, as a user of Python does.
pip_install() {
	python3 -m venv "$at/venv" && PATH=$at/venv/bin:$PATH || return 1
	must "pip install $(basename "$file")" "$at/venv/bin/pip" install --no-input "$@" "$file"
	figure "$(stat -c %s "$file")" "bytes of the file"
}
version_of_python() { python -c 'import importlib.metadata as m; print(m.version("tpusight"))'; }
imports() { python -c 'import sys; from tpusight import Session; s = Session(sys.argv[1]); print(s.findings[0], s.ops[0], s.summary())' "$at/sample"; }
has_tensorboard() { python "$source/tests/packaging/readme.py" --tensorboard; }

try_python() {
	try_programs "$(version_of_python)"
	try "python -m tpusight report" python -m tpusight report "$at/sample"
	try "import tpusight, and a report of the sample run" imports
	try "README's lines" python "$source/tests/packaging/readme.py"
	grep -E '^(needs|ran) ' "$at/said"
	[ -n "${TS_TRY_TENSORBOARD:-}" ] || return 0
	try "pip install tensorboard xprof" pip install --no-input tensorboard xprof 'setuptools<81'
	try "TensorBoard has the tab and the run" has_tensorboard
	grep -E '^(needs|ran) ' "$at/said"
}

try_wheel() {
	must "python3, its venv, man-db" packages python3 python3-venv man-db
	try "there is no compiler" has_no_compiler
	pip_install --no-index || return
	try_python
}

# What debian/control names but debhelper, as the sources are built by pip.
build_needs() {
	tar -xOzf "$file" --wildcards '*/packaging/debian/control' |
		sed -n '/^Build-Depends:/,/^[A-Z].*[^,]$/{s/^Build-Depends: *debhelper[^,]*,//; /^[A-Z]/d; s/([^)]*)//g; s/,/ /g; p}'
}
try_sdist() {
	# shellcheck disable=SC2046 # a word each
	must "python3, its venv, a compiler, the libraries" packages python3 python3-venv man-db gcc libc6-dev make $(build_needs)
	pip_install || return
	try_python
}

case $file in
--programs) try_programs "$2" ;;
*.deb) try_deb ;;
*.whl) try_wheel ;;
*.tar.gz) try_sdist ;;
esac
exit $((wrong > 0))
