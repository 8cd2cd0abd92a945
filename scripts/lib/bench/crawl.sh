# shellcheck shell=bash
# shellcheck disable=SC2154
# Measures a whole run against a simulator without limits, on the same cores; source it.

bench_crawl() {
    local -a rates=() lone=() views=() own=() simulated=() stored=() peaks=()
    local n simulator server before_simulator before_server rows
    bench_store crawl --rate-limit none --customers 2000 --transactions-per-customer 50
    simulator=$(simulator_process "$state/store-crawl")
    server=$(head -n 1 "$(postgres_home "$database")/data/postmaster.pid")
    for n in 1 2 3; do
        bench_job "crawl-$n" crawl "$(bench_ids store-crawl/ids.csv)" "crawl_$n"
        bench_migrate "crawl-$n"
        # So that no checkpoint falls into the measurement.
        bench_sql CHECKPOINT
        before_simulator=$(measure_tree_ticks "$simulator")
        before_server=$(measure_tree_ticks "$server")
        bench_run "crawl-$n"
        # The server counts a backend's time only after the backend has ended.
        sleep 1
        rows=$(bench_sql "SELECT count(*) FROM crawl_$n.transactions")
        views+=("$(bench_views_milliseconds "crawl_$n")")
        lone+=("$(bench_quotient $((rows * 1000)) $((measured_wall - views[-1])))")
        rates+=("$(bench_quotient $((rows * 1000)) "$measured_wall")")
        own+=("$(bench_quotient $((measured_cpu * 1000)) "$rows")")
        simulated+=("$(bench_quotient $((($(measure_tree_ticks "$simulator") - before_simulator) * 1000000 / measure_ticks_per_second)) "$rows")")
        stored+=("$(bench_quotient $((($(measure_tree_ticks "$server") - before_server) * 1000000 / measure_ticks_per_second)) "$rows")")
        peaks+=($((measured_peak / 1024)))
        bench_say "   run $n: ${rates[-1]} transactions/s, ${lone[-1]} without the views; us of CPU a transaction: storeledger ${own[-1]}, PostgreSQL ${stored[-1]}, simulator ${simulated[-1]}"
    done
    bench_result 'crawl, no limit' "$(bench_median "${rates[@]}")" transactions/s
    bench_result 'crawl, without bringing the views up to date' "$(bench_median "${lone[@]}")" transactions/s
    bench_result 'crawl: bringing the views up to date' "$(bench_quotient "$(bench_median "${views[@]}")" 1000 1)" s
    bench_result 'crawl: CPU of storeledger' "$(bench_median "${own[@]}")" us/transaction
    bench_result 'crawl: CPU of PostgreSQL' "$(bench_median "${stored[@]}")" us/transaction
    bench_result 'crawl: CPU of the simulator' "$(bench_median "${simulated[@]}")" us/transaction
    bench_result 'crawl: peak memory' "$(bench_median "${peaks[@]}")" MB
    bench_result 'crawl: memory of the simulator' \
        "$(bench_quotient "$(sed -nE 's/^VmHWM:[^0-9]*([0-9]+).*/\1/p' "/proc/$simulator/status")" 1024)" MB
    bench_close crawl
}
