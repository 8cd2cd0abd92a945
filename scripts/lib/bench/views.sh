# shellcheck shell=bash
# shellcheck disable=SC2154
# Measures the refresh of the views: everything, and what a number of changed customers cost, in ledgers of several sizes;
# source it.
#
# The ledgers are made by scripts/lib/views-world.sql, which has about one customer for 13 transactions. A change is a purchase and
# a refund of each changed customer. A refresh without changes comes before each measurement.

bench_views() {
    local -a sizes=(100000 1000000)
    local -A milliseconds=()
    local size customers
    if [[ -n $large ]]; then sizes+=(10000000); fi
    for size in "${sizes[@]}"; do
        bench_say "   making $size transactions"
        bench_views_ledger "$size"
        milliseconds[$size everything]=$(bench_refresh "views_$size" true)
        bench_log_cost "views_$size"
        for customers in 500 $((size / 1000)); do
            bench_refresh "views_$size" >/dev/null
            bench_change_customers "views_$size" "$size" "$customers"
            milliseconds[$size $customers]=$(bench_refresh "views_$size")
            bench_result "refresh, $size transactions, $customers changed customers" "${milliseconds[$size $customers]}" ms \
                'computing everything' "${milliseconds[$size everything]}"
        done
        if ((size > 1000000)); then
            bench_refresh "views_1000000" >/dev/null
            bench_change_customers views_1000000 1000000 $((size / 1000))
            bench_result "refresh, $size transactions, $((size / 1000)) changed customers (at most 1.3 times)" \
                "${milliseconds[$size $((size / 1000))]}" ms 'the same changes, 1000000 transactions' "$(bench_refresh views_1000000)"
        fi
    done
    for size in "${sizes[@]}"; do printf '%s\t%s\n' "$size" "${milliseconds[$size 500]}"; done |
        awk -F '\t' '{ n[NR] = $1; ms[NR] = $2; if ($2 > most) most = $2 }
            END { for (r = 1; r <= NR; r++) { bar = sprintf("%*s", int(40 * ms[r] / most + 0.5), ""); gsub(/ /, "#", bar)
                  printf "%10d transactions, 500 changed customers  %-40s  %d ms\n", n[r], bar, ms[r] } }' >&2
    for size in "${sizes[@]}"; do bench_sql "DROP SCHEMA views_$size CASCADE" 2>/dev/null; done
}

# Makes a ledger with its own schema, views_SIZE.
bench_views_ledger() {
    cat >"$state/views.yaml" <<YAML
version: 1
name: views
app: {bundleId: com.example.game, appAppleId: 1234567890, environment: Production}
appStore: {issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: 2X9R4HXF34, privateKeyFile: none.p8}
transactionIds: {list: ["1"]}
streams: {transactionHistory: {}}
output: {postgres: {url: "\${DATABASE_URL}", schema: views_$1}}
YAML
    bench_migrate views
    PGOPTIONS="-c search_path=views_$1" psql -X -v transactions="$1" -f "$root/scripts/lib/views-world.sql"
    # Empties the log of the rows that were just made.
    bench_sql "TRUNCATE views_$1.refresh_changed_keys"
}

# Prints how many milliseconds a refresh takes; the arguments of refresh_views() may follow.
bench_refresh() {
    bench_microseconds bench_sql "SET search_path = $1; SELECT count(*) FROM refresh_views(${2:-})" >/dev/null || return 1
    printf '%s\n' $((microseconds / 1000))
}

# Gives N customers of a ledger a new purchase, and refunds their subscription's first payment.
bench_change_customers() {
    bench_sql "
        SET search_path = $1;
        CREATE TEMP TABLE changed AS SELECT 1 + k * ($2 / 13 / $3)::bigint AS i FROM generate_series(0, $3 - 1) k;
        UPDATE transactions SET revocation_date = purchase_date + interval '1 day', revocation_type = 'REFUND_FULL',
               price_milliunits = price_milliunits + 10
          FROM changed WHERE app_id = 1 AND transaction_id = (2000000000000000 + i * 1000)::text;
        INSERT INTO transactions (app_id, transaction_id, original_transaction_id, app_transaction_id, product_id, type,
                                  transaction_reason, quantity, price_milliunits, currency, storefront, purchase_date, signed_date,
                                  payload_sha256, payload)
        SELECT 1, id, id, (700000000000000000 + i)::text, 'coins.100', 'Consumable', 'PURCHASE', 1, 990, 'USD', 'USA', now(), now(), '', '{}'
          FROM (SELECT i, (4000000000000000 + extract(epoch FROM clock_timestamp())::bigint * 100000 + i % 100000)::text AS id FROM changed) c
            ON CONFLICT DO NOTHING"
}

# Compares statements that update the transactions of a subscription with and without the log of changed keys. The first round, which
# reads them from the disk, does not count.
bench_log_cost() {
    local -A took=()
    local log round
    for round in 0 1 2 3 4; do
        log=ENABLE
        if ((round % 2)); then log=DISABLE; fi
        bench_sql "SET search_path = $1; ALTER TABLE transactions $log TRIGGER log_inserted; ALTER TABLE transactions $log TRIGGER log_updated"
        bench_microseconds bench_sql "
            SET search_path = $1;
            DO \$\$ BEGIN
                FOR i IN 1..3000 LOOP
                    UPDATE transactions SET source = source
                     WHERE app_id = 1 AND original_transaction_id = (2000000000000000 + i::bigint * 1000)::text;
                END LOOP;
            END \$\$" || return 1
        if ((round > 0)); then took[$log]=$((${took[$log]:-0} + microseconds)); fi
    done
    bench_sql "SET search_path = $1; ALTER TABLE transactions ENABLE TRIGGER log_inserted; ALTER TABLE transactions ENABLE TRIGGER log_updated"
    bench_result "log of changed keys, ${1#views_} transactions" $(((took[ENABLE] - took[DISABLE]) / 6000)) us/statement
}
