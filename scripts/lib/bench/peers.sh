# shellcheck shell=bash
# shellcheck disable=SC2154
# Measures alternatives from PyPI on the same records, each in its own virtual environment; source it.

bench_peers() {
    bench_peer_of_verification
    bench_peers_of_merging
}

# Creates a virtual environment with packages and sets `python`; prints a message if that fails.
bench_python() {
    local name=$1
    shift
    python=$state/python-$name/bin/python
    if ! command -v python3 >/dev/null; then
        bench_say "   $name left out: python3 is not on the PATH"
        return 1
    fi
    if ! { python3 -m venv "$state/python-$name" && "$python" -m pip -q install "$@"; } >"$state/pip.log" 2>&1; then
        bench_say "   $name left out: it could not be installed: $(tail -n 1 "$state/pip.log")"
        return 1
    fi
}

# Records the lines that a peer printed: figure, value, unit.
bench_peer_results() {
    local figure value unit
    while IFS=$'\t' read -r figure value unit; do bench_result "$figure" "$value" "$unit"; done
}

bench_peer_of_verification() {
    bench_python app-store-server-library app-store-server-library || return 0
    bench_store peers --rate-limit none --customers 100 --transactions-per-customer 20
    "$python" "$root/scripts/lib/bench/peers/verify.py" >"$state/peer"
    bench_close peers
    bench_peer_results <"$state/peer"
}

bench_peers_of_merging() {
    local rows=200000
    bench_loaded
    bench_multiplied
    # The columns that storeledger publishes: all except the payload.
    bench_sql "\\copy (SELECT $(head -n 1 "$state/out/transactions.csv") FROM loaded.transactions LIMIT $rows) TO '$state/rows.csv' (FORMAT csv, HEADER)"
    if bench_python psycopg 'psycopg[binary]'; then
        "$python" "$root/scripts/lib/bench/peers/psycopg_merge.py" "$state/rows.csv" >"$state/peer"
        bench_peer_results <"$state/peer"
    fi
    if bench_python dlt 'dlt[postgres]' pyarrow; then
        DLT_DATA_DIR=$state/dlt HOME=$state "$python" "$root/scripts/lib/bench/peers/dlt_merge.py" "$state/rows.csv" \
            >"$state/peer"
        bench_peer_results <"$state/peer"
    fi
}
