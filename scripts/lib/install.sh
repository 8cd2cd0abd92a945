# shellcheck shell=bash
# Installs what a build and a private database need; source it after scripts/lib/postgres.sh.
#
#   install_missing [build]   installs missing Debian packages as root, or with sudo if it needs no password; otherwise lists
#                     them and fails. Fails if Swift is missing or too old. With `build`, only what a build needs.
#   install_pooler    installs PgBouncer for PoolerTests, if it is missing and apt-get can install it
#   install_python_packages   installs Apple's App Store Server Library for Python, pyarrow and DuckDB into .build-python of the
#                     checkout, for AppleLibraryTests and the tests of Parquet files, and dbt into .build-dbt for DbtTests,
#                     if they are missing and pip can install them. Without them those tests are skipped. Needs `root`.

# Prints the Debian packages that are missing, one a line; with `build`, without PostgreSQL.
install_wanted() {
    command -v git >/dev/null 2>&1 || printf 'git\nca-certificates\n'
    # Swift links with the system's linker against the system's C and C++ libraries.
    if ! command -v ld >/dev/null 2>&1 || ! compgen -G '/usr/lib/gcc/*/*/libstdc++.so' >/dev/null; then printf 'g++\n'; fi
    if command -v pkg-config >/dev/null 2>&1; then
        pkg-config --exists libcurl || printf 'libcurl4-openssl-dev\n'
        pkg-config --atleast-version=3.0 openssl || printf 'libssl-dev\n'
        pkg-config --exists libpq || printf 'libpq-dev\n'
        pkg-config --exists libzstd || printf 'libzstd-dev\n'
    else
        printf '%s\n' pkg-config libcurl4-openssl-dev libssl-dev libpq-dev libzstd-dev
    fi
    # libcsv has no pkg-config file.
    if [[ ! -e /usr/include/csv.h && ! -e /usr/local/include/csv.h ]]; then printf 'libcsv-dev\n'; fi
    if [[ ${1:-} != build ]]; then postgres_bindir >/dev/null 2>&1 || printf 'postgresql\n'; fi
    # The charts of storeledger report.
    if [[ ! -e /usr/share/javascript/chart.js/chart.min.js ]]; then printf 'libjs-chart.js\n'; fi
}

install_fail() {
    printf '%s\n' "$@" >&2
    return 1
}

install_check_swift() {
    local version
    if ! command -v swift >/dev/null 2>&1; then
        install_fail 'Swift 6.2 or later is needed, but is not on the PATH; see https://www.swift.org/install.'
        return 1
    fi
    version=$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9]+\.[0-9]+).*/\1/p')
    if [[ $(printf '%s\n' 6.2 "${version:-0}" | sort -V | head -n 1) != 6.2 ]]; then
        install_fail "Swift 6.2 or later is needed; $(command -v swift) is ${version:-of an unknown version}."
    fi
}

# Installs PgBouncer for PoolerTests where that is possible; without it those tests are skipped.
install_pooler() {
    if [[ -x /usr/sbin/pgbouncer || -x /usr/bin/pgbouncer ]]; then return 0; fi
    local -a as_root=()
    if ((EUID != 0)); then as_root=(sudo -n); fi
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends pgbouncer ||
        printf 'PgBouncer cannot be installed; PoolerTests are skipped\n'
}

install_missing() {
    local -a packages=() as_root=()
    mapfile -t packages < <(install_wanted "${1:-}")
    if ((${#packages[@]} > 0)); then
        if ! command -v apt-get >/dev/null 2>&1; then
            install_fail 'Missing packages, with their names in Debian and Ubuntu:' "  ${packages[*]}" 'Install them and try again.'
            return 1
        fi
        if ((EUID != 0)); then
            if ! sudo -n true 2>/dev/null; then
                install_fail 'Packages are missing, and installing them needs root, or sudo without a password. Please run' \
                    "  sudo apt-get install ${packages[*]}" 'and try again.'
                return 1
            fi
            as_root=(sudo -n)
        fi
        printf 'Installing %s\n' "${packages[*]}" >&2
        # stdout is for results.
        "${as_root[@]}" apt-get update -qq >&2 || printf 'apt-get update failed; continuing without it\n' >&2
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
            "${packages[@]}" >&2 || {
            install_fail "apt-get could not install ${packages[*]}; see its output above."
            return 1
        }
        mapfile -t packages < <(install_wanted "${1:-}")
        if ((${#packages[@]} > 0)); then
            install_fail "Still missing after apt-get: ${packages[*]}. The packages that apt offers may be too old: PostgreSQL 15 and OpenSSL 3 are needed."
            return 1
        fi
    fi
    install_check_swift
}

# pip does not compile the packages: the tests import few of their modules.
install_python_packages() {
    local folder=$root/.build-python
    if PYTHONPATH=$folder python3 -c 'import appstoreserverlibrary.api_client, duckdb, pyarrow, pyiceberg.catalog.sql' 2>/dev/null; then return 0; fi
    if ! python3 -m pip install --quiet --disable-pip-version-check --no-input --no-compile --upgrade --target "$folder" \
        app-store-server-library==3.1.2 duckdb==2.0.0 pyarrow==26.0.1 "pyiceberg[sql-sqlite]==0.12.0" >&2; then
        rm -rf "$folder"
        printf 'AppleLibraryTests and tests of Parquet files will be skipped: python3 with pip could not install their packages\n' >&2
    fi
    # In a separate folder, because dbt and the others need different versions of some packages.
    folder=$root/.build-dbt
    if PYTHONPATH=$folder python3 -c 'import dbt.adapters.duckdb, dbt.adapters.postgres, dbt.cli.main' 2>/dev/null; then return 0; fi
    if ! python3 -m pip install --quiet --disable-pip-version-check --no-input --no-compile --upgrade --target "$folder" \
        dbt-core==1.11.16 dbt-postgres==1.11.0 dbt-duckdb==1.11.1 duckdb==2.0.0 >&2; then
        rm -rf "$folder"
        printf 'DbtTests will be skipped: python3 with pip could not install dbt\n' >&2
    fi
}
