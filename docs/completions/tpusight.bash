# SPDX-License-Identifier: Apache-2.0
# Made by `tpusight manual --completion=bash`. Load it with
#	eval "$(tpusight manual --completion=bash)"
# shellcheck disable=SC2207 # words have no spaces in them

__tpusight_commands='annotate report check compare hta kernels timeline flame memory compile hlo trim redact export map reduce thresholds explain manual serve live profile before pod mcp'
__tpusight_thresholds='mxu_utilization_low= mxu_utilization_warning= mxu_fill_low= padding_waste_high= compilation_time_high= idle_high= communication_high= host_transfer_high= memory_wait_high= layout_copy_high= input_high= rematerialization_high= dominant_op_high= small_op_time= small_ops_high= op_chains_high= unfused_high= slow_step_high= impact_critical= impact_warning= finding_min= max_findings= large_transfer_size= small_transfer_size= small_transfers_count= device_utilization_good= device_utilization_fair= kernel_duration_good= kernel_duration_fair= host_overhead_good= host_overhead_fair= memory_bandwidth_good= memory_bandwidth_fair= compilation_time_good= compilation_time_fair= occupancy_good= capture_compilation_high= capture_steps_high= peak_memory_high= donation_high= op_ms_high= op_count_high= other_time_high= cpu_fallback_high= logging_high= attention_high= upcasts_high= hbm_bandwidth_low= kernel_roofline_low= async_exposed_high= memory_growth_high= fragmentation_high= allocator_calls_high= kernel_gap_short= kernel_short= launch_queue_full= short_kernels_count= kernel_gaps_high= short_kernels_high= launch_queue_high= late_rank_high='

# The options of a command.
__tpusight_options() {
	case $1 in
	annotate) echo ' --strip --json --dry-run --perfetto= --perfetto-zip --max-trace-events= --max-overlay-events= --all --max-ops= --max-steps= --threads= --jobs= --quiet --verbose --color= --join-sessions --threshold= --config= --version --help' ;;
	report) echo ' --format= --output= --json --all --top= --sort= --max-ops= --max-steps= --view= --budget= --tracks --logdir= --threads= --jobs= --quiet --verbose --color= --join-sessions --threshold= --config= --version --help' ;;
	check) echo ' --format= --output= --json --threads= --jobs= --quiet --verbose --color= --join-sessions --threshold= --config= --version --help' ;;
	compare) echo ' --fail-if= --label= --format= --output= --json --all --top= --sort= --view= --threads= --jobs= --quiet --verbose --color= --join-sessions --threshold= --config= --version --help' ;;
	hta) echo ' --output= --format= --json --top= --sort= --all --threads= --jobs= --quiet --verbose --color= --join-sessions --threshold= --config= --version --help' ;;
	kernels) echo ' --output= --format= --json --top= --sort= --all --threads= --jobs= --quiet --verbose --color= --join-sessions --threshold= --config= --version --help' ;;
	timeline) echo ' --output= --format= --json --top= --sort= --all --min-duration-us= --no-python --max-events= --threads= --jobs= --quiet --verbose --color= --join-sessions --threshold= --config= --version --help' ;;
	flame) echo ' --output= --format= --json --kind= --weight= --min-duration-us= --max-depth= --group-small-kernels --threads= --jobs= --quiet --verbose --color= --join-sessions --threshold= --config= --version --help' ;;
	memory) echo ' --output= --format= --json --top= --sort= --all --threads= --jobs= --quiet --verbose --color= --join-sessions --threshold= --config= --version --help' ;;
	compile) echo ' --output= --format= --json --top= --sort= --all --torch-trace= --label= --compare --threads= --jobs= --quiet --verbose --color= --join-sessions --threshold= --config= --version --help' ;;
	hlo) echo ' --format= --output= --json --all --top= --sort= --view= --chip= --topology= --libtpu= --predict= --threads= --jobs= --quiet --verbose --color= --join-sessions --threshold= --config= --version --help' ;;
	trim) echo ' --steps= --from-ms= --to-ms= --host= --plane= --json --output= --threads= --jobs= --quiet --verbose --color= --join-sessions --threshold= --config= --version --help' ;;
	redact) echo ' --key= --salt= --keep= --json --output= --threads= --jobs= --quiet --verbose --color= --join-sessions --threshold= --config= --version --help' ;;
	export) echo ' --format= --output= --table= --json --threads= --jobs= --quiet --verbose --color= --join-sessions --threshold= --config= --version --help' ;;
	map) echo ' --output= --outline= --results= --put --tracks= --report= --trace= --perfetto= --list= --index= --held= --threads= --jobs= --quiet --verbose --color= --join-sessions --threshold= --config= --version --help' ;;
	reduce) echo ' --outline= --results= --if-whole --format= --output= --json --all --max-ops= --max-steps= --top= --sort= --max-overlay-events= --max-trace-events= --view= --threads= --jobs= --quiet --verbose --color= --join-sessions --threshold= --config= --version --help' ;;
	thresholds) echo ' --format= --output= --json --threads= --jobs= --quiet --verbose --color= --join-sessions --threshold= --config= --version --help' ;;
	explain) echo ' --format= --output= --json --threads= --jobs= --quiet --verbose --color= --join-sessions --threshold= --config= --version --help' ;;
	manual) echo ' --completion= --output= --threads= --jobs= --quiet --verbose --color= --join-sessions --threshold= --config= --version --help' ;;
	serve) echo ' --host= --token= --port= --allow-host= --perfetto-ui= --threads= --jobs= --quiet --verbose --color= --join-sessions --threshold= --config= --version --help' ;;
	live) echo ' --service= --repository= --interval= --sample-ms= --hlo= --timeout= --hold= --clear-after= --for= --fail-on= --on-alert= --settle= --new-only --dry-run --perfetto= --perfetto-zip --max-trace-events= --max-overlay-events= --all --max-ops= --max-steps= --json --serve --host= --token= --port= --allow-host= --perfetto-ui= --threads= --jobs= --quiet --verbose --color= --join-sessions --threshold= --config= --version --help' ;;
	*) echo ' --help --version --licenses' ;;
	esac
}

# What may stand behind an option of a command: COMMAND:OPTION. Nothing: it has no value.
__tpusight_values() {
	case $1 in
	annotate:--perfetto) echo 'json pftrace both none' ;;
	annotate:--max-trace-events) echo '@any' ;;
	annotate:--max-overlay-events) echo '@any' ;;
	annotate:--max-ops) echo '@any' ;;
	annotate:--max-steps) echo '@any' ;;
	annotate:--threads | annotate:-j) echo '@any' ;;
	annotate:--jobs) echo '@any' ;;
	annotate:--color) echo 'auto always never' ;;
	annotate:--threshold) echo '@thresholds' ;;
	annotate:--config) echo '@files' ;;
	report:--format | report:-f) echo 'text json html csv xlsx' ;;
	report:--output | report:-o) echo '@files' ;;
	report:--top) echo '@any' ;;
	report:--sort) echo '@any' ;;
	report:--max-ops) echo '@any' ;;
	report:--max-steps) echo '@any' ;;
	report:--view) echo 'overview capture ops op_cores time gaps scopes timeline kernels operators remat systolic padding fusion memory roofline custom_calls collectives async sparsecore cache compile compile_devices capacity allocators memory_timeline hta critical_path flame prediction doctor' ;;
	report:--budget) echo '@any' ;;
	report:--logdir) echo '@files' ;;
	report:--threads | report:-j) echo '@any' ;;
	report:--jobs) echo '@any' ;;
	report:--color) echo 'auto always never' ;;
	report:--threshold) echo '@thresholds' ;;
	report:--config) echo '@files' ;;
	check:--format | check:-f) echo 'text json' ;;
	check:--output | check:-o) echo '@files' ;;
	check:--threads | check:-j) echo '@any' ;;
	check:--jobs) echo '@any' ;;
	check:--color) echo 'auto always never' ;;
	check:--threshold) echo '@thresholds' ;;
	check:--config) echo '@files' ;;
	compare:--fail-if) echo '@any' ;;
	compare:--label) echo '@any' ;;
	compare:--format | compare:-f) echo 'text json html csv xlsx' ;;
	compare:--output | compare:-o) echo '@files' ;;
	compare:--top) echo '@any' ;;
	compare:--sort) echo '@any' ;;
	compare:--view) echo 'gates runs differences figures buckets histogram difference ops operators operator_shapes modules findings' ;;
	compare:--threads | compare:-j) echo '@any' ;;
	compare:--jobs) echo '@any' ;;
	compare:--color) echo 'auto always never' ;;
	compare:--threshold) echo '@thresholds' ;;
	compare:--config) echo '@files' ;;
	hta:--output | hta:-o) echo '@files' ;;
	hta:--format | hta:-f) echo 'text json html csv xlsx' ;;
	hta:--top) echo '@any' ;;
	hta:--sort) echo '@any' ;;
	hta:--threads | hta:-j) echo '@any' ;;
	hta:--jobs) echo '@any' ;;
	hta:--color) echo 'auto always never' ;;
	hta:--threshold) echo '@thresholds' ;;
	hta:--config) echo '@files' ;;
	kernels:--output | kernels:-o) echo '@files' ;;
	kernels:--format | kernels:-f) echo 'text json html csv xlsx' ;;
	kernels:--top) echo '@any' ;;
	kernels:--sort) echo '@any' ;;
	kernels:--threads | kernels:-j) echo '@any' ;;
	kernels:--jobs) echo '@any' ;;
	kernels:--color) echo 'auto always never' ;;
	kernels:--threshold) echo '@thresholds' ;;
	kernels:--config) echo '@files' ;;
	timeline:--output | timeline:-o) echo '@files' ;;
	timeline:--format | timeline:-f) echo 'text json html csv xlsx chrome' ;;
	timeline:--top) echo '@any' ;;
	timeline:--sort) echo '@any' ;;
	timeline:--min-duration-us) echo '@any' ;;
	timeline:--max-events) echo '@any' ;;
	timeline:--threads | timeline:-j) echo '@any' ;;
	timeline:--jobs) echo '@any' ;;
	timeline:--color) echo 'auto always never' ;;
	timeline:--threshold) echo '@thresholds' ;;
	timeline:--config) echo '@files' ;;
	flame:--output | flame:-o) echo '@files' ;;
	flame:--format | flame:-f) echo 'text json html csv xlsx folded speedscope' ;;
	flame:--kind) echo 'stacks modules scopes' ;;
	flame:--weight) echo 'cpu device count' ;;
	flame:--min-duration-us) echo '@any' ;;
	flame:--max-depth) echo '@any' ;;
	flame:--threads | flame:-j) echo '@any' ;;
	flame:--jobs) echo '@any' ;;
	flame:--color) echo 'auto always never' ;;
	flame:--threshold) echo '@thresholds' ;;
	flame:--config) echo '@files' ;;
	memory:--output | memory:-o) echo '@files' ;;
	memory:--format | memory:-f) echo 'text json html csv xlsx' ;;
	memory:--top) echo '@any' ;;
	memory:--sort) echo '@any' ;;
	memory:--threads | memory:-j) echo '@any' ;;
	memory:--jobs) echo '@any' ;;
	memory:--color) echo 'auto always never' ;;
	memory:--threshold) echo '@thresholds' ;;
	memory:--config) echo '@files' ;;
	compile:--output | compile:-o) echo '@files' ;;
	compile:--format | compile:-f) echo 'text json html csv xlsx' ;;
	compile:--top) echo '@any' ;;
	compile:--sort) echo '@any' ;;
	compile:--torch-trace) echo '@files' ;;
	compile:--label) echo '@any' ;;
	compile:--threads | compile:-j) echo '@any' ;;
	compile:--jobs) echo '@any' ;;
	compile:--color) echo 'auto always never' ;;
	compile:--threshold) echo '@thresholds' ;;
	compile:--config) echo '@files' ;;
	hlo:--format | hlo:-f) echo 'text json html csv xlsx' ;;
	hlo:--output | hlo:-o) echo '@files' ;;
	hlo:--top) echo '@any' ;;
	hlo:--sort) echo '@any' ;;
	hlo:--view) echo 'overview ops modules remat systolic padding fusion memory custom_calls capacity memory_timeline prediction doctor' ;;
	hlo:--chip) echo '@any' ;;
	hlo:--topology) echo '@any' ;;
	hlo:--libtpu) echo '@any' ;;
	hlo:--predict) echo '@files' ;;
	hlo:--threads | hlo:-j) echo '@any' ;;
	hlo:--jobs) echo '@any' ;;
	hlo:--color) echo 'auto always never' ;;
	hlo:--threshold) echo '@thresholds' ;;
	hlo:--config) echo '@files' ;;
	trim:--steps) echo '@any' ;;
	trim:--from-ms) echo '@any' ;;
	trim:--to-ms) echo '@any' ;;
	trim:--host) echo '@any' ;;
	trim:--plane) echo '@any' ;;
	trim:--output | trim:-o) echo '@files' ;;
	trim:--threads | trim:-j) echo '@any' ;;
	trim:--jobs) echo '@any' ;;
	trim:--color) echo 'auto always never' ;;
	trim:--threshold) echo '@thresholds' ;;
	trim:--config) echo '@files' ;;
	redact:--key) echo '@files' ;;
	redact:--salt) echo '@any' ;;
	redact:--keep) echo '@any' ;;
	redact:--output | redact:-o) echo '@files' ;;
	redact:--threads | redact:-j) echo '@any' ;;
	redact:--jobs) echo '@any' ;;
	redact:--color) echo 'auto always never' ;;
	redact:--threshold) echo '@thresholds' ;;
	redact:--config) echo '@files' ;;
	export:--format | export:-f) echo 'parquet arrow' ;;
	export:--output | export:-o) echo '@files' ;;
	export:--table) echo '@any' ;;
	export:--threads | export:-j) echo '@any' ;;
	export:--jobs) echo '@any' ;;
	export:--color) echo 'auto always never' ;;
	export:--threshold) echo '@thresholds' ;;
	export:--config) echo '@files' ;;
	map:--output | map:-o) echo '@files' ;;
	map:--outline) echo '@files' ;;
	map:--results) echo '@files' ;;
	map:--tracks) echo '@files' ;;
	map:--report) echo '@files' ;;
	map:--trace) echo '@files' ;;
	map:--perfetto) echo 'json pftrace' ;;
	map:--list) echo '@files' ;;
	map:--index) echo '@any' ;;
	map:--held) echo '@files' ;;
	map:--threads | map:-j) echo '@any' ;;
	map:--jobs) echo '@any' ;;
	map:--color) echo 'auto always never' ;;
	map:--threshold) echo '@thresholds' ;;
	map:--config) echo '@files' ;;
	reduce:--outline) echo '@files' ;;
	reduce:--results) echo '@files' ;;
	reduce:--format | reduce:-f) echo 'text json html csv xlsx' ;;
	reduce:--output | reduce:-o) echo '@files' ;;
	reduce:--max-ops) echo '@any' ;;
	reduce:--max-steps) echo '@any' ;;
	reduce:--top) echo '@any' ;;
	reduce:--sort) echo '@any' ;;
	reduce:--max-overlay-events) echo '@any' ;;
	reduce:--max-trace-events) echo '@any' ;;
	reduce:--view) echo 'overview capture ops op_cores time gaps scopes timeline kernels operators remat systolic padding fusion memory roofline custom_calls collectives async sparsecore cache compile compile_devices capacity allocators memory_timeline hta critical_path flame prediction doctor' ;;
	reduce:--threads | reduce:-j) echo '@any' ;;
	reduce:--jobs) echo '@any' ;;
	reduce:--color) echo 'auto always never' ;;
	reduce:--threshold) echo '@thresholds' ;;
	reduce:--config) echo '@files' ;;
	thresholds:--format | thresholds:-f) echo 'text json csv' ;;
	thresholds:--output | thresholds:-o) echo '@files' ;;
	thresholds:--threads | thresholds:-j) echo '@any' ;;
	thresholds:--jobs) echo '@any' ;;
	thresholds:--color) echo 'auto always never' ;;
	thresholds:--threshold) echo '@thresholds' ;;
	thresholds:--config) echo '@files' ;;
	explain:--format | explain:-f) echo 'text json' ;;
	explain:--output | explain:-o) echo '@files' ;;
	explain:--threads | explain:-j) echo '@any' ;;
	explain:--jobs) echo '@any' ;;
	explain:--color) echo 'auto always never' ;;
	explain:--threshold) echo '@thresholds' ;;
	explain:--config) echo '@files' ;;
	manual:--completion) echo 'bash zsh fish' ;;
	manual:--output | manual:-o) echo '@files' ;;
	manual:--threads | manual:-j) echo '@any' ;;
	manual:--jobs) echo '@any' ;;
	manual:--color) echo 'auto always never' ;;
	manual:--threshold) echo '@thresholds' ;;
	manual:--config) echo '@files' ;;
	serve:--host) echo '@any' ;;
	serve:--token) echo '@any' ;;
	serve:--port) echo '@any' ;;
	serve:--allow-host) echo '@any' ;;
	serve:--perfetto-ui) echo '@any' ;;
	serve:--threads | serve:-j) echo '@any' ;;
	serve:--jobs) echo '@any' ;;
	serve:--color) echo 'auto always never' ;;
	serve:--threshold) echo '@thresholds' ;;
	serve:--config) echo '@files' ;;
	live:--service) echo '@any' ;;
	live:--repository) echo '@files' ;;
	live:--interval) echo '@any' ;;
	live:--sample-ms) echo '@any' ;;
	live:--hlo) echo 'once always never' ;;
	live:--timeout) echo '@any' ;;
	live:--hold) echo '@any' ;;
	live:--clear-after) echo '@any' ;;
	live:--for) echo '@any' ;;
	live:--fail-on) echo 'critical warning' ;;
	live:--on-alert) echo '@any' ;;
	live:--settle) echo '@any' ;;
	live:--perfetto) echo 'json pftrace both none' ;;
	live:--max-trace-events) echo '@any' ;;
	live:--max-overlay-events) echo '@any' ;;
	live:--max-ops) echo '@any' ;;
	live:--max-steps) echo '@any' ;;
	live:--host) echo '@any' ;;
	live:--token) echo '@any' ;;
	live:--port) echo '@any' ;;
	live:--allow-host) echo '@any' ;;
	live:--perfetto-ui) echo '@any' ;;
	live:--threads | live:-j) echo '@any' ;;
	live:--jobs) echo '@any' ;;
	live:--color) echo 'auto always never' ;;
	live:--threshold) echo '@thresholds' ;;
	live:--config) echo '@files' ;;
	esac
}

__tpusight_words() {
	COMPREPLY=($(compgen -W "$1" -- "$2"))
	case ${COMPREPLY[0]-} in *=) [ ${#COMPREPLY[@]} -gt 1 ] || compopt -o nospace 2>/dev/null ;; esac
}

# An empty COMPREPLY is completed by names of files.
_tpusight() {
	local cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} command values
	COMPREPLY=()
	case ${COMP_WORDS[0]##*/} in
	tpusight-annotate) command=annotate ;;
	*) command=${COMP_WORDS[1]-} ;;
	esac
	if [ "$command" != annotate ] || [ "${COMP_WORDS[0]##*/}" = tpusight ]; then
		if [ "$COMP_CWORD" = 1 ]; then
			case $cur in
			-*) __tpusight_words "$(__tpusight_options)" "$cur" ;;
			*) __tpusight_words "$__tpusight_commands" "$cur" ;;
			esac
			return
		fi
	fi
	if [ "$cur" = = ]; then
		cur=
	elif [ "$option" = = ]; then
		option=${COMP_WORDS[COMP_CWORD-2]}
	fi
	values=$(__tpusight_values "$command:$option")
	case $values in
	@files) ;;
	@any) compopt +o default 2>/dev/null ;;
	@thresholds) __tpusight_words "$__tpusight_thresholds" "$cur" ;;
	?*) __tpusight_words "$values" "$cur" ;;
	*) case $cur in -*) __tpusight_words "$(__tpusight_options "$command")" "$cur" ;; esac ;;
	esac
}
complete -o default -F _tpusight tpusight tpusight-annotate
