# shellcheck shell=bash
# shellcheck disable=SC2154
# The figures of scripts/bench; to be sourced with `results` set to a file.
#
#   bench_say TEXT                                         says on stderr how it goes
#   bench_result FIGURE VALUE UNIT [REFERENCE VALUE]       files one figure; the ratio is the first value to the second
#   bench_table                                            prints them all
#   bench_json                                             prints them all as JSON
#   bench_machine                                          prints what they were measured on
#   bench_median NUMBER...                                 prints the one in the middle
#   bench_microseconds COMMAND...                          runs it and sets `microseconds`; fails as it does

bench_say() { printf '%s\n' "$*" >&2; }

bench_result() {
    local ratio=''
    if [[ -n ${5:-} ]]; then ratio=$(awk -v a="$2" -v b="$5" 'BEGIN { if (b + 0 != 0) printf "%.3f", a / b }'); fi
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "${4:-}" "${5:-}" "$ratio" >>"$results"
    bench_say "   $1: $2 $3${4:+ ($4: $5, ratio ${ratio:-none})}"
}

bench_table() {
    awk -F '\t' '
        function note(row, column, text) {
            cell[row, column] = text
            if (length(text) > width[column]) width[column] = length(text)
        }
        BEGIN { split("figure value unit reference value ratio", title, " "); for (c = 1; c <= 6; c++) note(0, c, title[c]) }
        { for (c = 1; c <= 6; c++) note(NR, c, $c) }
        END {
            for (row = 0; row <= NR; row++) {
                line = ""
                for (c = 1; c <= 6; c++) {
                    # Numbers to the right, words to the left.
                    side = (c == 2 || c >= 5) ? "" : "-"
                    line = line sprintf("%" side width[c] "s", cell[row, c]) (c < 6 ? "  " : "")
                }
                sub(/ +$/, "", line)
                print line
                if (row == 0) { gsub(/./, "-", line); print line }
            }
        }' "$results"
}

bench_json() {
    awk -F '\t' '
        function text(value) { gsub(/["\\]/, "\\\\&", value); return value == "" ? "null" : "\"" value "\"" }
        function number(value) { return value == "" ? "null" : value }
        BEGIN { print "[" }
        {
            printf "%s  {\"figure\": %s, \"value\": %s, \"unit\": %s, \"reference\": %s, \"referenceValue\": %s, \"ratio\": %s}",
                (NR > 1 ? ",\n" : ""), text($1), number($2), text($3), text($4), number($5), number($6)
        }
        END { print "\n]" }' "$results"
}

bench_machine() {
    printf 'Machine      %s cores of %s, %s MB\n' "$(nproc)" \
        "$(sed -nE 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)" \
        "$(($(sed -nE 's/^MemTotal: *([0-9]+).*/\1/p' /proc/meminfo) / 1024))"
    printf 'Versions     %s, %s, %s, storeledger %s (%s), Linux %s\n' \
        "$(swift --version 2>/dev/null | sed -nE 's/.*(Swift version [^ ]+).*/\1/p')" \
        "$(postgres --version)" "$(openssl version | cut -d' ' -f1-2)" "$("$bin/storeledger" --version)" \
        "$(git -C "$root" describe --always --dirty 2>/dev/null || printf 'no git')" "$(uname -r)"
    printf 'Load before  %s\n' "$(cut -d' ' -f1-3 /proc/loadavg)"
}

bench_median() { printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"; }

bench_microseconds() {
    local began=${EPOCHREALTIME/[.,]/}
    "$@"
    # shellcheck disable=SC2034
    microseconds=$((${EPOCHREALTIME/[.,]/} - began))
}

# A quotient with so many decimals.
bench_quotient() { awk -v a="$1" -v b="$2" -v n="${3:-0}" 'BEGIN { printf "%.*f", n, a / b }'; }

# Four digits that count, and all of a large number's; of nothing nothing.
bench_rounded() { [[ -z $1 ]] || awk -v a="$1" 'BEGIN { printf (a >= 1000 || a <= -1000 ? "%.0f" : "%.4g"), a }'; }
