import FoundationEssentials
import TestSupport
import Testing

/// One receiver for several apps and both environments.
@Suite(.migratedDatabase)
struct FleetReceiverTests {
    private static func job(_ name: String, _ apps: String, environment: String, listen: String = "127.0.0.1:0")
        -> String
    {
        """
        version: 1
        name: \(name)
        apps: [\(apps)]
        environment: \(environment)
        appStore: {baseURL: "http://127.0.0.1:9", trustedRoots: [root.cer]}
        receiver: {listen: "\(listen)"}
        output: {postgres: {url: "${DATABASE_URL}"}}

        """
    }

    private static let both =
        "{bundleId: com.example.game, appAppleId: 1234567890}, {bundleId: com.example.puzzle, appAppleId: 1234567891}"

    @Test func `FL9 the verified payload says which app and environment a notification is of`() async throws {
        try await ReceiverStage.with { stage in
            let production = stage.directory + "/production.yaml"
            let sandbox = stage.directory + "/sandbox.yaml"
            try Data(Self.job("p", Self.both, environment: "Production").utf8).write(to: URL(filePath: production))
            try Data(Self.job("s", "{bundleId: com.example.game}", environment: "Sandbox").utf8)
                .write(to: URL(filePath: sandbox))
            let of = { (number: Int, bundleId: String, appAppleId: String, environment: String) in
                try stage.notification(
                    number,
                    data: [
                        "bundleId": "\"\(bundleId)\"", "appAppleId": appAppleId, "environment": "\"\(environment)\"",
                        "signedTransactionInfo": nil, "signedRenewalInfo": nil,
                    ]
                )
            }
            try await withChildProcess(
                Executables.storeledger,
                ["receive", production, sandbox],
                environment: stage.environment
            ) { process in
                let line = try #require(
                    await process.errorLine(with: "receiving notifications of com.example.game (Sandbox)"),
                    "\(process.errors)"
                )
                let port = try #require(line.split(separator: ":").last?.prefix { $0.isNumber }, "\(line)")
                let receiver = RunningReceiver(
                    process: process,
                    http: LoopbackHTTP(port: try #require(Int(port)))
                )
                try await receiver.expect(200, of(1, "com.example.game", "1234567890", "Production"))
                try await receiver.expect(200, of(2, "com.example.puzzle", "1234567891", "Production"))
                try await receiver.expect(200, of(3, "com.example.game", "1234567890", "Sandbox"))
                try await receiver.expect(503, of(4, "com.example.other", "1", "Production"))
                try await receiver.expect(503, of(5, "com.example.puzzle", "1234567891", "Sandbox"))
                try await receiver.expect(503, of(6, "com.example.puzzle", "99", "Production"))
                let book = try stage.book()
                try await stage.normalized(book)
                let stored = """
                    SELECT a.bundle_id || ' ' || a.environment || ' ' || coalesce(r.refused_because, right(r.notification_uuid, 1))
                      FROM received_notifications r JOIN apps a USING (app_id)
                    """
                #expect(
                    try await book.column(stored).sorted() == [
                        "com.example.game Production 1", "com.example.game Production bundle",
                        "com.example.game Sandbox 3", "com.example.puzzle Production 2",
                        "com.example.puzzle Production app_id", "com.example.puzzle Production environment",
                    ]
                )
                let records = "SELECT a.bundle_id FROM notifications n JOIN apps a USING (app_id) ORDER BY 1"
                #expect(
                    try await book.column(records) == ["com.example.game", "com.example.game", "com.example.puzzle"]
                )
                let metrics = try await receiver.metrics()
                for (app, environment) in [("game", "Production"), ("game", "Sandbox"), ("puzzle", "Production")] {
                    let sample = "{app=\"com.example.\(app)\",environment=\"\(environment)\",result=\"new\"} 1\n"
                    #expect(metrics.contains(sample), "\(metrics)")
                }
            }
        }
    }

    @Test func `FL4 FL10 an app in two files, and files that listen on other addresses, are refused`() async throws {
        try await ReceiverStage.with { stage in
            let one = stage.directory + "/one.yaml"
            let two = stage.directory + "/two.yaml"
            try Data(Self.job("one", Self.both, environment: "Production").utf8).write(to: URL(filePath: one))
            try Data(
                Self.job("two", "{bundleId: com.example.game, appAppleId: 1234567890}", environment: "Production").utf8
            )
            .write(to: URL(filePath: two))
            let twice = try await stage.storeledger("receive", one, two)
            #expect(twice.code == 65 && twice.errors.contains("name each app once"), "\(twice.errors)")
            try Data(
                Self.job("two", "{bundleId: a.b, appAppleId: 1}", environment: "Production", listen: "127.0.0.1:1").utf8
            )
            .write(to: URL(filePath: two))
            let other = try await stage.storeledger("receive", one, two)
            #expect(other.code == 65 && other.errors.contains("receiver.listen"), "\(other.errors)")
        }
    }
}
