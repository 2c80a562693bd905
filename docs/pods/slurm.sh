#!/bin/sh
# SPDX-License-Identifier: MIT
# One report of a run of many hosts, by the program alone, as four jobs of SLURM that wait for one another (docs/pods.md):
#
#   slurm.sh SESSION REPORT [FOLDER]
#
# SESSION has the profiles (*.xplane.pb), REPORT becomes the report (.json, .txt or .csv), FOLDER (default: REPORT.pod) gets what
# the rounds make and what the jobs print. All are on a disk that every node sees. Options for sbatch (partition, account):
# $SBATCH_PARTITION, $SBATCH_ACCOUNT and the other variables that sbatch reads. Prints the number of the last job.
set -eu
[ $# -ge 2 ] || { sed -n '3,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
absolute() { case $1 in /*) echo "$1" ;; *) echo "$PWD/$1" ;; esac; }
session=$(absolute "$1")
TPUSIGHT_REPORT=$(absolute "$2")
folder=$(absolute "${3:-$2.pod}")
export TPUSIGHT_REPORT
mkdir -p "$folder/outlines" "$folder/states"
find "$session/" -maxdepth 1 -name '*.xplane.pb' ! -name '.*' | sort >"$folder/hosts.txt"
hosts=$(wc -l <"$folder/hosts.txt")
[ "$hosts" -gt 0 ] || { echo "$session: no profile is there (name the folder that has HOST.xplane.pb)" >&2; exit 3; }

submit() { sbatch --parsable --chdir="$folder" --cpus-per-task=1 --kill-on-invalid-dep=yes "$@"; }

# A file that is damaged ends with status 4, and has an outline that says so: that is not a failure.
# shellcheck disable=SC2016 # the job's shell fills these in
map='tpusight map $STEP -j1 --list hosts.txt --index "$SLURM_ARRAY_TASK_ID" -o "$MADE/$SLURM_ARRAY_TASK_ID" ||
	{ [ $? = 4 ] && [ -s "$MADE/$SLURM_ARRAY_TASK_ID" ]; }'
first=$(submit --array="0-$((hosts - 1))" --wrap "STEP=outline MADE=outlines; $map")
second=$(submit --dependency="afterok:$first" --wrap "tpusight reduce outline outlines/* -o run.outline")
third=$(submit --dependency="afterok:$second" --array="0-$((hosts - 1))" --wrap "STEP='pass --outline run.outline' MADE=states; $map")
# shellcheck disable=SC2016
submit --dependency="afterok:$third" --wrap 'tpusight reduce report states/* --outline run.outline -o "$TPUSIGHT_REPORT" ||
	{ [ $? = 4 ] && [ -s "$TPUSIGHT_REPORT" ]; }'
