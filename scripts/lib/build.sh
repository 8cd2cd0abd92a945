# shellcheck shell=bash
# shellcheck disable=SC2154
# Builds with SwiftPM; source it with `root` set to the checkout.
#
#   build_swift SUBCOMMAND [ARGUMENT...]   runs `swift SUBCOMMAND` on the checkout, in STORELEDGER_SCRATCH_PATH or .build
#   build_programs [ARGUMENT...]           builds the two executables that users get, and not the tools of the tests
#   build_release                          builds the executables that users get, with Swift's libraries linked statically
#   build_directory [release]              prints the folder of the executables that build_swift builds or, with `release`, of the
#                                          optimized ones; they need not be built
#   build_shim NAME FILE                   compiles Tests/Shims/NAME.c into a library that every user can read
#
# STORELEDGER_SANITIZER names a sanitizer to build and test with.
# STORELEDGER_OPTIMIZE=1 compiles each module as a whole, without information for debuggers. A build from nothing then takes less
# time, because the compiler reads a module's files once instead of once for each file; after a change it takes more. By default the
# driver reads them a second time, in a separate process that writes the module's interface early. SwiftPM starts the modules that
# need it only after the whole compilation, so that process gains nothing. The configuration is `release` without its optimization.
# A debug build of ArgumentParser checks the declarations of all options at each start of an executable, and the tests start nearly two
# thousand. Package.swift reads the variable too, and optimizes some targets.
# STORELEDGER_BUILT=1 says that everything is built: build_swift builds nothing, and runs the tests without SwiftPM. SwiftPM takes
# seconds to find that out itself, and two of them wait for each other.

build_swift() {
    if [[ -n ${STORELEDGER_BUILT:-} ]]; then
        case " $* " in
            *' --show-bin-path '*) ;;
            ' build '*) return 0 ;;
            ' test '*)
                "$(build_directory)/StoreLedgerPackageTests.xctest" --testing-library swift-testing "${@:2}"
                return
                ;;
        esac
    fi
    local -a options=(--package-path "$root" --scratch-path "${STORELEDGER_SCRATCH_PATH:-$root/.build}")
    if [[ -n ${STORELEDGER_SANITIZER:-} ]]; then
        # Only LLVM's linker, which comes with Swift, links LLVM's sanitizers.
        options+=(--sanitize "$STORELEDGER_SANITIZER" -Xswiftc -use-ld=lld)
    fi
    if [[ -n ${STORELEDGER_OPTIMIZE:-} ]]; then
        options+=(-Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 2)
        options+=(-Xswiftc -no-emit-module-separately-wmo -Xswiftc -gnone -Xcc -g0)
        if [[ " $* " != *' --configuration '* ]]; then
            options+=(--configuration release -Xswiftc -Onone -Xswiftc -enable-testing)
        fi
    fi
    swift "$1" "${options[@]}" "${@:2}"
}

build_shim() {
    "$(build_compiler)" -shared -fPIC -O1 -o "$2" "$root/Tests/Shims/$1.c" || return 1
    chmod 0755 "$2"
}

build_programs() {
    local product
    for product in storeledger appstore-simulator; do build_swift build "$@" --product "$product" || return 1; done
}

# Prints the C compiler: Swift brings one.
build_compiler() {
    local compiler
    for compiler in clang cc gcc; do
        if command -v "$compiler" >/dev/null 2>&1; then break; fi
    done
    printf '%s\n' "$compiler"
}

build_release() {
    local scratch=${STORELEDGER_SCRATCH_PATH:-$root/.build}
    mkdir -p "$scratch" || return 1
    "$(build_compiler)" -O1 -fPIC -fno-builtin -c -o "$scratch/hypot.o" "$root/scripts/lib/hypot.c" || return 1
    # C code contains the paths of its files. They are replaced, so that the same commit gives the same executables in any folder.
    build_programs --configuration release --static-swift-stdlib \
        -Xswiftc -no-stdlib-rpath -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now \
        -Xlinker "$scratch/hypot.o" -Xcc "-ffile-prefix-map=$scratch=." -Xcc "-ffile-prefix-map=$root=."
}

build_directory() {
    local configuration=${1:-debug} link
    if [[ -n ${STORELEDGER_OPTIMIZE:-} ]]; then configuration=release; fi
    link=${STORELEDGER_SCRATCH_PATH:-$root/.build}/$configuration
    # SwiftPM waits for another SwiftPM, such as the one that runs the tests, before it prints the folder.
    if [[ -n ${STORELEDGER_BUILT:-} && -d $link ]]; then
        readlink -f "$link"
    else
        build_swift build --show-bin-path --configuration "$configuration"
    fi
}
