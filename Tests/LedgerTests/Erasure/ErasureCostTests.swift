import Postgres
import TestSupport
import Testing

@testable import Erasure
@testable import Ledger

/// What an erasure reads while it keeps pages out.
@Suite(.migratedDatabase, .slow)
struct ErasureCostTests {
    /// A ledger of `customers` customers with records of every kind, rejects, items, and notifications that name no transaction.
    private func fill(_ world: TestLedger, customers: Int) async throws {
        try await world.run(
            """
            INSERT INTO signing_headers (app_id, header_sha256, header) VALUES (1, '', 'e30');
            INSERT INTO transactions (app_id, transaction_id, original_transaction_id, app_transaction_id, app_account_token,
                                      listed_transaction_id, in_app_ownership_type, signed_date, payload_sha256, payload)
            SELECT 1, 100000000000 + c * 10 + n, 100000000000 + c * 10, 704000000000 + c,
                   ('00000000-0000-0000-0000-' || lpad(c::text, 12, '0'))::uuid, 100000000000 + c * 10,
                   CASE WHEN c % 2 = 0 THEN 'FAMILY_SHARED' ELSE 'PURCHASED' END, now(), '', '{}'
              FROM generate_series(1, \(customers)) c, generate_series(0, 2) n;
            INSERT INTO refunds (app_id, transaction_id, original_transaction_id, app_transaction_id, app_account_token, signed_date,
                                 payload_sha256, payload)
            SELECT app_id, transaction_id, original_transaction_id, app_transaction_id, app_account_token, signed_date, '', '{}'
              FROM transactions;
            INSERT INTO renewals (app_id, original_transaction_id, app_transaction_id, signed_date, payload_sha256, payload)
            SELECT app_id, original_transaction_id, min(app_transaction_id), now(), '', '{}' FROM transactions GROUP BY 1, 2;
            INSERT INTO notifications (app_id, notification_uuid, transaction_id, original_transaction_id, app_transaction_id,
                                       signed_date, payload_sha256, payload)
            SELECT app_id, 'n' || transaction_id, transaction_id, original_transaction_id, app_transaction_id, now(), ''::bytea, '{}'::jsonb
              FROM transactions
             UNION ALL SELECT 1, 'test' || c, NULL, NULL, NULL, now(), '', '{}' FROM generate_series(1, \(customers)) c;
            INSERT INTO notification_send_attempts (app_id, notification_uuid, attempt_date)
            SELECT app_id, notification_uuid, now() FROM notifications;
            INSERT INTO signed_payloads (app_id, kind, record_key, signed_date, payload_sha256, header_id, payload, signature)
            SELECT app_id, 'transaction', transaction_id, now(), ''::bytea, 1, ''::bytea, ''::bytea FROM transactions
             UNION ALL SELECT app_id, 'notification', notification_uuid, now(), '', 1, '', '' FROM notifications;
            INSERT INTO field_issues (app_id, kind, record_key, path, found)
            SELECT app_id, 'transaction', transaction_id, 'price', 'x' FROM transactions;
            INSERT INTO advanced_commerce_items (app_id, owner_kind, owner_key, position)
            SELECT app_id, 'transaction', transaction_id, 0 FROM transactions;
            INSERT INTO rejected_records (app_id, job, stream, item_key, reason, detail, sha256, raw)
            SELECT 1, 'j', 's', 100000000000 + c * 10, 'signature', 'x', sha256(int4send(c)), 'x'::bytea
              FROM generate_series(1, \(customers)) c;
            INSERT INTO rejected_records (app_id, job, stream, item_key, reason, detail, sha256, raw)
            SELECT 1, 'j', 's', 'window', 'signature', 'x', sha256(int8send(c)), 'x'::bytea FROM generate_series(1, \(customers)) c;
            INSERT INTO quoted_ids (app_id, owner_kind, owner_key, id_hash)
            SELECT app_id, 'rejected', record_id, record_id * 1000 FROM rejected_records;
            INSERT INTO crawl_items (app_id, job, stream, item_key, run_id, state, fingerprint)
            SELECT 1, job, stream, 100000000000 + c * 10, 1, 'done', 'x'
              FROM generate_series(1, \(customers)) c, unnest(ARRAY['a', 'b']) job, unnest(ARRAY['s', 't']) stream;
            INSERT INTO coverage_gaps (app_id, job, stream, item_key, gap_start, gap_end, reason, run_id)
            SELECT app_id, job, stream, item_key, now(), now(), 'x', 1 FROM crawl_items;
            INSERT INTO erased_marks (app_id, mark) SELECT 1, sha256(int4send(c)) FROM generate_series(1, \(customers)) c;
            """
        )
    }

    /// Rows that the erasure of one customer reads in each table, by scans or by indexes.
    private func rowsRead(_ world: TestLedger, erasing id: String) async throws -> [String: Int] {
        let app = world.app
        return try await world.ledger.transaction { connection in
            // As a server does by default; the tests' server makes one plan for all values.
            try connection.script("SET LOCAL plan_cache_mode = auto")
            return try TestLedger.rowsRead(on: connection) { connection in
                let book = try Tombstones.blockingPages(of: app, on: connection)
                var trace = CustomerTrace([.transaction(id)])
                try trace.follow(in: [app], on: connection)
                try book.add(trace.ids, on: connection)
                var removal = CustomerRemoval(trace: trace, app: app)
                try removal.remove(on: connection)
                #expect(removal.removed["transactions"] == 3 && removal.removed["notifications"] == 3)
                #expect(removal.removed["crawl_items"] == 4 && removal.removed["rejected_records"] == 1)
            }
        }
    }

    @Test(arguments: [(false, TestLedger.Layout.plain), (true, .plain), (false, .partitioned)])
    func `an erasure reads the customer's rows and no others, for any ledger size and any planner statistics`(
        isAnalyzed: Bool,
        layout: TestLedger.Layout
    ) async throws {
        let world = try await TestLedger(layout)
        // What the planner knew of the empty tables.
        try await world.run("ANALYZE")
        // Of a table of a few pages the planner does not care which index it reads.
        try await fill(world, customers: 8_000)
        if isAnalyzed { try await world.run("ANALYZE") }
        // One bought its transactions, and the other had them from its family.
        for customer in ["100000000510", "100000000520"] {
            let read = try await rowsRead(world, erasing: customer)
            for (table, rows) in read where table != "apps" {
                #expect(rows <= 100, "\(customer), \(table): \(rows) rows read")
            }
            #expect((read["transactions"] ?? 0) >= 3)
        }
    }
}
