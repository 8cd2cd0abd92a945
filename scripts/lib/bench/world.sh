# shellcheck shell=bash
# shellcheck disable=SC2154
# Simulated stores, and jobs that read them; source it with `bin` and `state` set.
#
#   bench_store NAME OPTION...          starts the store NAME with the options of `appstore-simulator serve`
#   bench_close NAME                    stops it
#   bench_job NAME STORE IDS SCHEMA [LIMITS] [STREAMS] [OUTPUT]   writes the job $state/NAME.yaml with a file of IDs
#   bench_migrate NAME                  creates the schema of the job
#   bench_run NAME [STATUS OPTION...]   measures a run of the job, which must end with STATUS (0); its output is in
#                                       $state/summary
#   bench_views_milliseconds SCHEMA                  prints the duration of the last refresh of its views in milliseconds
#   bench_loaded                        fills the schema `loaded` with 100,000 transactions, once

bench_store() {
    simulator_start "$bin" "$state/store-$1" --seed 1 "${@:2}"
}

bench_close() { simulator_stop "$state/store-$1"; }

# More requests than any machine can send.
bench_no_limits='{share: 1, requestsPerSecond: {transactionHistory: 1000000, notificationHistory: 1000000}}'

bench_job() {
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

# Prints the transactionIds section for a file of IDs.
bench_ids() { printf '{csv: {path: "%s", column: transaction_id}}' "$1"; }

# Prints one number of a run's summary.
bench_said() { sed -nE "s/^ *$2 +([0-9]+).*/\1/p" "$1"; }

bench_views_milliseconds() { bench_sql "SELECT coalesce(milliseconds, 0) FROM $1.refresh_state"; }

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
