import CLibPQ

/// The libpq this process runs with, which may be another than it was built with.
package enum LibPQVersion {
    /// Major and minor.
    package static var loaded: [Int] { [Int(PQlibVersion()) / 10_000, Int(PQlibVersion()) % 10_000] }
}
