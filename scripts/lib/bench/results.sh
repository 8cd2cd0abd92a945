# shellcheck shell=bash
# shellcheck disable=SC2154
# Records and prints the figures of scripts/bench; source it with `results` set to a file.
#
#   bench_say TEXT                                         prints a progress message to stderr
#   bench_result FIGURE VALUE UNIT [REFERENCE VALUE]       records one figure; the ratio is the first value divided by the second
#   bench_table                                            prints all figures
#   bench_json                                             prints all figures as JSON
#   bench_machine                                          prints the machine and the versions
#   bench_median NUMBER...                                 prints the median
#   bench_microseconds COMMAND...                          runs it and sets `microseconds`; returns its status

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
                    # Numbers are right-aligned, words left-aligned.
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

# Prints a quotient with $3 decimals.
bench_quotient() { awk -v a="$1" -v b="$2" -v n="${3:-0}" 'BEGIN { printf "%.*f", n, a / b }'; }

# Rounds to four significant digits, and numbers from 1000 on to an integer; prints nothing for an empty argument.
bench_rounded() { [[ -z $1 ]] || awk -v a="$1" 'BEGIN { printf (a >= 1000 || a <= -1000 ? "%.0f" : "%.4g"), a }'; }
