# shellcheck shell=bash
# shellcheck disable=SC2154
# The requests of a sync that begins with the app's notifications, beside what changed; to be sourced.

bench_nightly() {
    bench_say 'a job cannot name transactionIds.changedSince yet: this part is missing'
    return 1
}
