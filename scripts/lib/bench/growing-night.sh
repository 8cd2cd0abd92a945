# shellcheck shell=bash
# shellcheck disable=SC2154
# Measures the cost of a night in a ledger with N known customers and in one with ten times as many, for the same
# changes; source it.
#
# Both ledgers load the same store. The other customers are copies of its customers with other IDs in every table,
# created with SQL and never requested. The cost is measured around each run: requests from its summary, CPU time of the
# server with all its sessions from /proc, blocks from pg_stat_database, and WAL from its position. The materialised
# views are excluded: a session holds the lock of their refresh during the run. Autovacuum is off.

bench_growing_night() {
    local known=${bench_growing_known:-20000} customers=${bench_growing_customers:-2000}
    local changes=${bench_growing_changes:-200} nights=${bench_growing_nights:-5}
    local streams='{transactionHistory: {}, refundHistory: {for: revoked}, notificationHistory: {scope: app}}'
    local limits='{share: 1, requestsPerSecond: {transactionHistory: 1000000, refundHistory: 1000000, notificationHistory: 1000000}}'
    local server ledger night figure expected found
    local -A cost=()
    bench_store growing --rate-limit none --customers "$customers" --transactions-per-customer 2 \
        --anchor "$(date -u -d '1 minute ago' +%Y-%m-%dT%H:%M:%SZ)"
    server=$(head -n 1 "$(postgres_home "$database")/data/postmaster.pid")
    for ledger in night_few night_many; do
        bench_job "${ledger/_/-}" growing "$(bench_ids store-growing/ids.csv)" "$ledger" "$limits" "$streams"
        bench_migrate "${ledger/_/-}"
        bench_run "${ledger/_/-}"
        bench_job "${ledger/_/-}" growing '{changedSince: lastRun}' "$ledger" "$limits" "$streams"
        if [[ $ledger == night_many ]]; then known=$((known * 10)); fi
        bench_say "   making $known customers"
        bench_copy_customers "$ledger" $((known / customers - 1))
    done
    bench_autovacuum 'SET autovacuum = off'
    # Later parts need autovacuum, even if this one fails.
    trap "bench_autovacuum 'RESET autovacuum'" EXIT
    # The first night warms the caches and does not count.
    for ((night = 0; night <= nights; night++)); do
        curl -sSf -X POST "$APPSTORE_BASE_URL/simulator/advance" -d "{\"changes\": $changes}" >/dev/null
        for ledger in night_few night_many; do
            bench_night "$ledger" "$server"
            if ((night == 0)); then continue; fi
            for figure in requests milliseconds blocks wal; do
                cost[$ledger $figure]=$((${cost[$ledger $figure]:-0} + night_cost[$figure]))
            done
        done
    done
    expected=$(curl -sSf "$APPSTORE_BASE_URL/simulator/world" | grep -c '"kind":"transaction"')
    bench_close growing
    for ledger in night_few night_many; do
        found=$(bench_sql "SELECT count(*) FROM $ledger.transactions WHERE length(transaction_id) < 18")
        if ((found != expected)); then
            bench_say "   $ledger has $found of the store's $expected transactions"
            return 1
        fi
    done
    bench_growing_result requests requests ''
    bench_growing_result milliseconds 'CPU of PostgreSQL' ms
    bench_growing_result blocks 'blocks read and hit' blocks
    bench_growing_result wal 'WAL' bytes
    bench_sql 'DROP SCHEMA night_few CASCADE' 2>/dev/null
    bench_sql 'DROP SCHEMA night_many CASCADE' 2>/dev/null
}

# Records a cost of a night with many customers, and the cost with a tenth of them as the reference; the ratio must be
# at most 1.2.
bench_growing_result() {
    bench_result "a night, $known customers known: $2 (at most 1.2 times)" "$(bench_quotient "${cost[night_many $1]}" "$nights")" \
        "$3" "the same changes, $((known / 10)) customers known" "$(bench_quotient "${cost[night_few $1]}" "$nights")"
}

bench_autovacuum() {
    bench_sql "ALTER SYSTEM $1"
    bench_sql 'SELECT pg_reload_conf()' >/dev/null
}

# Runs the job of the ledger in a schema once and sets night_cost.
bench_night() {
    local ticks blocks wal
    declare -gA night_cost=()
    bench_hold_views "$1"
    bench_sql CHECKPOINT
    blocks=$(bench_blocks)
    wal=$(bench_sql "SELECT (pg_current_wal_lsn() - '0/0')::bigint")
    ticks=$(measure_tree_ticks "$2")
    bench_run "${1/_/-}"
    # The server counts a session's time and blocks only after the session has ended.
    sleep 1
    ticks=$(($(measure_tree_ticks "$2") - ticks))
    wal=$(($(bench_sql "SELECT (pg_current_wal_lsn() - '0/0')::bigint") - wal))
    blocks=$(($(bench_blocks) - blocks))
    bench_release_views
    night_cost=([requests]=$(bench_said "$state/summary" requests) [milliseconds]=$((ticks * 1000 / measure_ticks_per_second))
        [blocks]=$blocks [wal]=$wal)
    bench_say "   $1: ${night_cost[requests]} requests, ${night_cost[milliseconds]} ms CPU of PostgreSQL, $blocks blocks, $wal bytes of WAL"
}

bench_blocks() { bench_sql 'SELECT blks_read + blks_hit FROM pg_stat_database WHERE datname = current_database()'; }

# Holds the lock of a schema's refresh, so that runs do not refresh its views; the session is idle meanwhile.
bench_hold_views() {
    local answer
    coproc views_holder { psql -XAtqv ON_ERROR_STOP=1 2>&1; }
    printf '%s\n' "BEGIN; LOCK TABLE $1.refresh_lock IN EXCLUSIVE MODE; SELECT 'held';" >&"${views_holder[1]}"
    read -r answer <&"${views_holder[0]}" || answer='psql has ended'
    if [[ $answer != held ]]; then
        bench_say "   the lock of $1's views could not be taken: $answer"
        return 1
    fi
}

bench_release_views() {
    # Its transaction ends with its input.
    local holder=$views_holder_PID input=${views_holder[1]}
    exec {input}>&-
    wait "$holder"
}

# Copies every customer of a schema $2 times, with all rows that contain one of the customer's IDs.
#
# Copies and originals are then two days old, because a run reads only what is newer than the last run.
bench_copy_customers() {
    psql -XAtqv ON_ERROR_STOP=1 -v schema="$1" -v copies="$2" <<'SQL'
SET search_path = :"schema";
SET synchronous_commit = off;
-- An update that leaves the hash of a row alone would make the row forget it.
ALTER TABLE notifications DISABLE TRIGGER forget_content_hash;
UPDATE notifications SET first_seen_at = first_seen_at - interval '2 days';
ALTER TABLE notifications ENABLE ALWAYS TRIGGER forget_content_hash;
SELECT format(
           'INSERT INTO %1$s (%2$s) SELECT %3$s FROM %1$s o, generate_series(1, %4$s) n WHERE %5$s ON CONFLICT DO NOTHING',
           t.oid::regclass,
           string_agg(format('%I', a.attname), ', ' ORDER BY a.attnum),
           string_agg(
               CASE WHEN a.attname LIKE '%transaction_id' OR a.attname IN ('record_key', 'owner_key', 'item_key', 'notification_uuid')
                    THEN format(
                        $$CASE WHEN o.%1$I::text ~ '^[0-9]{1,18}$' THEN (o.%1$I::text::numeric + n * 1000000000000000000::numeric)::text
                               WHEN o.%1$I IS NOT NULL THEN md5(o.%1$I::text || n)::uuid::text END::%2$s$$,
                        a.attname, format_type(a.atttypid, a.atttypmod))
                    WHEN a.attname = 'first_seen_at' AND t.relname <> 'notifications'
                    THEN format($$o.%I - interval '2 days'$$, a.attname)
                    ELSE format('o.%I', a.attname) END, ', ' ORDER BY a.attnum),
           :'copies',
           CASE WHEN bool_or(a.attname = 'item_key') THEN $$o.item_key ~ '^[0-9]{1,18}$'$$
                WHEN t.relname = 'notifications' THEN $$o.signed_date < now() - interval '1 day'$$
                ELSE 'true' END)
  FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' AND a.attidentity = ''
 WHERE t.relnamespace = :'schema'::regnamespace AND t.relkind = 'r'
   AND t.relname NOT IN ('rejected_records', 'coverage_gaps', 'field_issues')
 GROUP BY t.oid, t.relname
HAVING bool_or(a.attname LIKE '%transaction_id' OR a.attname IN ('record_key', 'owner_key', 'item_key', 'notification_uuid'))
\gexec
VACUUM (ANALYZE);
SQL
}
