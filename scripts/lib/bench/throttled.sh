# shellcheck shell=bash
# shellcheck disable=SC2154
# Measures a run at Apple's documented limits, compared with the shortest time that they allow; source it.

bench_throttled() {
    local share=0.5 requests refused minimum views
    # With Apple's window of an hour, because a shorter window also shortens the limiter's own times, which are measured
    # here.
    bench_store throttled --customers 2000 --transactions-per-customer 10
    bench_job throttled throttled "$(bench_ids store-throttled/ids.csv)" throttled "{share: $share}"
    bench_migrate throttled
    bench_run throttled
    requests=$(bench_said "$state/summary" requests)
    refused=$(curl -sS "$APPSTORE_BASE_URL/simulator/requests" | sed -nE 's/^.*"refused" *: *([0-9]+).*/\1/p')
    views=$(bench_views_milliseconds throttled)
    bench_close throttled
    minimum=$(bench_quotient "$requests" 25 1)
    bench_result "at Apple's limits, share $share: elapsed" "$(bench_quotient "$measured_wall" 1000 2)" s \
        "$requests requests at 25/s" "$minimum"
    bench_result "at Apple's limits: elapsed, without the views" "$(bench_quotient $((measured_wall - views)) 1000 2)" s \
        "$requests requests at 25/s" "$minimum"
    bench_result "at Apple's limits: bringing the views up to date" "$(bench_quotient "$views" 1000 2)" s
    bench_result "at Apple's limits: answers 429" "$refused" ''
    bench_result "at Apple's limits: CPU of storeledger" "$(bench_quotient "$measured_cpu" "$measured_wall" 3)" cores
}
