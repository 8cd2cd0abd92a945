import AppStoreModel
import FoundationEssentials
import JobFiles
import JobSyntax
import Streams
import Testing

@Suite struct JobFileTests {
    @Test func `a small job gets every default`() throws {
        let job = try JobFileText.load(JobFileText.usual)

        #expect(job.name == "nightly-sync")
        #expect(job.app.bundleId == "com.example.game" && job.app.appAppleId == 1_234_567_890)
        #expect(job.appStore.baseURL == "https://api.storekit.apple.com")
        #expect(!job.appStore.isLoopback && !job.appStore.triesSandbox && job.appStore.trustedRoots.isEmpty)
        #expect(job.transactionIds?.list == .list(["2000000123456789"]))
        #expect(job.streams.names == [.transactionHistory])
        #expect(job.limits.concurrency == 32 && job.limits.share == 0.5 && job.limits.windowSeconds == 3_600)
        #expect(
            job.limits.requestsPerSecond == [
                .transactionHistory: 50, .refundHistory: 10, .notificationHistory: 50, .transactionInfo: 50,
                .subscriptionStatuses: 50, .appTransaction: 50, .orderLookup: 10,
                .customerGroups: 50, .groupMembers: 50, .seats: 50,
            ]
        )
        #expect(job.output.postgres.schema == "appstore" && job.output.files.isEmpty && job.warnings.isEmpty)
    }

    @Test func `the contract's example loads`() throws {
        let job = try JobFileText.load(
            """
            version: 1
            name: nightly-sync                 # [a-z0-9][a-z0-9-]{0,62}
            app:
              bundleId: com.example.game
              appAppleId: 1234567890           # required in Production
              environment: Production          # Production | Sandbox
            appStore:
              issuerId: ${APPSTORE_ISSUER_ID}
              keyId: ${APPSTORE_KEY_ID}
              privateKeyFile: ${APPSTORE_PRIVATE_KEY_FILE}
              baseURL: http://127.0.0.1:8080   # optional, loopback only
              trustedRoots: [root.cer]
            transactionIds:                    # exactly one source
              list: ["2000000123456789"]
              # csv: {path: ids.csv, column: transaction_id}
            streams:                           # at least one
              transactionHistory: {}
              refundHistory: {for: all}
              notificationHistory:
                scope: app
                startDate: -7d
                endDate: now
                onlyFailures: false
            limits:                            # all optional
              concurrency: 32
              share: 0.5
              requestsPerSecond: {transactionHistory: 50, refundHistory: 10, notificationHistory: 50}
              windowSeconds: 3600
            output:
              postgres: {url: ${DATABASE_URL}, schema: appstore}
              csv: {directory: out, tables: [transactions, refunds, notifications]}   # optional
            """,
            environment: [
                "APPSTORE_ISSUER_ID": "57246542-96fe-1a63-e053-0824d011072a", "APPSTORE_KEY_ID": "1234567890",
                "APPSTORE_PRIVATE_KEY_FILE": "/keys/SubscriptionKey.p8", "DATABASE_URL": "postgresql://u:p@db/ledger",
            ]
        )

        #expect(job.streams.names == [.transactionHistory, .refundHistory, .notificationHistory])
        #expect(job.appStore.isLoopback && job.appStore.privateKey.path == "/keys/SubscriptionKey.p8")
        #expect(job.streams[NotificationHistory.self]?.requestedDates.startDate == .before(.seconds(7 * 86_400)))
        #expect(job.output.postgres.url.reveal() == "postgresql://u:p@db/ledger")
        #expect(job.output.files(in: .csv)?.tables == ["transactions", "refunds", "notifications"])
        #expect(job.warnings.isEmpty)
    }

    @Test func `relative paths start at the job file, also through a relative job path`() throws {
        try JobFileText.inDirectory { directory in
            try FileManager.default.createDirectory(atPath: "\(directory)/jobs", withIntermediateDirectories: true)
            let text = JobFileText.usual.replacing(
                "{url: postgresql:///ledger}",
                with: "{url: postgresql:///ledger}\n  csv: {directory: ./out}"
            )
            try Data(text.utf8).write(to: URL(filePath: "\(directory)/jobs/job.yaml"))

            let job = try AcceptedJobs.crawl.load(path: "\(directory)/jobs/../jobs/job.yaml", environment: [:])

            #expect(
                job.appStore.privateKey.path == "\(directory)/jobs/keys/SubscriptionKey.p8".replacing("//", with: "/")
            )
            #expect(job.output.files(in: .csv)?.directory == "\(directory)/jobs/out".replacing("//", with: "/"))
        }
    }

    @Test func `a webhook reports failures unless the job says more, and never shows its URL`() throws {
        let url = "https://hooks.example.com/T0/planted-token"
        let usual = try #require(try JobFileText.load(JobFileText.usual + "notify: {url: \"\(url)\"}\n").notify)
        #expect(usual.endings == [.failure] && usual.url.reveal() == url && !usual.url.isLoopback)
        let both = try JobFileText.load(
            JobFileText.usual + "notify:\n  url: ${HOOK}\n  on: [failure, success]\n",
            environment: ["HOOK": "http://127.0.0.1:8080/planted-token"]
        )
        #expect(both.notify?.endings == [.failure, .success] && both.notify?.url.isLoopback == true)
        var dumped = ""
        dump(both, to: &dumped)
        #expect(!"\(both)\(String(reflecting: both))\(dumped)".contains("planted-token"))
        #expect(try JobFileText.load(JobFileText.usual).notify == nil)
    }

    @Test(arguments: [
        "http://hooks.example.com/planted-token", "https://user:planted-token@hooks.example.com/", "planted-token",
        "ftp://127.0.0.1/planted-token", "https:///planted-token", "https://:443/planted-token",
        "https://a b/planted-token",
    ])
    func `a webhook is an https URL without a user, and the message does not show it`(url: String) throws {
        let complaint = try JobFileText.complaint(JobFileText.usual + "notify: {url: \"\(url)\"}\n")
        #expect(complaint.contains("notify.url") && complaint.contains("it must be an https URL"), "\(complaint)")
        #expect(!complaint.contains("planted-token"), "\(complaint)")
    }

    @Test(arguments: [
        ("", Webhook.Format.json), (", format: json", .json), (", format: slack", .slack), (", format: teams", .teams),
    ])
    func `a webhook takes StoreLedger's document, or the message of a chat`(
        written: String,
        format: Webhook.Format
    ) throws {
        let text = JobFileText.usual + "notify: {url: \"https://hooks.example.com/x\"\(written)}\n"
        #expect(try JobFileText.load(text).notify?.format == format)
    }

    @Test func `a format of a webhook that does not exist is refused`() throws {
        let text = JobFileText.usual + "notify: {url: \"https://hooks.example.com/x\", format: discord}\n"
        #expect(try JobFileText.complaint(text).contains("notify.format is discord; it must be slack, teams or json"))
    }

    @Test(arguments: ["[]", "[always]", "failure"])
    func `a webhook reports failure, success or both`(endings: String) throws {
        let complaint = try JobFileText.complaint(
            JobFileText.usual + "notify: {url: \"https://hooks.example.com/x\", on: \(endings)}\n"
        )
        #expect(complaint.contains("notify.on"), "\(complaint)")
    }

    @Test func `a connection string never shows itself`() throws {
        let url = DatabaseURL("postgresql://u:geheim@db/ledger")
        var dumped = ""
        dump(url, to: &dumped)

        #expect("\(url)" == "<redacted>")
        #expect(!String(reflecting: url).contains("geheim") && !dumped.contains("geheim"))
    }

    static let sampleEnvironment = [
        "APPSTORE_ISSUER_ID": "57246542-96fe-1a63-e053-0824d011072a",
        "APPSTORE_KEY_ID": "2X9R4HXF34",
        "APPSTORE_PRIVATE_KEY_FILE": "/simulator/SubscriptionKey_2X9R4HXF34.p8",
        "APPSTORE_BASE_URL": "http://127.0.0.1:40123",
        "APPSTORE_TRUSTED_ROOT": "/simulator/root.cer",
        "APPSTORE_BUNDLE_ID": "com.example.game",
        "APPSTORE_APP_APPLE_ID": "1234567890",
        "TRANSACTION_IDS_CSV": "/simulator/ids.csv",
        "TRANSACTION_ID": "2000000123456789",
        "ORDER_IDS_CSV": "/simulator/orders.csv",
        "ORDER_ID": "MK5TVRJBTF",
        "DATABASE_URL": "host=/run/ledger dbname=ledger",
        "STORELEDGER_DEMO_OUT": "/var/tmp/demo",
    ]

    static let shippedJobs = [
        "demo", "nightly-sync", "backfill-after-outage", "customer-history", "subscription-statuses",
        "order-lookup",
    ]

    static func shipped(_ name: String) -> String {
        URL(filePath: #filePath).appending(path: "../../../jobs/\(name).yaml").standardized.path()
    }

    @Test(arguments: shippedJobs)
    func `every shipped job loads for the simulator, named like its file`(name: String) throws {
        let job = try AcceptedJobs.crawl.load(path: Self.shipped(name), environment: Self.sampleEnvironment)

        #expect(job.name == name && job.warnings.isEmpty)
        #expect(job.appStore.isLoopback && job.appStore.trustedRoots == ["/simulator/root.cer"])
    }

    @Test(arguments: shippedJobs)
    func `every shipped job goes to Apple when the rehearsal's variables are unset`(name: String) throws {
        var environment = Self.sampleEnvironment
        environment["APPSTORE_BASE_URL"] = nil
        environment["APPSTORE_TRUSTED_ROOT"] = ""
        let job = try AcceptedJobs.crawl.load(path: Self.shipped(name), environment: environment)

        #expect(job.appStore.baseURL == AppStoreEnvironment.production.baseURL)
        #expect(job.appStore.trustedRoots.isEmpty)
    }
}
