#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/layers.sh must find an include that was planted, and leave alone what may stand.
here=${srcdir:-.}/tests
tree=$(mktemp -d) || exit 99
trap 'rm -rf "$tree"' EXIT
wrong=0

# result, file, its include
while read -r want file header; do
	[ -n "$want" ] || continue
	rm -rf "$tree/src"
	mkdir -p "$tree/src/analysis" "$tree/src/${file%/*}"
	printf '\tX(memory) \\\n\tX(memory_timeline) \\\n\tX(compile) \\\n\tX(compile_devices)\n' >"$tree/src/analysis/list.h"
	echo "#include \"$header\"" >"$tree/src/$file"
	got=fine
	sh "$here/layers.sh" "$tree" >"$tree/said" || got=found
	[ "$got" = "$want" ] && { [ "$got" = fine ] || grep -q "^src/$file includes $header: " "$tree/said"; } && continue
	echo "$file includes $header: must be $want, is $got"
	cat "$tree/said"
	wrong=1
done <<'ROWS'
fine  analysis/gpu/flame_tree.c        analysis/analysis.h
fine  analysis/gpu/flame_tree.c        analysis/kit/cells.h
fine  analysis/gpu/flame_tree.c        analysis/settings.h
fine  analysis/gpu/flame_tree.c        analysis/gpu/flame.h
fine  analysis/gpu/flame_tree.c        model/profile.h
found analysis/gpu/flame_tree.c        analysis/gpu/kernels.h
found analysis/gpu/flame_tree.c        write/output.h
found analysis/gpu/flame_tree.c        trace.pb-c.h
fine  analysis/traffic/memory_layout.c analysis/traffic/memory.h
found analysis/traffic/memory_layout.c analysis/capacity/memory.h
found analysis/capacity/memory_timeline_owner.c analysis/capacity/memory.h
found analysis/compile/compile_devices_rows.c   analysis/compile/compile.h
found analysis/compile/compile.c       analysis/compile/compile_devices.h
fine  analysis/doctor/rules/fusion.c   analysis/doctor/doctor.h
fine  analysis/doctor/health.c         analysis/doctor/facts.h
found analysis/doctor/health.c         analysis/gpu/flame.h
found analysis/kit/cells.c             analysis/gpu/flame.h
found analysis/registry.c              analysis/gpu/flame.h
fine  analysis/registry.c              analysis/list.h
fine  read/chrome/scan.c               read/chrome/trace.h
fine  read/hta.c                       read/reader.h
found read/hta.c                       read/chrome/trace.h
found read/hta.c                       analysis/analysis.h
found write/report_csv.c               trace/perfetto/perfetto.h
fine  trace/perfetto/pb.c                trace/perfetto/perfetto.h
found base/map.c                       codec/json.h
found cli/options.c                    trace.pb-c.h
fine  cli/options.c                    run/run.h
found attic/old.c                      base/map.h
ROWS

# A line of what is allowed that nothing needs any more is an error.
rm -rf "$tree/src"
mkdir -p "$tree/src/analysis/compile"
echo '#include "analysis/analysis.h"' >"$tree/src/analysis/compile/compile_devices.c"
if grep -q '^analysis/compile/compile_devices.c ' "$here/layers.sh" && sh "$here/layers.sh" "$tree" >"$tree/said"; then
	echo "an allowed line that nothing needs is not found"
	wrong=1
fi
exit $wrong
