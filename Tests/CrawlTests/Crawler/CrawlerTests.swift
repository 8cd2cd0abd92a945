import AppStoreModel
import Basics
import Crawl
import RateLimit
import Streams
import Synchronization
import TestSupport
import Testing

struct CrawlerTests {
    let time = ManualTime(.automatic)
    let ledger = ScriptedLedger()

    private func crawl(
        _ source: ScriptedSource,
        _ store: MemoryStore,
        of stream: StreamName = .transactionHistory,
        width: Int = 1,
        rules: CrawlRules = CrawlRules(),
        limitsElsewhere: Bool = true,
        ledger: ScriptedLedger? = nil,
        report: @escaping @Sendable (CrawlEvent) -> Void = { _ in }
    ) async throws {
        let limiter = RateLimiter(
            stream: stream,
            terms: LimiterTerms(requestsPerSecond: 1_000),
            ledger: ledger ?? self.ledger,
            time: time.timekeeper
        )
        let crawler = Crawler(
            source: source,
            store: store,
            limits: CrawlLimits(
                limiters: [stream: limiter],
                otherLimiters: limitsElsewhere ? [stream: limiter] : [:]
            ),
            rules: rules,
            time: time.timekeeper,
            report: report
        )
        try await crawler.crawl([stream], concurrency: width)
        try crawler.finish()
    }

    @Test func `every page is requested with the cursor of the page before, and committed before the next`()
        async throws
    {
        let source = ScriptedSource([
            "1": [
                .page(["a", "b"], cursor: "r1", hasMore: true), .page(["c"], cursor: "r2", hasMore: true),
                .page([], cursor: "r3", hasMore: false),
            ]
        ])
        let store = MemoryStore(["1"])
        try await crawl(source, store)
        #expect(source.cursors(of: "1") == [nil, "r1", "r2"])
        #expect(store.item("1")?.pages == [["a", "b"], ["c"], []])
        #expect(store.item("1")?.item.cursor == "r3")
        #expect(store.states == ["done"])
    }

    @Test(arguments: [1, 3, 8])
    func `never more items are under way than the width, and all reach their end`(width: Int) async throws {
        let keys = (1...60).map(String.init)
        let source = ScriptedSource()
        let store = MemoryStore(keys)
        try await crawl(source, store, width: width)
        #expect(store.states == keys.map { _ in "done" })
        #expect(source.mostUnderWay <= width)
    }

    @Test func `CK5 nothing is stored while the ledger's clock is ahead of Apple's`() async throws {
        let ledger = ScriptedLedger { _, atMost in
            RateGrant(granted: atMost, wait: .zero, clock: UnixMilliseconds(rawValue: 1_795_348_800_000 + 7_200_000))
        }
        let odd = ScriptedSource.Answer.page(["a"], cursor: "r1", hasMore: false, date: "Sun, 22 Nov 2026 12:00:00 GMT")
        let source = ScriptedSource(["1": [odd, odd, odd, odd]])
        let store = MemoryStore(["1"])
        let stop = await #expect(throws: StopReason.self) { try await crawl(source, store, ledger: ledger) }
        #expect(stop?.status == .configuration)
        #expect(
            stop?.description
                == "PostgreSQL's clock is 7200 s ahead of the Date header of Apple's answers. Set the clock of the database "
                + "server (NTP), then run again. The last answer was not stored."
        )
        #expect(source.cursors(of: "1").count == 3)
        #expect(store.item("1")?.pages == [])
    }

    @Test func `CK4 the crawl ends when the ledger's clock is set, and keeps the pages that came before`() async throws
    {
        let ledger = ScriptedLedger { call, _ in
            let clock = UnixMilliseconds(rawValue: 1_795_348_800_000 + Int64(call) * 7_200_000)
            return RateGrant(granted: 1, wait: .zero, clock: clock)
        }
        let source = ScriptedSource(["1": [.page(["a"], cursor: "r1", hasMore: true)]])
        let store = MemoryStore(["1"])
        let stop = await #expect(throws: StopReason.self) { try await crawl(source, store, ledger: ledger) }
        #expect(stop == .clocks(FailureReport(message: "PostgreSQL's clock was set forward by 7200 s")))
        #expect(store.item("1")?.pages == [["a"]])
    }

    @Test func `CK3 a request that missed its time is sent with a new permit, and is not counted`()
        async throws
    {
        let late = (1...12).map { _ in ScriptedSource.Answer.failure(.tooLate) }
        let source = ScriptedSource(["1": late + [.page(["a"], cursor: "r1", hasMore: false)]])
        let store = MemoryStore(["1"])
        try await crawl(source, store)
        #expect(store.states == ["done"])
        #expect(store.item("1")?.ends == [] && store.item("1")?.requests == 1)
        #expect(ledger.asked.reduce(0, +) >= 13)
    }

    @Test func `H41 a kept connection that ends costs a permit, and the first time no attempt`() async throws {
        let lost = ScriptedSource.Answer.failure(.keptConnectionLost(detail: "as scripted"))
        let source = ScriptedSource([
            "1": [lost, .page(["a"], cursor: "r1", hasMore: true), lost, .page(["b"], cursor: "r2", hasMore: false)],
            "2": (1...40).map { _ in lost },
        ])
        let store = MemoryStore(["1", "2"])
        let waits = Mutex<[Duration]>([])
        try await crawl(source, store, width: 1) { event in
            if case .retrying(_, _, let delay) = event { waits.withLock { $0.append(delay) } }
        }
        #expect(store.states == ["done", "failed"])
        #expect(store.item("1")?.requests == 4 && store.item("1")?.ends == [])
        // The repeat of each, and no other, must not meet another kept connection.
        #expect(source.onNewConnections(of: "1") == 2)
        #expect(source.onNewConnections(of: "2") == 20)
        // One for nothing and five that count, each of the four times.
        #expect(store.item("2")?.requests == 24)
        let told = waits.withLock { $0 }
        #expect(told.prefix(3) == [.zero, .zero, .zero] && told[3] > .zero)
        #expect(ledger.asked.reduce(0, +) >= 28)
    }

    @Test func `a rate limit costs time but no attempt`() async throws {
        let opening = time.wallClock + .seconds(90)
        let refusals = (1...7).map { _ in
            ScriptedSource.Answer.apple(429, 4_290_000, retryAfter: [String(opening.rawValue)])
        }
        let source = ScriptedSource(["1": refusals + [.page(["a"], cursor: "r1", hasMore: false)]])
        let store = MemoryStore(["1"])
        try await crawl(source, store)
        #expect(store.states == ["done"])
        #expect(store.item("1")?.ends == [])
        #expect(ledger.closed.count == 7)
        #expect(time.wallClock >= opening)
        #expect(store.item("1")?.requests == 8)
    }

    @Test func `a fault that passes is retried with growing waits and leaves no trace`() async throws {
        let source = ScriptedSource([
            "1": [
                .apple(500, 5_000_001), .failure(.transport(detail: "cut")), .apple(503),
                .page(["a"], cursor: "r1", hasMore: false),
            ]
        ])
        let store = MemoryStore(["1"])
        try await crawl(source, store)
        #expect(store.states == ["done"])
        #expect(store.item("1")?.requests == 4)
        #expect(source.cursors(of: "1") == [nil, nil, nil, nil])
    }

    /// Each with how often a page is requested before its item is postponed.
    @Test(
        arguments: [
            (408, nil, 5), (425, nil, 5), (502, nil, 5), (503, nil, 5), (504, nil, 5), (500, 5_000_001, 5),
            (500, 5_000_000, 3), (404, 4_040_002, 5), (404, 4_040_004, 5), (404, 4_040_006, 5),
        ] as [(Int, Int64?, Int)]
    )
    func `H15 a fault that stays puts the item off, and fails it in the end, while the others go on`(
        status: Int,
        code: Int64?,
        attempts: Int
    ) async throws {
        let source = ScriptedSource(["1": (1...40).map { _ in .apple(status, code) }])
        let store = MemoryStore(["1", "2", "3"])
        try await crawl(source, store)
        #expect(store.states == ["failed", "done", "done"])
        let ends = store.item("1")?.ends ?? []
        #expect(ends.count == 4)
        for end in ends.dropLast() {
            guard case .deferred(_, code ?? Int64(status), _) = end else { Issue.record("\(end)"); continue }
        }
        #expect(ends.last == .failed(code: code ?? Int64(status), message: "as scripted"))
        #expect(store.item("1")?.requests == 4 * attempts)
    }

    @Test func `an ID Apple does not know fails with Apple's code and message`() async throws {
        let source = ScriptedSource(["1": [.apple(404, 4_040_010)]])
        let store = MemoryStore(["1", "2"])
        try await crawl(source, store)
        #expect(store.item("1")?.ends == [.failed(code: 4_040_010, message: "as scripted")])
        #expect(store.states == ["failed", "done"])
    }

    @Test func `C19 an unknown ID goes on in the other environment, once, when the job allows it`() async throws {
        var rules = CrawlRules()
        rules.otherEnvironment = .sandbox
        let source = ScriptedSource(["1": [.apple(404, 4_040_010), .apple(404, 4_040_010)]])
        let store = MemoryStore(["1"])
        try await crawl(source, store, rules: rules)
        #expect(source.environments(of: "1") == [nil, .sandbox])
        #expect(store.item("1")?.ends == [.moved(.sandbox), .failed(code: 4_040_010, message: "as scripted")])
    }

    @Test(arguments: [4_000_005, 4_000_014, 4_000_017] as [Int64])
    func `a refused cursor begins the item again at its first page`(code: Int64) async throws {
        let source = ScriptedSource([
            "1": [
                .page(["a"], cursor: "r1", hasMore: true), .apple(400, code), .page(["a"], cursor: "r1", hasMore: true),
                .page(["b"], cursor: "r2", hasMore: false),
            ]
        ])
        let store = MemoryStore(["1"])
        try await crawl(source, store)
        #expect(source.cursors(of: "1") == [nil, "r1", nil, "r1"])
        #expect(store.states == ["done"])
    }

    @Test func `a cursor that is refused again and again fails the item`() async throws {
        let source = ScriptedSource(["1": (1...10).map { _ in .apple(400, 4_000_005) }])
        let store = MemoryStore(["1"])
        try await crawl(source, store)
        #expect(store.states == ["failed"])
        #expect(source.cursors(of: "1").count == 3)
    }

    @Test func `H16 H17 a spell of 401 costs pauses and requests, and only a minute of nothing but 401 stops the run`()
        async throws
    {
        let spell = [0, 1, 2, 4, 8, 16, 30, 45, 59].map { ScriptedSource.Answer.refused(for: .seconds($0)) }
        let source = ScriptedSource(["1": spell + [.page(["a"], cursor: "r", hasMore: false)]])
        let store = MemoryStore(["1"])
        try await crawl(source, store)
        #expect(store.states == ["done"])
        #expect(store.item("1")?.requests == 10)
        #expect(time.slept == [0.5, 1, 2, 4, 8, 8, 8, 8, 8].map { Duration.seconds($0 * 1.25) })

        let refused = ScriptedSource(["1": spell + [.refused(for: .seconds(60))]])
        let error = await #expect(throws: StopReason.self) { try await crawl(refused, MemoryStore(["1", "2"])) }
        #expect(error?.status == .refused)
        #expect(refused.cursors(of: "1").count == 10)
    }

    @Test func `a 401 that repeats for one item while Apple accepts the key for others puts the item off`() async throws
    {
        let source = ScriptedSource(["1": (1...12).map { _ in .refused(for: .zero, keyWasAccepted: true) }])
        let store = MemoryStore(["1", "2"])
        try await crawl(source, store)
        #expect(store.states == ["done", "done"])
        #expect(source.cursors(of: "1").count == 13)
        let sentence = "Apple refuses the bearer token for this request, and accepts it for others"
        #expect(store.item("1")?.ends.first == .deferred(delay: .seconds(30), code: 401, message: sentence))
    }

    @Test func `a refusal with 403 names the item and has one full stop`() async throws {
        let source = ScriptedSource(["1": [.apple(403, 4_030_099)]])
        let error = await #expect(throws: StopReason.self) { try await crawl(source, MemoryStore(["1"])) }
        let message = try #require(error).description
        let cause = "HTTP 403, Apple's code 4030099: as scripted (requested: transactionHistory 1). Check issuerId"
        #expect(message.hasPrefix(cause), "\(message)")
        #expect(FailureReport(message: "Odd.").sentence == "Odd.")
    }

    @Test func `H08 a 403 that repeats while Apple accepts the key fails its item only`() async throws {
        let refusal = ScriptedSource.Answer.apple(403, 4_030_099)
        let refusals = (1...10).map { _ in refusal }
        let source = ScriptedSource(
            ["1": refusals, "2": [refusal, .page(["a"], cursor: "r", hasMore: false)]],
            keyIsAccepted: true
        )
        let store = MemoryStore(["1", "2", "3"])
        try await crawl(source, store)
        #expect(store.states == ["failed", "done", "done"])
        #expect(store.item("1")?.ends == [.failed(code: 4_030_099, message: "as scripted")])
        #expect(source.cursors(of: "1").count == 2 && source.keyChecks == 2)

        let refused = ScriptedSource(["1": refusals])
        let error = await #expect(throws: StopReason.self) { try await crawl(refused, MemoryStore(["1", "2"])) }
        #expect(error?.status == .refused)
        #expect(refused.cursors(of: "1").count == 1 && refused.cursors(of: "2").isEmpty && refused.keyChecks == 1)
    }

    @Test func `a key that Apple refuses for all items of a stream stops the run`() async throws {
        let keys = (1...60).map(String.init)
        let scripts = Dictionary(
            uniqueKeysWithValues: keys.map { ($0, (1...4).map { _ in ScriptedSource.Answer.apple(403) }) }
        )
        let store = MemoryStore(keys)
        let error = await #expect(throws: StopReason.self) {
            try await crawl(ScriptedSource(scripts, keyIsAccepted: true), store)
        }
        #expect(error?.status == .refused)
        #expect(error?.report.message == "51 items failed with the same unknown answer, HTTP 403: as scripted")
        #expect(store.states.count { $0 == "failed" } == 50)
    }

    @Test func `refusals of subscriptions without seats, which Apple does not number, stop no run`() async throws {
        let keys = (1...60).map(String.init)
        let scripts = Dictionary(uniqueKeysWithValues: keys.map { ($0, [ScriptedSource.Answer.apple(400, 4_000_000)]) })
        let store = MemoryStore(keys, stream: .seats)
        try await crawl(ScriptedSource(scripts), store, of: .seats)
        #expect(store.states.count { $0 == "failed" } == 60)
    }

    @Test func `N24 an answer with more pages but no new cursor is requested again once, and then fails the item`()
        async throws
    {
        let stuck = ScriptedSource.Answer.page(["a"], cursor: "r1", hasMore: true)
        let source = ScriptedSource(["1": [stuck, stuck, stuck]])
        let store = MemoryStore(["1"])
        try await crawl(source, store)
        #expect(source.cursors(of: "1") == [nil, "r1", "r1"])
        #expect(store.states == ["failed"])
        #expect(store.item("1")?.pages == [["a"]])
    }

    @Test func `N25 an item whose pages never end stops at the cap`() async throws {
        var rules = CrawlRules()
        rules.pagesPerItem = 50
        let source = ScriptedSource(["1": (1...100).map { .page([], cursor: "r\($0)", hasMore: true) }])
        let store = MemoryStore(["1"])
        try await crawl(source, store, rules: rules)
        #expect(store.item("1")?.pages.count == 50)
        #expect(store.states == ["failed"])
    }

    @Test func `N25 a window of the whole app may have more pages than a customer`() async throws {
        #expect(CrawlRules().pagesPerWindow == 1_000_000)
        var rules = CrawlRules()
        rules.pagesPerItem = 2
        rules.pagesPerWindow = 50
        let window = "1767225600000..1767312000000"
        let source = ScriptedSource([window: (1...100).map { .page([], cursor: "r\($0)", hasMore: true) }])
        let store = MemoryStore([window])
        try await crawl(source, store, rules: rules)
        #expect(store.item(window)?.pages.count == 50)
        #expect(store.states == ["failed"])
    }

    @Test func `an item in an environment that the job has no limit for stops the run with 78`() async throws {
        var rules = CrawlRules()
        rules.otherEnvironment = .sandbox
        let source = ScriptedSource(["1": [.apple(404, 4_040_010)]])
        let error = await #expect(throws: StopReason.self) {
            try await crawl(source, MemoryStore(["1"]), rules: rules, limitsElsewhere: false)
        }
        #expect(error?.status == .configuration)
        #expect(
            error?.report.message
                == "The job has no limit for transactionHistory in Sandbox, which item 1 needs"
        )
        #expect(source.environments(of: "1") == [nil])
    }

    @Test(arguments: [
        ("signature", true), ("chain", true), ("bundle", true), ("environment", true), ("app_id", true),
        ("unreadable", false), ("conflict", false), ("contradiction", false), ("no_identity", false),
        ("missing_key", false),
    ])
    func `only what fails verification ends a run as forged`(reason: String, endsRun: Bool) async throws {
        let good = ScriptedSource.Answer.page(["a", "b"], cursor: "r", hasMore: false)
        let keys = (1...40).map(String.init)
        let rejects = Dictionary(uniqueKeysWithValues: keys.map { ($0, [reason]) })
        let store = MemoryStore(keys, rejects: rejects)
        let source = ScriptedSource(Dictionary(uniqueKeysWithValues: keys.map { ($0, [good, good]) }))
        if endsRun {
            let error = await #expect(throws: StopReason.self) { try await crawl(source, store) }
            #expect(error?.report.message.contains("failed verification") == true)
            // 80 records are judged when all of them are in the store.
            #expect(store.states == keys.map { _ in "done" })
            try await crawl(source, MemoryStore(keys, rejects: rejects, knowsRejects: true))
        } else {
            try await crawl(source, store)
            #expect(store.states == keys.map { _ in "done" })
        }
    }

    @Test func `a worker whose lease is lost drops the page and goes on with the next item`() async throws {
        let source = ScriptedSource([
            "1": [.page(["a"], cursor: "r1", hasMore: true), .page(["b"], cursor: "r2", hasMore: false)]
        ])
        let store = MemoryStore(["1", "2"])
        try await crawl(source, store) { event in
            if case .committed(let outcome, _) = event, outcome.item.key == "1" { store.lose("1") }
            if case .leaseLost(let item) = event { store.giveUp(item.key) }
        }
        #expect(source.cursors(of: "1") == [nil])
        #expect(store.item("1")?.pages == [["a"]])
        #expect(store.item("2")?.state == "done")
    }

    @Test func `a process that waits for items of others says so once, and takes them when they are free`() async throws
    {
        let store = MemoryStore(["1"])
        _ = try await store.lease(.transactionHistory, atMost: 1)
        let source = ScriptedSource(["1": [.page(["a"], cursor: "r", hasMore: false)]])
        let reports = Mutex<[Duration]>([])
        let (time, began) = (self.time, self.time.timekeeper.monotonic())
        store.release("1", onLease: 100)
        try await crawl(source, store) { event in
            if case .idle(let moment) = event {
                #expect(moment != nil)
                reports.withLock { $0.append(time.timekeeper.monotonic() - began) }
            }
        }
        #expect(store.item("1")?.state == "done")
        #expect(reports.withLock { $0.count } == 1)
        #expect(reports.withLock { $0.allSatisfy { $0 >= .seconds(5) && $0 < .seconds(7) } })
    }

    @Test func `a run whose first five pages are all rejected for one reason stops with 76`() async throws {
        let keys = (1...20).map(String.init)
        let scripts = Dictionary(
            uniqueKeysWithValues: keys.map { ($0, [ScriptedSource.Answer.page(["a"], cursor: "r", hasMore: false)]) }
        )
        let store = MemoryStore(keys, rejects: Dictionary(uniqueKeysWithValues: keys.map { ($0, ["chain"]) }))
        let error = await #expect(throws: StopReason.self) { try await crawl(ScriptedSource(scripts), store) }
        #expect(error?.status == .contractBroken)
    }

    @Test func `cancelling ends the crawl`() async throws {
        let hold = ManualTime(.byHand)
        let source = ScriptedSource(["1": [.apple(503)]])
        let crawler = Crawler(
            source: source,
            store: MemoryStore(["1"]),
            limits: CrawlLimits(limiters: [
                .transactionHistory: RateLimiter(
                    stream: .transactionHistory,
                    terms: LimiterTerms(requestsPerSecond: 1_000),
                    ledger: ledger,
                    time: hold.timekeeper
                )
            ]),
            rules: CrawlRules(),
            time: hold.timekeeper,
            report: { _ in }
        )
        let run = Task { try await crawler.crawl([.transactionHistory], concurrency: 2) }
        await hold.untilAsleep()
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
    }
}
