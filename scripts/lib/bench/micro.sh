# shellcheck shell=bash
# shellcheck disable=SC2154
# The parts that ledger-bench measures (Tests/Benchmarks): code of ours without processes around it; to be sourced.

# Runs a subcommand of ledger-bench and prints what it measured: figure, value and unit, a line each.
bench_micro() {
    if [[ ! -x $bin/ledger-bench ]]; then
        bench_say 'ledger-bench was not built: this part is missing'
        return 1
    fi
    "$bin/ledger-bench" "$@" --json >"$state/micro.json"
    psql -XAtq -F $'\t' -v json="$(<"$state/micro.json")" <<<"
        SELECT f ->> 'figure', f ->> 'value', f ->> 'unit' FROM json_array_elements(:'json'::json) f"
}

# Files what a subcommand measured, as it is.
bench_micro_results() {
    local figure value unit
    bench_micro "$@" >"$state/micro.tsv"
    while IFS=$'\t' read -r figure value unit; do bench_result "$figure" "$(bench_rounded "$value")" "$unit"; done <"$state/micro.tsv"
}

bench_merge() { bench_micro_results merge; }
bench_replay() { bench_micro_results replay; }
bench_storage() { bench_micro_results storage; }

bench_verify() {
    local figure value unit openssl
    bench_micro verify --threads "$(nproc)" >"$state/micro.tsv"
    openssl=$(awk -F '\t' '/^openssl speed/ { printf "%.0f", $2 }' "$state/micro.tsv")
    while IFS=$'\t' read -r figure value unit; do
        case $figure in
            'openssl speed'* | *' to openssl speed') ;;
            'verify and decode, one core')
                bench_result "$figure" "$(bench_rounded "$value")" "$unit" 'openssl speed ecdsap256' "$openssl"
                ;;
            *) bench_result "$figure" "$(bench_rounded "$value")" "$unit" ;;
        esac
    done <"$state/micro.tsv"
}
