import FoundationEssentials
import JobFiles
import Ledger
import LedgerSchema
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import Publish

@Suite(.migratedDatabase)
struct PublishChangesTests {
    private static let tables = [
        "transactions", "notifications", "notification_send_attempts", "advanced_commerce_items",
    ]

    private static func order(_ directory: String, _ format: FileFormat = .csv, job: String = "nightly") -> PublishOrder
    {
        let files = FileOutput(format, directory: directory, tables: tables, changes: format == .csv)
        return PublishOrder(files, job: job, run: 7, trustedRoots: [])
    }

    private static func parts(_ directory: String) throws -> ChangeManifest {
        let data = try Data(contentsOf: URL(filePath: directory + "/_manifest.json"))
        return try JSONDecoder().decode(ChangeManifest.self, from: data)
    }

    private static func records(_ path: String) throws -> (header: [String?], rows: [[String?]]) {
        let records = try CSVText([UInt8](try Data(contentsOf: URL(filePath: path)))).records
        return (records[0], Array(records.dropFirst()))
    }

    private static let keyLengths = ["notification_send_attempts": 2, "advanced_commerce_items": 3]

    /// The rows of a table after all parts were applied by key, in order.
    private static func applied(_ table: String, in directory: String) throws -> Set<[String?]> {
        var rows: [[String?]: [String?]] = [:]
        let length = keyLengths[table] ?? 1
        for part in try parts(directory).parts {
            if part.from == nil { rows = [:] }
            for file in part.tombstones where file.table == table {
                let keys = try records("\(directory)/\(file.file)").rows
                #expect(keys.count == file.rows)
                for key in keys { rows[Array(key.prefix(length))] = nil }
            }
            for file in part.files where file.table == table {
                let found = try records("\(directory)/\(file.file)").rows
                #expect(found.count == file.rows)
                for row in found { rows[Array(row.prefix(length))] = row }
            }
        }
        return Set(rows.values)
    }

    /// Expects that the parts have the rows of the tables at this moment.
    private static func expectSame(_ world: TestLedger, in directory: String, _ comment: Comment) async throws {
        let full = directory + "-full"
        let files = FileOutput(.csv, directory: full, tables: tables)
        let manifest = try await world.ledger.publish(
            PublishOrder(files, job: "full", run: nil, trustedRoots: []),
            of: world.app
        )
        for file in manifest.files {
            let expected = Set(try records("\(full)/\(file.file)").rows)
            #expect(try applied(file.table, in: directory) == expected, "\(file.table): \(comment)")
        }
    }

    /// One change of the ledger, by anybody.
    private static func change(_ world: TestLedger, _ random: inout SeededRandom) -> String {
        let app = world.app.rawValue
        let key = Int.random(in: 0..<30, using: &random)
        return switch Int.random(in: 0..<8, using: &random) {
        case 0, 1:
            """
            INSERT INTO transactions (app_id, transaction_id, product_id, purchase_date, payload, signed_date, payload_sha256)
            SELECT \(app), 't' || n, 'p', now(), '{}', now(), '' FROM generate_series(\(key), \(key + 3)) n ON CONFLICT DO NOTHING
            """
        case 2: "UPDATE transactions SET product_id = product_id || 'x' WHERE transaction_id = 't\(key)'"
        case 3:
            "UPDATE transactions SET transaction_id = transaction_id || '.' || gen_random_uuid() WHERE transaction_id = 't\(key)'"
        case 4: "DELETE FROM transactions WHERE transaction_id LIKE 't\(key)%'"
        case 5:
            """
            INSERT INTO advanced_commerce_items (app_id, owner_kind, owner_key, position, sku)
            VALUES (\(app), 'transaction', 't\(key)', \(key % 3), 's') ON CONFLICT DO NOTHING
            """
        case 6: "DELETE FROM advanced_commerce_items WHERE owner_key = 't\(key)'"
        default:
            "UPDATE transactions SET product_id = 'all' WHERE transaction_id > 't\(key)'; DELETE FROM transactions WHERE product_id = 'pxx'"
        }
    }

    private static func session() throws -> PostgresConnection {
        let session = try PostgresConnection(conninfo: try TemporaryDatabase.conninfo)
        try session.script("SET search_path = appstore")
        return session
    }

    @Test(arguments: 1...4)
    func `all parts applied by key are a full export, whatever was written meanwhile`(seed: UInt64) async throws {
        let world = try await TestLedger(seed.isMultiple(of: 2) ? .partitioned : .plain)
        let other = try Self.session()
        var random = SeededRandom(seed: seed)
        try await withTemporaryDirectory { directory in
            let publish = { try await world.ledger.publishChanges(Self.order(directory), of: world.app) }
            for round in 0..<12 {
                for _ in 0..<3 { try await world.run(Self.change(world, &random)) }
                // A writer that begins before an export and commits after it.
                try other.script("BEGIN; \(Self.change(world, &random))")
                if round > 0 { _ = try await publish() }
                try other.script("COMMIT")
                _ = try await publish()
                try await Self.expectSame(world, in: directory, "seed \(seed), round \(round)")
            }
            let manifest = try Self.parts(directory)
            #expect(manifest.parts.count > 12 && manifest.parts.dropFirst().allSatisfy { $0.from != nil })
            #expect(
                zip(manifest.parts, manifest.parts.dropFirst()).allSatisfy {
                    $0.to == $1.from && $0.part + 1 == $1.part
                }
            )
            #expect(try await world.count("changed_rows") == 0)
        }
    }

    private static func insert(_ id: String, _ world: TestLedger) -> String {
        """
        INSERT INTO transactions (app_id, transaction_id, payload, signed_date, payload_sha256)
        VALUES (\(world.app.rawValue), '\(id)', '{}', now(), '')
        """
    }

    @Test func `the first part waits for a writer that began before the export`() async throws {
        let world = try await TestLedger()
        let writer = try Self.session()
        try writer.script("BEGIN; \(Self.insert("early", world))")
        try await withTemporaryDirectory { directory in
            async let first = world.ledger.publishChanges(Self.order(directory), of: world.app)
            try await poll { try await world.count("change_exports") > 0 }
            try writer.script(Self.insert("late", world))
            try writer.script("COMMIT")
            let part = try #require(try await first)
            #expect(part.from == nil && part.files.map(\.rows) == [2, 0, 0, 0])
            try await Self.expectSame(world, in: directory, "first part")
        }
    }

    @Test func `the first part waits for a writer that began while the export started, and names it at the deadline`()
        async throws
    {
        let world = try await TestLedger()
        // The transaction that starts the export has its number, and waits before its commit.
        let gate = try Self.session()
        try gate.script("SELECT pg_advisory_lock(1)")
        try await world.run(
            """
            CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END $$;
            CREATE TRIGGER wait_at_gate AFTER INSERT ON change_exports EXECUTE FUNCTION wait_at_gate()
            """
        )
        try await withTemporaryDirectory { directory in
            let isPublished = Mutex(false)
            let publish = { @Sendable in
                defer { isPublished.withLock { $0 = true } }
                return try await world.ledger.publishChanges(Self.order(directory), of: world.app)
            }
            async let first = publish()
            try await poll { try await world.count("pg_locks WHERE locktype = 'advisory' AND NOT granted") > 0 }
            let writer = try Self.session()
            try writer.script("BEGIN; \(Self.insert("beside", world))")
            let row = try writer.run("SELECT pg_current_xact_id()::text AS number, pg_backend_pid() AS process")[0]
            let (number, process) = (try row.text("number"), try row.int64("process"))
            try gate.script("SELECT pg_advisory_unlock(1)")
            try await poll { try await world.count("change_exports") > 0 }

            let timeout = await #expect(throws: LockTimeout.self) {
                try await world.ledger.waitForOpenTransactions("a test", atMost: .zero)
            }
            let holder = timeout?.holders.first { $0.relation == "transaction \(number)" }
            #expect(holder?.processID == process, "\(String(describing: timeout))")

            // An export that does not wait is over at some time; one that waits asks again and again.
            let asks = "pg_stat_activity WHERE query LIKE '%pg_snapshot_xmin%' AND pid <> pg_backend_pid()"
            try await poll { try await world.count(asks) > 0 || isPublished.withLock(\.self) }
            try writer.script("COMMIT")
            let part = try #require(try await first)
            #expect(part.from == nil && part.files.map(\.rows) == [1, 0, 0, 0])
            _ = try await publish()
            try await Self.expectSame(world, in: directory, "second part")
        }
    }

    @Test func `JF06 a link in place of a directory of parts is not followed when old parts are removed`() async throws
    {
        let world = try await TestLedger()
        try await withTemporaryDirectory { directory in
            let (out, outside) = (directory + "/out", directory + "/outside")
            let publish = { try await world.ledger.publishChanges(Self.order(out), of: world.app) }
            try await world.run(Self.insert("a", world))
            _ = try await publish()
            // A table's directory that no export writes any more, and a day of one that does.
            let links = ["\(out)/renewals", "\(out)/transactions/dt=2020-01-01"]
            let files = ["\(outside)/0/dt=2020-01-01/part-7-1.csv", "\(outside)/1/part-7-1.csv"]
            let stray = "\(out)/transactions/dt=2020-01-02/part-7-1.csv"
            for file in files + [stray] {
                let folder = URL(filePath: file).deletingLastPathComponent().path
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                try Data("part".utf8).write(to: URL(filePath: file))
            }
            for (number, link) in links.enumerated() {
                try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "\(outside)/\(number)")
            }
            _ = try await publish()
            #expect(files.allSatisfy { FileManager.default.fileExists(atPath: $0) })
            #expect(!FileManager.default.fileExists(atPath: stray))
        }
    }

    @Test func `an export that fails before its manifest publishes nothing, and the next one has its changes`()
        async throws
    {
        let world = try await TestLedger()
        try await withTemporaryDirectory { directory in
            let publish = { try await world.ledger.publishChanges(Self.order(directory), of: world.app) }
            try await world.run(Self.insert("a", world))
            _ = try await publish()
            let before = try Self.parts(directory)
            try await world.run(Self.insert("b", world))
            let manifest = directory + "/_manifest.json"
            // A read-only manifest is not replaced.
            try FileManager.default.moveItem(atPath: manifest, toPath: directory + "/kept")
            try FileManager.default.copyItem(atPath: directory + "/kept", toPath: manifest)
            try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: manifest)
            await #expect(throws: LedgerError.self) { _ = try await publish() }
            try FileManager.default.removeItem(atPath: manifest)
            try FileManager.default.moveItem(atPath: directory + "/kept", toPath: manifest)
            #expect(try Self.parts(directory) == before)

            let part = try #require(try await publish())
            #expect(part.part == 2 && part.from == before.parts[0].to && part.files.map(\.rows) == [1])
            try await Self.expectSame(world, in: directory, "after a failure")
            #expect(try await publish() == nil)
        }
    }

    @Test func `a part reads the rows that have changed and no others`() async throws {
        let world = try await TestLedger()
        let app = world.app
        try await withTemporaryDirectory { directory in
            try await world.run(
                """
                INSERT INTO transactions (app_id, transaction_id, original_transaction_id, signed_date, payload_sha256, payload)
                SELECT \(app.rawValue), n::text, n::text, now(), '', '{}' FROM generate_series(1, 2000) n
                """
            )
            _ = try await world.ledger.publishChanges(Self.order(directory), of: app)
            // As each refresh does, so the statistics do not know the changes.
            try await world.run("SELECT analyze_grown_tables()")
            let mark = try #require(try Self.parts(directory).parts.last).to
            try await world.run(
                """
                UPDATE transactions SET quantity = 2 WHERE transaction_id::integer % 50 = 0;
                DELETE FROM transactions WHERE transaction_id::integer % 100 = 0
                """
            )
            let read = try await world.ledger.transaction { connection in
                let table = try PublishedTable("transactions", connection)
                return try TestLedger.rowsRead(on: connection) { connection in
                    let changed = try connection.run(try table.query(.changed(since: mark), of: app))
                    let gone = try connection.run(try table.keys.query(.gone(since: mark), of: app))
                    #expect(changed.count == 20 && gone.count == 20)
                }
            }
            // 40 keys, each looked up for both files.
            #expect(try #require(read["transactions"]) <= 2 * 40)
        }
    }

    @Test func `a part whose publication was not confirmed is not published again`() async throws {
        let world = try await TestLedger()
        try await withTemporaryDirectory { directory in
            let publish = { try await world.ledger.publishChanges(Self.order(directory), of: world.app) }
            try await world.run(Self.insert("a", world))
            _ = try await publish()
            try await world.run(Self.insert("b", world))
            try await world.run(
                """
                CREATE FUNCTION pg_temp_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
                CREATE TRIGGER refuse BEFORE UPDATE OF part ON change_exports EXECUTE FUNCTION pg_temp_refuse()
                """
            )
            await #expect(throws: PostgresError.self) { _ = try await publish() }
            try await world.run("DROP TRIGGER refuse ON change_exports")
            #expect(try Self.parts(directory).parts.count == 2)

            try await world.run("DELETE FROM transactions WHERE transaction_id = 'a'")
            let part = try #require(try await publish())
            #expect(part.part == 3 && part.files.isEmpty && part.tombstones.map(\.rows) == [1])
            try await Self.expectSame(world, in: directory, "unconfirmed")
        }
    }

    @Test func `a directory that is lost, another list of tables and TRUNCATE start again with all rows`() async throws
    {
        let world = try await TestLedger()
        try await withTemporaryDirectory { directory in
            let publish = { try await world.ledger.publishChanges(Self.order(directory), of: world.app) }
            try await world.run(Self.insert("a", world))
            _ = try await publish()
            let first = try Self.parts(directory).parts[0]
            try FileManager.default.removeItem(atPath: directory + "/_manifest.json")
            let again = try #require(try await publish())
            #expect(again.from == nil && again.id != first.id && again.files[0].rows == 1)

            try await world.run("TRUNCATE transactions CASCADE")
            try await world.run(Self.insert("c", world))
            let third = try #require(try await publish())
            #expect(third.from == nil && third.part == again.part + 1)
            try await Self.expectSame(world, in: directory, "after TRUNCATE")

            let fewer = FileOutput(.csv, directory: directory, tables: ["transactions"], changes: true)
            let order = PublishOrder(fewer, job: "nightly", run: nil, trustedRoots: [])
            let fourth = try #require(try await world.ledger.publishChanges(order, of: world.app))
            #expect(
                fourth.from == nil
                    && fourth.files.map(\.file) == ["transactions/dt=\(fourth.snapshot.prefix(10))/part-0-3.csv"]
            )
            // The files of parts that do not count any more are removed by the next export.
            _ = try await world.ledger.publishChanges(order, of: world.app)
            let left = try FileManager.default.subpathsOfDirectory(atPath: directory).filter { $0.hasSuffix(".csv") }
            #expect(left == fourth.files.map(\.file), "\(left)")
        }
    }

    @Test func `two jobs need two directories, and a removed job logs no changes`() async throws {
        let world = try await TestLedger()
        try await withTemporaryDirectory { directory in
            _ = try await world.ledger.publishChanges(Self.order(directory), of: world.app)
            await #expect(throws: LedgerError.self) {
                _ = try await world.ledger.publishChanges(Self.order(directory, job: "other"), of: world.app)
            }
            try await world.run(Self.insert("a", world))
            #expect(try await world.count("changed_rows") == 1)
            try await world.run(
                "INSERT INTO jobs (app_id, job) VALUES (\(world.app.rawValue), 'nightly'); DELETE FROM jobs"
            )
            #expect(try await world.count("changed_rows") == 0)
            try await world.run(Self.insert("b", world))
            #expect(try await world.count("changed_rows") == 0)
        }
    }

    @Test func `send attempts that retention removes are tombstones of the next part`() async throws {
        let world = try await TestLedger()
        try await world.run(
            """
            INSERT INTO notifications (app_id, notification_uuid, notification_type, signed_date, payload_sha256, payload)
            VALUES (1, 'n', 'TEST', now() - interval '900 days', '', '{}');
            INSERT INTO notification_send_attempts (app_id, notification_uuid, attempt_date, send_attempt_result)
            SELECT 1, 'n', now() - interval '900 days' + k * interval '1 day', 'TIMED_OUT' FROM generate_series(0, 3) k
            """
        )
        try await withTemporaryDirectory { directory in
            let publish = { try await world.ledger.publishChanges(Self.order(directory), of: world.app) }
            _ = try await publish()
            let removed = try await world.ledger.removeOld(
                .sendAttempts,
                olderThan: .seconds(400 * 86_400),
                job: "nightly",
                app: world.app
            )
            #expect(removed.rows == 3)
            let part = try #require(try await publish())
            #expect(part.tombstones.map(\.table) == ["notification_send_attempts"])
            #expect(part.tombstones.map(\.rows) == [3])
            try await Self.expectSame(world, in: directory, "after the removal")
        }
    }

    /// The data files of a directory, by path, each with its bytes.
    private static func files(in directory: String) throws -> [String: Data] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: directory).filter { !$0.hasPrefix("filler") }
        let files = paths.filter { $0.hasSuffix(".csv") || $0.hasSuffix(".parquet") || $0.hasSuffix(".json") }
        return try Dictionary(
            uniqueKeysWithValues: files.map { ($0, try Data(contentsOf: URL(filePath: "\(directory)/\($0)"))) }
        )
    }

    @Test func `GR2 a part without a manifest is not published, and the next export removes it`() async throws {
        let world = try await TestLedger()
        try await withTemporaryDirectory { directory in
            func publish(run: Int64) async throws -> ChangeManifest.Part? {
                let order = PublishOrder(Self.order(directory).files, job: "nightly", run: run, trustedRoots: [])
                return try await world.ledger.publishChanges(order, of: world.app)
            }
            try await world.run(Self.insert("a", world))
            _ = try await publish(run: 1)
            let before = try Self.files(in: directory)
            try await world.run(Self.insert("b", world))
            // The export ends after its files are in place, and before its manifest.
            try await world.run(
                """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
                CREATE TRIGGER refuse BEFORE UPDATE OF next_part ON change_exports EXECUTE FUNCTION refuse()
                """
            )
            await #expect(throws: PostgresError.self) { _ = try await publish(run: 2) }
            let left = try Self.files(in: directory).keys.filter { before[$0] == nil }
            #expect(left.count == 1 && left[0].hasSuffix("/part-2-2.csv"), "\(left)")
            #expect(try Self.files(in: directory)["_manifest.json"] == before["_manifest.json"])

            try await world.run("DROP TRIGGER refuse ON change_exports")
            let part = try #require(try await publish(run: 3))
            #expect(part.part == 2 && part.files.map(\.rows) == [1])
            #expect(part.files[0].file.hasSuffix("/part-3-2.csv"))
            #expect(try Self.files(in: directory)[left[0]] == nil)
            try await Self.expectSame(world, in: directory, "after a part without a manifest")
        }
    }

    @Test(
        .enabled(if: SmallDisk.isPossible, "only root can mount a small disk, and not in every container"),
        arguments: FileFormat.allCases
    )
    func `GR3 a full disk leaves the last published parts and files, and later exports go on from them`(
        format: FileFormat
    ) async throws {
        let world = try await TestLedger()
        try await world.run(Self.insert("a", world))
        try await SmallDisk.with(kilobytes: 256) { disk in
            let (changes, whole) = (disk.path + "/changes", disk.path + "/whole")
            func order(_ files: FileOutput) -> PublishOrder {
                PublishOrder(files, job: "nightly", run: 7, trustedRoots: [])
            }
            let parts = order(FileOutput(format, directory: changes, tables: Self.tables, changes: true))
            let files = order(FileOutput(format, directory: whole, tables: ["transactions"]))
            _ = try await world.ledger.publishChanges(parts, of: world.app)
            _ = try await world.ledger.publish(files, of: world.app)
            let before = try Self.files(in: disk.path)
            // Texts that no format makes small.
            try await world.run(
                """
                INSERT INTO transactions (app_id, transaction_id, offer_identifier, payload, signed_date, payload_sha256)
                SELECT \(world.app.rawValue), 'n' || n, (SELECT string_agg(md5(n || ' ' || k), '') FROM generate_series(1, 100) k),
                       '{}', now(), '' FROM generate_series(1, 20) n
                """
            )
            try disk.fill(leaving: 20)
            await #expect(throws: LedgerError.self) { _ = try await world.ledger.publishChanges(parts, of: world.app) }
            await #expect(throws: LedgerError.self) { _ = try await world.ledger.publish(files, of: world.app) }
            #expect(try Self.files(in: disk.path) == before)

            try disk.makeRoom()
            let last = try #require(try Self.parts(changes).parts.last)
            let next = try #require(try await world.ledger.publishChanges(parts, of: world.app))
            #expect(next.part == 2 && next.from == last.to)
            #expect(next.files.map(\.rows) == [20])
            #expect(try await world.ledger.publish(files, of: world.app).files.map(\.rows) == [21])
        }
    }
}
