import FoundationEssentials
import Glibc
import Postgres
import TestSupport
import Testing

/// A customer is erased: nothing of them is left, and nothing of them comes back.
@Suite(.migratedDatabase)
struct ErasureTests {
    /// A customer of the simulated store.
    private struct Customer: Sendable {
        /// The ID in the job's list.
        let listed: String
        let transactions: Set<String>
        let originals: Set<String>
        let appTransaction: String
        let account: String
        let notifications: Set<String>

        var ids: Set<String> { transactions.union(originals).union(notifications).union([appTransaction, account]) }
    }

    private struct Record: Decodable {
        struct Payload: Decodable {
            let transactionId: String?
            let originalTransactionId: String?
            let appTransactionId: String?
            let appAccountToken: String?
        }

        let kind: String
        let key: String
        let payload: Payload
    }

    /// Runs a job of all three streams with CSV files of everything, and then a second job that receives forged records
    /// of everything that one customer has.
    private func loaded(
        _ body: (Stage, _ job: String, LedgerBook, Customer) async throws -> Void
    ) async throws {
        try await Stage.with(.init(customers: 25, transactionsPerCustomer: 15)) { stage in
            var job = stage.job
            job.streams[2] = "notificationHistory: {scope: app, startDate: -60d}"
            job.csv = "{directory: csv, tables: [transactions, refunds, notifications, renewals]}"
            let path = try await stage.migrated(job)
            try await stage.run(path)
            let book = try stage.book()
            let customer = try await customer(stage, book)

            var forged = stage.job
            forged.name = "forged"
            forged.transactionIds = "list: [\"\(customer.listed)\"]"
            forged.streams = ["transactionHistory: {}", "notificationHistory: {startDate: -60d}"]
            try await stage.store.setFaults(#"{"rules": [{"fault": "forgeSignature"}]}"#)
            let outcome = try await stage.storeledger("run", try stage.write(forged))
            #expect([2, 76].contains(outcome.code), "\(outcome.errors)")
            try await stage.store.setFaults(#"{"rules": []}"#)
            try await body(stage, path, book, customer)
        }
    }

    /// The customer with a refund and a token of whom the ledger has the most notifications.
    private func customer(_ stage: Stage, _ book: LedgerBook) async throws -> Customer {
        let listed = try #require(
            try await book.column(
                """
                SELECT t.listed_transaction_id FROM transactions t LEFT JOIN notifications n USING (app_id, transaction_id)
                 WHERE t.app_account_token IS NOT NULL GROUP BY 1
                HAVING bool_or(t.revocation_type LIKE 'REFUND%') ORDER BY count(n) DESC, 1 LIMIT 1
                """
            ).first
        )
        return try await customer(listed, stage, book)
    }

    /// Everything that the store has sent about the customer whose ID is in the list.
    private func customer(_ listed: String, _ stage: Stage, _ book: LedgerBook) async throws -> Customer {
        let world = try await stage.store.world()
        let lines = world.split(separator: "\n")
        let records = try lines.map { try JSONDecoder().decode(Record.self, from: Data($0.utf8)) }
        let own = try #require(records.first { $0.payload.transactionId == listed && $0.kind == "transaction" }).payload
        let appTransaction = try #require(own.appTransactionId)
        let mine = records.filter { $0.payload.appTransactionId == appTransaction }.map(\.payload)
        let transactions = Set(mine.compactMap(\.transactionId))
        let needles = Needles(transactions)
        let notifications = zip(lines, records)
            .filter { line, record in record.kind == "notification" && !needles.ids(in: String(line)).isEmpty }
            .map(\.1.key)
        return Customer(
            listed: listed,
            transactions: transactions,
            originals: Set(mine.compactMap(\.originalTransactionId)),
            appTransaction: appTransaction,
            account: try #require(mine.compactMap(\.appAccountToken).first),
            notifications: Set(notifications)
        )
    }

    /// Every row of the database's tables and views, as PostgreSQL prints it.
    ///
    /// `kinds` selects them by the letters of `pg_class.relkind`.
    private func dump(_ book: LedgerBook, kinds: String = "rvmp") async throws -> [String: String] {
        let relations = try await book.column(
            """
            SELECT c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE strpos('\(kinds)', c.relkind::text) > 0 AND n.nspname NOT IN ('pg_catalog', 'information_schema')
               AND n.nspname NOT LIKE 'pg_t%' ORDER BY 1
            """
        )
        var dump: [String: String] = [:]
        for relation in relations {
            dump[relation] = try await book.column("SELECT t::text FROM \(relation) t").joined(separator: "\n")
        }
        return dump
    }

    /// The values in the planner's statistics, by column.
    private func statistics(_ book: LedgerBook) async throws -> [String: String] {
        let values = (1...5).map { "s.stavalues\($0)::text" }.joined(separator: ", ")
        var statistics: [String: String] = [:]
        for line in try await book.column(
            """
            SELECT s.starelid::regclass || '.' || a.attname || ' ' || concat_ws(' ', \(values)) FROM pg_statistic s
              JOIN pg_attribute a ON a.attrelid = s.starelid AND a.attnum = s.staattnum
             WHERE s.starelid >= 16384
            """
        ) {
            let name = line.prefix { $0 != " " }
            statistics["statistics of \(name)"] = String(line.dropFirst(name.count))
        }
        return statistics
    }

    private func files(_ stage: Stage) throws -> [String: String] {
        let folder = stage.store.directory + "/csv"
        var files: [String: String] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let bytes = try Data(contentsOf: URL(filePath: folder + "/" + name))
            files["csv/" + name] = String(decoding: bytes, as: UTF8.self)
        }
        return files
    }

    /// Where the customer can still be found: tables, and files.
    private func traces(of customer: Customer, _ stage: Stage, _ book: LedgerBook) async throws -> [String: Set<String>]
    {
        let needles = Needles(customer.ids)
        let places = try await dump(book).merging(files(stage)) { $1 }.merging(statistics(book)) { $1 }
        return places.mapValues { needles.ids(in: $0) }.filter { !$0.value.isEmpty }
    }

    private func expectNoTrace(
        of customer: Customer,
        _ stage: Stage,
        _ book: LedgerBook,
        _ when: String,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let found = try await traces(of: customer, stage, book)
        expectNone(found.map { "\($0.key): \($0.value.sorted())" }, when, location)
    }

    @Test func `after an erasure no crawl, replay or file has any of the customer's IDs, in any spelling (P1)`()
        async throws
    {
        try await loaded { stage, job, book, customer in
            var customer = customer
            try await book.change("ANALYZE")
            // The search finds what is there: in rows, payloads, the archive, rejected texts, statistics and files.
            let before = try await traces(of: customer, stage, book)
            for place in [
                "transactions", "refunds", "notifications", "renewals", "signed_payloads", "rejected_records",
                "crawl_items", "notification_send_attempts", "csv/transactions.csv", "csv/notifications.csv",
                "statistics of transactions.transaction_id",
            ] {
                #expect(before[place] != nil, "\(place)")
            }
            #expect(before["rejected_records"]?.contains(customer.account) == true)
            #expect(before["signed_payloads"]?.contains(customer.appTransaction) == true)

            let erased = try await stage.storeledger("erase", job, "--yes", "--transaction-id", customer.listed)
            #expect(erased.code == 0, "\(erased.errors)")
            #expect(Needles(customer.ids).ids(in: erased.output + erased.errors) == [])
            try await expectNoTrace(of: customer, stage, book, "erased")
            let asked = try await stage.store.requests().total

            let full = try await stage.storeledger("run", job, "--restart", "--progress", "plain")
            #expect(full.code == 0, "\(full.errors)")
            #expect(full.errors.contains("1 listed IDs belong to erased customers and are not requested"))
            #expect(full.output.contains(/withheld +[1-9][0-9]* records? and 1 ID of erased customers/))
            #expect(Needles(customer.ids).ids(in: full.output + full.errors) == [])
            try await expectNoTrace(of: customer, stage, book, "crawled anew")

            _ = try await stage.store.advance(changes: 120)
            let grown = try await self.customer(customer.listed, stage, book)
            #expect(grown.transactions.count > customer.transactions.count)
            customer = grown
            try await stage.run(job)
            try await expectNoTrace(of: customer, stage, book, "crawled on")
            for arguments in [["replay", job], ["replay", job, "--rejected"], ["export", job]] {
                let code = try await stage.withStoreledger(arguments) { await $0.wait() }
                #expect(code == 0 || code == 2, "\(arguments)")
                try await expectNoTrace(of: customer, stage, book, "\(arguments)")
            }
            let requests = try await stage.store.requests().arrivals.dropFirst(asked)
            #expect(!requests.isEmpty && !requests.contains { $0.transactionId == customer.listed })

            // No other customer is missing.
            let names = customer.ids.union(customer.notifications)
            let others = try await book.differences(from: stage.store.world()).filter { sentence in
                !names.contains { sentence.contains($0) }
            }
            expectNone(others)
            let status = try await stage.storeledger("status", job)
            #expect(status.output.contains(/withheld: [1-9][0-9]* records? and 1 listed ID of erased customers/))
        }
    }

    @Test(arguments: ["a renewal's ID", "an original ID", "the account token in capitals"])
    func `every ID of the customer removes the same rows, and other customers' rows stay (P4)`(name: String)
        async throws
    {
        try await loaded { stage, job, book, customer in
            let others = "SELECT count(*) FROM transactions WHERE listed_transaction_id <> '\(customer.listed)'"
            let before = try await book.count(others)
            let option =
                switch name {
                case "an original ID": ["--transaction-id", customer.originals.sorted()[0]]
                case "a renewal's ID":
                    ["--transaction-id", customer.transactions.subtracting(customer.originals).sorted().first ?? ""]
                default: ["--app-account-token", customer.account.uppercased()]
                }
            let rehearsal = try await stage.storeledger("erase", job, option[0], option[1], "--dry-run")
            #expect(rehearsal.code == 0, "\(rehearsal.errors)")
            #expect(rehearsal.output.contains(/would remove.*\n/))
            #expect(try await book.count("SELECT count(*) FROM erased_marks") == 0)
            #expect(try await !traces(of: customer, stage, book).isEmpty)

            let erased = try await stage.storeledger("erase", job, "--yes", option[0], option[1], "--json")
            #expect(erased.code == 0, "\(erased.errors)")
            let transactions = try #require(
                erased.output.firstMatch(of: /"rows" : ([0-9]+),\s+"table" : "transactions"/)
            ).1
            #expect(Int(transactions) == customer.transactions.count)
            #expect(rehearsal.output.contains("  transactions                \(transactions)\n"))
            try await expectNoTrace(of: customer, stage, book, name)
            #expect(try await book.count(others) == before)

            let again = try await stage.storeledger("erase", job, "--yes", option[0], option[1])
            #expect(again.code == 0)
            #expect(
                again.output.contains(
                    "the ledger has no records of this customer; records that arrive later are withheld"
                )
            )
        }
    }

    @Test func `after a restore of an older backup, the tombstones erase the customer again (P3)`() async throws {
        try await loaded { stage, job, book, customer in
            let backup = stage.directory + "/backup.sql"
            let tombstones = stage.directory + "/tombstones.sql"
            let url = stage.databaseURL()
            func tool(_ arguments: String...) async throws {
                // scripts/test puts the programs of the server first: pg_dump must not be older than it.
                let environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
                try await withChildProcess("/usr/bin/env", arguments, environment: environment) { process in
                    #expect(await process.wait() == 0, "\(arguments) \(process.errors)")
                }
            }
            try await tool("pg_dump", "--dbname", url, "--schema", "appstore", "--file", backup)
            #expect(
                try await stage.storeledger("erase", job, "--yes", "--app-account-token", customer.account).code == 0
            )
            try await tool(
                "pg_dump",
                "--dbname",
                url,
                "--data-only",
                "--table",
                "appstore.erasure_keys",
                "--table",
                "appstore.erased_marks",
                "--file",
                tombstones
            )

            try await book.change("DROP SCHEMA appstore CASCADE")
            try await tool("psql", "--dbname", url, "-qv", "ON_ERROR_STOP=1", "-f", backup)
            #expect(try await !traces(of: customer, stage, book).isEmpty)
            try await tool("psql", "--dbname", url, "-qv", "ON_ERROR_STOP=1", "-f", tombstones)
            let again = try await stage.storeledger("erase", job, "--reapply")
            #expect(again.code == 0, "\(again.errors)")
            #expect(again.output.contains("removed all records of this customer"))
            try await expectNoTrace(of: customer, stage, book, "restored")
            try await stage.run(job)
            try await expectNoTrace(of: customer, stage, book, "restored and crawled on")
            let nothing = try await stage.storeledger("erase", job, "--reapply")
            #expect(nothing.code == 0 && nothing.output.contains("no records of erased customers are left"))
        }
    }

    @Test func `killed in the middle of an erasure, all is there; run again, all is gone (P5, CP44)`() async throws {
        try await loaded { stage, job, book, customer in
            let before = try await dump(book)
            let blocker = try PostgresConnection(conninfo: try TemporaryDatabase.conninfo)
            try await stage.withStoreledger(["erase", job, "--yes", "--transaction-id", customer.listed]) { process in
                // Only the samples are removed after the gaps, so a lock on this table stops the erasure near its end.
                try blocker.script("BEGIN; LOCK TABLE appstore.coverage_gaps IN SHARE MODE")
                let waiting = """
                    SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'
                       AND datname = current_database() AND query LIKE 'DELETE FROM coverage_gaps%'
                    """
                try await poll { try await book.count(waiting) > 0 || process.hasEnded }
                process.signal(SIGKILL)
                #expect(await process.wait() == 128 + SIGKILL)
                try blocker.script("ROLLBACK")
            }
            let deleting = """
                SELECT count(*) FROM pg_stat_activity
                 WHERE datname = current_database() AND state = 'active' AND query LIKE 'DELETE%'
                """
            try await poll { try await book.count(deleting) == 0 }
            // Plain views are left out: they depend on the tables and on the current time.
            for (table, rows) in try await dump(book, kinds: "rmp") { #expect(rows == before[table], "\(table)") }

            let erased = try await stage.storeledger("erase", job, "--yes", "--transaction-id", customer.listed)
            #expect(erased.code == 0, "\(erased.errors)")
            try await expectNoTrace(of: customer, stage, book, "killed and run again")
        }
    }

    @Test func `an erasure covers every environment of the app, also where its own job has none of the records`()
        async throws
    {
        try await Stage.with(.init(customers: 8, appEnvironment: "Sandbox")) { stage in
            let sandbox = try await stage.migrated(stage.job)
            try await stage.run(sandbox)
            let book = try stage.book()
            let listed = try #require(
                try await book.column("SELECT min(listed_transaction_id) FROM transactions").first
            )
            let customer = "FROM transactions WHERE listed_transaction_id = '\(listed)'"
            let rows = try await book.count("SELECT count(*) \(customer)")
            #expect(rows > 0)
            var production = stage.job
            production.name = "production"
            production.store = production.store.replacing(
                "environment: Sandbox",
                with: "environment: Production\n  appAppleId: 1234567890"
            )
            #expect(production.store != stage.job.store)
            let path = try stage.write(production)

            let rehearsal = try await stage.storeledger("erase", path, "--transaction-id", listed, "--dry-run")
            #expect(rehearsal.output.contains("  transactions                \(rows)\n"), "\(rehearsal)")
            let erased = try await stage.storeledger("erase", path, "--yes", "--transaction-id", listed)
            #expect(erased.code == 0, "\(erased.errors)")
            #expect(try await book.count("SELECT count(*) \(customer)") == 0)
            // Records that the sandbox sends later are withheld.
            try await stage.run(sandbox)
            #expect(try await book.count("SELECT count(*) \(customer)") == 0)

            // As after a restore of a backup from before the erasure, whose tombstones are loaded again.
            try await book.change("CREATE TABLE public.marks AS SELECT * FROM erased_marks")
            try await book.change("DELETE FROM erased_marks")
            let restored = try await stage.storeledger("run", sandbox, "--restart", "--progress", "none")
            #expect(restored.code == 0, "\(restored.errors)")
            #expect(try await book.count("SELECT count(*) \(customer)") == rows)
            try await book.change("INSERT INTO erased_marks SELECT * FROM public.marks")
            let again = try await stage.storeledger("erase", path, "--reapply")
            #expect(again.code == 0 && again.output.contains("removed all records of this customer"), "\(again)")
            #expect(try await book.count("SELECT count(*) \(customer)") == 0)
        }
    }

    @Test
    func `an ID that only its history shows to be an erased customer's is in no table, and is not requested again`()
        async throws
    {
        try await Stage.with(.init(customers: 12, transactionsPerCustomer: 6)) { stage in
            var job = stage.job
            job.streams = ["transactionHistory: {}"]
            job.csv = "{directory: csv, tables: [transactions]}"
            let path = try await stage.migrated(job)
            let book = try stage.book()
            let named = try await stage.store.world().split(separator: "\n")
                .map { try JSONDecoder().decode(Record.self, from: Data($0.utf8)) }
                .filter { $0.kind == "transaction" && $0.payload.appAccountToken != nil }
            let account = try #require(named.first?.payload.appAccountToken)
            let listed = try String(contentsOfFile: stage.store.directory + "/ids.csv", encoding: .utf8)
                .split(whereSeparator: { $0 == "\n" || $0 == "\r" }).dropFirst().map(String.init)
            let own = Set(named.filter { $0.payload.appAccountToken == account }.compactMap(\.payload.transactionId))
            let id = try #require(listed.first { own.contains($0) })
            let customer = try await customer(id, stage, book)

            // Nothing is in the ledger: only the token is known.
            let unsure = try await stage.storeledger("erase", path, "--yes", "--app-account-token", account)
            #expect(unsure.code == 65 && unsure.errors.contains("--unknown"), "\(unsure)")
            let mistyped = try await stage.storeledger("erase", path, "--dry-run", "--app-account-token", account)
            #expect(mistyped.code == 65 && mistyped.output == "", "\(mistyped)")
            #expect(try await book.count("SELECT count(*) FROM erased_marks") == 0)
            let sure = try await stage.storeledger("erase", path, "--yes", "--unknown", "--app-account-token", account)
            #expect(sure.code == 0, "\(sure.errors)")
            // A repeated erasure needs no --unknown, because the customer is known by then.
            #expect(try await stage.storeledger("erase", path, "--yes", "--app-account-token", account).code == 0)
            let first = try await stage.storeledger("run", path, "--progress", "none")
            #expect(first.code == 0, "\(first.errors)\(first.output)")
            #expect(first.output.contains(/items +12 \(12 done, 0 failed\)/), "\(first.output)")
            #expect(first.output.contains(/withheld +[1-9]/), "\(first.output)")
            try await expectNoTrace(of: customer, stage, book, "recognised")

            let asked = try await stage.store.requests().total
            let second = try await stage.storeledger("run", path, "--restart", "--progress", "none")
            #expect(second.code == 0, "\(second.errors)")
            let requests = try await stage.store.requests().arrivals.dropFirst(asked)
            #expect(!requests.isEmpty && !requests.contains { $0.transactionId == id })
            try await expectNoTrace(of: customer, stage, book, "listed again")
        }
    }

    @Test func `an erasure without an ID, with a malformed ID or with an ID twice is refused before anything is read`()
        async throws
    {
        try await Stage.with(.init(customers: 2)) { stage in
            let job = try await stage.migrated(stage.job)
            for arguments in [
                ["erase", job], ["erase", job, "--yes", "--transaction-id", "12a"],
                ["erase", job, "--yes", "--transaction-id", ""],
                // There is no terminal to ask on.
                ["erase", job, "--transaction-id", "12"],
                ["erase", job, "--yes", "--app-account-token", "7e3fb20b"],
                ["erase", job, "--yes", "--app-account-token", "00000000-0000-0000-0000-000000000000"],
                ["erase", job, "--reapply", "--transaction-id", "12"],
            ] {
                let code = try await stage.withStoreledger(arguments) { await $0.wait() }
                #expect(code == 64, "\(arguments)")
            }
            #expect(try await stage.book().count("SELECT count(*) FROM erasure_keys") == 0)
        }
    }
}
