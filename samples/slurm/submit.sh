#!/usr/bin/env bash
# Queues a folder of images as a job array, and a merge that waits for it; prints the number of the merge's job.
#   submit.sh IN OUT WORK [SHARES] [SBATCH OPTION...]      all folders on a file system that every node sees
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
in=$(realpath "$1") out=$(realpath -m "$2") work=$(realpath -m "$3") shares=${4:-8}
shift $(($# < 4 ? $# : 4))
mkdir -p "$work"
cd "$work" # where the logs go
array=$(sbatch --parsable --array="1-$shares" "$@" "$here/shard.sbatch" "$in" "$out" "$work")
sbatch --parsable --dependency="afterany:$array" "$@" "$here/merge.sbatch" "$shares" "$work"
