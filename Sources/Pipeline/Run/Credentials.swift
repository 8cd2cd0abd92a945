import Basics
import FoundationEssentials
import JobPlan
import SignedData

/// The job's keys and trusted roots; they are read once, before the first request.
struct Credentials: Sendable {
    let tokens: BearerTokenSigner
    let verifier: JWSVerifier
    /// SHA-256 of each trusted root, in hexadecimal.
    let rootFingerprints: [String]

    /// - Throws: ``SignedData/KeyFileError``, ``UntrustedRoot``, ``TLSKeysWouldBeWritten``.
    init(job: some JobDescription) throws {
        // Loopback connections have no secrets to protect.
        guard job.appStore.isLoopback || ProcessInfo.processInfo.environment["SSLKEYLOGFILE"] == nil else {
            throw TLSKeysWouldBeWritten()
        }
        tokens = BearerTokenSigner(
            key: try SigningKey.load(file: job.appStore.privateKeyFile),
            keyId: job.appStore.keyId,
            issuerId: job.appStore.issuerId,
            bundleId: job.app.bundleId
        )
        (verifier, rootFingerprints) = try Self.trust(of: job)
    }

    /// The roots that the job trusts: Apple's, or in a rehearsal over loopback the roots in the job file.
    static func trust(of job: some JobDescription) throws -> (verifier: JWSVerifier, fingerprints: [String]) {
        try trust(roots: job.appStore.trustedRoots)
    }

    /// Apple's root, or the roots in these files.
    static func trust(roots files: [String]) throws -> (verifier: JWSVerifier, fingerprints: [String]) {
        var roots = [AppleRootCA.g3]
        if !files.isEmpty {
            roots = try files.map { path in
                guard let bytes = FileManager.default.contents(atPath: path) else {
                    throw UntrustedRoot(path: path, reason: "the file is missing or unreadable", isMissing: true)
                }
                return Array(bytes)
            }
        }
        do {
            let fingerprints = roots.map { SHA256.digest(of: $0).hexadecimal }
            return (try JWSVerifier(trustedRoots: roots), fingerprints)
        } catch {
            throw UntrustedRoot(
                path: files.joined(separator: ", "),
                reason: String(describing: error),
                isMissing: false
            )
        }
    }
}

/// A root certificate in the job file is unusable.
struct UntrustedRoot: Error, CustomStringConvertible {
    let path: String
    let reason: String
    let isMissing: Bool

    var description: String { "appStore.trustedRoots: \(path): \(reason)" }
}

/// `SSLKEYLOGFILE` is set, so libcurl would write the keys of every TLS session to that file.
///
/// Anyone who can read the file can decrypt the traffic.
struct TLSKeysWouldBeWritten: Error {}
