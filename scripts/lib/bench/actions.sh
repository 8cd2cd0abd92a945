# shellcheck shell=bash
# shellcheck disable=SC2154
# Measures `storeledger actions`: a batch at Apple's limit, and the plan of a million rows; source it.

bench_actions() {
    local rows=1200
    if [[ -n $large ]]; then rows=10000; fi
    bench_actions_run "${bench_actions_rows:-$rows}"
    bench_actions_plan 1000000
}

# Extends so many subscriptions at the full share of Apple's limit, against a simulator that enforces it in a window of an hour.
bench_actions_run() {
    local world=(--customers $(($1 * 4)) --transactions-per-customer 3) planned refused
    bench_store actions --rate-limit none "${world[@]}"
    bench_job actions actions "$(bench_ids store-actions/ids.csv)" actions
    bench_migrate actions
    bench_run actions
    bench_close actions
    # The directory has the world, so the simulator continues with the limits.
    bench_store actions "${world[@]}"
    bench_actions_job extend actions actions '{share: 1, concurrency: 8}' "query: \"SELECT original_transaction_id
            FROM actions.current_subscriptions WHERE status = 'active' AND NOT is_trial AND NOT is_family_shared ORDER BY 1 LIMIT $1\""
    bench_actions_approve extend
    measure "$bin/storeledger" actions run "$state/extend.yaml" --progress none >"$state/summary" 2>&1
    # 2: the simulator, as Apple, rejects some of the subscriptions.
    if ((measured_status != 0 && measured_status != 2)); then
        cat "$state/summary" >&2
        return 1
    fi
    refused=$(curl -sS "$APPSTORE_BASE_URL/simulator/requests" | sed -nE 's/^.*"refused" *: *([0-9]+).*/\1/p')
    bench_close actions
    bench_result "actions run at Apple's limit: elapsed" "$(bench_quotient "$measured_wall" 1000 2)" s \
        "$planned requests at 20/s" "$(bench_quotient "$planned" 20 1)"
    bench_result 'actions run: answers 429' "$refused" ''
    bench_result 'actions run: peak memory' $((measured_peak / 1024)) MB
}

# Plans so many extensions of subscriptions in a ledger that has them.
bench_actions_plan() {
    local server before
    bench_store plan --rate-limit none --customers 20 --transactions-per-customer 3
    bench_job plan plan "$(bench_ids store-plan/ids.csv)" actions_plan
    bench_migrate plan
    bench_run plan
    bench_say "   making $1 subscriptions"
    bench_actions_subscriptions actions_plan "$1"
    {
        echo original_transaction_id
        awk -v count="$1" 'BEGIN { for (n = 1; n <= count; n++) printf "9%014d\n", n }'
    } >"$state/million.csv"
    bench_actions_job million plan actions_plan '{share: 1}' 'csv: {path: million.csv}'
    server=$(head -n 1 "$(postgres_home "$database")/data/postmaster.pid")
    before=$(measure_tree_ticks "$server")
    measure "$bin/storeledger" actions plan "$state/million.yaml" --json >"$state/summary"
    bench_close plan
    if ((measured_status != 0)) || ! grep -q "\"rowsToSend\" *: *$1\b" "$state/summary"; then
        cat "$state/summary" >&2
        return 1
    fi
    bench_result "actions plan of $1 rows: elapsed" "$(bench_quotient "$measured_wall" 1000 1)" s 'at most' 60
    bench_result "actions plan of $1 rows: peak memory" $((measured_peak / 1024)) MB 'at most' 128
    bench_result "actions plan of $1 rows: CPU of storeledger" "$(bench_quotient "$measured_cpu" 1000 1)" s
    # The server counts a backend's time only after the backend has ended.
    sleep 1
    bench_result "actions plan of $1 rows: CPU of PostgreSQL" \
        "$(bench_quotient $((($(measure_tree_ticks "$server") - before) * 1000 / measure_ticks_per_second)) 1000 1)" s
    bench_sql 'DROP SCHEMA actions_plan CASCADE' 2>/dev/null
}

# Writes a job $state/NAME.yaml that extends by seven days: name, store, schema, limits, input.
bench_actions_job() {
    cat >"$state/$1.yaml" <<JOB
version: 1
name: $1
app: {bundleId: "$APPSTORE_BUNDLE_ID", appAppleId: $APPSTORE_APP_APPLE_ID, environment: $APPSTORE_ENVIRONMENT}
appStore:
  issuerId: $APPSTORE_ISSUER_ID
  keyId: $APPSTORE_KEY_ID
  privateKeyFile: store-$2/SubscriptionKey_$APPSTORE_KEY_ID.p8
  baseURL: $APPSTORE_BASE_URL
  trustedRoots: [store-$2/root.cer]
action:
  extendRenewalDate: {extendByDays: 7, extendReasonCode: 3}
input:
  $5
limits: $4
output: {postgres: {url: "\${DATABASE_URL}", schema: $3}}
JOB
}

# Plans and approves a job's batch, and sets `planned` to the number of its rows to send.
bench_actions_approve() {
    local plan
    plan=$("$bin/storeledger" actions plan "$state/$1.yaml" --json)
    planned=$(sed -nE 's/.*"rowsToSend" *: *([0-9]+).*/\1/p' <<<"$plan")
    "$bin/storeledger" actions approve "$state/$1.yaml" --rows "$planned" \
        --batch "$(sed -nE 's/.*"batch" *: *"([0-9a-f]+)".*/\1/p' <<<"$plan")" >&2
}

# Adds subscriptions to a schema; their periods end in the coming month.
bench_actions_subscriptions() {
    psql -XAtqv ON_ERROR_STOP=1 -v schema="$1" -v rows="$2" <<'SQL' >/dev/null
SELECT set_config('search_path', :'schema', false);
SET synchronous_commit = off;
INSERT INTO transactions (app_id, transaction_id, original_transaction_id, product_id, type, in_app_ownership_type, currency, storefront,
                          price_milliunits, purchase_date, expires_date, signed_date, payload_sha256, payload, source)
SELECT a.app_id, id, id, 'plus.monthly', 'Auto-Renewable Subscription', 'PURCHASED', 'USD', 'USA', 9990, ends - interval '1 month', ends, now(),
       sha256(convert_to(id, 'UTF8')), '{}', 'transactionHistory'
  FROM (SELECT app_id FROM apps LIMIT 1) a, generate_series(1, :rows) n,
       LATERAL (SELECT '9' || lpad(n::text, 14, '0') AS id, now() + (1 + n % 700) * interval '1 hour' AS ends) s;
VACUUM (ANALYZE) transactions;
SQL
}
