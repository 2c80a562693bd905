#!/bin/sh
# SPDX-License-Identifier: MIT
# Where the inputs of a target come from.
#	inputs.sh seeds TARGET		the folders of its seeds
#	inputs.sh real TARGET		folders with real profiles, too large for seeds
#	inputs.sh dict TARGET		its dictionary, when there is one that fits
folder=$(dirname "$0")
top=$folder/../..

# Those of the folders of seeds that are there.
seeds() { for name; do [ ! -d "$folder/seeds/$name" ] || echo "$folder/seeds/$name"; done; }

case $1.$2 in
seeds.xplane_classes | seeds.slices) seeds "$2" xplane ;;
seeds.pprof_classes) seeds "$2" pprof ;;
seeds.gunzip_zlib) seeds "$2" gunzip ;;
seeds.json_cjson | seeds.packed) seeds "$2" chrome torch_trace ;;
seeds.undo | seeds.again | seeds.commands) seeds "$2" xplane chrome trace hlo ;;
seeds.*) seeds "$2" ;;
real.xplane | real.overlay | real.pb | real.pprof) echo "$top/tests/data" ;;
real.hlo) [ ! -d "$top/../shared/corpus/hlo" ] || echo "$top/../shared/corpus/hlo" ;;
dict.chrome | dict.trace | dict.config | dict.remote | dict.torch_trace | dict.json_cjson | dict.packed | dict.card) echo "$folder/dict/json.dict" ;;
dict.xplane | dict.overlay | dict.pb | dict.live | dict.copy | dict.state | dict.pprof | dict.hostile_states | dict.mapped | dict.xplane_classes | \
	dict.pprof_classes | dict.slices | dict.undo | dict.again | dict.commands) echo "$folder/dict/xplane.dict" ;;
dict.hlo | dict.shape) echo "$folder/dict/hlo.dict" ;;
esac
