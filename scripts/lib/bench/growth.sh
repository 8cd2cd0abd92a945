# shellcheck shell=bash
# shellcheck disable=SC2154
# Measures whether the cost per row stays the same, with merges of more and more rows; source it.

bench_growth() {
    local -a sizes=(10000 100000 1000000)
    local size rate
    if [[ -n $large ]]; then sizes+=(10000000); fi
    : >"$state/growth"
    for size in "${sizes[@]}"; do
        bench_micro_figures merge --transactions "$size" --runs 1 --tables-only
        rate=$(bench_rate 'merge, new rows')
        bench_result "merge of $size new rows" "$rate" rows/s
        bench_result "merge of $size new rows: CPU of PostgreSQL" "$(bench_rate 'merge, new rows: PostgreSQL' 1)" us/row
        bench_result "merge of $size unchanged rows" "$(bench_rate 'merge, unchanged rows')" rows/s
        printf '%s\t%s\n' "$size" "$(bench_quotient 1000000 "$rate" 2)" >>"$state/growth"
    done
    bench_plot <"$state/growth" >&2
}

# Prints the value of one figure of ledger-bench with $2 decimals.
bench_rate() { awk -F '\t' -v figure="$1" -v n="${2:-0}" '$1 == figure { printf "%.*f", n, $2 }' "$state/micro.tsv"; }

# Draws a bar chart of microseconds per row; bars of equal length mean that the total grows linearly.
bench_plot() {
    awk -F '\t' '
        { rows[NR] = $1; cost[NR] = $2; if ($2 > most) most = $2 }
        END {
            for (n = 1; n <= NR; n++) {
                bar = sprintf("%*s", int(40 * cost[n] / most + 0.5), "")
                gsub(/ /, "#", bar)
                printf "%10d rows  %-40s  %s us a row\n", rows[n], bar, cost[n]
            }
        }'
}
