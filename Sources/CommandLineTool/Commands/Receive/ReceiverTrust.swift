import AppStoreModel
import Basics
import JobFiles
import Ledger
import Normalize
import Pipeline
import Receiver
import SignedData
import Synchronization

/// The trusted roots and the shared secret of a receiver, as their files have them now.
///
/// A receiver works for months. So the files are read again after they were changed or replaced. Files that cannot be used leave
/// the old values in place.
actor ReceiverTrust {
    private typealias Roots = (verifier: JWSVerifier, fingerprints: [String])

    private let job: ReceiverJob
    private let watchesJobFile: Bool
    private let roots: ReadFiles<Roots>
    private let secret: ReadFiles<SharedSecret?>
    private let claim: @Sendable ([String]) async throws -> [String]
    private let remark: @Sendable (String) -> Void
    private let trust: Mutex<NotificationVerifier.Trust>
    /// Roots that the ledger has not accepted yet.
    private var waiting: Roots?
    private var jobStamp: FileStamp?

    /// Reads the files.
    ///
    /// - Parameters:
    ///   - watchesJobFile: Whether a change of the job file is remarked.
    ///   - claim: Records in the ledger under which roots the app's records are signed from now on, and returns messages for the
    ///     operator. It throws ``Ledger/OtherOrigin`` if the app has records under other roots.
    ///   - remark: Called with each message for the operator.
    /// - Throws: ``UntrustedRoot``, ``SignedData/KeyFileError``.
    init(
        of job: ReceiverJob,
        watchesJobFile: Bool,
        claim: @escaping @Sendable ([String]) async throws -> [String],
        remark: @escaping @Sendable (String) -> Void
    ) throws {
        self.job = job
        self.watchesJobFile = watchesJobFile
        self.claim = claim
        self.remark = remark
        jobStamp = FileStamp(of: job.path)
        let files = job.trustedRoots
        roots = try ReadFiles(files) {
            try Credentials.trust(roots: files)
        } again: {
            (try Credentials.trust(roots: files), files)
        }
        let path = job.receiver.sharedSecretFile
        let read = { @Sendable in try path.map { try SharedSecret.load(file: $0) } }
        secret = try ReadFiles([path].compactMap(\.self), first: read) { (try read(), [path].compactMap(\.self)) }
        trust = Mutex(Self.trust(job, roots.value, secret.value))
    }

    nonisolated var fingerprints: [String] { roots.value.fingerprints }
    nonisolated var now: NotificationVerifier.Trust { trust.withLock(\.self) }

    /// Reads the files again that have changed.
    func readAgain() async {
        switch roots.readAgain() {
        case .success(let new): waiting = new
        case .failure(let error): keep("the trusted roots", error)
        case nil: break
        }
        if let new = waiting {
            do {
                for sentence in try await claim(new.fingerprints) { remark(sentence) }
                waiting = nil
                trust.withLock { $0 = Self.trust(job, new, $0.secret) }
                remark("the trusted roots were read again")
            } catch let error as OtherOrigin {
                waiting = nil
                keep("the trusted roots", error)
            } catch {
                // The ledger cannot be asked now.
            }
        }
        switch secret.readAgain() {
        case .success(let new):
            trust.withLock { $0 = NotificationVerifier.Trust(records: $0.records, secret: new) }
            remark("the shared secret was read again")
        case .failure(let error): keep("the shared secret", error)
        case nil: break
        }
        let stamp = FileStamp(of: job.path)
        if watchesJobFile, stamp != jobStamp, stamp != nil {
            remark("\(job.path) has changed; the receiver works as it said before, until it is started again")
        }
        jobStamp = stamp ?? jobStamp
    }

    private func keep(_ what: String, _ error: any Error) {
        remark(
            "the new file of \(what) cannot be used, so what was read before stays in use: \(Failure(error).message)"
        )
    }

    private static func trust(
        _ job: ReceiverJob,
        _ roots: Roots,
        _ secret: SharedSecret?
    ) -> NotificationVerifier.Trust {
        NotificationVerifier.Trust(
            records: RecordVerifier(
                bundleId: job.app.bundleId,
                environment: job.app.environment,
                appAppleId: job.app.appAppleId,
                verifier: roots.verifier
            ),
            secret: secret
        )
    }
}
