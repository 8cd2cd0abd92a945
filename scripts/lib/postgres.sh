# shellcheck shell=bash
# A private PostgreSQL cluster in a directory; source it.
#
#   postgres_start DIR   starts the cluster in DIR, and creates it first if there is none; exports PGHOST, PGPORT,
#                        PGUSER, PGDATABASE, and the equivalent DATABASE_URL
#   postgres_stop DIR    stops it; does nothing when it is not running
#   postgres_remove DIR  stops it and removes all its files
#   postgres_scratch     creates and prints a directory for a cluster of tests: in memory where there is enough of it, because
#                        each test copies a database of a thousand files, which takes seven times as long on a disk
#
# The cluster listens only on a Unix socket in a directory that no other user may enter, so it can run next to any other
# PostgreSQL and needs no password. As root the server runs as `postgres`, or as `nobody` where there is no such user.
# POSTGRES_BINDIR is the directory of the server's programs; by default, that of the newest server that is installed.
# POSTGRES_FAST=1 is faster but not safe after a power cut: for tests only. POSTGRES_OPTIONS are further options of the server.
# POSTGRES_CLOCK is the library of Tests/Shims/clock.c: the server's clock is then off by the seconds in DIR.clock.
#
# Every `return` has a number: in a trap, a bare `return` would return the status from before the trap.

postgres_fail() {
    printf 'postgres.sh: %s\n' "$*" >&2
    return 1
}

# Prints POSTGRES_BINDIR or the directory of the newest initdb, pg_ctl and postgres of version 15 or later.
postgres_bindir() {
    local directory version best='' best_version=14
    local -a candidates=()
    if [[ -n ${POSTGRES_BINDIR:-} ]]; then
        printf '%s\n' "$POSTGRES_BINDIR"
        return 0
    fi
    if command -v pg_config >/dev/null 2>&1; then candidates+=("$(pg_config --bindir)"); fi
    candidates+=(/usr/lib/postgresql/*/bin /usr/pgsql-*/bin)
    if command -v postgres >/dev/null 2>&1; then
        candidates+=("$(dirname "$(readlink -f "$(command -v postgres)")")")
    fi
    for directory in "${candidates[@]}"; do
        if [[ ! -x $directory/initdb || ! -x $directory/pg_ctl || ! -x $directory/postgres ]]; then continue; fi
        version=$("$directory/postgres" --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/')
        if ((version > best_version)); then
            best=$directory
            best_version=$version
        fi
    done
    if [[ -z $best ]]; then
        postgres_fail 'no PostgreSQL server 15 or later found; on Debian and Ubuntu: apt-get install postgresql'
        return 1
    fi
    printf '%s\n' "$best"
}

# Prints the owner of the cluster: the current user, or an unprivileged user for root.
postgres_owner() {
    if ((EUID != 0)); then
        id -un
    elif id postgres >/dev/null 2>&1; then
        printf 'postgres\n'
    else
        printf 'nobody\n'
    fi
}

# Runs a command as the owner of the cluster, in a directory that the owner may enter.
postgres_as_owner() {
    if ((EUID != 0)); then
        (cd / && "$@")
    elif command -v runuser >/dev/null 2>&1; then
        (cd / && runuser -u "$(postgres_owner)" -- "$@")
    else
        (cd / && setpriv --reuid="$(postgres_owner)" --regid="$(id -g "$(postgres_owner)")" --clear-groups "$@")
    fi
}

# Creates a directory that only the owner and root may enter.
postgres_make_directory() {
    mkdir -p "$1"
    if ((EUID == 0)); then chown "$(postgres_owner)" "$1"; fi
    chmod 0700 "$1"
}

# Prints the directory of the cluster: the given one, or one in /var/tmp with a name derived from it if the owner cannot
# enter the parent directories, as in root's home.
postgres_home() {
    local directory name
    mkdir -p "$1" || return 1
    directory=$(cd "$1" && pwd -P) || return 1
    if postgres_as_owner test -x "$(dirname "$directory")"; then
        printf '%s\n' "$directory"
        return 0
    fi
    name=$(printf '%s' "$directory" | cksum)
    directory=/var/tmp/storeledger-${name%% *}
    mkdir -m 0700 "$directory" 2>/dev/null || true
    # Every user can create files in /var/tmp, so only a directory of root or the owner is accepted.
    if [[ -L $directory || ! -d $directory || ! $(stat -c %U "$directory") =~ ^(root|$(postgres_owner))$ ]]; then
        postgres_fail "$directory is not a directory of root or $(postgres_owner), and $(postgres_owner), the user of PostgreSQL, cannot enter $1"
        return 1
    fi
    printf '%s\n' "$directory"
}

postgres_scratch() {
    local parent=${TMPDIR:-/tmp} needed=$((4 * 1024 * 1024)) free available
    if [[ -d /dev/shm && -w /dev/shm ]]; then
        free=$(df --output=avail /dev/shm | tail -n 1)
        available=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)
        if ((free > needed && available > 2 * needed)); then parent=/dev/shm; fi
    fi
    mktemp -d "$parent/storeledger-postgres.XXXXXX"
}

postgres_is_running() {
    [[ -s $1/data/PG_VERSION ]] && postgres_as_owner "$2/pg_ctl" status -D "$1/data" >/dev/null 2>&1
}

# Prints the directory of the socket. The socket's path may have at most 107 bytes, of which PostgreSQL needs up to 24
# for the file name. Characters with a meaning in a shell or in a list of directories are avoided.
postgres_socket_directory() {
    local socket
    if [[ ${#1} -le 70 && $1 =~ ^[A-Za-z0-9/._-]+$ ]]; then
        postgres_make_directory "$1/socket"
        printf '%s\n' "$1/socket"
        return 0
    fi
    if [[ -s $1/socket.path ]]; then
        socket=$(<"$1/socket.path")
        # Another user may have replaced it meanwhile.
        if [[ -d $socket && ! -L $socket && $(stat -c %U "$socket") == "$(postgres_owner)" ]]; then
            printf '%s\n' "$socket"
            return 0
        fi
    fi
    socket=$(mktemp -d "${TMPDIR:-/tmp}/storeledger-pg.XXXXXX")
    if ((${#socket} > 80)); then
        rmdir "$socket"
        socket=$(mktemp -d /tmp/storeledger-pg.XXXXXX)
    fi
    postgres_make_directory "$socket"
    printf '%s\n' "$socket" >"$1/socket.path"
    printf '%s\n' "$socket"
}

postgres_initialise() {
    local directory=$1 bin=$2
    # If initdb was interrupted, PG_VERSION or global/pg_control is missing.
    if [[ -s $directory/data/PG_VERSION && -e $directory/data/global/pg_control ]]; then return 0; fi
    rm -rf "$directory/data"
    postgres_as_owner "$bin/initdb" --pgdata="$directory/data" --username=storeledger --auth=trust \
        --encoding=UTF8 --locale=C --no-instructions --no-sync >"$directory/initdb.log" 2>&1 || {
        cat "$directory/initdb.log" >&2
        postgres_fail "initdb failed in $directory/data"
    }
}

# Percent-encodes a path for the query part of a URI.
postgres_percent_encode() {
    local LC_ALL=C text=$1 encoded='' character place
    for ((place = 0; place < ${#text}; place++)); do
        character=${text:place:1}
        case $character in
            [a-zA-Z0-9/._~-]) encoded+=$character ;;
            *) printf -v character '%%%02X' "'$character" && encoded+=$character ;;
        esac
    done
    printf '%s\n' "$encoded"
}

postgres_start() {
    local directory bin socket settings
    local -a clock=()
    if (($# != 1)); then
        postgres_fail 'usage: postgres_start DIR'
        return 1
    fi
    bin=$(postgres_bindir) || return 1
    directory=$(postgres_home "$1") || return 1
    postgres_make_directory "$directory" || return 1
    postgres_initialise "$directory" "$bin" || return 1
    socket=$(postgres_socket_directory "$directory") || return 1

    if ! postgres_is_running "$directory" "$bin"; then
        settings="-c listen_addresses='' -c unix_socket_permissions=0700 -c max_connections=200"
        settings+=" -c unix_socket_directories='$socket' -c port=5432 -c cluster_name=storeledger"
        settings+=' -c logging_collector=off -c log_destination=stderr'
        if [[ ${POSTGRES_FAST:-0} == 1 ]]; then
            settings+=' -c fsync=off -c full_page_writes=off -c synchronous_commit=off'
            # Small tables gain nothing from vacuum workers, compiled expressions or a complete write-ahead log.
            settings+=' -c autovacuum=off -c jit=off -c wal_level=minimal -c max_wal_senders=0'
            # Sessions of tests are short. Five plans for the first values of each statement cost more than they save.
            settings+=' -c plan_cache_mode=force_generic_plan'
        fi
        settings+=" ${POSTGRES_OPTIONS:-}"
        if [[ -n ${POSTGRES_CLOCK:-} ]]; then clock=(env "LD_PRELOAD=$POSTGRES_CLOCK" "CLOCK_FILE=$1.clock"); fi
        # The server must not keep this script's stdout open, or a pipe from this script would never end.
        postgres_as_owner "${clock[@]}" "$bin/pg_ctl" start --wait --timeout=120 --silent -D "$directory/data" \
            -l "$directory/server.log" -o "$settings" </dev/null >/dev/null 2>&1 || {
            tail -n 20 "$directory/server.log" >&2
            postgres_fail "PostgreSQL did not start; its log is $directory/server.log"
            return 1
        }
    fi

    export PGHOST=$socket PGPORT=5432 PGUSER=storeledger PGDATABASE=storeledger
    unset PGHOSTADDR PGSERVICE PGPASSWORD PGOPTIONS
    DATABASE_URL="postgresql:///storeledger?host=$(postgres_percent_encode "$socket")&port=5432&user=storeledger"
    export DATABASE_URL
    if [[ $("$bin/psql" -XAtd postgres -c "SELECT count(*) FROM pg_database WHERE datname = 'storeledger'") != 1 ]]; then
        "$bin/psql" -Xqd postgres -c 'CREATE DATABASE storeledger' || {
            postgres_fail "the database storeledger could not be created; the server's log is $directory/server.log"
            return 1
        }
    fi
}

postgres_stop() {
    local directory bin
    if [[ ! -d $1 ]]; then return 0; fi
    directory=$(postgres_home "$1") || return 1
    bin=$(postgres_bindir) || return 1
    if postgres_is_running "$directory" "$bin"; then
        postgres_as_owner "$bin/pg_ctl" stop --wait --silent --mode=fast -D "$directory/data" >/dev/null ||
            postgres_fail "PostgreSQL in $directory did not stop" || return 1
    fi
    if [[ -s $directory/socket.path ]]; then
        rm -rf "$(<"$directory/socket.path")" "$directory/socket.path"
    fi
}

postgres_remove() {
    local directory
    if [[ ! -d $1 ]]; then return 0; fi
    directory=$(postgres_home "$1") || return 1
    postgres_stop "$1" || return 1
    rm -rf "$directory" "$1" "$1.clock"
}
