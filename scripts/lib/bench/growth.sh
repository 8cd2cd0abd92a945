# shellcheck shell=bash
# shellcheck disable=SC2154
# Whether a row costs the same among many: the time of a merge by how many rows; to be sourced.

bench_growth() {
    local -a sizes=(10000 100000 1000000)
    local size
    if [[ -n $large ]]; then sizes+=(10000000); fi
    for size in "${sizes[@]}"; do
        bench_micro merge --rows "$size" --runs 1 >"$state/micro.tsv"
        bench_result "merge of $size new rows" "$(awk -F '\t' 'NR == 1 { print $2 }' "$state/micro.tsv")" rows/s
    done
}
