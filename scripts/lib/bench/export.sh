# shellcheck shell=bash
# shellcheck disable=SC2154
# Measures CSV and Parquet files of a million rows, and psql with the same rows; source it.

bench_export() {
    local -a ours=() theirs=() parquet=()
    local n columns sql csv_bytes parquet_bytes
    bench_loaded
    bench_export_job
    # Before the copies, whose cells repeat.
    "$bin/storeledger" export "$state/export.yaml" >/dev/null
    csv_bytes=$(stat -c %s "$state/out/transactions.csv")
    parquet_bytes=$(stat -c %s "$state/parquet/transactions.parquet")
    bench_multiplied
    columns=$(head -n 1 "$state/out/transactions.csv")
    sql="\\copy (SELECT $columns FROM loaded.transactions WHERE app_id = 1 ORDER BY transaction_id) TO '$state/copy.csv' (FORMAT csv, HEADER)"
    # shellcheck disable=SC2034
    for n in 1 2 3 4 5; do
        bench_microseconds "$bin/storeledger" export --format csv "$state/export.yaml" >/dev/null
        ours+=("$microseconds")
        bench_microseconds "$bin/storeledger" export --format parquet "$state/export.yaml" >/dev/null
        parquet+=("$microseconds")
        bench_microseconds bench_copied "$sql"
        theirs+=("$microseconds")
    done
    bench_result 'CSV export of a million rows' "$(bench_quotient 1000000000000 "$(bench_median "${ours[@]}")")" rows/s \
        'psql \copy and sync' "$(bench_quotient 1000000000000 "$(bench_median "${theirs[@]}")")"
    bench_result 'Parquet export of a million rows' "$(bench_quotient 1000000000000 "$(bench_median "${parquet[@]}")")" rows/s \
        'CSV export' "$(bench_quotient 1000000000000 "$(bench_median "${ours[@]}")")"
    bench_result 'Parquet files of the loaded rows' "$parquet_bytes" bytes 'CSV files' "$csv_bytes"
}

# An export syncs its files to disk, so psql's file is synced, too.
bench_copied() {
    psql -Xqc "$1"
    sync "$state/copy.csv"
}

# Writes the job that exports loaded.transactions.
bench_export_job() {
    sed -E "s|^(output: .*)\}$|\1, csv: {directory: out, tables: [transactions]}, parquet: {directory: parquet, tables: [transactions]}}|
        s/^name: .*/name: export/" "$state/loaded.yaml" >"$state/export.yaml"
}

# Fills loaded.transactions up to a million rows with copies under other IDs, and exports them once. The second call
# does nothing.
bench_multiplied() {
    local columns
    if [[ -e $state/multiplied ]]; then return 0; fi
    columns=$(bench_sql "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
        WHERE attrelid = 'loaded.transactions'::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'transaction_id'")
    bench_sql "INSERT INTO loaded.transactions (transaction_id, $columns)
        SELECT copy || transaction_id, $columns FROM loaded.transactions, generate_series(1, 9) copy"
    bench_sql 'VACUUM ANALYZE loaded.transactions'
    bench_sql CHECKPOINT
    bench_export_job
    "$bin/storeledger" export "$state/export.yaml" >/dev/null
    touch "$state/multiplied"
}
