# shellcheck shell=bash
# Measures the cost of a process with /proc; source it. It starts no other process while it measures.
#
#   measure COMMAND...     runs it and sets measured_status, measured_wall and measured_cpu (milliseconds) and
#                          measured_peak (resident memory, KiB); `measured` is its process while it runs, else empty
#   measure_tree_ticks ID  prints the CPU time of a process, its children and its ended children, in clock ticks
#   measure_seconds MS     prints milliseconds as seconds

# shellcheck disable=SC2034
measure_ticks_per_second=$(getconf CLK_TCK)
# A pipe, to wait without starting a process and to read back output of the shell.
exec {measure_pipe}<> <(:)

measure_seconds() { printf '%d.%d' $(($1 / 1000)) $(($1 % 1000 / 100)); }

# Sets measured_cpu to the time of all children that have ended.
measure_children() {
    local user system part
    times >&"$measure_pipe"
    read -r part <&"$measure_pipe"
    read -r user system <&"$measure_pipe"
    measured_cpu=0
    for part in "$user" "$system"; do
        # Such as 1m02.345s.
        part=${part%s}
        part=${part/[.,]/}
        measured_cpu=$((measured_cpu + ${part%m*} * 60000 + 10#${part#*m}))
    done
}

measure() {
    local before began key value rest
    measure_children
    before=$measured_cpu
    began=${EPOCHREALTIME/[.,]/}
    "$@" &
    measured=$!
    measured_peak=0
    while kill -0 "$measured" 2>/dev/null; do
        while read -r key value rest; do
            # The value only grows, so the last one is the highest.
            if [[ $key == VmHWM: ]]; then measured_peak=$value; fi
        done 2>/dev/null <"/proc/$measured/status" || true
        read -r -t 0.05 -u "$measure_pipe" rest || true
    done
    measured_status=0
    wait "$measured" || measured_status=$?
    measured=''
    measured_wall=$(((${EPOCHREALTIME/[.,]/} - began) / 1000))
    measure_children
    measured_cpu=$((measured_cpu - before))
}

measure_tree_ticks() {
    local process stat sum=0
    local -a fields
    for process in "$1" $(<"/proc/$1/task/$1/children"); do
        # A child that has ended meanwhile is counted in its parent's times.
        { stat=$(<"/proc/$process/stat"); } 2>/dev/null || continue
        # After the name, which can contain anything, utime, stime, cutime and cstime are the fields 12 to 15.
        read -r -a fields <<<"${stat##*) }"
        sum=$((sum + fields[11] + fields[12] + fields[13] + fields[14]))
    done
    printf '%d\n' "$sum"
}
