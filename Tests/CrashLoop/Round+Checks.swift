import FoundationEssentials
import LedgerSchema
import Postgres
import TestSupport

extension Round {
    /// Checks the invariants that must be true at every moment.
    mutating func judgeLive() async throws {
        let book = book
        // Arrivals are read before grants: a later grant cannot cause a false alarm.
        let arrivals = try await store.requests().arrivals
        let (grants, broken, snapshot) = try await patiently {
            (
                try await AuditTrail.grants(in: book), try await AuditTrail.broken(in: book),
                try await KeptPages.Snapshot(book)
            )
        }
        // Pages are read after the snapshot: all its records had been served by then.
        kept.add(try await store.pages(since: kept.count))
        var sentences = broken.map { "I4, I6, I7, I8: \($0)" }
        sentences += AuditTrail.overspent(arrivals, grants)
        sentences += kept.broken(by: snapshot)
        sentences += try await patiently { try await published.broken(book) }
        try BrokenInvariant.check(sentences)
    }

    var published: PublishedSet {
        PublishedSet(directory: store.directory + "/out", hasParts: plan.publishesChanges)
    }

    /// Checks the invariants that must be true when all runs have ended.
    mutating func judgeDrained() async throws {
        try await judgeLive()
        var sentences = try await lostOrInvented()
        sentences += kept.dropped(from: try await patiently { try await KeptPages.Snapshot(book) })
        sentences += try await overBudget()
        sentences += try await misfiledEnds()
        sentences += try await differentFiles()
        let leftovers = Leftovers(
            book: book,
            workers: workers,
            directory: published.directory,
            secrets: secrets,
            postgresWasKilled: postgresWasKilled
        )
        sentences += try await leftovers.leaks() + leftovers.toldSecrets()
        sentences += try await rework()
        try BrokenInvariant.check(sentences)
    }

    /// I1, I2: the ledger has the whole world, except badly signed records.
    private func lostOrInvented() async throws -> [String] {
        let world = try await store.world()
        var excused = kept.badKeys
        for line in world.split(separator: "\n") where line.hasPrefix(#"{"kind":"notification""#) {
            guard kept.badKeys.contains(where: { line.contains("\"key\":\"\($0)\"") }) else { continue }
            excused.formUnion(Self.subjects(of: line))
        }
        return try await book.differences(from: world)
            .filter { sentence in !sentence.split(separator: " ").contains { excused.contains(String($0)) } }
            .map { "I1, I2: \($0)" }
    }

    /// The transactions and renewals in a notification, from the signed texts inside it.
    private static func subjects(of line: Substring) -> Set<String> {
        var subjects: Set<String> = []
        for text in line.split(separator: "\"") where text.hasPrefix("eyJ") {
            let parts = text.split(separator: ".")
            guard parts.count == 3 else { continue }
            var payload = parts[1].replacing("-", with: "+").replacing("_", with: "/")
            payload += String(repeating: "=", count: (4 - payload.count % 4) % 4)
            guard let bytes = Data(base64Encoded: String(payload)) else { continue }
            let words = String(decoding: bytes, as: UTF8.self).split(separator: "\"")
            for (word, value) in zip(words, words.dropFirst(2))
            where word == "transactionId" || word == "originalTransactionId" {
                subjects.insert(String(value))
            }
        }
        return subjects
    }

    /// I9 in the store: all processes together never exceed the share in any window.
    private func overBudget() async throws -> [String] {
        let requests = try await store.requests()
        guard let window = plan.windowSeconds else { return [] }
        let perSecond = ["transactionHistory": 50, "refundHistory": 10, "notificationHistory": 50]
        return Dictionary(grouping: requests.arrivals, by: \.endpoint).compactMap { endpoint, arrivals in
            let moments = arrivals.map(\.at).sorted()
            let budget = perSecond[endpoint, default: 0] * window
            var first = 0
            var most = 0
            for last in moments.indices {
                while moments[first] <= moments[last] - Int64(window) * 1_000 { first += 1 }
                most = max(most, last - first + 1)
            }
            return most <= budget ? nil : "I9: \(most) requests of \(endpoint) in \(window) s; \(budget) are allowed"
        }
    }

    /// I15: every item is finished, the counts are correct, and the exit code matches them.
    private func misfiledEnds() async throws -> [String] {
        var sentences = try await book.column(
            "SELECT stream || ' ' || item_key || ' is ' || state FROM crawl_items WHERE state NOT IN ('done', 'failed')"
        ).map { "I15: \($0)" }
        sentences += try await book.column(
            """
            SELECT format('I15: run %s says %s, its items %s', r.run_id, to_jsonb(ARRAY[r.items, r.items_failed, r.pages, r.exit_code]),
                          to_jsonb(ARRAY[c.items, c.failed, c.pages, c.code]))
              FROM runs r, LATERAL (
                SELECT count(*) AS items, count(*) FILTER (WHERE state = 'failed') AS failed, coalesce(sum(page_count), 0) AS pages,
                       CASE WHEN count(*) FILTER (WHERE state = 'failed') + coalesce(sum(records_rejected), 0) > 0 THEN 2 ELSE 0 END AS code
                  FROM crawl_items i WHERE i.run_id = r.run_id) c
             WHERE r.run_id = (SELECT max(run_id) FROM runs)
               AND ARRAY[r.items, r.items_failed, r.pages, r.exit_code]::bigint[] IS DISTINCT FROM ARRAY[c.items, c.failed, c.pages, c.code]::bigint[]
            """
        )
        let failed = try await book.column(
            "SELECT stream || ' ' || item_key || ': ' || error_message FROM crawl_items WHERE state = 'failed' AND item_key <> '\(Self.unknownID)'"
        )
        sentences += failed.map { "I15: failed for no reason: \($0)" }
        let code = Int32(try await book.count("SELECT exit_code FROM runs ORDER BY run_id DESC LIMIT 1"))
        let last = workers.last.map { $0.process }
        if let last, await last.wait() != code { sentences.append("I15: the last process did not end with \(code)") }
        return sentences
    }

    static let unknownID = "999999999999"

    /// I10 without running processes: the published files equal the tables.
    private func differentFiles() async throws -> [String] {
        guard let tables = try published.tables() else { return ["I10: nothing is published"] }
        var sentences: [String] = []
        for (table, records) in tables {
            sentences += try await book.differences(of: table, from: records).map { "I10: \(table): \($0)" }
            let keys = Set(records.map { $0.prefix(1) })
            if keys.count != records.count { sentences.append("I3: the files of \(table) name a key twice") }
        }
        let left = published.temporaries()
        if !left.isEmpty { sentences.append("I14: temporary files are left: \(left)") }
        return sentences
    }

    /// I12: a fault costs at most the pages in progress.
    private mutating func rework() async throws -> [String] {
        let answered = try await store.requests().arrivals.count { $0.status == 200 }
        let committed = try await book.count("SELECT count(*) FROM audit.steps")
        tally.rework(extra: answered - committed, allowed: reworkAllowed)
        guard answered - committed > reworkAllowed else { return [] }
        return ["I12: \(answered - committed) pages were asked for in vain; \(reworkAllowed) may be"]
    }
}
