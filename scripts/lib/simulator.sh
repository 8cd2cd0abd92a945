# shellcheck shell=bash
# A simulated App Store in a directory; source it.
#
#   simulator_start BIN DIR [OPTION...]   starts `BIN/appstore-simulator serve --directory DIR OPTION...` on a free port
#                                         and waits until it answers; exports the variables that the jobs in jobs/ use
#   simulator_stop DIR                    stops the simulator of the directory, even if another script started it

# Prints the ID of the process that serves the directory, if it is still running. Another process may have the ID by
# now.
simulator_process() {
    local process
    if [[ ! -s $1/simulator.pid ]]; then return 1; fi
    process=$(<"$1/simulator.pid")
    if ! { tr '\0' '\n' <"/proc/$process/cmdline"; } 2>/dev/null | grep -xF -- "$1" >/dev/null; then return 1; fi
    printf '%s\n' "$process"
}

# Prints the value of a key of the job file that the simulator wrote.
simulator_job_value() {
    sed -nE "s/^ *$2: *([^ #]+).*/\1/p" "$1/job.yaml" | head -n 1
}

simulator_start() {
    local bin=$1 directory process
    mkdir -p "$2" || return 1
    directory=$(cd "$2" && pwd -P) || return 1
    simulator_stop "$directory" || return 1
    rm -f "$directory/ready.json"
    "$bin/appstore-simulator" serve --directory "$directory" "${@:3}" \
        </dev/null >"$directory/simulator.log" 2>&1 &
    process=$!
    printf '%s\n' "$process" >"$directory/simulator.pid"
    until [[ -s $directory/ready.json ]]; do
        if ! kill -0 "$process" 2>/dev/null; then
            cat "$directory/simulator.log" >&2
            printf 'The simulator ended before it was ready; see above.\n' >&2
            return 1
        fi
        sleep 0.1
    done

    # Used in jobs/*.yaml.
    APPSTORE_BASE_URL=$(sed -nE 's/.*"baseURL" *: *"([^"]+)".*/\1/p' "$directory/ready.json")
    APPSTORE_BUNDLE_ID=$(simulator_job_value "$directory" bundleId)
    APPSTORE_APP_APPLE_ID=$(simulator_job_value "$directory" appAppleId)
    APPSTORE_ENVIRONMENT=$(simulator_job_value "$directory" environment)
    APPSTORE_ISSUER_ID=$(simulator_job_value "$directory" issuerId)
    APPSTORE_KEY_ID=$(simulator_job_value "$directory" keyId)
    APPSTORE_PRIVATE_KEY_FILE=$directory/SubscriptionKey_$APPSTORE_KEY_ID.p8
    APPSTORE_TRUSTED_ROOT=$directory/root.cer
    TRANSACTION_IDS_CSV=$directory/ids.csv
    ORDER_IDS_CSV=$directory/orders.csv
    export APPSTORE_BASE_URL APPSTORE_BUNDLE_ID APPSTORE_APP_APPLE_ID APPSTORE_ENVIRONMENT APPSTORE_ISSUER_ID
    export APPSTORE_KEY_ID APPSTORE_PRIVATE_KEY_FILE APPSTORE_TRUSTED_ROOT TRANSACTION_IDS_CSV ORDER_IDS_CSV
}

simulator_stop() {
    local directory process tenths
    if [[ ! -d $1 ]]; then return 0; fi
    directory=$(cd "$1" && pwd -P) || return 1
    if process=$(simulator_process "$directory"); then
        kill -TERM "$process" 2>/dev/null || true
        for ((tenths = 0; tenths < 100; tenths++)); do
            simulator_process "$directory" >/dev/null || break
            sleep 0.1
        done
        # It had ten seconds to finish its requests.
        if simulator_process "$directory" >/dev/null; then kill -KILL "$process" 2>/dev/null || true; fi
    fi
    rm -f "$directory/simulator.pid"
}
