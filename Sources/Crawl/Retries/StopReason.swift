/// Why a whole run ends early: what is wrong is wrong for every item.
package enum StopReason: Error, Equatable, Sendable, CustomStringConvertible {
    /// The job asks for something Apple refuses.
    case badJob(FailureReport)
    /// Apple's answers, or the share of them that fail, are not what the documentation promises.
    case contractBroken(FailureReport)
    /// Too many of the records that were met for the first time failed verification.
    case manyRejected(FailureReport)
    /// Apple refuses the key.
    case credentials(FailureReport)
    /// The app that the job names is not the key's.
    case configuration(FailureReport)
    /// The ledger's clock and Apple's disagree.
    case clocks(FailureReport)

    /// What the process ends with; source: the contract, "Exit codes".
    package var exitCode: Int32 {
        switch self {
        case .badJob: 65
        case .contractBroken, .manyRejected: 76
        case .credentials: 77
        case .configuration, .clocks: 78
        }
    }

    package var report: FailureReport {
        switch self {
        case .badJob(let report), .contractBroken(let report), .manyRejected(let report), .credentials(let report),
            .configuration(let report), .clocks(let report):
            report
        }
    }

    /// What was found, and what would mend it.
    package var description: String {
        let remedy =
            switch self {
            case .badJob: "Correct the stream's parameters in the job file."
            case .contractBroken: "Nothing is lost: run again once the cause is mended."
            case .manyRejected:
                "Nothing is lost: the records are in rejected_records, and the next start goes on without stopping for this."
            case .credentials: "Check issuer ID, key ID and private key file, and this machine's clock."
            case .configuration: "Check the app's bundle ID and environment in the job file."
            case .clocks: "Set the clock of the database server (NTP), then run again: nothing of it was stored."
            }
        return "\(report). \(remedy)"
    }
}
