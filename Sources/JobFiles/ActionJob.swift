package import ActionKinds
import AppStoreModel

/// A job file with `action` in place of `streams`, read and checked, with every default filled in.
///
/// Paths are absolute. Relative paths in the file start at the directory of the job file.
package struct ActionJob: RequestingJob {
    /// Who must approve a batch, and for how long an approval counts.
    package struct Approval: Equatable, Sendable {
        /// Whether `actions run` sends only approved batches.
        package let isRequired: Bool
        /// The most rows of a batch that is sent; `nil` for no limit.
        package let maximumRows: Int64?
        /// How long after the approval a row can be sent for the first time: 7 days unless the file says otherwise.
        package let expires: Duration
    }

    /// When `actions run` stops because Apple refuses too much; `nil` never stops.
    package struct StopRule: Equatable, Sendable {
        package let consecutiveRejections: Int?
        /// Of the rows that have an outcome, at least ``leastRows`` of them.
        package let rejectedShare: Double?

        /// A share of fewer rows means nothing.
        package static let leastRows = 20
    }

    /// The source of the rows.
    package enum Input: Equatable, Sendable {
        case csv(path: String)
        /// A JSON Lines file, for an action that ``AppStoreAction/groupsRows``.
        case json(path: String)
        /// A folder with CSV files and what they name, for an action that ``AppStoreAction/takesFolder``.
        case folder(path: String)
        /// One SELECT or WITH statement for the job's database, without a semicolon.
        case query(String)
        /// The open refund requests of the ledger, answered by a policy.
        case policy(ConsumptionPolicy)
        /// One row, whose values are in the section of the action if it has columns.
        case none
    }

    package let path: String
    package let name: String
    package let app: JobFile.App
    package let appStore: JobFile.AppStore
    package let action: any AppStoreAction.Type
    /// The defaults of columns, from the action's section.
    package let defaults: [String: ActionValue]
    package let input: Input
    package let approval: Approval
    package let stopAfter: StopRule
    package let limits: JobLimits
    package let postgres: PostgresOutput
    /// Where `actions run` writes the result files; `nil` if it writes none.
    package let resultsDirectory: String?
    package let warnings: [String]

    /// Scheme, host and port of the server to which the requests of the action go.
    package var requestURL: String {
        action.usesSandboxHost && !appStore.isLoopback ? AppStoreEnvironment.sandbox.baseURL : appStore.requestURL
    }

    /// The policy that answers refund requests; `nil` for a job with an input.
    package var policy: ConsumptionPolicy? {
        guard case .policy(let policy) = input else { return nil }
        return policy
    }
}
