#!/bin/sh
# SPDX-License-Identifier: MIT
# Numbers against independent sources: the sample's maker, jax's own monitoring, PyTorch's own counters and memory profile, XProf's
# hlo_stats and roofline_model, libtpu's own figures.
# Run by `make check`; the parts that need ../shared/corpus skip where it is absent.
here=${srcdir:-.}/tests/truth
corpus=${TS_CORPUS:-${srcdir:-.}/../shared/corpus}
bin=${TS_BIN:-bin}
python=$(command -v python3) || { echo "SKIP: python3 is not installed"; exit 77; }
out=$(mktemp -d) || exit 99
trap 'rm -rf "$out"' EXIT
bad=0

"$bin/tpusight" report --format=json -o "$out/sample.json" "${srcdir:-.}/tests/data/sample" &&
	"$python" "$here/sample.py" "$out/sample.json" "${srcdir:-.}/tests/data/sample_truth.json" || bad=1
"$python" "$here/fusion.py" "$out/sample.json" \
	"${srcdir:-.}"/tests/data/sample/*/plugins/profile/*/*.xplane.pb \
	"${srcdir:-.}/tests/data/sample_truth.json" || bad=1

for name in cpu_shapes cpu_functions cpu_cache_cold cpu_cache_warm cpu_recompile cpu_steps; do
	"$bin/tpusight" report --format=json -o "$out/$name.json" "${srcdir:-.}/tests/data/$name.xplane.pb" &&
		"$python" "$here/compilations.py" "$out/$name.json" "${srcdir:-.}/tests/data/$name.json" || bad=1
done
"$bin/tpusight" report --format=json -o "$out/cpu_scopes.json" "${srcdir:-.}/tests/data/cpu_scopes.xplane.pb" &&
	"$python" "$here/scopes.py" "$out/cpu_scopes.json" "${srcdir:-.}/tests/data/cpu_scopes.json" || bad=1
for name in breaks stack old mode_eager mode_default mode_reduce-overhead mode_max-autotune; do
	"$bin/tpusight" compile --json -o "$out/$name.json" "${srcdir:-.}/tests/data/torch/$name.pt.trace.json.gz" &&
		"$python" "$here/torch_compile.py" "$out/$name.json" "${srcdir:-.}/tests/data/torch/$name.json" || bad=1
done
"$bin/tpusight" compile --json -o "$out/log.json" --torch-trace "${srcdir:-.}/tests/data/torch" \
	"${srcdir:-.}/tests/data/torch/breaks.pt.trace.json.gz" &&
	"$python" "$here/torch_compile.py" "$out/log.json" "${srcdir:-.}/tests/data/torch/breaks.json" || bad=1
set -- "${srcdir:-.}/tests/data/torch/mode_eager.pt.trace.json.gz" "${srcdir:-.}/tests/data/torch/mode_default.pt.trace.json.gz" \
	"${srcdir:-.}/tests/data/torch/mode_reduce-overhead.pt.trace.json.gz" \
	"${srcdir:-.}/tests/data/torch/mode_max-autotune.pt.trace.json.gz"
"$bin/tpusight" compile --json -o "$out/modes.json" "$@" && "$python" "$here/torch_modes.py" "$out/modes.json" "$@" || bad=1
"$python" "$here/memory.py" sample "$out/sample.json" \
	"${srcdir:-.}"/tests/data/sample/*/plugins/profile/*/*.xplane.pb \
	"${srcdir:-.}/tests/data/sample_truth.json" || bad=1

"$bin/tpusight" report --format=json --view=capacity -o "$out/memory.json" "${srcdir:-.}/tests/data/memory_profile.prof" &&
	"$python" "$here/sites.py" "$out/memory.json" "${srcdir:-.}/tests/data/memory_profile.json" || bad=1

trace=${srcdir:-.}/tests/data/torch_memory.pt.trace.json.gz
"$bin/tpusight" memory --json -o "$out/torch.json" "$trace" &&
	"$python" "$here/memory_timeline.py" torch "$out/torch.json" "${srcdir:-.}/tests/data/torch_memory.json" &&
	"$python" "$here/memory_timeline.py" trace "$out/torch.json" "$trace" || bad=1
"$python" "$here/memory_timeline.py" random "$bin/tpusight" 1 40 || bad=1

if [ ! -d "$corpus" ]; then
	echo "the corpus is not here ($corpus): XProf's and libtpu's figures were not compared"
	exit $bad
fi
for name in tpu_v6e_host_offload gpu_mi300x_jax_conv; do
	"$bin/tpusight" report --format=json -o "$out/$name.json" "$corpus/xplane/$name.xplane.pb" &&
		"$python" "$here/hlo_stats.py" "$out/$name.json" "$corpus/truth/xprof_$name.hlo_stats.json" &&
		"$python" "$here/roofline.py" "$out/$name.json" "$corpus/truth/xprof_$name.roofline_model.json" &&
		"$python" "$here/memory.py" xprof "$out/$name.json" "$corpus/truth/xprof_$name.hlo_stats.json" \
			"$corpus/truth/xprof_$name.op_profile.json" || bad=1
done
"$python" "$here/prediction.py" "$out/tpu_v6e_host_offload.json" || bad=1
for name in hta_df_index_resolver tracelens_h100_owlv2 tracelens_h100_timesformer; do
	"$bin/tpusight" memory --json -o "$out/$name.json" "$corpus/kineto/$name.json.gz" &&
		"$python" "$here/memory_timeline.py" trace "$out/$name.json" "$corpus/kineto/$name.json.gz" || bad=1
done
"$python" "$here/capacity.py" "$bin/tpusight" "$corpus/hlo" "$corpus/truth/libtpu_modules.json" || bad=1
"$python" "$here/hlo_modules.py" "$bin/tpusight" "$corpus/hlo" "$corpus/truth/libtpu_modules.json" || bad=1
exit $bad
