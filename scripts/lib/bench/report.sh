# shellcheck shell=bash
# shellcheck disable=SC2154
# Measures the report of a million customers, 40 products and 175 storefronts: its weight, how long it takes to write, and how long a
# browser takes to open it; source it.
#
# scripts/lib/report-world.sql makes the sums. The goals: at most 3,000,000 bytes, and open within a second. Opening is measured with Chromium and
# Selenium (install_python_packages), and is left out where they are missing.

bench_report() {
    local page=$state/report.html bytes opened
    cat >"$state/report.yaml" <<YAML
version: 1
name: report
app: {bundleId: com.example.game, appAppleId: 1234567890, environment: Production}
appStore: {issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: 2X9R4HXF34, privateKeyFile: none.p8}
transactionIds: {list: ["1"]}
streams: {transactionHistory: {}}
output: {postgres: {url: "\${DATABASE_URL}", schema: report}}
YAML
    bench_migrate report
    bench_refresh report >/dev/null
    bench_say '   making the sums of a million customers'
    PGOPTIONS='-c search_path=report' psql -X -v customers=1000000 -f "$root/scripts/lib/report-world.sql"
    bench_microseconds "$bin/storeledger" report "$state/report.yaml" --output "$page" >/dev/null
    bytes=$(stat -c %s "$page")
    bench_result 'report of 1,000,000 customers (at most 3,000,000)' "$bytes" bytes 'as gzip sends it' "$(gzip -c "$page" | wc -c)"
    bench_result 'report of 1,000,000 customers, written' $((microseconds / 1000)) ms
    if opened=$(PYTHONPATH=$root/.build-python python3 "$root/scripts/lib/bench/open-page.py" "$page"); then
        bench_result 'report of 1,000,000 customers, opened (at most 1000)' "${opened% *}" ms 'every chart drawn' "${opened#* }"
    else
        bench_say '   opening is not measured: it needs chromium, chromedriver and Selenium'
    fi
    bench_sql 'DROP SCHEMA report CASCADE' 2>/dev/null
}
