import Postgres
import TestSupport

/// Erases customers while their rows are planned and sent.
extension ActionRound {
    mutating func eraseCustomer(_ fault: InjectedFault) async throws {
        try await ensureWork()
        try await setFaults(.slow(milliseconds: 60))
        guard let id = try await customer() else { return tally.miss(fault) }
        erased.formUnion(try await transactions(ofCustomerOf: id))
        let arguments = ["erase", store.directory + "/crawl.yaml", "--yes", "--transaction-id", id]
        if Bool.random(using: &random) {
            try joinIn()
            try await Task.sleep(for: .milliseconds(Int.random(in: 50...500, using: &random)))
            try await succeed(arguments)
            try await setFaults(.faulty)
        } else {
            try await drain()
            let eraser = try start(arguments)
            try await planNext()
            let code = await eraser.end(within: Self.patience)
            guard code == 0 else {
                throw BrokenInvariant(sentences: ["erase ended with \(code ?? -1): \(eraser.process.errors)"])
            }
        }
        tally.hit(fault)
        try BrokenInvariant.check(try await namedAfterErasure())
        try await checkLive()
    }

    /// The ID of a valid row of the current batch, of a customer of whom no batch has one of its first two rows.
    private mutating func customer() async throws -> String? {
        let (book, job) = (book, try current.name)
        let ids = try await patiently {
            try await book.column(
                """
                WITH hopeless AS (
                    SELECT t.app_transaction_id FROM action_batches b
                     CROSS JOIN LATERAL (SELECT r.subject FROM action_rows r WHERE r.app_id = b.app_id AND r.batch_id = b.batch_id
                                            AND r.verdict = 'valid' ORDER BY r.position LIMIT 2) r
                      JOIN transactions t ON t.transaction_id = r.subject OR t.original_transaction_id = r.subject
                )
                SELECT r.subject FROM action_rows r JOIN action_batches b USING (app_id, batch_id)
                 WHERE b.job = '\(job)' AND r.verdict = 'valid' AND r.subject IS NOT NULL
                   AND EXISTS (SELECT FROM transactions t WHERE t.transaction_id = r.subject)
                   AND NOT EXISTS (SELECT FROM transactions t WHERE t.app_transaction_id IN (SELECT h.app_transaction_id FROM hopeless h)
                                      AND (t.transaction_id = r.subject OR t.original_transaction_id = r.subject))
                 ORDER BY r.position
                """
            )
        }
        return ids.randomElement(using: &random)
    }

    /// The transaction IDs of a customer, original ones among them.
    private func transactions(ofCustomerOf id: String) async throws -> [String] {
        let book = book
        return try await patiently {
            try await book.column(
                """
                SELECT DISTINCT i.id FROM transactions t CROSS JOIN LATERAL (VALUES (t.transaction_id), (t.original_transaction_id)) i (id)
                 WHERE '\(id)' IN (t.transaction_id, t.original_transaction_id)
                    OR t.app_transaction_id IN (SELECT o.app_transaction_id FROM transactions o
                                                 WHERE '\(id)' IN (o.transaction_id, o.original_transaction_id))
                """
            )
        }
    }

    /// A10: what names an erased customer.
    func namedAfterErasure() async throws -> [String] {
        guard !erased.isEmpty else { return [] }
        let (book, needles) = (book, Needles(erased))
        return try await patiently {
            let tables = try await book.column(
                """
                SELECT c.oid::regclass FROM pg_class c
                 WHERE relnamespace = 'appstore'::regnamespace AND relkind IN ('r', 'p') ORDER BY 1
                """
            )
            var sentences: [String] = []
            for table in tables {
                let rows = try await book.column("SELECT t::text FROM appstore.\(table) t").joined(separator: "\n")
                sentences += needles.ids(in: rows).sorted().map { "A10: \(table) names \($0), who was erased" }
            }
            return sentences
        }
    }
}
