# shellcheck shell=bash
# shellcheck disable=SC2154
# Measures the peak memory of plan and run by the number of listed IDs; source it.

bench_memory() {
    bench_store memory --rate-limit none --customers 2000 --transactions-per-customer 50
    bench_memory_of 1000000 'a million IDs' 128
    if [[ -n $large ]]; then bench_memory_of 10000000 'ten million IDs' 160; fi
    bench_close memory
}

bench_memory_of() {
    {
        cat "$state/store-memory/ids.csv"
        # The store does not know these IDs; no run gets that far.
        awk -v count="$1" 'BEGIN { for (n = 2000; n < count; n++) printf "9%018d\n", n }'
    } >"$state/many.csv"
    # 25 requests a second, as with Apple at half share: only the memory of the list matters here.
    bench_job "memory-$1" memory "$(bench_ids many.csv)" "memory_$1" \
        '{share: 1, requestsPerSecond: {transactionHistory: 25}}'
    bench_migrate "memory-$1"
    measure "$bin/storeledger" plan "$state/memory-$1.yaml" >/dev/null
    bench_result "plan, $2: peak memory" $((measured_peak / 1024)) MB 'at most' "$3"
    bench_result "plan, $2: elapsed" "$(bench_quotient "$measured_wall" 1000 1)" s
    # The run is stopped with work left, so it ends with 75.
    bench_run "memory-$1" 75 --max-duration "$(($1 / 25000 + 20))s"
    bench_result "run, $2: peak memory" $((measured_peak / 1024)) MB 'at most' "$3"
    bench_sql "DROP SCHEMA memory_$1 CASCADE" 2>/dev/null
}
