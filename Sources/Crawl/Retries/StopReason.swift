import AppStoreModel
package import Basics
package import RateLimit
import Streams

/// Why a whole run ends early: the cause affects every item.
package enum StopReason: ExplainedError, Equatable, Sendable, CustomStringConvertible {
    /// The job requests something that Apple refuses.
    case badJob(FailureReport)
    /// Apple's answers are not as documented, or too many of them are errors.
    case contractBroken(FailureReport)
    /// Too many records failed verification that the ledger had not rejected before.
    case manyRejected(FailureReport)
    /// Apple refuses the key.
    case credentials(FailureReport)
    /// The app or environment in the job file is wrong.
    case configuration(FailureReport)
    /// The ledger's clock and Apple's disagree.
    case clocks(FailureReport)

    /// The limiter's view of the clocks, as a reason to stop.
    package init(_ disagreement: ClockDisagreement) {
        self = .clocks(FailureReport(message: disagreement.sentence))
    }

    package var status: ExitStatus {
        switch self {
        case .badJob: .badInput
        case .contractBroken, .manyRejected: .contractBroken
        case .credentials: .refused
        case .configuration, .clocks: .configuration
        }
    }

    /// The reason with the item of the refused request.
    func naming(_ item: WorkItem) -> StopReason {
        guard case .credentials(let report) = self else { return self }
        let cause = report.message.hasSuffix(".") ? String(report.message.dropLast()) : report.message
        let message = "\(cause) (requested: \(item.stream.rawValue) \(item.key))"
        return .credentials(FailureReport(status: report.status, code: report.code, message: message))
    }

    package var report: FailureReport {
        switch self {
        case .badJob(let report), .contractBroken(let report), .manyRejected(let report), .credentials(let report),
            .configuration(let report), .clocks(let report):
            report
        }
    }

    /// The cause and the remedy.
    package var description: String {
        let remedy =
            switch self {
            case .badJob: "Correct the stream's parameters in the job file."
            case .contractBroken:
                """
                storeledger doctor JOB checks the connection to Apple and its answers. Committed pages are kept, and the next start \
                continues after them.
                """
            case .manyRejected:
                "storeledger rejects JOB lists the rejected records. The next start does not stop for this reason."
            case .credentials(let report): report.remedy ?? FailureReport.credentialsRemedy
            case .configuration: "Check the app's bundle ID and environment in the job file."
            case .clocks: "Set the clock of the database server (NTP), then run again. The last answer was not stored."
            }
        return "\(report.sentence) \(remedy)"
    }
}

extension FailureReport {
    /// The remedy for a refused key of which nothing more is known.
    package static let credentialsRemedy = """
        Check issuerId, keyId, the key, bundleId and environment in the job file, and this machine's clock. An app \
        that was never released exists only in Sandbox.
        """
}
