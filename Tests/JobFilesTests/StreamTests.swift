import AppStoreModel
import JobFiles
import JobSyntax
import Streams
import Testing

@Suite struct StreamTests {
    static func complaint(_ stream: String) throws -> String {
        try JobFileText.complaint(replacing: "  transactionHistory: {}", with: "  \(stream)")
    }

    static func load(_ streams: String...) throws -> JobFile {
        let lines = streams.map { "  \($0)" }.joined(separator: "\n")
        return try JobFileText.load(replacing: "  transactionHistory: {}", with: lines)
    }

    @Test(arguments: [
        ("2026-02-01T00:00:00Z", "2026-01-01T00:00:00Z"), ("2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00"),
        ("-1d", "-7d"), ("now", "-1h"), ("now", "now"), ("-24h", "-1d"),
    ])
    func `JF17 a start that is not before the end is refused`(start: String, end: String) throws {
        for stream in ["transactionHistory", "notificationHistory"] {
            let complaint = try Self.complaint("\(stream): {startDate: '\(start)', endDate: '\(end)'}")
            #expect(complaint.contains("streams.\(stream).startDate is"), "\(complaint)")
            #expect(complaint.contains("it must be before endDate"), "\(complaint)")
        }
    }

    @Test(arguments: [
        ("2026-01-01", "a date needs its zone, such as 2026-01-01T00:00:00Z"),
        ("2026-01-01T10:30", "a date needs its zone, such as 2026-01-01T10:30Z"),
        ("2026-01-01T10:30:00.5", "a date needs its zone, such as 2026-01-01T10:30:00.5Z"),
    ])
    func `JF17 a date without a zone is refused with the right form`(date: String, advice: String) throws {
        #expect(
            try Self.complaint("transactionHistory: {startDate: \(date)}")
                == "job.yaml:14:35: streams.transactionHistory.startDate is \(date); \(advice)"
        )
    }

    @Test(arguments: [
        "yesterday", "-7", "7d", "-0d", "-1w", "-100000d", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-01-01T24:00:00Z", "2026-01-01 00:00:00Z", "2026-01-01T00:00:00z", "2026-01-01T00:00:60Z",
        "1969-12-31T00:00:00Z", "2026-01-01T00:00:00+1:00", "2026-01-01T00:00:00.Z", "1735689600000", "-٧d",
    ])
    func `JF17 what is no date is refused`(date: String) throws {
        let complaint = try Self.complaint("notificationHistory: {startDate: '\(date)'}")
        #expect(
            complaint.contains("it must be -Nd, -Nh, now, lastRun or a date and time with its zone"),
            "\(complaint)"
        )
    }

    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("2026-01-01T00:00:00Z", 1_767_225_600_000),
        ("2024-02-29T23:59:59.999Z", 1_709_251_199_999), ("2000-03-01T00:00Z", 951_868_800_000),
        ("2100-03-01T00:00:00Z", 4_107_542_400_000), ("2026-01-01T01:30:00+01:30", 1_767_225_600_000),
        ("2025-12-31T19:00:00-05:00", 1_767_225_600_000), ("9999-12-31T23:59:59.9999Z", 253_402_300_799_999),
    ])
    func `a date with a zone is one moment`(date: String, milliseconds: Int64) throws {
        let job = try Self.load("transactionHistory: {startDate: \(date)}")
        #expect(
            job.streams[TransactionHistory.self]?.startDate == .absolute(UnixMilliseconds(rawValue: milliseconds))
        )
    }

    @Test(arguments: ["[0]", "[6]", "[1, -1]", "[active]", "[1.5]", "3"])
    func `ST1 a status outside 1 to 5 is refused`(statuses: String) throws {
        let complaint = try Self.complaint("subscriptionStatuses: {status: \(statuses)}")
        #expect(complaint.contains("streams.subscriptionStatuses.status"), "\(complaint)")
        #expect(complaint.contains(statuses == "3" ? "it must be a list" : "it must be 1 (active)"), "\(complaint)")
    }

    @Test(arguments: ["MK5 TVRJBTF", "", "MK5/TVR", "MK5\u{E9}", String(repeating: "M", count: 65)])
    func `ST2 an order ID that is none is refused`(id: String) throws {
        let complaint = try Self.complaint("orderLookup: {orderIds: {list: [\"\(id)\"]}}")
        #expect(complaint.contains("streams.orderLookup.orderIds.list[0]"), "\(complaint)")
        #expect(complaint.contains("it must be an order ID"), "\(complaint)")
    }

    @Test func `ST8 order lookup in a Sandbox job is refused, because Apple offers it only in Production`() throws {
        let text = JobFileText.usual.replacing(
            "  transactionHistory: {}",
            with: "  orderLookup: {orderIds: {list: [M1]}}"
        )
        #expect(try JobFileText.complaint(text) == "")
        let sandbox = text.replacing("Production", with: "Sandbox")
        #expect(
            try JobFileText.complaint(sandbox) == """
                job.yaml:14:16: streams.orderLookup is not available in Sandbox, because Apple offers this call only in \
                Production; remove it, or set app.environment to Production
                """
        )
        #expect(try JobFileText.refusal(bytes: Array(sandbox.utf8)) == .invalid)
        for type in AllStreams.types where type.name != .orderLookup {
            let name = type.name.rawValue
            let other = JobFileText.usual.replacing("  transactionHistory: {}", with: "  \(name): {}")
            #expect(try JobFileText.complaint(other.replacing("Production", with: "Sandbox")) == "", "\(name)")
        }
    }

    @Test func `order lookup needs exactly one list, and no transaction IDs`() throws {
        #expect(try Self.complaint("orderLookup: {}").contains("streams.orderLookup.orderIds is missing"))
        #expect(try Self.complaint("orderLookup: {orderIds: {}}").contains("names no source"))
        let both = try Self.complaint("orderLookup: {orderIds: {list: [A], query: SELECT 1}}")
        #expect(both.contains("names list and query"), "\(both)")
        let text = JobFileText.usual.replacing(
            "  transactionHistory: {}",
            with: "  orderLookup: {orderIds: {csv: {path: o.csv}}}"
        )
        .replacing("transactionIds:\n  list: [\"2000000123456789\"]\n", with: "")
        let job = try JobFileText.load(text)
        guard case .csv(let path, nil)? = job.streams[OrderLookup.self]?.orderIds else { throw CancellationError() }
        #expect(path.hasSuffix("/o.csv") && job.transactionIds == nil)
    }

    @Test func `lastRun is only where notifications begin`() throws {
        for stream in ["transactionHistory: {startDate: lastRun}", "notificationHistory: {endDate: lastRun}"] {
            let words = "is lastRun; only notificationHistory.startDate and changedSince can be lastRun"
            #expect(try Self.complaint(stream).contains(words))
        }
        let job = try Self.load("notificationHistory: {}")
        #expect(job.streams[NotificationHistory.self]?.requestedDates.startDate == .lastRun)
        #expect(job.streams[NotificationHistory.self]?.requestedDates.endDate == .now)
        #expect(job.streams[NotificationHistory.self]?.scope == .transactions)
    }

    @Test func `overlap is an hour unless the file says otherwise, and changes no cursor`() throws {
        for (text, seconds) in [
            ("", 3_600), (", overlap: 0m", 0), (", overlap: 90s", 90), (", overlap: 30m", 1_800),
            (", overlap: 2h", 7_200), (", overlap: 7d", 604_800), (", overlap: 168h", 604_800),
        ] as [(String, Int64)] {
            for scope in ["app", "transactions"] {
                let job = try Self.load("notificationHistory: {scope: \(scope)\(text)}")
                #expect(job.streams[NotificationHistory.self]?.requestedDates.overlap == .seconds(seconds), "\(text)")
                let usual = try Self.load("notificationHistory: {scope: \(scope)}")
                #expect(
                    job.queryFingerprint(for: .notificationHistory)
                        == usual.queryFingerprint(for: .notificationHistory)
                )
            }
        }
    }

    @Test(arguments: ["8d", "169h", "-1h", "1", "1w", "h", "1.5h", "1 h", "999999999d", "", "lastRun"])
    func `an overlap that is no duration from 0m to 7d is refused, with what would be right`(text: String) throws {
        #expect(
            try Self.complaint("notificationHistory: {overlap: '\(text)'}") == """
                job.yaml:14:34: streams.notificationHistory.overlap is the text "\(text)"; \
                it must be from 0m to 7d, such as 30m, 1h or 2d
                """
        )
    }

    @Test func `JF18 a notification type together with transaction IDs is refused`() throws {
        #expect(
            try Self.complaint("notificationHistory: {notificationType: REFUND}") == """
                job.yaml:14:43: streams.notificationHistory.notificationType is REFUND; it needs scope: app, \
                because Apple refuses a type together with a transaction ID (4000019)
                """
        )
        let job = try Self.load(
            "notificationHistory: {scope: app, notificationType: DID_RENEW, notificationSubtype: X}"
        )
        #expect(job.streams[NotificationHistory.self]?.notificationType == "DID_RENEW")
        #expect(
            try Self.complaint("notificationHistory: {scope: app, notificationSubtype: VOLUNTARY}")
                .contains("notificationSubtype is VOLUNTARY; it also needs a notificationType")
        )
    }

    @Test func `JF19 a descending crawl is allowed and never continues from a revision`() throws {
        let job = try Self.load("transactionHistory: {sort: DESCENDING}")
        #expect(job.streams[TransactionHistory.self]?.keepsCursor == false)
        #expect(try Self.load("transactionHistory: {}").streams[TransactionHistory.self]?.keepsCursor == true)
        #expect(try Self.complaint("transactionHistory: {sort: descending}").contains("ASCENDING or DESCENDING"))
    }

    @Test func `JF20 a changed filter changes the fingerprint, another spelling does not`() throws {
        func fingerprint(_ filters: String) throws -> String {
            try Self.load("transactionHistory: {\(filters)}").queryFingerprint(for: .transactionHistory)
        }
        let plain = try fingerprint("")
        #expect(plain.isEmpty)
        #expect(
            try fingerprint("revoked: true, productIds: [b, a], startDate: -1d")
                == fingerprint("startDate: -24h, productIds: [a, b, a], revoked: true")
        )
        #expect(try fingerprint("productIds: [b, 'a,c=&%']") == "productIds=a%2cc%3d%26%25,b")
        #expect(try fingerprint("sort: ASCENDING") == plain)
        let changes = [
            "revoked: true", "revoked: false", "productIds: [a]", "productIds: ['a,b']", "productIds: [a, b]",
            "productTypes: [CONSUMABLE]", "subscriptionGroupIdentifiers: ['a']", "sort: DESCENDING",
            "inAppOwnershipType: PURCHASED", "startDate: -1d", "endDate: -1d", "startDate: 2026-01-01T00:00:00Z",
        ]
        let fingerprints = try changes.map(fingerprint) + [plain]
        #expect(Set(fingerprints).count == fingerprints.count)
    }

    @Test func `JF20 the choice of customers for refunds changes no request`() throws {
        let all = try Self.load("transactionHistory: {}", "refundHistory: {for: all}")
        let revoked = try Self.load("transactionHistory: {}", "refundHistory: {for: revoked}")
        #expect(all.queryFingerprint(for: .refundHistory) == revoked.queryFingerprint(for: .refundHistory))
        #expect(revoked.streams[RefundHistory.self]?.customers == .revoked && revoked.warnings.isEmpty)
    }

    @Test(arguments: ["0", "3", "-1", "1.5", "true", "'1'", "two", "v1", "[1]", "99999999999999999999"])
    func `JF21 a version of an endpoint that is neither 1 nor 2 is refused`(version: String) throws {
        for stream in ["transactionHistory", "refundHistory"] {
            let complaint = try Self.complaint("\(stream): {version: \(version)}")
            #expect(complaint.hasPrefix("job.yaml:14:"), "\(complaint)")
            #expect(complaint.contains("streams.\(stream).version is "), "\(complaint)")
            #expect(complaint.hasSuffix("; it must be 1 or 2"), "\(complaint)")
        }
        #expect(try Self.complaint("notificationHistory: {version: 1}").contains("version is not a key"))
    }

    @Test func `version 1 is a separate query, and version 2 is the one that the file had before`() throws {
        for stream in [StreamName.transactionHistory, .refundHistory] {
            let fingerprint = { (section: String) in
                try Self.load("\(stream.rawValue): {\(section)}").queryFingerprint(for: stream)
            }
            #expect(try fingerprint("").isEmpty)
            #expect(try fingerprint("version: 2").isEmpty)
            #expect(try fingerprint("version: 1") == "version=1")
        }
        #expect(
            try Self.load("transactionHistory: {version: 1, revoked: true}")
                .queryFingerprint(for: .transactionHistory) == "revoked=true&version=1"
        )
    }

    @Test func `version 1 keeps the cursor of a history, and refunds have none to keep`() throws {
        let job = try Self.load("transactionHistory: {version: 1}", "refundHistory: {version: 1}")
        #expect(job.streams.all.map(\.keepsCursor) == [true, false])
        let usual = try Self.load("transactionHistory: {}", "refundHistory: {}")
        #expect(usual.streams.all.map(\.keepsCursor) == [true, true])
    }

    @Test func `version 1 warns that Apple has deprecated it, and what it omits`() throws {
        let job = try Self.load("transactionHistory: {version: 1}", "refundHistory: {for: all, version: 1}")
        #expect(
            job.warnings.map { String($0.drop { $0 != ":" }) } == [
                """
                :14:33: streams.transactionHistory.version is 1: Apple has deprecated version 1 of Get Transaction History, \
                which omits finished consumables
                """,
                """
                :15:38: streams.refundHistory.version is 1: Apple has deprecated version 1 of Get Refund History, \
                which omits all but the 50 latest refunds of a customer
                """,
            ]
        )
        #expect(try Self.load("transactionHistory: {version: 2}", "refundHistory: {version: 2}").warnings.isEmpty)
    }

    @Test func `only a query of version 1 omits something`() throws {
        #expect(TransactionHistory.omissions(of: "revoked=true&version=1") == ["finished consumables"])
        #expect(RefundHistory.omissions(of: "version=1") == ["all but the 50 latest refunds of a customer"])
        for query in ["", "revoked=true", "productIds=version%3d1"] {
            for type in AllStreams.types { #expect(type.omissions(of: query).isEmpty, "\(type.name) \(query)") }
        }
    }

    @Test(arguments: [
        "refundHistory: {for: revoked}",
        "refundHistory: {for: revoked}\n  notificationHistory: {scope: app}",
    ])
    func `refunds of the revoked need a stream that names them`(streams: String) throws {
        #expect(
            try Self.complaint(streams) == """
                job.yaml:14:18: streams.refundHistory requests only customers with a revocation, \
                and no other stream of this job finds them; \
                add transactionHistory, or notificationHistory with scope transactions, or write for: all
                """
        )
    }

    @Test(arguments: [
        "transactionHistory: {}", "notificationHistory: {scope: transactions}", "notificationHistory: {}",
    ])
    func `a crawl by ID names the revoked`(stream: String) throws {
        let job = try Self.load(stream, "refundHistory: {for: revoked}")
        #expect(job.streams[RefundHistory.self]?.customers == .revoked && job.warnings.isEmpty)
    }

    @Test(arguments: ["transactionHistory: {nonsense: 1}", "notificationHistory: 7"])
    func `a stream that is itself wrong is not called missing`(stream: String) throws {
        #expect(try !Self.complaint("\(stream)\n  refundHistory: {for: revoked}").contains("no other stream"))
    }

    @Test func `at least one stream is required`() throws {
        #expect(
            try JobFileText.complaint(replacing: "streams:\n  transactionHistory: {}", with: "streams: {}").contains(
                "streams names no stream; it must name at least one of transactionHistory, refundHistory"
            )
        )
    }
}
