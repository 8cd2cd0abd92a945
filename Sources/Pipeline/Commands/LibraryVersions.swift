import HTTPTransport
import Postgres
import SignedData

/// The libraries that read what comes from the network, as they were loaded.
///
/// Security updates are the distribution's: it may fix a library and keep the version number, so StoreLedger compares none.
enum LibraryVersions {
    /// Such as `libcurl 7.88.1, OpenSSL 3.0.17, libpq 15.14`.
    static var sentence: String {
        [("libcurl", LibCurlVersion.loaded), ("OpenSSL", OpenSSLVersion.loaded), ("libpq", LibPQVersion.loaded)]
            .map { name, version -> String in
                let number = version.map(String.init).joined(separator: ".")
                return "\(name) \(number.isEmpty ? "of an unknown version" : number)"
            }
            .joined(separator: ", ")
    }
}
