# shellcheck shell=bash
# shellcheck disable=SC2154
# Measures how long an erasure blocks pages, with many customers; source it.

bench_erase() {
    local customers=100000 figure value unit
    if [[ -n $large ]]; then customers=1000000; fi
    bench_micro_figures erase --customers "$customers"
    while IFS=$'\t' read -r figure value unit; do
        case $figure in
            *': longest lock') bench_result "$customers customers, $figure" "$(bench_rounded "$value")" "$unit" 'at most' 1000 ;;
            *) bench_result "$customers customers, $figure" "$(bench_rounded "$value")" "$unit" ;;
        esac
    done <"$state/micro.tsv"
    awk -F '\t' '$1 ~ /: longest lock$/ && $2 >= 1000 { print "the lock was held for " $2 " ms" > "/dev/stderr"; wrong = 1 } END { exit wrong }' \
        "$state/micro.tsv"
}
