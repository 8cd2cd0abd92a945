# shellcheck shell=bash
# shellcheck disable=SC2154
# Measures `storeledger sign`: each kind on one core, and a file of a million offers; source it.

bench_sign() {
    bench_micro sign
    bench_sign_million 1000000
}

# Signs so many promotional offers on all cores.
bench_sign_million() {
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$state/sign.p8" 2>/dev/null
    chmod 600 "$state/sign.p8"
    cat >"$state/sign.yaml" <<'JOB'
version: 1
name: sign
app: {bundleId: com.example.game, appAppleId: 1234567890, environment: Production}
appStore: {issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: 2X9R4HXF34, privateKeyFile: sign.p8}
JOB
    {
        echo product_id,offer_identifier,transaction_id
        awk -v count="$1" 'BEGIN { for (n = 1; n <= count; n++) printf "com.example.game.monthly,win.back,2%014d\n", n }'
    } >"$state/offers.csv"
    measure "$bin/storeledger" sign "$state/sign.yaml" promotional-offer \
        --input "$state/offers.csv" --output "$state/signed.csv" >"$state/summary" 2>&1
    if ((measured_status != 0)) || (($(wc -l <"$state/signed.csv") != $1 + 1)); then
        cat "$state/summary" >&2
        return 1
    fi
    rm "$state/signed.csv"
    bench_result "sign of $1 offers on $(nproc) cores: elapsed" "$(bench_quotient "$measured_wall" 1000 1)" s
    bench_result "sign of $1 offers: signatures" "$(bench_quotient $(($1 * 1000)) "$measured_wall")" 1/s
    bench_result "sign of $1 offers: peak memory" $((measured_peak / 1024)) MB 'at most' 64
}
