import AppStoreModel
import Basics
import Crawl
import Pipeline
import RateLimit
import Receiver
import Streams

/// An event that slows a run or a receiver, or loses data.
///
/// It can happen thousands of times, so ``RecurringTroubles`` merges them.
enum Trouble: Sendable, Equatable {
    /// No session with PostgreSQL can be opened; the attempt is repeated.
    case databaseWait(String)
    /// A session waits for a lock that another one holds.
    case lockWait(String)
    /// A request of a stream failed, and is repeated.
    case failedRequest(StreamName, String)
    /// Apple answered 429, and the stream waits.
    case limitReached(StreamName, until: UnixMilliseconds, oddity: String?)
    /// Records of a stream could not be verified, or not be read.
    case rejected(StreamName, records: Int, reason: String)
    /// No item can be taken: other processes work on the rest, or it is postponed.
    ///
    /// The next one is free at `until`, unless its lease is renewed.
    case idle(until: UnixMilliseconds?)
    /// PostgreSQL's clock has to reach `latest` before requests of a stream are granted.
    case clockIsBehind(StreamName, latest: UnixMilliseconds, by: Duration)
    /// A receiver has answered a notification with 503, because it cannot be verified.
    case refusedNotification(reason: String, String)
    /// A receiver has answered a notification with 503, because it cannot be stored.
    case notStored(String)
    /// A receiver cannot make records of notifications.
    case notNormalized(String)
    /// A receiver cannot deliver notifications to a further server.
    case notForwarded(String)

    init(_ wait: DatabaseWait) {
        switch wait {
        case .session(let message): self = .databaseWait(message)
        case .lock(let clause): self = .lockWait(clause)
        }
    }

    /// The troubles in an event of a receiver.
    init?(_ event: ReceiverEvent) {
        switch event {
        case .listening, .remark: return nil
        case .refused(let reason, let detail): self = .refusedNotification(reason: reason, detail)
        case .notStored(let error): self = .notStored(Failure(error).message)
        case .notNormalized(let error): self = .notNormalized(Failure(error).message)
        case .skipped(let key, let error):
            self = .notNormalized("\(key) is skipped until the receiver is restarted: \(Failure(error).message)")
        case .notForwarded(let url, let reason): self = .notForwarded("to \(url): \(reason)")
        case .forwardingWaits(let error): self = .notForwarded(Failure(error).message)
        }
    }

    /// The troubles in an event of a run.
    init?(_ event: RunEvent) {
        switch event {
        case .crawl(.retrying(let item, let failure, _)):
            self = .failedRequest(item.stream, failure.report.description)
        case .crawl(.ended(let item, .deferred(_, let code, let message))):
            self = .failedRequest(item.stream, message + (code.map { " (\($0))" } ?? ""))
        case .crawl(.closed(let stream, let opening)):
            self = .limitReached(stream, until: opening.moment, oddity: opening.oddity?.rawValue)
        case .crawl(.committed(let outcome, _)):
            guard let reason = outcome.rejected.first else { return nil }
            self = .rejected(outcome.item.stream, records: outcome.rejected.count, reason: reason)
        case .crawl(.idle(let moment)):
            self = .idle(until: moment)
        case .crawl(.clockIsBehind(let stream, let latest, let difference)):
            self = .clockIsBehind(stream, latest: latest, by: difference)
        default:
            return nil
        }
    }

    /// Troubles of one kind are merged.
    enum Kind: CaseIterable, Sendable {
        case databaseWait, lockWait, failedRequest, limitReached, rejected, idle, clockIsBehind
        case refusedNotification, notStored, notNormalized, notForwarded
    }

    var kind: Kind {
        switch self {
        case .databaseWait: .databaseWait
        case .lockWait: .lockWait
        case .failedRequest: .failedRequest
        case .limitReached: .limitReached
        case .rejected: .rejected
        case .idle: .idle
        case .clockIsBehind: .clockIsBehind
        case .refusedNotification: .refusedNotification
        case .notStored: .notStored
        case .notNormalized: .notNormalized
        case .notForwarded: .notForwarded
        }
    }

    /// How much it adds to the count of its kind.
    var count: Int {
        if case .rejected(_, let records, _) = self { records } else { 1 }
    }

    /// The fields of its record in JSON logs.
    var fields: [String: String] {
        switch self {
        case .databaseWait, .lockWait, .notStored, .notNormalized, .notForwarded: [:]
        case .idle(let moment): moment.map { ["until": "\($0.rawValue)"] } ?? [:]
        case .clockIsBehind(let stream, let latest, _): ["stream": stream.rawValue, "until": "\(latest.rawValue)"]
        case .refusedNotification(let reason, _): ["reason": reason]
        case .failedRequest(let stream, _): ["stream": stream.rawValue]
        case .limitReached(let stream, let moment, _): ["stream": stream.rawValue, "until": "\(moment.rawValue)"]
        case .rejected(let stream, _, let reason): ["stream": stream.rawValue, "reason": reason]
        }
    }

    var sentence: String {
        switch self {
        case .databaseWait(let message):
            "waiting for PostgreSQL: \(message)"
        case .lockWait(let clause):
            "waiting \(clause)"
        case .failedRequest(let stream, let message):
            "a request of \(stream.rawValue) failed and is repeated: \(message)"
        case .limitReached(let stream, let moment, let oddity):
            "Apple's limit of \(stream.rawValue) is reached; waiting until \(moment.clockTime) UTC"
                + (oddity.map { " (unusual Retry-After: \($0))" } ?? "")
        case .rejected(let stream, let records, let reason):
            "\(counted(records, "record")) of \(stream.rawValue) rejected: \(reason)"
        case .idle(let moment):
            "waiting for the last items: other processes hold them (after a kill for up to 60 s), or they are waiting to be retried"
                + (moment.map { "; the next one is available at \($0.clockTime) UTC unless its lease is renewed" }
                    ?? "")
        case .clockIsBehind(_, let latest, let difference):
            "PostgreSQL's clock is \(difference.inWords) behind the ledger's latest moment (\(latest.clockTime) UTC); no request is sent until then"
        case .refusedNotification(let reason, let detail):
            "a notification cannot be verified and was answered 503 (\(reason)): \(detail)"
        case .notStored(let message):
            "a notification could not be stored and was answered 503: \(message)"
        case .notNormalized(let message):
            "received notifications could not be normalised: \(message)"
        case .notForwarded(let message):
            "a notification could not be forwarded and is posted again later: \(message)"
        }
    }
}

/// A trouble with the sentence to report.
struct TroubleReport: Sendable, Equatable {
    let trouble: Trouble
    let sentence: String
}

/// Decides when troubles are reported: the first of each kind at once, later ones at most once a minute, with their number.
struct RecurringTroubles: Sendable {
    static let interval = Duration.seconds(60)

    private struct Record {
        var reportedAt: Duration
        var count = 0
        var latest: Trouble?
    }

    private var records: [Trouble.Kind: Record] = [:]

    /// - Returns: What to report now; `nil` if it comes later, with others of its kind.
    mutating func note(_ trouble: Trouble, at now: Duration) -> TroubleReport? {
        guard var record = records[trouble.kind] else {
            records[trouble.kind] = Record(reportedAt: now)
            return TroubleReport(trouble: trouble, sentence: trouble.sentence)
        }
        record.count += trouble.count
        record.latest = trouble
        records[trouble.kind] = record
        return due(trouble.kind, at: now)
    }

    /// The delayed troubles that are due now, in the order of the kinds.
    mutating func due(at now: Duration) -> [TroubleReport] {
        Trouble.Kind.allCases.compactMap { due($0, at: now) }
    }

    private mutating func due(_ kind: Trouble.Kind, at now: Duration) -> TroubleReport? {
        guard let record = records[kind], let latest = record.latest, now - record.reportedAt >= Self.interval else {
            return nil
        }
        records[kind] = Record(reportedAt: now)
        let period = (now - record.reportedAt).inWords
        let number = record.count > latest.count ? " (\(record.count) in the last \(period))" : ""
        return TroubleReport(trouble: latest, sentence: latest.sentence + number)
    }
}
