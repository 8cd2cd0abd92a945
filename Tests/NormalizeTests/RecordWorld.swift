import AppStoreModel
import LedgerSchema
import Normalize
import Postgres
import SignedData
import Streams
import StrictJSON
import TestSupport

/// A small App Store with its own keys, and the normalizer that trusts it.
struct RecordWorld {
    static let now = UnixMilliseconds(rawValue: 1_780_000_000_000)
    static let bundleId = "com.example.game"
    static let appAppleId: Int64 = 1_234_567_890

    let environment: AppStoreEnvironment
    private let issuer: JWSIssuer
    private let recordVerifier: RecordVerifier

    init(_ environment: AppStoreEnvironment = .production) throws {
        let authority = try CertificateAuthority(from: Self.now - .seconds(864_000), to: Self.now + .seconds(864_000))
        self.environment = environment
        issuer = authority.issuer
        recordVerifier = RecordVerifier(
            bundleId: Self.bundleId,
            environment: environment,
            appAppleId: Self.appAppleId,
            verifier: try JWSVerifier(trustedRoots: [authority.root.der])
        )
    }

    func sign(_ json: String) throws -> String {
        try issuer.sign(payload: Array(json.utf8))
    }

    func normalize(
        _ records: PageRecord...,
        from stream: StreamName = .transactionHistory,
        item: String = "1"
    ) -> PageRows {
        let page = Page(records: records, cursor: nil, hasMore: false)
        return Normalizer.normalize(recordVerifier.verify(page, from: stream, item: item, now: Self.now))
    }

    /// As a replay does, whose records came in many answers.
    func normalize(archived notifications: String...) throws -> PageRows {
        let records = try notifications.map { SignedText.text(try sign($0)) }
        return Normalizer.normalize(
            recordVerifier.verify(archived: records, as: .notification, areRefunds: false, now: Self.now)
        )
    }

    func normalize(anyKind json: String, isRefund: Bool = false) throws -> PageRows {
        Normalizer.normalize(recordVerifier.verify(anyKind: try sign(json), isRefund: isRefund, now: Self.now))
    }

    func normalize(transactions: String..., areRefunds: Bool = false) throws -> PageRows {
        let record = areRefunds ? PageRecord.refund : PageRecord.transaction
        let page = Page(records: try transactions.map { record(try sign($0)) }, cursor: nil, hasMore: false)
        return Normalizer.normalize(
            recordVerifier.verify(
                page,
                from: areRefunds ? .refundHistory : .transactionHistory,
                item: "1",
                now: Self.now
            )
        )
    }

    func normalize(notifications: String..., sendAttempts: String = "[]") throws -> PageRows {
        let attempts = try StrictJSON.scan(Array(sendAttempts.utf8)).array ?? []
        let records = try notifications.map { PageRecord.notification(jws: try sign($0), sendAttempts: attempts) }
        let page = Page(records: records, cursor: nil, hasMore: false)
        return Normalizer.normalize(recordVerifier.verify(page, from: .notificationHistory, item: "1", now: Self.now))
    }
}

/// Payloads as JSON text; `changes` replaces members by JSON text, adds them, or with `nil` removes them.
extension RecordWorld {
    func transaction(_ changes: KeyValuePairs<String, String?> = [:]) -> String {
        jsonText(
            [
                ("transactionId", #""2000000000000001""#), ("originalTransactionId", #""2000000000000000""#),
                ("bundleId", "\"\(Self.bundleId)\""), ("environment", "\"\(environment.rawValue)\""),
                ("productId", #""pro.monthly""#), ("price", "9990"), ("currency", #""USD""#),
                ("purchaseDate", "1779999000000"), ("signedDate", "1779999999000"),
            ],
            changing: changes
        )
    }

    func renewal(_ changes: KeyValuePairs<String, String?> = [:]) -> String {
        jsonText(
            [
                ("originalTransactionId", #""2000000000000000""#), ("environment", "\"\(environment.rawValue)\""),
                ("productId", #""pro.monthly""#), ("autoRenewStatus", "1"), ("signedDate", "1779999999000"),
            ],
            changing: changes
        )
    }

    func appTransaction(_ changes: KeyValuePairs<String, String?> = [:]) -> String {
        jsonText(
            [
                ("appTransactionId", #""700000000000000001""#), ("bundleId", "\"\(Self.bundleId)\""),
                ("appAppleId", "\(Self.appAppleId)"), ("receiptType", "\"\(environment.rawValue)\""),
                ("originalPlatform", #""iOS""#), ("receiptCreationDate", "1779999999000"),
            ],
            changing: changes
        )
    }

    func notification(_ changes: KeyValuePairs<String, String?> = [:]) -> String {
        jsonText(
            [
                ("notificationUUID", #""11111111-2222-3333-4444-555555555555""#),
                ("notificationType", #""DID_RENEW""#), ("version", #""2.0""#), ("signedDate", "1779999999000"),
                ("data", data()),
            ],
            changing: changes
        )
    }

    /// `data`, `summary` or `appData`: what names the app.
    func data(_ changes: KeyValuePairs<String, String?> = [:]) -> String {
        jsonText(
            [
                ("bundleId", "\"\(Self.bundleId)\""), ("appAppleId", "\(Self.appAppleId)"),
                ("environment", "\"\(environment.rawValue)\""),
            ],
            changing: changes
        )
    }
}

extension Snapshot {
    /// The cell of a column, which has to exist.
    func cell(_ column: String) -> Cell? {
        table.columns.firstIndex { $0.name == column }.map { row[$0] }
    }

    func rows(of child: Table) -> [[String: Cell]]? {
        children.first { $0.table == child }?.rows.map { row in
            Dictionary(uniqueKeysWithValues: zip(child.columns.map(\.name), row))
        }
    }
}

extension PageRows {
    func snapshots(of table: Table) -> [Snapshot] {
        snapshots.filter { $0.table == table }
    }

    /// Rejections, issues and drift together: none of them in an ordinary page.
    var remarks: [String] {
        rejected.map { "\($0.reason): \($0.detail)" } + issues.map { "\($0.path): \($0.found)" } + drift.map(\.path)
    }
}
