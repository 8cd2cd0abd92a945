# shellcheck shell=bash
# shellcheck disable=SC2154
# What a package says of StoreLedger; source it with `root` set to the checkout.
#
#   storeledger_version      prints the version from Sources/Basics/Version.swift, its only place
#   storeledger_maintainer   prints the maintainer of the Debian package: DEBFULLNAME <DEBEMAIL>, as Debian's tools do

storeledger_version() {
    local file=$root/Sources/Basics/Version.swift version
    version=$(sed -nE 's/^package let storeLedgerVersion = "([0-9]+\.[0-9]+\.[0-9]+)"$/\1/p' "$file")
    if [[ -z $version ]]; then
        printf '%s has no version of the form 1.2.3\n' "$file" >&2
        return 1
    fi
    printf '%s\n' "$version"
}

storeledger_maintainer() {
    printf '%s <%s>\n' "${DEBFULLNAME:-StoreLedger maintainers}" "${DEBEMAIL:-maintainers@storeledger.example}"
}
