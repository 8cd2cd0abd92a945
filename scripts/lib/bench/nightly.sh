# shellcheck shell=bash
# shellcheck disable=SC2154
# Measures the requests of a sync that begins with the app's notifications, compared with the changes; source it.

# A million customers are known, and two percent of them change. The customers that can change are in the simulated store. For
# the others, which are never requested, the ledger has the items of a finished crawl.
bench_nightly() {
    local known=${bench_known:-1000000} customers=${bench_customers:-25000} steps=${bench_steps:-4} step url
    local changes histories requests pages notifications missing
    bench_store nightly --rate-limit none --customers "$customers" --transactions-per-customer 3 \
        --anchor "$(date -u -d '1 minute ago' +%Y-%m-%dT%H:%M:%SZ)"
    url=$APPSTORE_BASE_URL/simulator
    local streams='{transactionHistory: {}, notificationHistory: {scope: app}}'
    bench_job nightly nightly "$(bench_ids store-nightly/ids.csv)" nightly '' "$streams"
    bench_migrate nightly
    bench_run nightly
    bench_sql "INSERT INTO nightly.crawl_items (app_id, job, stream, item_key, run_id, state, fingerprint, cursor, complete_until)
               SELECT app_id, job, stream, '9' || lpad(n::text, 17, '0'), run_id, state, fingerprint, cursor, complete_until
                 FROM (SELECT * FROM nightly.crawl_items WHERE stream = 'transactionHistory' LIMIT 1) one,
                      generate_series(1, $known - $customers) n"
    bench_sql 'ANALYZE nightly.crawl_items'
    for ((step = 0; step < steps; step++)); do
        curl -sSf -X POST "$url/advance" -d '{"changes": 10000}' | grep -o '"transactionId" *: *"[0-9]*"'
    done >"$state/changes"
    # The expected requests: the pages of notifications, one for each change, and the pages of each changed customer's
    # transactions.
    changes=$(wc -l <"$state/changes")
    notifications=$(((changes + 19) / 20))
    pages=$(sort -u "$state/changes" | sed -E 's/.*"([0-9]+)[0-9]{5}"$/\1/' | uniq -c |
        awk '{ pages += int(($1 + 19) / 20) } END { print pages }')

    bench_job nightly nightly '{changedSince: lastRun}' nightly '' "$streams"
    bench_run nightly
    requests=$(bench_said "$state/summary" requests)
    histories=$(bench_sql "SELECT sum(request_count) FROM nightly.crawl_items
                           WHERE run_id = (SELECT max(run_id) FROM nightly.runs) AND stream = 'transactionHistory'")
    missing=$(($(curl -sSf "$url/world" | grep -c '"kind":"transaction"') - $(bench_sql 'SELECT count(*) FROM nightly.transactions')))
    bench_close nightly
    if ((missing != 0)); then
        bench_say "   $missing transactions of the store are not in the ledger"
        return 1
    fi
    bench_result "nightly, $known customers known: requests for histories" "$histories" '' 'pages that changed' "$pages"
    bench_result 'nightly: requests for notifications' $((requests - histories)) '' 'pages of notifications' "$notifications"
    bench_result 'nightly: requests in all' "$requests" '' \
        'at most: 1.1 times the pages that changed, and notifications' $((pages * 11 / 10 + notifications))
    bench_result 'nightly: requests in all, beside one for each customer' "$requests" '' 'customers known' "$known"
    bench_result 'nightly: elapsed' "$(bench_quotient "$measured_wall" 1000 1)" s
    bench_growing_night
}
