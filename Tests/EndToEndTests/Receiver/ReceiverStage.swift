import AppStoreModel
import FoundationEssentials
import TestSupport
import Testing

@testable import SignedData

/// What a test of `storeledger receive` runs on: a database, a job file, and an authority that signs notifications.
struct ReceiverStage: Sendable {
    let scene: RecordScene
    let directory: String
    /// The path of the job file.
    let job: String
    /// The path of a crawl's job file over the same ledger, for commands that a receiver's job is not for.
    let crawl: String
    private let databaseURL: String
    /// Names the database to a program.
    var environment: [String: String] { ["DATABASE_URL": databaseURL] }

    /// A secret that no output and no table may contain.
    static let secret = "0123456789abcdef-shared-secret"

    /// Runs `body` with a stage on the test's own database, which has the schema already.
    ///
    /// - Parameters:
    ///   - databaseURL: Another database, which gets the schema.
    ///   - receiver: The section of the job file.
    ///   - body: The test.
    /// - Returns: What `body` returns.
    /// - Throws: The error of `body`.
    static func with<Result>(
        databaseURL: String? = nil,
        receiver: String = "{listen: \"127.0.0.1:0\", sharedSecretFile: shared-secret}",
        _ body: (ReceiverStage) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryDirectory { directory in
            let url = try databaseURL ?? TemporaryDatabase.conninfo
            let stage = try ReceiverStage(directory: directory, databaseURL: url, receiver: receiver)
            let isCopy = databaseURL == nil ? try await TemporaryDatabase.become(copyOf: .migrated) : false
            if !isCopy {
                let outcome = try await stage.storeledger("migrate", stage.job)
                try #require(outcome.code == 0, "\(outcome.errors)")
            }
            return try await body(stage)
        }
    }

    private init(directory: String, databaseURL: String, receiver: String) throws {
        self.directory = directory
        self.databaseURL = databaseURL
        scene = try RecordStage.scenes(1)[0]
        job = directory + "/receiver.yaml"
        crawl = directory + "/crawl.yaml"
        try Data(Self.crawlText.utf8).write(to: URL(filePath: crawl))
        try Data(scene.authority.root.der).write(to: URL(filePath: directory + "/root.cer"))
        try Data((Self.secret + "\n").utf8).write(to: URL(filePath: directory + "/shared-secret"))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: directory + "/shared-secret")
        try Data(Self.jobText(receiver).utf8).write(to: URL(filePath: job))
    }

    private static func jobText(_ receiver: String) -> String {
        """
        version: 1
        name: receiver
        app: {bundleId: com.example.game, appAppleId: 1234567890, environment: Production}
        appStore: {baseURL: "http://127.0.0.1:9", trustedRoots: [root.cer]}
        receiver: \(receiver)
        output: {postgres: {url: "${DATABASE_URL}"}}

        """
    }

    private static let crawlText = """
        version: 1
        name: crawl
        app: {bundleId: com.example.game, appAppleId: 1234567890, environment: Production}
        appStore:
          issuerId: 57246542-96fe-1a63-e053-0824d011072a
          keyId: 2X9R4HXF34
          privateKeyFile: none.p8
          baseURL: http://127.0.0.1:9
          trustedRoots: [root.cer]
        streams: {notificationHistory: {scope: app}}
        output: {postgres: {url: "${DATABASE_URL}"}}

        """

    /// Runs `storeledger` to its end.
    func storeledger(_ arguments: String..., environment: [String: String] = [:]) async throws -> Stage.Outcome {
        try await withChildProcess(
            Executables.storeledger,
            arguments,
            environment: self.environment.merging(environment) { $1 }
        ) { process in
            let code = await process.wait()
            return Stage.Outcome(code: code, output: process.output, errors: process.errors)
        }
    }

    /// Runs a receiver during `body`, and kills it afterwards unless it has ended.
    func receiving<Result>(
        environment: [String: String] = [:],
        _ body: (RunningReceiver) async throws -> Result
    ) async throws -> Result {
        let variables = self.environment.merging(environment) { $1 }
        return try await withChildProcess(Executables.storeledger, ["receive", job], environment: variables) {
            process in
            let line = try #require(
                await process.errorLine(with: "receiving notifications"),
                "\(process.errors)"
            )
            let port = try #require(line.split(separator: ":").last?.prefix { $0.isNumber }, "\(line)")
            let http = LoopbackHTTP(port: try #require(Int(port)))
            let result = try await body(RunningReceiver(process: process, http: http))
            #expect(!(process.output + process.errors).contains(Self.secret), "a secret is told")
            return result
        }
    }

    /// The database as the test sees it.
    func book() throws -> LedgerBook { LedgerBook(pool: try TemporaryDatabase.pool(size: 1), schema: "appstore") }

    /// Waits until no notification is left to normalise.
    func normalized(_ book: LedgerBook) async throws {
        let pending =
            "SELECT count(*) FROM received_notifications WHERE normalised_at IS NULL AND refused_because IS NULL"
        try await poll { try await book.count(pending) == 0 }
    }

    // MARK: Notifications

    /// The UUID of a notification by its number.
    static func uuid(_ number: Int) -> String {
        let digits = String(number)
        return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    /// A signed notification with a transaction and renewal info, as Apple posts it.
    func notification(
        _ number: Int,
        _ changes: KeyValuePairs<String, String?> = [:],
        data: KeyValuePairs<String, String?> = [:],
        by issuer: JWSIssuer? = nil
    ) throws -> String {
        "{\"signedPayload\":\"\(try signedPayload(number, changes, data: data, by: issuer))\"}"
    }

    func signedPayload(
        _ number: Int,
        _ changes: KeyValuePairs<String, String?> = [:],
        data: KeyValuePairs<String, String?> = [:],
        by issuer: JWSIssuer? = nil
    ) throws -> String {
        let id = "7200000000\(number)"
        let transaction = try scene.signed([
            "transactionId": "\"\(id)\"", "originalTransactionId": "\"\(id)\"",
            "type": #""Auto-Renewable Subscription""#,
        ])
        let renewal = try scene.signed(
            bytes: Array(
                #"{"originalTransactionId":"\#(id)","autoRenewStatus":1,"environment":"Production","signedDate":\#(scene.signedDate.rawValue)}"#
                    .utf8
            )
        )
        let about = jsonText(
            [
                ("bundleId", #""com.example.game""#), ("appAppleId", "1234567890"),
                ("environment", #""Production""#), ("signedTransactionInfo", "\"\(transaction)\""),
                ("signedRenewalInfo", "\"\(renewal)\""), ("status", "1"),
            ],
            changing: data
        )
        let payload = jsonText(
            [
                ("notificationUUID", "\"\(Self.uuid(number))\""), ("notificationType", #""DID_RENEW""#),
                ("version", #""2.0""#), ("signedDate", "\(scene.signedDate.rawValue)"), ("data", about),
            ],
            changing: changes
        )
        return try (issuer ?? scene.authority.issuer).sign(payload: Array(payload.utf8))
    }

    /// A notification of version 1.
    static func unsigned(password: String = secret, type: String = "DID_RENEW", original: String = "730000000001")
        -> String
    {
        """
        {"notification_type": "\(type)", "password": "\(password)", "environment": "PROD", "bid": "com.example.game",
         "auto_renew_status": "true", "unified_receipt": {"environment": "Production", "latest_receipt": "cmVjZWlwdC1ieXRlcw==",
         "latest_receipt_info": [{"original_transaction_id": "730000000009", "purchase_date_ms": "1"},
                                 {"original_transaction_id": "\(original)", "purchase_date_ms": "2"}]}}
        """
    }
}

/// A running `storeledger receive`.
struct RunningReceiver: Sendable {
    let process: ChildProcess
    let http: LoopbackHTTP

    /// Posts a body, and returns the status of the answer.
    func post(_ body: String, to path: String = "/notifications") async throws -> Int {
        try await http.send("POST", path, body).status
    }

    /// Sends a request with further header lines, and returns the status of the answer.
    func post(_ body: String, headers: [String]) async throws -> Int {
        let lines = ["POST /notifications HTTP/1.1", "Host: 127.0.0.1", "Connection: close"] + headers
        return try await http.send(bytes: Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)).status
    }

    /// Posts a body, and expects the status of the answer.
    func expect(
        _ status: Int,
        _ body: String,
        to path: String = "/notifications",
        headers: [String] = [],
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let found = headers.isEmpty ? try await post(body, to: path) : try await post(body, headers: headers)
        #expect(found == status, "\(body.prefix(80))", sourceLocation: location)
    }

    func metrics() async throws -> String {
        String(decoding: try await http.get("/metrics").body, as: UTF8.self)
    }
}
