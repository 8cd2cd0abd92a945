import AppStoreModel
import JobFiles
import JobSyntax
import Streams
import Testing

@Suite struct CrossCheckTests {
    @Test(arguments: [
        ("concurrency: 0", "limits.concurrency is the number 0; it must be a whole number from 1 to 256"),
        ("concurrency: -1", "it must be a whole number from 1 to 256"),
        ("concurrency: 1e9", "it must be a whole number from 1 to 256"),
        ("concurrency: \"8\"", "limits.concurrency is the text \"8\"; it must be a whole number from 1 to 256"),
        ("concurrency: 010", "it must be a whole number from 1 to 256"),
        ("share: 0", "limits.share is the number 0; it must be more than 0 and at most 1"),
        ("share: 1.5", "limits.share is the number 1.5; it must be more than 0 and at most 1"),
        ("share: .nan", "limits.share is .nan; it must be more than 0 and at most 1"),
        ("share: .inf", "limits.share is .inf; it must be more than 0 and at most 1"),
        ("windowSeconds: 9", "it must be a whole number from 10 to 3600"),
        ("windowSeconds: 60", "only a loopback baseURL may have less than 3600"),
        ("requestsPerSecond: {refundHistory: 0}", "limits.requestsPerSecond.refundHistory is the number 0"),
        ("requestsPerSecond: {refunds: 1}", "limits.requestsPerSecond.refunds is not a key"),
    ])
    func `JF04 a limit out of range names the range`(limit: String, message: String) throws {
        let complaint = try JobFileText.complaint(JobFileText.usual + "limits:\n  \(limit)\n")
        #expect(complaint.contains(message), "\(complaint)")
    }

    @Test func `limits inside their ranges are taken`() throws {
        let job = try JobFileText.load(
            JobFileText.usual + "limits: {concurrency: 256, share: 1, requestsPerSecond: {refundHistory: 2.5}}\n"
        )
        #expect(job.limits.concurrency == 256)
        #expect(job.limits.allowedRate(of: .refundHistory, in: .production) == 2.5)
        #expect(job.limits.allowedRate(of: .transactionHistory, in: .production) == 50)
    }

    @Test func `limits that leave no room for a request are refused`() throws {
        #expect(
            try JobFileText.complaint(JobFileText.usual + "limits: {share: 0.000001}\n") == """
                job.yaml:17:9: limits allows transactionHistory less than one request in 3600 seconds; \
                raise share or requestsPerSecond
                """
        )
        #expect(try JobFileText.complaint(JobFileText.usual + "limits: {share: 0.0001}\n").isEmpty)
    }

    /// The usual job, taking its customers from notifications.
    private static func following(_ since: String, _ streams: String) -> String {
        JobFileText.usual.replacing("list: [\"2000000123456789\"]", with: "changedSince: \(since)")
            .replacing("  transactionHistory: {}", with: streams)
    }

    private static let histories = "  transactionHistory: {}\n  notificationHistory: {scope: app"

    @Test(arguments: ["lastRun", "-2d", "-12h", "2026-05-01T00:00:00Z"])
    func `customers can be those whom the app's notifications name`(since: String) throws {
        let job = try JobFileText.load(Self.following(since, "\(Self.histories)}"))
        guard case .changedSince(let read) = job.transactionIds else { throw Unexpected() }
        #expect(read.fingerprint != DateExpression.now.fingerprint)
        #expect((read == .lastRun) == (since == "lastRun"))
    }

    private struct Unexpected: Error {}

    @Test(arguments: [
        ("lastRun", "  transactionHistory: {}", "add the stream notificationHistory with scope: app as well"),
        (
            "lastRun", "  transactionHistory: {}\n  notificationHistory: {scope: transactions}",
            "add the stream notificationHistory with scope: app as well"
        ),
        ("lastRun", "\(histories), onlyFailures: true}", "must request all notifications"),
        ("lastRun", "\(histories), notificationType: REFUND}", "must request all notifications"),
        ("lastRun", "\(histories), startDate: -3d, endDate: -1d}", "must request all notifications"),
        ("lastRun", "  notificationHistory: {scope: app}", "add the stream transactionHistory or refundHistory"),
        (
            "-7d", "\(histories), startDate: -2d}",
            "notificationHistory.startDate must be lastRun, or not later than changedSince"
        ),
        ("now", "\(histories)}", "transactionIds.changedSince is now; it must be -Nd, -Nh, lastRun or a date"),
        (
            "yesterday", "\(histories)}",
            "transactionIds.changedSince is yesterday; it must be -Nd, -Nh, lastRun or a date"
        ),
        ("2026-05-01", "\(histories)}", "a date needs its zone, such as 2026-05-01T00:00:00Z"),
        ("lastRun\n  query: SELECT 1", "\(histories)}", "names query and changedSince; name exactly one"),
    ])
    func `notifications that cannot name every changed customer are refused`(
        since: String,
        streams: String,
        message: String
    ) throws {
        let complaint = try JobFileText.complaint(Self.following(since, streams))
        #expect(complaint.contains(message), "\(complaint)")
        #expect(complaint.split(separator: "\n").count == 1, "\(complaint)")
    }

    static func withCSV(_ csv: String) -> String {
        JobFileText.usual.replacing("{url: postgresql:///ledger}", with: "{url: postgresql:///ledger}\n  csv: \(csv)")
    }

    @Test(arguments: ["../x", "/etc/cron.d", "a/../../b", "/", "/dev/shm", "/srv/data/..", "/proc/self"])
    func `JF05 an output directory outside one's own is refused`(directory: String) throws {
        let complaint = try JobFileText.complaint(Self.withCSV("{directory: \(directory)}"))
        #expect(
            complaint == """
                job.yaml:17:20: output.csv.directory is \(directory); \
                it must be a directory of your own, not below a system folder such as /etc, and without .. in its path
                """
        )
    }

    @Test(arguments: ["out/transactions.csv", "out/manifest.json", "out", "./out//refunds.csv"])
    func `JF09 an output that would replace the ID list is refused`(path: String) throws {
        let text = Self.withCSV("{directory: out}").replacing(
            "list: [\"2000000123456789\"]",
            with: "csv: {path: \(path)}"
        )
        #expect(
            try JobFileText.complaint(text)
                == "job.yaml:17:20: output.csv.directory would replace transactionIds.csv.path; choose another directory"
        )
    }

    @Test func `the files of a job can be in a bucket`() throws {
        let job = try JobFileText.load(Self.withCSV("{directory: \"s3://ledger-bucket/apps/\"}"))
        #expect(job.output.files.map(\.directory) == ["s3://ledger-bucket/apps"])
    }

    @Test(arguments: [
        "gs://bucket/a", "https://example.com/a", "file:///tmp/a", "s3://No_Bucket/a", "s3:/bucket/a", "s3://bucket//a",
    ])
    func `OS8 another URL than that of a bucket is refused, with what is possible`(directory: String) throws {
        let complaint = try JobFileText.complaint(Self.withCSV("{directory: \"\(directory)\"}"))
        #expect(
            complaint.contains(
                "output.csv.directory is the text \"\(directory)\"; it must be a directory, or s3://BUCKET/PREFIX"
            ),
            "\(complaint)"
        )
    }

    @Test(arguments: [
        ("privateKeyFile: keys/SubscriptionKey.p8", "privateKeyFile: s3://bucket/key.p8", "appStore.privateKeyFile"),
        ("list: [\"2000000123456789\"]", "csv: {path: \"https://example.com/ids.csv\"}", "transactionIds.csv.path"),
    ])
    func `OS8 a URL in place of a path is refused`(written: String, url: String, key: String) throws {
        let complaint = try JobFileText.complaint(JobFileText.usual.replacing(written, with: url))
        #expect(
            complaint.contains("\(key) is a URL") && complaint.contains("it must be a path on this machine"),
            "\(complaint)"
        )
    }

    @Test func `JF09 two formats in one directory are refused, because each has a manifest`() throws {
        let text = Self.withCSV("{directory: out}\n  parquet: {directory: ./out/}")
        #expect(
            try JobFileText.complaint(text)
                == "job.yaml:18:24: output.parquet.directory is also the directory of output.csv; choose another directory"
        )
    }

    @Test func `JF09 the same table twice, an unknown one and none are refused`() throws {
        #expect(
            try JobFileText.complaint(Self.withCSV("{directory: out, tables: [refunds, refunds]}"))
                .contains("output.csv.tables names a table twice; name each once")
        )
        #expect(
            try JobFileText.complaint(Self.withCSV("{directory: out, tables: [refunds, users]}"))
                .contains("output.csv.tables[1] is users; it must be a table of the ledger, such as transactions")
        )
        #expect(try JobFileText.complaint(Self.withCSV("{directory: out, tables: []}")).contains("tables is empty"))
    }

    @Test func `JF09 changes are published of tables whose changes are logged, and only if the job file says so`()
        throws
    {
        #expect(try JobFileText.load(Self.withCSV("{directory: out}")).output.files.map(\.changes) == [false])
        #expect(
            try JobFileText.load(Self.withCSV("{directory: out, changes: true}")).output.files.map(\.changes) == [true]
        )
        #expect(
            try JobFileText.complaint(Self.withCSV("{directory: out, tables: [refunds, runs], changes: true}"))
                == "job.yaml:17:33: output.csv.tables names runs, whose changes cannot be published; with changes: true, "
                + "it must name tables of records, such as transactions, refunds, notifications"
        )
    }

    static let key = "-----BEGIN PRIVATE KEY-----\nMIGTAgEAMBMG\n-----END PRIVATE KEY-----"

    @Test(arguments: ["privateKeyFile", "keyId", "issuerId"])
    func `JF12 a key pasted into the file is refused and not repeated`(place: String) throws {
        let block = "|\n" + Self.key.split(separator: "\n").map { "      \($0)" }.joined(separator: "\n")
        let lines = JobFileText.usual.split(separator: "\n").map {
            $0.hasPrefix("  \(place):") ? "  \(place): \(block)" : $0
        }
        let complaint = try JobFileText.complaint(lines.joined(separator: "\n"))
        #expect(
            complaint.contains(
                "appStore.\(place) contains a private key; a key must be in its own file, which privateKeyFile names"
            )
        )
        #expect(!complaint.contains("MIGT"))
        #expect(try JobFileText.refusal(bytes: Array(lines.joined(separator: "\n").utf8)) == .invalid)
    }

    @Test func `JF12 a key pasted without its first line is refused and not repeated`() throws {
        let key = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg3p6Jnh+HbYvAH+vg"
        for (value, variables) in [(key, [:]), ("${KEY}", ["KEY": key])] {
            let complaint = try JobFileText.complaint(
                replacing: "keys/SubscriptionKey.p8",
                with: value,
                environment: variables
            )
            #expect(complaint.contains("a key must be in its own file, which privateKeyFile names"), "\(complaint)")
            #expect(!complaint.contains("MIGH") && complaint.contains("appStore.privateKeyFile"), "\(complaint)")
        }
    }

    /// What no message may show, in each place where someone may write it.
    @Test(arguments: [
        // A wrong type or a wrong value of the key itself.
        ("57246542-96fe-1a63-e053-0824d011072a", "geheim", "appStore.issuerId is a text (not shown); it must be"),
        ("57246542-96fe-1a63-e053-0824d011072a", "4711", "appStore.issuerId is a number (not shown); it must be"),
        ("57246542-96fe-1a63-e053-0824d011072a", "[geheim]", "appStore.issuerId is a list"),
        ("2X9R4HXF34", "geheim geheim", "appStore.keyId is a text (not shown); it must be"),
        ("2X9R4HXF34", "{geheim: geheim}", "appStore.keyId is a mapping"),
        ("2X9R4HXF34", "4711", "appStore.keyId is a number (not shown); write it in quotes"),
        ("keys/SubscriptionKey.p8", "4711", "appStore.privateKeyFile is a number (not shown); write it in quotes"),
        ("{url: postgresql:///ledger}", "{url: geheim}", "output.postgres.url is not a connection string"),
        // One of them in place of its section, as happens without a space after the colon.
        (
            "{url: postgresql:///ledger}", "host=db password = geheim",
            "output.postgres is a text (not shown); it must be"
        ),
        ("{url: postgresql:///ledger}", "url:postgresql://me:geheim@db/l", "output.postgres is a text (not shown)"),
        ("\n  postgres: {url: postgresql:///ledger}", " 'password=geheim'", "output is a text (not shown); it must be"),
        // An unknown key.
        (
            "keys/SubscriptionKey.p8", "k\n  privateKeyfile: geheim",
            "appStore.privateKeyfile is not a key; did you mean privateKeyFile?"
        ),
        ("keys/SubscriptionKey.p8", "k\n  password: [geheim]", "appStore.password is not a key"),
        ("{url: postgresql:///ledger}", "{dsn: geheim}", "output.postgres.dsn is not a key"),
        // A server with a password and no scheme.
        (
            "keys/SubscriptionKey.p8", "k\n  baseURL: 'me:geheim@127.0.0.1'",
            "appStore.baseURL is the text \"…@127.0.0.1\""
        ),
    ])
    func `JF16 a secret in a wrong place or of a wrong type is not shown`(
        old: String,
        new: String,
        message: String
    ) throws {
        let complaint = try JobFileText.complaint(replacing: old, with: new)
        #expect(complaint.contains(message), "\(complaint)")
        #expect(!complaint.contains("geheim") && !complaint.contains("4711"), "\(complaint)")
    }

    @Test(arguments: [
        ("{url: postgresql:///ledger}", "postgresql:///ledger", "write postgres: {url: \"${DATABASE_URL}\"}"),
        ("{url: postgresql:///ledger}", "{url: postgresql:///ledger}\n  csv: out", "write csv: {directory: out}"),
    ])
    func `a text in place of an output's section gets an example that works`(old: String, new: String, message: String)
        throws
    {
        let complaint = try JobFileText.complaint(replacing: old, with: new)
        #expect(complaint.contains(message) && !complaint.contains("write {}"), "\(complaint)")
    }

    @Test func `notifications from before Apple's reach give a warning`() throws {
        let now = UnixMilliseconds(rawValue: 1_795_564_800_000)
        func warnings(_ startDate: String) throws -> [String] {
            let streams = "transactionHistory: {}\n  notificationHistory: {scope: app, startDate: \(startDate)}"
            return try JobFileText.load(replacing: "transactionHistory: {}", with: streams).warnings(at: now)
        }
        #expect(try warnings("lastRun") == [] && warnings("-179d") == [])
        let old = try warnings("\"2025-01-01T00:00:00Z\"")
        #expect(old.count == 1 && old[0].contains("Apple keeps notifications for 180 days"), "\(old)")
    }

    @Test func `JF16 a file that is no job, such as one with passwords, is not shown`() throws {
        let complaint = try JobFileText.complaint("localhost:5432:ledger:me:geheim\n")
        #expect(
            complaint.hasSuffix(
                "the job file is a text (not shown); it must be a mapping; write {} for one without keys"
            ),
            "\(complaint)"
        )
    }

    @Test func `JF13 a variable that has the key itself is a matter of configuration`() throws {
        let text = JobFileText.usual.replacing("keys/SubscriptionKey.p8", with: "${KEY}")
        let complaint = try JobFileText.complaint(text, environment: ["KEY": Self.key])
        #expect(
            complaint == """
                job.yaml:10:19: appStore.privateKeyFile takes a private key from an environment variable; \
                a key must be in its own file, which privateKeyFile names, or in the variable of appStore.privateKey
                """
        )
        let kind = try JobFileText.refusal(bytes: Array(text.utf8), environment: ["KEY": Self.key])
        #expect(kind == .configuration)
    }

    private static func withVariable(_ written: String, _ environment: [String: String]) throws -> JobFile {
        try JobFileText.load(
            replacing: "privateKeyFile: keys/SubscriptionKey.p8",
            with: written,
            environment: environment
        )
    }

    @Test func `a key in a variable is taken as it is, and shown nowhere`() throws {
        for key in [Self.key, Self.key.replacing("\n", with: "\\n"), "a path"] {
            // An empty key next to it counts as missing, so that one job file serves both ways.
            for other in ["", "\n  privateKeyFile: ${FILE:-}"] {
                let job = try Self.withVariable("privateKey: \"${KEY}\"\(other)", ["KEY": key])
                #expect(job.appStore.privateKey == .variable(name: "KEY", text: key))
                var dumped = ""
                dump(job, to: &dumped)
                let shown = "\(job) \(String(reflecting: job)) \(dumped)"
                #expect(!shown.contains(key) && !shown.contains("MIGT") && shown.contains("${KEY}"), "\(shown)")
            }
        }
        let file = try Self.withVariable("privateKeyFile: /k.p8\n  privateKey: ${KEY:-}", [:])
        #expect(file.appStore.privateKey == .file("/k.p8"))
    }

    @Test(arguments: [
        (
            "privateKey: ${KEY}", ["KEY": ""],
            "appStore.privateKey is empty, because ${KEY} is; it must be one environment"
        ),
        ("privateKey: ${KEY}", [:], "appStore.privateKey needs the environment variable KEY, which is not set"),
        (
            "privateKey: keys/k.p8", [:],
            "appStore.privateKey is a text (not shown); it must be one environment variable"
        ),
        ("privateKey: '${KEY}x'", ["KEY": "geheim"], "appStore.privateKey is a text (not shown); it must be one"),
        ("privateKey: '${KEY}${KEY}'", ["KEY": "geheim"], "appStore.privateKey is a text (not shown); it must be one"),
        ("privateKey: 12", [:], "appStore.privateKey is a number (not shown); write it in quotes"),
        ("privateKey: [a]", [:], "appStore.privateKey is a list; it must be one environment variable"),
        (
            "privateKey: ${KEY}\n  privateKeyFile: k", ["KEY": "geheim"],
            "appStore.privateKey and privateKeyFile are both given; remove one of them"
        ),
        ("trustedRoots: []", [:], "appStore.privateKeyFile is missing; it must be the path"),
        (
            "privateKey: |\n    -----BEGIN PRIVATE KEY-----\n    geheim", [:],
            "appStore.privateKey contains a private key; a key must be in its own file"
        ),
    ])
    func `JF27 a key in the file itself, twice or nowhere is refused and not repeated`(
        written: String,
        environment: [String: String],
        message: String
    ) throws {
        let old = "privateKeyFile: keys/SubscriptionKey.p8"
        let complaint = try JobFileText.complaint(replacing: old, with: written, environment: environment)
        #expect(complaint.contains(message) && !complaint.contains("\n"), "\(complaint)")
        #expect(!complaint.contains("geheim"), "\(complaint)")
    }

    @Test(arguments: [
        (
            "57246542-96fe-1a63-e053-0824d011072a", "team-1",
            "appStore.issuerId is a text (not shown); it must be the issuer ID"
        ),
        ("2X9R4HXF34", "\"2X9R\\nHXF34\"", "appStore.keyId is a text (not shown); it must be the key ID"),
        ("com.example.game", "my game", "app.bundleId is my game; it must be the app's bundle ID"),
        ("keys/SubscriptionKey.p8", "\"a\\0b\"", "appStore.privateKeyFile holds a NUL character"),
        (
            "2000000123456789", "../../v1/x",
            "transactionIds.list[0] is the text \"../../v1/x\"; it must be a transaction"
        ),
        ("nightly-sync", "-x", "name is -x"),
        ("nightly-sync", "a_b", "name is a_b"),
    ])
    func `JF15 identities that cannot be Apple's are refused`(old: String, new: String, message: String) throws {
        let complaint = try JobFileText.complaint(replacing: old, with: new)
        #expect(complaint.contains(message), "\(complaint)")
    }

    @Test(arguments: [
        ("postgresql://me:geheim@db/ledger", true),
        ("postgresql://db/ledger?password=geheim", true),
        ("host=db password=geheim", true),
        ("host=db password = geheim", true),
        ("postgresql://me@db/ledger", false),
        ("postgresql://me:${PASSWORD}@db/ledger", false),
        ("host=db password=${PASSWORD} dbname=x", false),
        ("${URL}", false),
        ("${UNSET:-postgresql://me:geheim@db/ledger}", true),
    ])
    func `JF16 a password in the file itself is a warning that does not show it`(url: String, warns: Bool) throws {
        let job = try JobFileText.load(
            replacing: "postgresql:///ledger",
            with: "'\(url)'",
            environment: ["PASSWORD": "geheim", "URL": "postgresql://me:geheim@db/ledger"]
        )
        #expect(job.warnings.count == (warns ? 1 : 0))
        #expect(job.warnings.allSatisfy { $0.contains("output.postgres.url holds a password in the file itself") })
        #expect(!"\(job)\(job.warnings)".contains("geheim"))
    }

    @Test(arguments: ["mysql://u:geheim@db", "geheim", "[geheim]", "12", "~"])
    func `JF16 a wrong connection string is not shown either`(url: String) throws {
        let complaint = try JobFileText.complaint(replacing: "postgresql:///ledger", with: url)
        #expect(complaint.contains("output.postgres.url") && complaint.contains("it must be a PostgreSQL connection"))
        #expect(!complaint.contains("geheim"))
    }

    @Test(arguments: [
        "http://api.storekit.apple.com", "ftp://127.0.0.1", "file:///etc/passwd",
        "https://api.storekit.apple.com@evil/",
        "https://api.storekit.apple.com.evil/", "http://169.254.169.254", "//", "https://api\u{3002}storekit.apple.com",
        "https://api.store\u{212A}it.apple.com", "https://api.storekit-sandbox.apple.com", "http://127.0.0.1.evil",
        "https://api.storekit-sandbox.itunes.apple.com", "https://api.storekit.itunes.apple.com.evil",
        "http://localhost.evil", "http://127.1", "http://0x7f.0.0.1", "http://127.0.0.256", "http://0127.0.0.1",
        "http://[::2]", "http://127.0.0.1:0", "http://127.0.0.1:65536", "'http://127.0.0.1:'", "http://127.0.0.1/v1",
        "http://127.0.0.1?x", "http://127.0.0.1#x", "http://u@127.0.0.1", "http://127.0.0.1@evil", "127.0.0.1:80",
        "https://api.storekit.apple.com:443", "https://api.storekit.apple.com/x", "http://localhost:80:80", "\"\"",
    ])
    func `H44 no other server than Apple's or this machine is allowed`(url: String) throws {
        let text = JobFileText.usual.replacing("keys/SubscriptionKey.p8", with: "k\n  baseURL: \(url)")
        let complaint = try JobFileText.complaint(text)
        #expect(
            complaint.hasSuffix(
                """
                ; it must be on this machine, such as http://127.0.0.1:8080, or Apple's for Production, \
                https://api.storekit.apple.com or https://api.storekit.itunes.apple.com
                """
            ),
            "\(complaint)"
        )
        #expect(!complaint.contains("u@"))
    }

    @Test(arguments: [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"), ("http://127.255.3.4/", "http://127.255.3.4"),
        ("https://LOCALHOST:1", "https://localhost:1"), ("http://[::1]:65535", "http://[::1]:65535"),
        ("https://api.storekit.apple.com/", "https://api.storekit.apple.com"),
    ])
    func `a loopback server or Apple's own is allowed`(written: String, meant: String) throws {
        let job = try JobFileText.load(replacing: "keys/SubscriptionKey.p8", with: "k\n  baseURL: '\(written)'")
        #expect(job.appStore.baseURL == meant)
        #expect(job.appStore.requestURL == meant)
        #expect(job.appStore.isLoopback != meant.contains("apple"))
    }

    @Test func `Apple's earlier host is asked, and its records are the same as the other host's`() throws {
        let earlier = "https://api.storekit.itunes.apple.com"
        let job = try JobFileText.load(replacing: "keys/SubscriptionKey.p8", with: "k\n  baseURL: \(earlier)/")
        #expect(job.appStore.requestURL == earlier)
        #expect(job.appStore.baseURL == "https://api.storekit.apple.com" && !job.appStore.isLoopback)
    }

    @Test func `another root than Apple's is trusted only on this machine`() throws {
        #expect(
            try JobFileText.complaint(replacing: "keys/SubscriptionKey.p8", with: "k\n  trustedRoots: [root.cer]")
                == """
                job.yaml:11:17: appStore.trustedRoots is a list; \
                only a job with a loopback baseURL may trust another root than Apple's
                """
        )
    }

    @Test func `Production needs the app's Apple ID, Sandbox does not`() throws {
        let without = JobFileText.usual.replacing("  appAppleId: 1234567890\n", with: "")
        #expect(
            try JobFileText.complaint(without)
                == "job.yaml:4:3: app.appAppleId is missing; it must be the app's Apple ID, a whole number such as 1234567890"
        )
        let sandbox = try JobFileText.load(without.replacing("Production", with: "Sandbox"))
        #expect(sandbox.app.appAppleId == nil && sandbox.limits.requestsPerSecond[.refundHistory] == 1)
    }

    @Test func `only a Production job falls back to Sandbox`() throws {
        let text = JobFileText.usual.replacing("keys/SubscriptionKey.p8", with: "k\n  sandboxFallback: true")
        #expect(try JobFileText.load(text).appStore.triesSandbox)
        #expect(
            try JobFileText.complaint(text.replacing("environment: Production", with: "environment: Sandbox"))
                .contains("only a Production job can fall back to Sandbox")
        )
    }

    @Test func `exactly one source of IDs is right`() throws {
        #expect(
            try JobFileText.complaint(
                replacing: "list: [\"2000000123456789\"]",
                with: "list: [\"1\"]\n  query: SELECT 1"
            )
                == "job.yaml:12:3: transactionIds names list and query; name exactly one of list, csv, query and changedSince"
        )
        let without = JobFileText.usual.replacing("transactionIds:\n  list: [\"2000000123456789\"]\n", with: "")
        #expect(
            try JobFileText.complaint(without).contains(
                "transactionIds is missing; only orderLookup, groupMembers, and notificationHistory with scope app, need none"
            )
        )
        let appWide = without.replacing("transactionHistory: {}", with: "notificationHistory: {scope: app}")
        #expect(try JobFileText.load(appWide).transactionIds == nil)
        let perID = without.replacing("transactionHistory: {}", with: "notificationHistory: {}")
        #expect(try JobFileText.complaint(perID).contains("transactionIds is missing"))
    }

    @Test(arguments: ["DELETE FROM t", "SELECT 1; DROP TABLE t", "selection", "/* x */ SELECT 1", "''"])
    func `a query that is not one SELECT is refused`(query: String) throws {
        let complaint = try JobFileText.complaint(replacing: "list: [\"2000000123456789\"]", with: "query: \(query)")
        #expect(complaint.contains("it must be one SELECT or WITH statement without a semicolon"), "\(complaint)")
    }

    @Test(arguments: ["pg_ledger", "Ledger", "1st", "a-b", "\"\"", "a.b"])
    func `a schema name that needs quoting is refused`(schema: String) throws {
        let complaint = try JobFileText.complaint(
            replacing: "{url: postgresql:///ledger}",
            with: "{url: postgresql:///ledger, schema: \(schema)}"
        )
        #expect(complaint.contains("output.postgres.schema is"), "\(complaint)")
    }
}
