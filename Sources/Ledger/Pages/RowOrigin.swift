package import AppStoreModel
import JobPlan
package import LedgerSchema

/// The origin of a batch of rows; stored with the rows.
package struct RowOrigin: Sendable {
    package let app: AppID
    package let job: String
    /// `nil` for rows that a replay makes.
    package let run: Int64?
    package let stream: StreamName
    /// The transaction ID of the user's list in whose history the rows were found.
    package let listedTransactionID: String?
    /// The latest time at which Apple responded; `nil` for rows that were not just fetched from Apple.
    package let readAt: UnixMilliseconds?
    /// Whether the job has read the day of these notifications before, so that new ones are late.
    package let isSecondReading: Bool

    /// The tables contain 0 for rows without a run.
    var runNumber: Int64 { run ?? 0 }

    private var streamType: (any AppStoreStream.Type)? { AllStreams.type(of: stream) }

    /// Whether the transactions are refunds.
    var bringsRefunds: Bool { streamType?.bringsRefunds ?? false }

    /// Whether the rows identify customers with changes.
    var namesChangedCustomers: Bool { streamType?.namesChangedCustomers ?? false }

    package init(
        app: AppID,
        job: String,
        run: Int64?,
        stream: StreamName,
        listedTransactionID: String?,
        readAt: UnixMilliseconds? = nil,
        isSecondReading: Bool = false
    ) {
        self.app = app
        self.job = job
        self.run = run
        self.stream = stream
        self.listedTransactionID = listedTransactionID
        self.readAt = readAt
        self.isSecondReading = isSecondReading
    }
}
