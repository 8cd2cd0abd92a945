# shellcheck shell=bash
# shellcheck disable=SC2154
# The parts that ledger-bench measures (Tests/Benchmarks): code of ours with nothing around it; to be sourced.

bench_verify() { bench_micro verify --threads "$(nproc)"; }
bench_merge() { bench_micro merge; }
bench_replay() { bench_micro replay; }
bench_storage() { bench_micro storage; }

# Runs a subcommand of ledger-bench and files what it measured.
bench_micro() {
    local figure value unit reference
    bench_micro_figures "$@"
    while IFS=$'\t' read -r figure value unit; do
        case $figure in
            # They are the references of others.
            'openssl speed'* | *' to openssl speed') continue ;;
        esac
        reference=$(bench_reference_of "$figure")
        bench_result "$figure" "$(bench_rounded "$value")" "$unit" "${reference%%$'\t'*}" "$(bench_rounded "${reference#*$'\t'}")"
    done <"$state/micro.tsv"
}

# Leaves them in micro.tsv: figure, value and unit, a line each.
bench_micro_figures() {
    "$bin/ledger-bench" "$@" --json >"$state/micro.json"
    psql -XAtq -F $'\t' -v json="$(<"$state/micro.json")" >"$state/micro.tsv" <<<"
        SELECT f ->> 'figure', f ->> 'value', f ->> 'unit' FROM json_array_elements(:'json'::json) f"
}

# Prints what a figure is to be compared with, and its value: the best of what has been measured so far.
bench_reference_of() {
    local pattern
    case $1 in
        'verify and decode, one core') pattern='^openssl speed ecdsap256' ;;
        'verify and decode, '*' threads') pattern='^openssl speed -multi .*, verify$' ;;
        'verify and decode, '*' threads to one') pattern='^openssl speed -multi .* to one process$' ;;
        'merge, new rows') pattern='^dlt ' ;;
        'merge, unchanged rows') pattern='^psycopg.*unchanged rows' ;;
        'replay, '*'rows are there' | 'replay, '*'rows have gone' | 'replay, '*'rows have gone, without'*) pattern='^verify and decode, [0-9]+ threads$' ;;
        'archive') pattern='^each JWS stored whole' ;;
        *) return 0 ;;
    esac
    cat "$state/micro.tsv" "$results" |
        awk -F '\t' -v pattern="$pattern" '$1 ~ pattern && $2 + 0 > best + 0 { best = $2; name = $1 } END { if (name) print name "\t" best }'
}
