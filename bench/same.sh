#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Shows that two builds say the same: bench/same.sh OLD NEW [PROFILE...], OLD and NEW being build folders.
#
# Every command that prints JSON or CSV is run by both programs on every profile, and every session is annotated by both;
# the outputs are compared byte for byte. Profiles default to the samples of tests/data and, where $TS_CORPUS names a folder
# (default: ../shared/corpus beside the repository), to all of its profiles. Exit status: 0 all the same; 1 something differs.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 2 ] || { sed -n '3,/^set/s/^# \{0,1\}//p' "$0"; exit 2; }
old=$(cd "$1" && pwd) new=$(cd "$2" && pwd)
shift 2
work=$(mktemp -d "${TMPDIR:-/tmp}/tpusight-same.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
if [ $# = 0 ]; then
	readarray -t profiles < <(find "$here/tests/data" "${TS_CORPUS:-$here/../shared/corpus}" -type f \
		\( -name '*.xplane.pb' -o -name '*.json.gz' -o -name '*.pt.trace.json' -o -name '*.prof' \
		-o -name '*.hlo_proto.pb' -o -name '*.hlo.pb' \) 2>/dev/null | sort)
	set -- "${profiles[@]}"
fi

# What both programs are asked, with the arguments in front of the profile.
asks=(
	"report --format json" "report --format csv --view ops" "report --format csv --view steps"
	"hlo --format json" "hta --format json" "kernels --format json" "timeline --format json" "flame --format json"
	"memory --format json" "compile --format json" "check --format json"
)

run() { # BUILD OUT: every ask of one program on one profile, then its annotations
	local ask name=$3 out=$2
	mkdir -p "$out"
	for ask in "${asks[@]}"; do
		# shellcheck disable=SC2086 # an ask is several words
		TZ=UTC LC_ALL=C "$1/bin/tpusight" $ask -q "$name" >"$out/${ask// /_}" 2>"$out/${ask// /_}.err"
		echo $? >>"$out/${ask// /_}"
	done
	rm -rf "$work/tree" # the same folder for both: its name is in the report
	mkdir -p "$work/tree"
	cp "$name" "$work/tree/" && chmod -R u+w "$work/tree"
	TZ=UTC LC_ALL=C "$1/bin/tpusight-annotate" -q --perfetto=both "$work/tree" >"$out/annotate" 2>&1
	# A report also says how the files looked from outside, which is never the same.
	find "$work/tree" -name '*tpusight*.json' -exec sed -i '/^  "annotation": /d' {} +
	(cd "$work/tree" && find . -type f | sort | xargs -r sha256sum) >>"$out/annotate"
}

differ=0 nr=0
for profile; do
	rm -rf "$work/old" "$work/new"
	run "$old" "$work/old" "$profile"
	run "$new" "$work/new" "$profile"
	for ask in "$work"/old/*; do
		case $ask in *.err) continue ;; esac
		nr=$((nr + 1))
		cmp -s "$ask" "$work/new/${ask##*/}" && continue
		differ=$((differ + 1))
		echo "differs: ${ask##*/} of $profile"
		[ "${TS_SHOW:-}" ] && diff <(tr ',' '\n' <"$ask") <(tr ',' '\n' <"$work/new/${ask##*/}") | head -n 20
	done
done
echo "$nr outputs of $# profiles, $differ differ"
[ "$differ" = 0 ]
