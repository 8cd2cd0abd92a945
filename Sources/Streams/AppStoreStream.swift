package import AppStoreModel
package import JobSyntax
package import LedgerSchema

/// One of Apple's endpoints that a job can name under `streams`, and everything StoreLedger knows about it.
///
/// The static members are the same for every job. A value is the stream's section of one job file, read and checked. To
/// add a stream, add one file with such a type and one line in ``AllStreams/types``.
package protocol AppStoreStream: Equatable, Sendable {
    // MARK: The call

    static var name: StreamName { get }

    /// Apple's limit for one app in production, in requests per second, enforced per hour.
    ///
    /// The sandbox allows a tenth. Apple can change the limit at any time, so a job can set another.
    /// Source: "Identifying rate limits", App Store Server API, read 2026-11.
    static var requestsPerSecond: Double { get }

    /// Whether Apple offers the call in the sandbox too.
    ///
    /// A Sandbox job with a stream that Apple offers only in production is refused.
    static var isInSandbox: Bool { get }

    /// Whether Apple offers the call in production too.
    ///
    /// A Production job with a stream that Apple offers only in the sandbox gets a warning; see ``SandboxOnly``.
    static var isInProduction: Bool { get }

    /// What Apple's error codes mean for an item of this stream.
    ///
    /// A code that is not listed fails the item.
    static var errorEffects: [AppleErrorCode: ErrorEffect] { get }

    /// Whether Apple documents the numbers of the call's errors.
    ///
    /// If not, a 400 or 404 with a code that ``errorEffects`` lacks can be a documented refusal of the item.
    static var hasNumberedErrors: Bool { get }

    /// The request for the next page of an item.
    ///
    /// - Parameters:
    ///   - item: Its cursor selects the page. Without a cursor it is the first.
    ///   - now: When the run began, so that every page of an item is requested with the same dates.
    /// - Returns: `nil` when the item is not one that this section plans.
    func request(for item: WorkItem, now: UnixMilliseconds) -> AppStoreRequest?

    /// Reads the body of a 200 answer of the endpoint's current version.
    ///
    /// - Throws: ``AppStoreModel/RequestFailure/badPage(reason:)``.
    static func page(_ body: [UInt8]) throws(RequestFailure) -> Page

    /// Reads the body of a 200 answer to a request of this section.
    ///
    /// - Throws: ``AppStoreModel/RequestFailure/badPage(reason:)``.
    func page(_ body: [UInt8]) throws(RequestFailure) -> Page

    /// A request for `doctor` that checks key, app, clock and network and costs one unit of the limit.
    ///
    /// `nil` if the stream has none.
    static func probe(at now: UnixMilliseconds, in environment: AppStoreEnvironment) -> AppStoreRequest?

    // MARK: The section of the job file

    /// The keys of the section.
    static var keys: [String] { get }

    /// Reads the section and reports its problems.
    init(_ section: Section)

    /// Reports problems of the section that depend on the job's other streams.
    func check(_ section: Section, beside streams: JobStreams)

    /// What must change in the section so that `changedSince` finds every customer; empty if nothing must change.
    func advice(forChangesSince since: DateExpression) -> [String]

    /// The settings that determine the stream's requests, by key.
    ///
    /// When one changes, old cursors become invalid.
    ///
    /// A filter that is not set is `nil`. Relative dates stay relative.
    var filters: [String: String?] { get }

    /// What Apple leaves out of its answers to a query.
    ///
    /// - Parameter query: ``JobFile/queryFingerprint(for:)`` of the query. The ledger has it for every item, so it also
    ///   tells what an item lacks that another job file requested.
    /// - Returns: One phrase each; empty for complete answers.
    static func omissions(of query: String) -> [String]

    /// Whether the stream's windows have every record of the app, which the receiver of notifications is compared with.
    ///
    /// - Parameter query: ``JobFile/queryFingerprint(for:)`` of the query.
    /// - Returns: False for a query with filters.
    static func readsEverything(_ query: String) -> Bool

    /// The other settings that must be the same when a run is resumed, as text; `nil` if there are none.
    var planFingerprint: String? { get }

    /// The stream's lines in the job file that `init` writes, without indentation; empty to omit the stream.
    static var linesOfNewJob: [String] { get }

    // MARK: The items

    /// What one item of the stream is.
    var items: ItemSource { get }

    /// The list of IDs in the stream's own section; `nil` if the stream has none.
    var ownList: (kind: IDKind, list: IDList)? { get }

    /// What the key of an item identifies, unless the item is a window.
    static var itemKind: IDKind { get }

    /// When the stream needs no transaction IDs, such as `with scope app`; empty if it never needs them, `nil` if it always does.
    static var needsNoTransactionIDs: String? { get }

    /// The dates that each request contains; `nil` if requests contain no dates.
    var dates: RequestedDates? { get }

    /// Whether a finished item keeps its cursor, so that the next run requests only what is new.
    ///
    /// A cursor is valid only for its query, and relative dates make the next query a different one.
    var keepsCursor: Bool { get }

    /// The end of the requested time; `nil` if the stream requests everything up to the moment at which the run began.
    func end(now: UnixMilliseconds) -> UnixMilliseconds?

    // MARK: The records

    /// The kind of the archived records that `replay` assigns to this stream.
    ///
    /// `nil` if it assigns them to another stream.
    static var replayedKind: RecordKind? { get }

    /// The kind of the unsigned answers that the stream returns completely for an item.
    ///
    /// A row that an answer lacks leaves the kind's table. `nil` for other streams.
    static var answerKind: AnswerKind? { get }

    /// The statuses whose subscriptions the stream returns completely for a customer; empty for all, `nil` for other streams.
    ///
    /// A subscription that an answer lacks no longer has one of them.
    var listedStatuses: [Int64]? { get }

    /// Whether the transactions that the stream returns are refunds.
    static var returnsRefunds: Bool { get }

    /// Whether the records tell which customers have changed, so that `changedSince` can follow them.
    static var namesChangedCustomers: Bool { get }
}

extension AppStoreStream {
    package static func requestsPerSecond(in environment: AppStoreEnvironment) -> Double {
        environment == .production ? requestsPerSecond : requestsPerSecond / 10
    }

    package var name: StreamName { Self.name }
    package static var isInSandbox: Bool { true }
    package static var isInProduction: Bool { true }
    package static var hasNumberedErrors: Bool { true }

    package func page(_ body: [UInt8]) throws(RequestFailure) -> Page { try Self.page(body) }
    package static func probe(at now: UnixMilliseconds, in environment: AppStoreEnvironment) -> AppStoreRequest? { nil }
    package static var keys: [String] { [] }
    package func check(_ section: Section, beside streams: JobStreams) {}
    package func advice(forChangesSince since: DateExpression) -> [String] { [] }
    package var filters: [String: String?] { [:] }
    package static func omissions(of query: String) -> [String] { [] }
    package static func readsEverything(_ query: String) -> Bool { false }
    package var planFingerprint: String? { nil }
    package static var linesOfNewJob: [String] { [] }
    package var items: ItemSource { .listedIDs }
    package var ownList: (kind: IDKind, list: IDList)? { nil }
    package static var itemKind: IDKind { .transaction }
    package static var needsNoTransactionIDs: String? { nil }
    package var dates: RequestedDates? { nil }
    package var keepsCursor: Bool { false }
    package func end(now: UnixMilliseconds) -> UnixMilliseconds? { nil }
    package static var replayedKind: RecordKind? { nil }
    package static var answerKind: AnswerKind? { nil }
    package var answerKind: AnswerKind? { Self.answerKind }
    package var listedStatuses: [Int64]? { nil }
    package static var returnsRefunds: Bool { false }
    package static var namesChangedCustomers: Bool { false }

    func isEqual(to other: any AppStoreStream) -> Bool { other as? Self == self }
}

/// What one item of a stream is.
package enum ItemSource: Sendable {
    /// One listed transaction ID, or one customer found by `changedSince`.
    case listedIDs
    /// One customer in whose history a revocation or a REFUND notification was seen, by this run or any earlier one.
    ///
    /// These are known once the other streams of the run have finished.
    case customersWithRevocation
    /// An app-wide window of at most a day.
    case windows
    /// One group of customers that the ledger knows.
    ///
    /// These are known once the other streams of the run have finished.
    case knownGroups
    /// One ID of the list in the stream's own section; see ``AppStoreStream/ownList``.
    case ownList

    /// Whether the items are customers that the job's transaction IDs identify.
    package var needsTransactionIDs: Bool { self == .listedIDs || self == .customersWithRevocation }
}
