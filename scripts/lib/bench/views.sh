# shellcheck shell=bash
# shellcheck disable=SC2154
# Measures the refresh of the views: everything, and what changed customers cost, in ledgers of several sizes; source it.
#
# scripts/lib/views-world.sql makes the ledgers, with about one customer for 13 transactions. Each measurement is made three times, with
# other customers each time: every changed customer gets a purchase and a refund. A refresh without changes comes before each
# measurement, and the shortest of the three counts.
#
# The goals: 1% of the customers of 10,000,000 transactions cost at most 3% of everything, and at most 1.3 times as much as the same
# number among 1,000,000. The log of changed keys adds at most 5% to the commit of a page.

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
        customers=$((size / 1300))
        milliseconds[$size 500]=$(bench_refresh_changes "$size" 500)
        bench_result "refresh, $size transactions, 500 changed customers" "${milliseconds[$size 500]}" ms \
            'computing everything' "${milliseconds[$size everything]}"
        milliseconds[$size 1%]=$(bench_refresh_changes "$size" "$customers")
        bench_result "refresh, $size transactions, 1% of the customers changed ($customers; at most 0.03)" "${milliseconds[$size 1%]}" ms \
            'computing everything' "${milliseconds[$size everything]}"
        if ((size > 1000000)); then
            bench_result "refresh, $size transactions, $customers changed customers (at most 1.3)" "${milliseconds[$size 1%]}" ms \
                'the same number, 1000000 transactions' "$(bench_refresh_changes 1000000 "$customers")"
        fi
    done
    for size in "${sizes[@]}"; do printf '%s\t%s\n' "$size" "${milliseconds[$size 500]}"; done |
        awk -F '\t' '{ n[NR] = $1; ms[NR] = $2; if ($2 > most) most = $2 }
            END { for (r = 1; r <= NR; r++) { bar = sprintf("%*s", int(40 * ms[r] / most + 0.5), ""); gsub(/ /, "#", bar)
                  printf "%10d transactions, 500 changed customers  %-40s  %d ms\n", n[r], bar, ms[r] } }' >&2
    for size in "${sizes[@]}"; do bench_sql "DROP SCHEMA views_$size CASCADE" 2>/dev/null; done
}

# Prints the shortest time of three refreshes, each after a change of $2 customers in the ledger of $1 transactions.
bench_refresh_changes() {
    local round took least=''
    for round in 0 1 2; do
        bench_refresh "views_$1" >/dev/null || return 1
        bench_change_customers "views_$1" "$1" "$2" "$round" || return 1
        took=$(bench_refresh "views_$1") || return 1
        if [[ -z $least ]] || ((took < least)); then least=$took; fi
    done
    printf '%s\n' "$least"
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

# Gives $3 customers of the ledger $1 of $2 transactions a new purchase, and refunds their subscription's first payment. Each
# round ($4, from 0) takes other customers: the changed ones are evenly spaced, and a round moves them by a third of that distance.
#
# A customer's number, modulo 60, decides about the product: weekly subscriptions have up to 100 periods, yearly ones up to 4. The distance has no factor
# in common with 60, so that the changed customers of every ledger have the same mixture of products.
bench_change_customers() {
    local distance=$(($2 / 13 / $3))
    while ((distance % 2 == 0 || distance % 3 == 0 || distance % 5 == 0)); do distance=$((distance - 1)); done
    bench_sql "
        SET search_path = $1;
        CREATE TEMP TABLE changed AS
        SELECT 1 + k * $distance::bigint + $4 * $distance / 3 AS i FROM generate_series(0, $3 - 1) k;
        UPDATE transactions SET revocation_date = purchase_date + interval '1 day', revocation_type = 'REFUND_FULL',
               price_milliunits = price_milliunits + 10
          FROM changed WHERE app_id = 1 AND transaction_id = (2000000000000000 + i * 1000)::text;
        INSERT INTO transactions (app_id, transaction_id, original_transaction_id, app_transaction_id, product_id, type,
                                  transaction_reason, quantity, price_milliunits, currency, storefront, purchase_date, signed_date,
                                  payload_sha256, payload)
        SELECT 1, id, id, (700000000000000000 + i)::text, 'coins.100', 'Consumable', 'PURCHASE', 1, 990, 'USD', 'USA', now(), now(), '', '{}'
          FROM (SELECT i, (4000000000000000 + extract(epoch FROM now())::bigint % 1000000 * 1000000 + i)::text AS id FROM changed) c
            ON CONFLICT DO NOTHING"
}

# Compares commits of a page with and without the log of changed keys. A page is one statement that updates the transactions of a
# subscription; a run writes more in the same transaction, such as the archive, so that the log's share is smaller. The first round,
# which reads the rows from the disk, does not count.
bench_log_cost() {
    local -A took=()
    local log round
    for round in 0 1 2 3 4 5 6 7 8; do
        log=ENABLE
        if ((round % 2)); then log=DISABLE; fi
        bench_sql "SET search_path = $1; ALTER TABLE transactions $log TRIGGER log_inserted; ALTER TABLE transactions $log TRIGGER log_updated"
        bench_microseconds bench_sql "
            DO \$\$ BEGIN
                FOR i IN 1..3000 LOOP
                    UPDATE $1.transactions SET source = source
                     WHERE app_id = 1 AND original_transaction_id = (2000000000000000 + i::bigint * 1000)::text;
                    COMMIT;
                END LOOP;
            END \$\$" || return 1
        if ((round > 0)); then took[$log]=$((${took[$log]:-0} + microseconds)); fi
    done
    bench_sql "SET search_path = $1; ALTER TABLE transactions ENABLE TRIGGER log_inserted; ALTER TABLE transactions ENABLE TRIGGER log_updated"
    bench_result "commit of a page, ${1#views_} transactions, with the log of changed keys (at most 1.05)" $((took[ENABLE] / 12000)) us \
        'without it' $((took[DISABLE] / 12000))
}
