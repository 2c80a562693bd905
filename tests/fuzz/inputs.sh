#!/bin/sh
# Where the inputs of a target come from.
#	inputs.sh seeds TARGET		the folders of its seeds
#	inputs.sh real TARGET		folders with real profiles, too large for seeds
#	inputs.sh dict TARGET		its dictionary, when there is one that fits
folder=$(dirname "$0")
top=$folder/../..
case $1.$2 in
seeds.*) echo "$folder/seeds/$2" ;;
real.xplane | real.overlay | real.pb | real.pprof) echo "$top/tests/data" ;;
real.hlo) [ ! -d "$top/../shared/corpus/hlo" ] || echo "$top/../shared/corpus/hlo" ;;
dict.chrome | dict.trace | dict.config | dict.torch_trace) echo "$folder/dict/json.dict" ;;
dict.xplane | dict.overlay | dict.pb | dict.live | dict.copy | dict.state | dict.pprof) echo "$folder/dict/xplane.dict" ;;
dict.hlo | dict.shape) echo "$folder/dict/hlo.dict" ;;
esac
