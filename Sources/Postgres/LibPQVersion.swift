import CLibPQ

/// The version of libpq at run time, which can differ from the one at build time.
package enum LibPQVersion {
    /// Major and minor.
    package static var loaded: [Int] { [Int(PQlibVersion()) / 10_000, Int(PQlibVersion()) % 10_000] }
}
