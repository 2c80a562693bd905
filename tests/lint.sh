#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Looks the sources over without building them: how C looks, lint and types of Python, of the page and of the shell's scripts, and
# the tests of the page's functions.
#
#   tests/lint.sh            every step
#   tests/lint.sh STEP...    only these: spdx clang-format ruff mypy shellcheck eslint tsc page
#   tests/lint.sh --format   nothing of this: writes every C file as clang-format leaves it
#
# A tool that is not there is named, and its step left out. $TS_LINT_VENV names a folder for the tools of Python: it is made, and
# what tests/requirements-lint.txt and plugin/page/devel/package.json name is installed by pip and npm; a tool that is missing then
# is a failure. Exit: 0 nothing is wrong, 1 something is, 77 no step could run.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$here" || exit 1
steps=(spdx clang-format ruff mypy shellcheck eslint tsc page)
passed=0 failed=() missing=()

# Files of the repository, those that are new as well.
sources() { git ls-files -z --cached --others --exclude-standard --deduplicate -- "$@"; }

version_of() { sed -n "s/^$1==//p" tests/requirements-lint.txt; }

# A tool that judges by its version: no other will do. Prints why it cannot be used.
has_version() {
	local tool=$1 found
	command -v "$tool" >/dev/null || { echo "$tool is not installed"; return 1; }
	found=$("$tool" --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1)
	[ "$found" = "$(version_of "$tool")" ] || { echo "$tool is $found, and $(version_of "$tool") judges"; return 1; }
}

has() { command -v "$1" >/dev/null || { echo "$1 is not installed"; return 1; }; }

# Whether what a folder's lock file names was installed, and the lock file is no newer.
is_installed() { [ -e "$1/node_modules/.package-lock.json" ] && [ ! "$1/package-lock.json" -nt "$1/node_modules/.package-lock.json" ]; }

has_packages() {
	has npm || return 1
	is_installed "$1" || { echo "the packages of $1 are not installed, or are old (npm ci --ignore-scripts)"; return 1; }
}

install_packages() {
	is_installed "$1" || (cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
}

install_tools() {
	[ -x "$TS_LINT_VENV/bin/python" ] || python3 -m venv "$TS_LINT_VENV"
	"$TS_LINT_VENV/bin/pip" install -q --disable-pip-version-check -r tests/requirements-lint.txt
	PATH=$(cd "$TS_LINT_VENV" && pwd)/bin:$PATH
	install_packages plugin/page
	install_packages plugin/page/devel
}

# What a step needs; it prints what is missing.
needs() {
	case $1 in
	clang-format | ruff | mypy) has_version "$1" ;;
	spdx) has python3 ;;
	shellcheck) has shellcheck ;;
	eslint | tsc) has_packages plugin/page && has_packages plugin/page/devel ;;
	page) has_packages plugin/page ;;
	*) echo "there is no step $1"; return 1 ;;
	esac
}

format() { sources 'src/*.[ch]' 'tests/*.[ch]' 'bench/*.[ch]' | xargs -0 -n 40 -P 2 clang-format "$@"; }

run_spdx() { python3 tests/house/spdx.py; }
run_clang_format() {
	local said differ
	said=$(format --dry-run --Werror --ferror-limit=1 2>&1) && return
	differ=$(sed -n 's/^\([^:]*\.[ch]\):[0-9]*:[0-9]*: error.*/\1/p' <<<"$said" | sort -u)
	printf '%s\n' "not as clang-format leaves them (make format):" "${differ:-$said}"
	return 1
}
run_ruff() { ruff check --quiet --no-cache --output-format concise .; }
run_mypy() { (cd plugin && mypy --cache-dir=/dev/null --no-error-summary); }
run_shellcheck() { sources '*.sh' bootstrap .ci/run | xargs -0 shellcheck --exclude=SC1091 --format=gcc; }
run_eslint() { npm --prefix plugin/page run --silent lint; }
run_tsc() { npm --prefix plugin/page run --silent types; }
run_page() { npm --prefix plugin/page test --silent; }

# Runs one and says how it went and how long it took; what it printed is shown where it failed.
step() {
	local name=$1 why begin=$EPOCHREALTIME said state=ok
	if ! why=$(needs "$name"); then
		missing+=("$name: $why")
		printf '%-8s %-14s %s\n' missing "$name" "$why"
		return
	fi
	said=$("run_${name//-/_}" 2>&1) || state=FAILED
	printf '%-8s %-14s %5.1f s\n' "$state" "$name" "$(bc <<<"$EPOCHREALTIME - $begin")"
	if [ $state = ok ]; then
		passed=$((passed + 1))
	else
		failed+=("$name")
		printf '%s\n' "$said" | sed 's/^/  /'
	fi
}

git rev-parse --git-dir >/dev/null 2>&1 || { echo "tests/lint.sh: $here is not a checkout of git: nothing is looked over"; exit 77; }
[ -z "${TS_LINT_VENV:-}" ] || install_tools || echo "tests/lint.sh: not every tool could be installed"
if [ "${1:-}" = --format ]; then
	has_version clang-format && format -i
	exit
fi
[ $# -gt 0 ] || set -- "${steps[@]}"
for name in "$@"; do
	step "$name"
done
echo "lint: $passed passed, ${#failed[@]} failed, ${#missing[@]} missing"
if [ ${#failed[@]} -gt 0 ]; then exit 1; fi
if [ -n "${TS_LINT_VENV:-}" ] && [ ${#missing[@]} -gt 0 ]; then exit 1; fi
if [ $passed = 0 ]; then exit 77; fi
