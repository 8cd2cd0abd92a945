import FoundationEssentials
import JobPlan
import SignedData

/// What a job proves itself with, and whom it believes; read once, before anything is sent.
struct Credentials: Sendable {
    let tokens: BearerTokenSigner
    let verifier: JWSVerifier
    /// SHA-256 of each trusted root, hexadecimal.
    let rootFingerprints: [String]

    /// - Throws: ``SignedData/KeyFileError``, ``UntrustedRoot``, ``KeysWouldBeWritten``.
    init(job: JobFile) throws {
        // Over loopback there is nothing to keep secret.
        guard job.appStore.isLoopback || ProcessInfo.processInfo.environment["SSLKEYLOGFILE"] == nil else {
            throw KeysWouldBeWritten()
        }
        tokens = BearerTokenSigner(
            key: try SigningKey.load(file: job.appStore.privateKeyFile),
            keyId: job.appStore.keyId,
            issuerId: job.appStore.issuerId,
            bundleId: job.app.bundleId
        )
        (verifier, rootFingerprints) = try Self.trust(of: job)
    }

    /// Whom the job believes: Apple, or in a rehearsal over loopback the roots it names.
    static func trust(of job: JobFile) throws -> (verifier: JWSVerifier, fingerprints: [String]) {
        var roots = [AppleRootCA.g3]
        if !job.appStore.trustedRoots.isEmpty {
            roots = try job.appStore.trustedRoots.map { path in
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
            let paths = job.appStore.trustedRoots.joined(separator: ", ")
            throw UntrustedRoot(path: paths, reason: String(describing: error), isMissing: false)
        }
    }
}

/// A root certificate the job names cannot be used.
struct UntrustedRoot: Error, CustomStringConvertible {
    let path: String
    let reason: String
    let isMissing: Bool

    var description: String { "appStore.trustedRoots: \(path): \(reason)" }
}

/// The environment has libcurl write the keys of every TLS session into a file: whoever reads along could use them.
struct KeysWouldBeWritten: Error {}
