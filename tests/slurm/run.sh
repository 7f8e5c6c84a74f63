#!/usr/bin/env bash
# samples/slurm on a real Slurm of one node, this machine, on the loopback: compares its results byte for byte with those
# of one run. Wants root, slurm-wlm and munge; GPUIMG is the program. Everything but munge's own account stays below a
# folder in /tmp, and nothing is left running. Exit status 77: cannot be done here.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
: "${GPUIMG:?the program to test}"
shares=4 images=40 timeout_s=240

skip() {
    echo "skipped: $*" >&2
    exit 77
}
((EUID == 0)) || skip "Slurm's daemons want root"
for tool in slurmctld slurmd sbatch munged; do
    PATH=$PATH:/usr/sbin:/sbin command -v "$tool" >/dev/null || skip "no $tool (apt-get install slurm-wlm munge)"
done
PATH=$(dirname "$(realpath "$GPUIMG")"):$PATH:/usr/sbin:/sbin
export PATH

work=$(mktemp -d /tmp/gpuimg-slurm.XXXXXX)
daemons=()
finish() {
    local status=$?
    if ((status != 0 && status != 77)); then tail -n 20 "$work"/*.log "$work"/parts/*.log >&2 2>/dev/null || true; fi
    for daemon in "${daemons[@]}"; do kill "$daemon" 2>/dev/null || true; done
    for daemon in "${daemons[@]}"; do wait "$daemon" 2>/dev/null || true; done
    rm -rf "$work"
}
trap finish EXIT

# ---- the cluster ----------------------------------------------------------------------------------------------------

# Its socket, its key and Slurm's ports are of this run's own, so that a Slurm of the machine's is not disturbed.
start_munge() {
    mkdir -p "$work/munge"
    head -c 128 /dev/urandom >"$work/munge/key"
    chown -R munge:munge "$work/munge"
    chmod 711 "$work"
    chmod 755 "$work/munge"
    chmod 400 "$work/munge/key"
    setpriv --reuid=munge --regid=munge --clear-groups munged --foreground --force --key-file="$work/munge/key" \
        --socket="$work/munge/socket" --pid-file="$work/munge/pid" --log-file="$work/munge/log" \
        --seed-file="$work/munge/seed" >"$work/munged.log" 2>&1 &
    daemons+=($!)
}

write_configuration() {
    local name port=$((20000 + RANDOM % 20000))
    name=$(hostname -s)
    mkdir -p "$work"/{state,spool}
    cat >"$work/slurm.conf" <<CONF
ClusterName=gpuimg
SlurmctldHost=$name(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CredType=cred/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldParameters=enable_configless
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1
MinJobAge=600
ReturnToService=2
NodeName=$name NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
    export SLURM_CONF=$work/slurm.conf
}

# wait_for SECONDS WHAT COMMAND...
wait_for() {
    local left=$1 what=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        if ((left-- == 0)); then
            echo "no $what" >&2
            return 1
        fi
        sleep 1
    done
}

# Where the daemons cannot run, as in some containers, nothing is known of the samples.
cannot_start() {
    tail -n 5 "$work"/*.log >&2 2>/dev/null || true
    skip "Slurm does not start here"
}

start_cluster() {
    start_munge
    wait_for 20 "munge" test -S "$work/munge/socket" || cannot_start
    write_configuration
    slurmctld -D >"$work/slurmctld.log" 2>&1 &
    daemons+=($!)
    wait_for 30 "controller" scontrol ping || cannot_start
    slurmd -D -N "$(hostname -s)" >"$work/slurmd.log" 2>&1 &
    daemons+=($!)
    wait_for 30 "node" node_is_idle || cannot_start
}
node_is_idle() { [[ $(sinfo -h -o %t) == idle ]]; }

# ---- the work -------------------------------------------------------------------------------------------------------

# Images of different sizes and formats, in a folder and below it.
make_images() {
    local i side
    mkdir -p "$work/in/sub"
    for ((i = 0; i < images; i++)); do
        side=$work/in
        if ((i % 3 == 0)); then side=$work/in/sub; fi
        case $((i % 4)) in
        0) cp "$root/samples/landscape.png" "$side/$i.png" ;;
        1) cp "$root/samples/portrait_exif6.jpg" "$side/$i.jpg" ;;
        2) cp "$root/samples/scan.png" "$side/$i.png" ;;
        3) cp "$root/samples/chart.png" "$side/$i.png" ;;
        esac
    done
}

job_is() { [[ $(scontrol show job "$1" | tr ' ' '\n' | grep '^JobState=') == "JobState=$2" ]]; }
job_has_ended() { job_is "$1" COMPLETED || job_is "$1" FAILED; }
without_times() { sed 's/,"ms":[0-9.]*//' "$1" | sort; }

make_images
"$GPUIMG" gray -q -r --manifest "$work/one.jsonl" "$work/in" "$work/one"
"$GPUIMG" hist -q -r --total -o "$work/one.json" "$work/in"
start_cluster
merge=$("$root/samples/slurm/submit.sh" "$work/in" "$work/out" "$work/parts" "$shares")
wait_for "$timeout_s" "end of job $merge" job_has_ended "$merge"
job_is "$merge" COMPLETED
diff -r "$work/one" "$work/out"
cmp "$work/one.json" "$work/parts/hist.json"
diff <(without_times "$work/one.jsonl" | sed "s:$work/one/:$work/out/:") <(without_times "$work/parts/gray.jsonl")
for ((share = 1; share <= shares; share++)); do [[ -s $work/parts/gray-$share.jsonl ]]; done
echo "$images images in $shares jobs and a merge: the same bytes as by one run"
