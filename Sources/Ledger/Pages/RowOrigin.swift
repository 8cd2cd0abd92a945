package import AppStoreModel
package import LedgerSchema
import Streams

/// The origin of a batch of rows; stored with the rows.
package struct RowOrigin: Sendable {
    package let app: AppID
    package let job: String
    /// `nil` for rows that a replay makes.
    package let run: Int64?
    package let stream: StreamName
    /// The transaction ID from the job's list in whose history the rows were found; `nil` for all other rows.
    package let listedTransactionID: String?
    /// The order whose lookup returned the rows; `nil` for all other rows.
    package let orderID: String?
    /// See ``Streams/AppStoreStream/listedStatuses``.
    package let listedStatuses: [Int64]?
    /// Set if the rows end an answer that is whole, so that rows of earlier answers have left.
    package let wholeAnswer: WholeAnswer?
    /// When the rows were fetched from Apple, at the latest; `nil` for rows of a replay.
    package let readAt: UnixMilliseconds?
    /// Whether the job has read the day of these notifications before, so that new ones are late.
    package let isSecondReading: Bool

    /// An answer that replaces rows of earlier ones.
    package enum WholeAnswer: Sendable {
        /// All groups of the listed customer.
        case groupsOfCustomer
        /// The last page of a group's members; the run that asked for the pages began at `since`.
        case membersOfGroup(String, since: UnixMilliseconds)
    }

    /// The tables contain 0 for rows without a run.
    var runNumber: Int64 { run ?? 0 }

    /// The ID for which Apple returned the rows.
    ///
    /// All of them belong to one customer.
    var listed: CustomerID? { listedTransactionID.map(CustomerID.transaction) ?? orderID.map(CustomerID.order) }

    private var streamType: (any AppStoreStream.Type)? { AllStreams.type(of: stream) }

    /// Whether the transactions of the rows are refunds.
    var returnsRefunds: Bool { streamType?.returnsRefunds ?? false }

    /// Whether the rows identify customers with changes.
    var namesChangedCustomers: Bool { streamType?.namesChangedCustomers ?? false }

    package init(
        app: AppID,
        job: String,
        run: Int64?,
        stream: StreamName,
        listedTransactionID: String?,
        readAt: UnixMilliseconds? = nil,
        isSecondReading: Bool = false,
        orderID: String? = nil,
        listedStatuses: [Int64]? = nil,
        wholeAnswer: WholeAnswer? = nil
    ) {
        self.app = app
        self.job = job
        self.run = run
        self.stream = stream
        self.listedTransactionID = listedTransactionID
        self.readAt = readAt
        self.isSecondReading = isSecondReading
        self.orderID = orderID
        self.listedStatuses = listedStatuses
        self.wholeAnswer = wholeAnswer
    }
}
