# shellcheck shell=bash
# shellcheck disable=SC2154
# Simulated stores and jobs that read them; to be sourced with `bin` and `state` set.
#
#   bench_store NAME OPTION...          starts the store NAME with the options of `appstore-simulator serve`
#   bench_close NAME                    stops it
#   bench_job NAME STORE IDS SCHEMA [LIMITS] [STREAMS] [OUTPUT]   writes the job $state/NAME.yaml over a file of IDs
#   bench_migrate NAME                  makes its schema
#   bench_run NAME [STATUS OPTION...]   measures a run of it, which has to end with 0 or another exit code that is expected;
#                                       leaves what it said in $state/summary
#   bench_views SCHEMA                  prints the milliseconds that bringing its views up to date took the last time
#   bench_loaded                        fills the schema `loaded` with a whole world of 100,000 transactions, once

bench_store() {
    simulator_start "$bin" "$state/store-$1" --seed 1 "${@:2}"
}

bench_close() { simulator_stop "$state/store-$1"; }

# Far more requests than any machine sends.
bench_no_limits='{share: 1, requestsPerSecond: {transactionHistory: 1000000, notificationHistory: 1000000}}'

bench_job() {
    cat >"$state/$1.yaml" <<JOB
version: 1
name: $1
app: {bundleId: "$APPSTORE_BUNDLE_ID", appAppleId: $APPSTORE_APP_APPLE_ID, environment: $APPSTORE_ENVIRONMENT}
appStore:
  issuerId: $APPSTORE_ISSUER_ID
  keyId: $APPSTORE_KEY_ID
  privateKeyFile: store-$2/AuthKey_$APPSTORE_KEY_ID.p8
  baseURL: $APPSTORE_BASE_URL
  trustedRoots: [store-$2/root.cer]
transactionIds: $3
streams: ${6:-{transactionHistory: {\}\}}
limits: ${5:-$bench_no_limits}
output: {postgres: {url: "\${DATABASE_URL}", schema: $4}${7:+, $7}}
JOB
}

bench_migrate() { "$bin/storeledger" migrate "$state/$1.yaml" >/dev/null; }

bench_run() {
    measure "$bin/storeledger" run "$state/$1.yaml" --progress none "${@:3}" >"$state/summary" 2>&1
    if ((measured_status != ${2:-0})); then
        cat "$state/summary" >&2
        return 1
    fi
}

# Names a file of IDs the way a job does.
bench_ids() { printf '{csv: {path: "%s", column: transaction_id}}' "$1"; }

# Prints one number of what a run said at its end.
bench_said() { sed -nE "s/^ *$2 +([0-9]+).*/\1/p" "$1"; }

bench_views() { bench_sql "SELECT coalesce(sum(refresh_milliseconds), 0) FROM $1.schema_views"; }

bench_sql() { psql -XAtqv ON_ERROR_STOP=1 -c "$1"; }

bench_loaded() {
    if [[ -e $state/loaded ]]; then return 0; fi
    bench_store loaded --rate-limit none --customers 2000 --transactions-per-customer 50
    bench_job loaded loaded "$(bench_ids store-loaded/ids.csv)" loaded
    bench_migrate loaded
    bench_run loaded
    cat "$state/summary" >&2
    : >"$state/loaded"
    bench_close loaded
}
