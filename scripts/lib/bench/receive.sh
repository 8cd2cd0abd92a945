# shellcheck shell=bash
# shellcheck disable=SC2154
# Measures a receiver of notifications under load, with many open connections; source it.

bench_receive() {
    local figure value unit
    bench_micro_figures receive --storeledger "$bin/storeledger"
    while IFS=$'\t' read -r figure value unit; do
        case $figure in
            'notifications stored and answered') bench_result "$figure" "$(bench_rounded "$value")" "$unit" 'at least' 2000 ;;
            'at 500 a second, 99 of 100 within') bench_result "$figure" "$(bench_rounded "$value")" "$unit" 'at most' 50 ;;
            *) bench_result "$figure" "$(bench_rounded "$value")" "$unit" ;;
        esac
    done <"$state/micro.tsv"
}
