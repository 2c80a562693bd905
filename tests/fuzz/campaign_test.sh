#!/bin/sh
# SPDX-License-Identifier: MIT
# The campaign with two targets that are scripts: one learns an input, the other one is broken. Counts, table, corpus and
# exit status are right; a campaign in which nothing broke ends with 0.
set -u
top=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
mkdir -p tests/fuzz
printf 'tests/fuzz/%%_fuzz: ;\n' >Makefile

fail() {
	echo "$*"
	cat out
	exit 1
}

# As libFuzzer does: folders come last, the first of them takes what is found.
cat >tests/fuzz/good_fuzz <<'EOS'
#!/bin/sh
name=$(basename "$0") artifacts=. folders= broken=
for word in "$@"; do
	case $word in
	-artifact_prefix=*) artifacts=${word#*=} ;;
	-merge=1) merge=1 ;;
	-runs=0) echo "#3	INITED cov: 17 ft: 23 corp: 2/9b exec/s: 0 rss: 30Mb" && exit 0 ;;
	-*) ;;
	*) folders="$folders $word" ;;
	esac
done
set -- $folders
if [ "${merge:-}" = 1 ]; then
	cp "$2/found" "$1/found"
	exit 0
fi
echo found >"$1/found"
echo found >"$1/twice"
echo "stat::number_of_executed_units: 1000"
[ "$name" = good_fuzz ] && exit 0
echo bytes >"${artifacts}crash-0123"
exit 77
EOS
chmod +x tests/fuzz/good_fuzz
cp tests/fuzz/good_fuzz tests/fuzz/bad_fuzz

export srcdir="$top"
sh "$top/tests/fuzz/campaign.sh" >out 2>&1
[ $? = 2 ] || fail "without hours it must say how it is used"
TS_JOBS=2 sh "$top/tests/fuzz/campaign.sh" 0.0003 good >out 2>&1 || fail "nothing broke, and the status says otherwise"
grep -q '^good  *1000  *[0-9]*  *17  *23  *1  *6  *0$' out || fail "the row of good"
grep -q '^all  *1000$' out || fail "the sum"
[ ! -e tests/fuzz/corpus/good/twice ] || fail "the corpus was not made small"
TS_JOBS=2 sh "$top/tests/fuzz/campaign.sh" 0.0003 good bad >out 2>&1
[ $? = 1 ] || fail "something broke, and the status does not say so"
grep -q '^bad  *1000  *[0-9]*  *17  *23  *1  *6  *1$' out || fail "the row of bad"
grep -q '^good .* 0$' out || fail "good is not broken"
grep -q '^all  *2000$' out || fail "the sum of both"
tail -n 1 out | grep -q 'crashes/bad-crash-0123' || fail "the input is not named"
