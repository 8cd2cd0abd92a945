import HTTPTransport
import Postgres
import SignedData

/// The loaded versions of the libraries that read network input.
///
/// StoreLedger does not check the versions, because a distribution can fix a library without a new version number.
package enum LibraryVersions {
    /// Such as `libcurl 7.88.1, OpenSSL 3.0.17, libpq 15.14`.
    package static var sentence: String {
        [("libcurl", LibCurlVersion.loaded), ("OpenSSL", OpenSSLVersion.loaded), ("libpq", LibPQVersion.loaded)]
            .map { name, version -> String in
                let number = version.map(String.init).joined(separator: ".")
                return "\(name) \(number.isEmpty ? "of an unknown version" : number)"
            }
            .joined(separator: ", ")
    }
}
