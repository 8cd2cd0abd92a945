import ActionKinds
import AppStoreModel
import Basics
import Hashing
import JobFiles
import StrictJSON

/// Computes the hash from which the IDs of a batch and of its requests follow: SHA-256 of the app, the job, the action and the
/// normalised rows.
///
/// The same input gives the same hash, whatever the ledger knows, so a lost database gives the same IDs. An approval names another hash,
/// ``ActionBatch/sha256``.
struct BatchDigest: ~Copyable {
    private var hash = SHA256()

    /// What every hash of a batch begins with.
    static func identity(of job: ActionJob) -> String {
        let identity = [job.app.bundleId, job.app.environment.rawValue, job.name, job.action.name.rawValue]
        return identity.joined(separator: "\n") + "\n"
    }

    init(of job: ActionJob) {
        hash.update(Array(Self.identity(of: job).utf8))
    }

    /// Adds the next row.
    ///
    /// - Parameters:
    ///   - position: From 1.
    ///   - json: ``ActionKinds/ActionParameters/bytes`` of the row; `nil` for an invalid one.
    mutating func add(_ position: Int64, _ json: [UInt8]?) {
        hash.update(Array("\(position)\t".utf8) + (json ?? Array("invalid".utf8)) + [0x0A])
    }

    /// Hexadecimal.
    consuming func finish() -> String { hash.finish().hexadecimal }
}

extension ActionParameters {
    /// The values as compact JSON: what the hash of the input covers.
    var bytes: [UInt8] { JSONWriter.bytes(.object(json)) }
}
