# shellcheck shell=bash
# shellcheck disable=SC2154
# Measures how long short commands take; source it.

bench_startup() {
    local -a version=() nothing=() plan=()
    local n
    bench_store startup --customers 100 --transactions-per-customer 1
    bench_job startup startup "$(bench_ids store-startup/ids.csv)" startup
    bench_close startup
    bench_migrate startup
    for ((n = 0; n < 31; n++)); do
        # The reference: the time to start any process.
        bench_microseconds /bin/true
        nothing+=("$microseconds")
        bench_microseconds "$bin/storeledger" --version >/dev/null
        version+=("$microseconds")
        bench_microseconds "$bin/storeledger" plan "$state/startup.yaml" >/dev/null
        plan+=("$microseconds")
    done
    bench_result 'storeledger --version' "$(bench_quotient "$(bench_median "${version[@]}")" 1000 1)" ms \
        /bin/true "$(bench_quotient "$(bench_median "${nothing[@]}")" 1000 1)"
    bench_result 'storeledger plan, 100 IDs' "$(bench_quotient "$(bench_median "${plan[@]}")" 1000 1)" ms
}
