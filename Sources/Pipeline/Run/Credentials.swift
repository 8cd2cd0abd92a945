package import Basics
import FoundationEssentials
import Hashing
package import JobFiles
package import SignedData

/// The job's keys and trusted roots.
///
/// Key, key ID and issuer ID are read again, from the job file too, when Apple has refused a token: a key that Apple still
/// accepts stays in use, because its replacement can need a key ID that only the environment of a new process has. The
/// roots of the first request stay in use: see ``checkRoots()``.
package struct Credentials: Sendable {
    let verifier: JWSVerifier
    /// SHA-256 of each trusted root, in hexadecimal.
    package let rootFingerprints: [String]
    private let signer: ReadFiles<BearerTokenSigner>
    private let roots: ReadFiles<[String]>
    private let remark: @Sendable (String) -> Void

    /// - Parameter remark: Called after key or roots were read again, or could not be.
    /// - Throws: ``SignedData/KeyFileError``, ``UntrustedRoot``, ``TLSKeysWouldBeWritten``.
    package init(job: some RequestingJob, remark: @escaping @Sendable (String) -> Void = { _ in }) throws {
        // Loopback connections have no secrets to protect.
        guard job.appStore.isLoopback || ProcessInfo.processInfo.environment["SSLKEYLOGFILE"] == nil else {
            throw TLSKeysWouldBeWritten()
        }
        let (path, bundleId) = (job.path, job.app.bundleId)
        signer = try ReadFiles([path] + [job.appStore.privateKey.path].compactMap(\.self)) {
            try Self.signer(job.appStore, bundleId: bundleId)
        } again: {
            let appStore = try Self.appStore(of: bundleId, inJob: path)
            let files = [path] + [appStore.privateKey.path].compactMap(\.self)
            return (try Self.signer(appStore, bundleId: bundleId), files)
        }
        let files = job.appStore.trustedRoots
        var trust: (verifier: JWSVerifier, fingerprints: [String])?
        roots = try ReadFiles(files) {
            let found = try Self.trust(roots: files)
            trust = found
            return found.fingerprints
        } again: {
            (try Self.trust(roots: files).fingerprints, files)
        }
        guard let trust else { preconditionFailure("the roots were read above") }
        (verifier, rootFingerprints) = trust
        self.remark = remark
    }

    private static let changed = "the job file or the key file has changed"

    /// The signer of the next token.
    var tokens: @Sendable () -> BearerTokenSigner {
        { [signer, remark] in
            switch signer.readAgain() {
            case .success: remark("\(Self.changed), so tokens are signed with the key that they name now")
            case .failure(let error):
                remark("\(Self.changed) and cannot be used, so the key stays as it was: \(Failure(error).message)")
            case nil: break
            }
            return signer.value
        }
    }

    /// Refuses trusted roots that have changed since the first request.
    ///
    /// The records of the process were verified under the first roots, and the ledger compares roots at the start of a
    /// process.
    ///
    /// - Throws: ``RootsChanged``.
    func checkRoots() throws {
        if case .failure(let error) = roots.readAgain() {
            remark(
                "the trusted roots have changed and cannot be used, so they stay as they were: \(Failure(error).message)"
            )
        }
        guard roots.value == rootFingerprints else { throw RootsChanged() }
    }

    private static func signer(_ appStore: JobFile.AppStore, bundleId: String) throws -> BearerTokenSigner {
        BearerTokenSigner(
            key: try SigningKey.load(appStore.privateKey),
            keyId: appStore.keyId,
            issuerId: appStore.issuerId,
            bundleId: bundleId
        )
    }

    private static func appStore(of bundleId: String, inJob path: String) throws -> JobFile.AppStore {
        let jobs = try AcceptedJobs.any.loadEach(path: path, environment: ProcessInfo.processInfo.environment)
        switch jobs.first(where: { $0.app.bundleId == bundleId }) {
        case .crawl(let job): return job.appStore
        case .action(let job): return job.appStore
        case .receiver, nil: throw NoKeyInJob()
        }
    }

    /// The roots that the job trusts: Apple's, or for a server on loopback the roots in the job file.
    package static func trust(of job: some RequestingJob) throws -> (verifier: JWSVerifier, fingerprints: [String]) {
        try trust(roots: job.appStore.trustedRoots)
    }

    /// Apple's root, or the roots in these files.
    package static func trust(roots files: [String]) throws -> (verifier: JWSVerifier, fingerprints: [String]) {
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
struct UntrustedRoot: ExplainedError, CustomStringConvertible {
    let path: String
    let reason: String
    let isMissing: Bool

    var description: String { "appStore.trustedRoots: \(path): \(reason)" }

    var status: ExitStatus { isMissing ? .missingInput : .configuration }
}

/// The trusted roots were changed while a process worked.
struct RootsChanged: ExplainedError {
    var status: ExitStatus { .configuration }

    var sentence: String {
        "the files of appStore.trustedRoots were changed while this process worked; start it again, so that the new roots are compared with the ledger's records"
    }
}

/// The job file now describes only a receiver, and names no key.
struct NoKeyInJob: ExplainedError {
    var status: ExitStatus { .badInput }

    var sentence: String {
        "the job file has only a receiver now, and names no key"
    }
}

/// `SSLKEYLOGFILE` is set, so libcurl would write the keys of every TLS session to that file.
///
/// Anyone who can read the file can decrypt the traffic.
package struct TLSKeysWouldBeWritten: ExplainedError {
    /// Whose connections they are.
    private let server: String

    package init(of server: String = "Apple") { self.server = server }

    package var status: ExitStatus { .configuration }

    package var sentence: String {
        "SSLKEYLOGFILE is set: the keys of every connection to \(server) would be written to a file. Unset it"
    }
}
