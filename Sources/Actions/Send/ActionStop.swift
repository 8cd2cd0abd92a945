package import Basics
package import Crawl

/// Why `actions run` ends early: the cause affects every row.
package enum ActionStop: ExplainedError, Equatable, Sendable, CustomStringConvertible {
    /// Apple refuses the key.
    case credentials(FailureReport)
    /// The app in the job file is not the app of the key.
    case otherApp(FailureReport)
    /// Apple's answers are not as documented, or too many requests have no usable answer.
    case contractBroken(FailureReport)
    /// `stopAfter` of the job file.
    case tooManyRejections(sentence: String)
    /// The ledger's clock and Apple's disagree.
    case clocks(sentence: String)

    package var status: ExitStatus {
        switch self {
        case .credentials: .refused
        case .otherApp, .clocks: .configuration
        case .contractBroken, .tooManyRejections: .contractBroken
        }
    }

    /// The cause and the remedy.
    package var description: String {
        switch self {
        case .credentials(let report):
            "\(report.sentence) \(report.remedy ?? FailureReport.credentialsRemedy) Rows that were not sent stay approved"
        case .otherApp(let report):
            "\(report). Check the app's bundle ID and environment in the job file. Rows that were not sent stay approved"
        case .contractBroken(let report):
            "\(report). storeledger actions run JOB continues with the remaining rows, and finds out unknown outcomes first"
        case .tooManyRejections(let sentence):
            "\(sentence). storeledger actions status JOB shows Apple's reasons. Rows that were not sent stay approved; to send them anyway, raise stopAfter and run again"
        case .clocks(let sentence):
            "\(sentence). Set the clock of the database server (NTP), then run again"
        }
    }
}
