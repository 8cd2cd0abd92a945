# shellcheck shell=bash
# shellcheck disable=SC2154
# Where the executables are built; to be sourced with `root` set to the checkout.
#
#   build_swift SUBCOMMAND [ARGUMENT...]   runs `swift SUBCOMMAND` on the checkout, in STORELEDGER_SCRATCH_PATH or .build
#   build_directory CONFIGURATION          prints the folder of the executables, built or not

build_swift() {
    swift "$1" --package-path "$root" --scratch-path "${STORELEDGER_SCRATCH_PATH:-$root/.build}" "${@:2}"
}

build_directory() {
    build_swift build --show-bin-path --configuration "$1"
}
