package import AppStoreModel
package import LedgerTables

/// One of Apple's calls that a job can name under `streams`, with everything StoreLedger knows about it.
///
/// The type says what holds for every job. A value is the stream's section of one job file, read and checked. A new stream
/// is one file with such a type, and one line in ``AllStreams/types``.
package protocol AppStoreStream: Equatable, Sendable {
    // MARK: The call

    static var name: StreamName { get }

    /// Apple's limit for one app in production, in requests per second, enforced per hour.
    ///
    /// The sandbox allows a tenth. Apple may change it at any time, so a job can set another.
    /// Source: "Identifying rate limits", App Store Server API, read 2026-11.
    static var requestsPerSecond: Double { get }

    /// What Apple's error codes mean for an item of this stream; a code that is missing here fails the item.
    static var errorEffects: [AppleErrorCode: ErrorEffect] { get }

    /// The request for the next page of an item.
    ///
    /// - Parameters:
    ///   - item: Its cursor says which page; without one it is the first.
    ///   - now: When the run began, so that every page of an item is requested with the same dates.
    /// - Returns: `nil` when the item is not one that this section plans.
    func request(for item: WorkItem, now: UnixMilliseconds) -> AppStoreRequest?

    /// Reads the body of a 200 answer.
    ///
    /// - Throws: ``AppStoreModel/RequestFailure/badPage(reason:)``.
    static func page(_ body: [UInt8]) throws(RequestFailure) -> Page

    /// A request that costs one unit of the limit and shows whether key, clock and network are in order; `nil` where the
    /// call has none.
    static func probe(at now: UnixMilliseconds) -> AppStoreRequest?

    // MARK: The section of the job file

    /// The keys of the section.
    static var keys: [String] { get }

    /// Reads the section, and reports what is wrong with it.
    init(_ section: Section)

    /// Reports what is wrong with the section in a job that has these streams.
    func check(_ section: Section, beside streams: JobFile.Streams)

    /// What must change in the section so that `changedSince` finds every customer; empty when nothing must.
    func advice(forChangesSince since: DateExpression) -> [String]

    /// What shapes the stream's requests, by key: when it changes, cursors made with the old filters are of no use.
    ///
    /// A filter that is not set is `nil`. Relative dates stay relative.
    var filters: [String: String?] { get }

    /// What else of the section another run would be needed for; `nil` where nothing is.
    var planFingerprint: String? { get }

    /// The stream's lines in the job file that `init` writes, without indentation; empty to leave the stream out.
    static var linesOfNewJob: [String] { get }

    // MARK: The items

    /// What one item of the stream is.
    var items: ItemSource { get }

    /// The dates that each request names; `nil` where requests name none.
    var dates: RequestedDates? { get }

    /// Whether a finished item keeps its cursor, so that the next run requests only what is new.
    ///
    /// A cursor is bound to its query: with dates relative to now, the next query is another one.
    var keepsCursor: Bool { get }

    /// Until when Apple was asked for records; `nil` for everything until the run began.
    func end(now: UnixMilliseconds) -> UnixMilliseconds?

    // MARK: The records

    /// The kind of the signed records in an answer, which a replay of the archive files under this stream; `nil` where
    /// another stream replays them.
    static var replayedKind: RecordKind? { get }

    /// Whether the transactions of an answer are refunds.
    static var bringsRefunds: Bool { get }

    /// Whether the records tell which customers have changed, so that `changedSince` can follow them.
    static var namesChangedCustomers: Bool { get }
}

extension AppStoreStream {
    package static func requestsPerSecond(in environment: AppStoreEnvironment) -> Double {
        environment == .production ? requestsPerSecond : requestsPerSecond / 10
    }

    package var name: StreamName { Self.name }

    package static func probe(at now: UnixMilliseconds) -> AppStoreRequest? { nil }
    package static var keys: [String] { [] }
    package func check(_ section: Section, beside streams: JobFile.Streams) {}
    package func advice(forChangesSince since: DateExpression) -> [String] { [] }
    package var filters: [String: String?] { [:] }
    package var planFingerprint: String? { nil }
    package static var linesOfNewJob: [String] { [] }
    package var items: ItemSource { .listedIDs }
    package var dates: RequestedDates? { nil }
    package var keepsCursor: Bool { false }
    package func end(now: UnixMilliseconds) -> UnixMilliseconds? { nil }
    package static var replayedKind: RecordKind? { nil }
    package static var bringsRefunds: Bool { false }
    package static var namesChangedCustomers: Bool { false }

    func isEqual(to other: any AppStoreStream) -> Bool { other as? Self == self }
}

/// What one item of a stream is.
package enum ItemSource: Sendable {
    /// One listed transaction ID, or one customer that `changedSince` names.
    case listedIDs
    /// One customer in whose history a revocation or a REFUND notification was seen, by this run or any earlier one.
    ///
    /// These are known once the other streams of the run have finished.
    case customersWithRevocation
    /// A window of at most a day, for the whole app.
    case windows
}
