# shellcheck shell=bash
# shellcheck disable=SC2154
# Runs the measurements of ledger-bench (Tests/Benchmarks), which measures single parts of StoreLedger; source it.

bench_verify() { bench_micro verify --threads "$(nproc)"; }
bench_merge() { bench_micro merge; }
bench_replay() { bench_micro replay; }
bench_storage() { bench_micro storage; }

# Runs a subcommand of ledger-bench and records its figures.
bench_micro() {
    local figure value unit reference
    bench_micro_figures "$@"
    while IFS=$'\t' read -r figure value unit; do
        case $figure in
            # These are reference values.
            'openssl speed'* | *' to openssl speed') continue ;;
        esac
        reference=$(bench_reference_of "$figure")
        bench_result "$figure" "$(bench_rounded "$value")" "$unit" "${reference%%$'\t'*}" "$(bench_rounded "${reference#*$'\t'}")"
    done <"$state/micro.tsv"
}

# Runs a subcommand of ledger-bench and writes micro.tsv: a line with figure, value and unit for each figure.
bench_micro_figures() {
    "$bin/ledger-bench" "$@" --json >"$state/micro.json"
    psql -XAtq -F $'\t' -v json="$(<"$state/micro.json")" >"$state/micro.tsv" <<<"
        SELECT f ->> 'figure', f ->> 'value', f ->> 'unit' FROM json_array_elements(:'json'::json) f"
}

# Prints the reference of a figure and its value: the best reference that has been measured so far.
bench_reference_of() {
    local pattern
    case $1 in
        'verify and decode, one core') pattern='^openssl speed ecdsap256' ;;
        'verify and decode, '*' threads') pattern='^openssl speed -multi .*, verify$' ;;
        'verify and decode, '*' threads to one') pattern='^openssl speed -multi .* to one process$' ;;
        'sign '*', one core') pattern='^openssl speed ecdsap256, sign$' ;;
        'merge, new rows') pattern='^dlt ' ;;
        'merge, unchanged rows') pattern='^psycopg.*unchanged rows' ;;
        'replay, '*'rows are there' | 'replay, '*'rows have gone' | 'replay, '*'rows have gone, without'*) pattern='^verify and decode, [0-9]+ threads$' ;;
        'archive') pattern='^each JWS stored whole' ;;
        *) return 0 ;;
    esac
    cat "$state/micro.tsv" "$results" |
        awk -F '\t' -v pattern="$pattern" '$1 ~ pattern && $2 + 0 > best + 0 { best = $2; name = $1 } END { if (name) print name "\t" best }'
}
