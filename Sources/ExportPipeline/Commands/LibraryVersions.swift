import HTTPTransport
import Postgres
import SignedData

/// The libraries that read what comes from the network, and whether they are known to have a hole there.
///
/// A distribution may have mended a library and kept its number, so this warns and refuses nothing.
struct LibraryVersions {
    let curl: [Int]
    let openSSL: [Int]
    let pq: [Int]

    static var loaded: LibraryVersions {
        LibraryVersions(curl: LibCurlVersion.loaded, openSSL: OpenSSLVersion.loaded, pq: LibPQVersion.loaded)
    }

    var sentence: String {
        "libcurl \(Self.text(curl)), OpenSSL \(Self.text(openSSL)), libpq \(Self.text(pq))"
    }

    /// What should be updated, and why; empty when nothing is known.
    var warnings: [String] {
        var warnings: [String] = []
        if curl.lexicographicallyPrecedes([7, 85, 0]) {
            warnings.append("libcurl \(Self.text(curl)) cannot be limited to one protocol: update to 7.85 or later")
        }
        // CVE-2022-3602, CVE-2022-3786: overflows while a certificate is read.
        if openSSL.lexicographicallyPrecedes([3, 0, 7]) {
            warnings.append("OpenSSL \(Self.text(openSSL)) can be attacked by a certificate: update to 3.0.7 or later")
        }
        // CVE-2025-1094: quoting that can be escaped from; mended in each branch by the same release.
        let mended = [15: 11, 16: 7, 17: 3]
        if let major = pq.first, let minor = pq.last, major < 15 || minor < mended[major, default: 0] {
            let first = mended[major].map { "\(major).\($0)" } ?? "15.11"
            warnings.append(
                "libpq \(Self.text(pq)) has a known hole in quoting (CVE-2025-1094): update to \(first) or later"
            )
        }
        return warnings
    }

    private static func text(_ version: [Int]) -> String {
        version.isEmpty ? "of an unknown version" : version.map(String.init).joined(separator: ".")
    }
}
