import AppStoreModel
import Basics
import JobPlan
import SignedData
import StrictJSON

/// Computes the hash of a batch: SHA-256 of the app, the job, the action and the normalised rows.
///
/// The same rows in the same order give the same hash, so it can be computed again from the ledger.
struct BatchDigest: ~Copyable {
    private var hash = SHA256()

    init(of job: ActionJob) {
        let identity = [job.app.bundleId, job.app.environment.rawValue, job.name, job.action.name.rawValue]
        hash.update(Array((identity.joined(separator: "\n") + "\n").utf8))
    }

    /// Adds the next row.
    ///
    /// - Parameters:
    ///   - position: From 1.
    ///   - json: ``JobPlan/ActionParameters/bytes`` of the row; `nil` for an invalid one.
    mutating func add(_ position: Int64, _ json: [UInt8]?) {
        hash.update(Array("\(position)\t".utf8) + (json ?? Array("invalid".utf8)) + [0x0A])
    }

    /// Hexadecimal.
    consuming func finish() -> String { hash.finish().hexadecimal }
}

extension ActionParameters {
    /// The values as compact JSON: what the hash of a batch covers.
    var bytes: [UInt8] { JSONWriter.bytes(.object(json)) }
}
