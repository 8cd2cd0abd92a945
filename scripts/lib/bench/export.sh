# shellcheck shell=bash
# shellcheck disable=SC2154
# CSV files from a million rows, beside psql; to be sourced.

bench_export() {
    local -a ours=() theirs=()
    local n columns sql
    bench_loaded
    bench_multiplied
    columns=$(head -n 1 "$state/out/transactions.csv")
    sql="\\copy (SELECT $columns FROM loaded.transactions WHERE app_id = 1 ORDER BY transaction_id) TO '$state/copy.csv' (FORMAT csv, HEADER)"
    # shellcheck disable=SC2034
    for n in 1 2 3 4 5; do
        bench_microseconds "$bin/storeledger" export "$state/export.yaml" >/dev/null
        ours+=("$microseconds")
        bench_microseconds bench_copied "$sql"
        theirs+=("$microseconds")
    done
    bench_result 'CSV export of a million rows' "$(bench_quotient 1000000000000 "$(bench_median "${ours[@]}")")" rows/s \
        'psql \copy and sync' "$(bench_quotient 1000000000000 "$(bench_median "${theirs[@]}")")"
}

# The file is on the disk when an export is done, so it has to be when psql is.
bench_copied() {
    psql -Xqc "$1"
    sync "$state/copy.csv"
}

# Fills loaded.transactions up to a million with copies under other IDs, and exports them once; the second time nothing.
bench_multiplied() {
    local columns
    if [[ -e $state/out/transactions.csv ]]; then return 0; fi
    columns=$(bench_sql "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
        WHERE attrelid = 'loaded.transactions'::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'transaction_id'")
    bench_sql "INSERT INTO loaded.transactions (transaction_id, $columns)
        SELECT copy || transaction_id, $columns FROM loaded.transactions, generate_series(1, 9) copy"
    bench_sql 'VACUUM ANALYZE loaded.transactions'
    bench_sql CHECKPOINT
    sed -E "s|^(output: .*)\}$|\1, csv: {directory: out, tables: [transactions]}}|; s/^name: .*/name: export/" \
        "$state/loaded.yaml" >"$state/export.yaml"
    "$bin/storeledger" export "$state/export.yaml" >/dev/null
}
