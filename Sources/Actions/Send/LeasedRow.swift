import ActionKinds
import AppStoreModel
import Basics
package import JobFiles
import StrictJSON

/// One row of a batch that is leased to this process.
struct LeasedRow: Sendable {
    let position: Int64
    let parameters: ActionParameters
    /// Increases with every lease of the row.
    ///
    /// An outcome with an older epoch changes nothing.
    let epoch: Int64
    /// The ID of the request, sixteen bytes; the same for every attempt.
    let requestID: [UInt8]
    /// Whether a request of the row was sent whose outcome is not known.
    var mayBeApplied: Bool
    /// Whether the deadline of the row has passed, so that no request of it may be sent.
    let isLate: Bool
    /// What Apple answered before, such as `effectiveDate`.
    var answer: JSONObject?
    /// The subscription's expiresDate when the batch was planned; `nil` if it is not known, or not the last one before the request.
    var expiresDateBefore: UnixMilliseconds?
    /// Its last transaction in the ledger at that time.
    let transactionIDBefore: String?
    /// The original transaction ID of the row's subscription or purchase in the ledger; `nil` if the plan did not look it up.
    var originalTransactionID: String?
    /// The `requestReferenceId` in the ledger at that time, from the last Advanced Commerce request before.
    var requestReferenceIDBefore: String?

    var lease: HeldRow { HeldRow(position: position, epoch: epoch) }
}

/// Identifies one lease of a row.
struct HeldRow: Hashable, Sendable {
    let position: Int64
    let epoch: Int64
}

/// The state of a row; see `action_rows.state`.
package enum RowState: String, CaseIterable, Sendable {
    case planned, approved, sending, succeeded, rejected, unknown, confirming
    case notApplied = "not_applied"
    case skipped, cancelled

    /// The result file of rows in this state.
    package var file: ActionResultFile {
        switch self {
        case .succeeded: .succeeded
        case .rejected: .rejected
        case .sending, .unknown, .confirming: .unknown
        case .planned, .approved, .notApplied, .skipped, .cancelled: .unprocessed
        }
    }
}

/// Why a request is sent; see `action_attempts.purpose`.
enum AttemptPurpose: String, Sendable {
    case send
    case repeating = "repeat"
    case readBack = "read back"
    case status

    /// Whether Apple can change something because of the request.
    var mayChangeSomething: Bool { self == .send || self == .repeating }
}
