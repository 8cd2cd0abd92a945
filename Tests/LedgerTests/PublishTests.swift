import AppStoreModel
import FoundationEssentials
import Glibc
import JobFiles
import Ledger
import LedgerSchema
import Postgres
import Publish
import RateLimit
import Streams
import TestSupport
import Testing

@Suite(.migratedDatabase)
struct PublishTests {
    private func order(_ directory: String, _ tables: [String], run: Int64? = nil) -> PublishOrder {
        let files = FileOutput(.csv, directory: directory, tables: tables)
        return PublishOrder(files, job: "nightly-sync", run: run, trustedRoots: ["ab"])
    }

    /// Writes rows as if a page had brought them.
    private func fill(_ world: TestLedger, _ rows: PageRows) async throws {
        let origin = RowOrigin(app: world.app, job: "j", run: 1, stream: .transactionHistory, listedTransactionID: nil)
        _ = try await world.ledger.write(rows, from: origin)
    }

    private func read(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    }

    /// Every file of a directory, hidden ones too, with its content.
    private func files(_ directory: String) throws -> [String: String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        return Dictionary(uniqueKeysWithValues: try names.map { ($0, try read("\(directory)/\($0)")) })
    }

    private func cells(_ csv: String, line: Int) -> [String: String] {
        let lines = csv.split(separator: "\r\n").map { $0.split(separator: ",", omittingEmptySubsequences: false) }
        return Dictionary(uniqueKeysWithValues: zip(lines[0].map(String.init), lines[line].map(String.init)))
    }

    @Test func `the files are what the manifest says, and the manifest is the last word`() async throws {
        let world = try await TestLedger()
        try await fill(world, Rows.fullPage())
        try await withTemporaryDirectory { directory in
            let tables = ["transactions", "refunds", "advanced_commerce_items", "notifications"]
            let manifest = try await world.ledger.publish(order(directory + "/a/b", tables, run: 7), of: world.app)
            let files = try files(directory + "/a/b")
            #expect(files.keys.sorted() == (tables.map { "\($0).csv" } + ["manifest.json"]).sorted())
            #expect(manifest.files.map(\.table) == tables)
            #expect(manifest.files.map(\.rows) == [20, 0, 40, 1])
            for file in manifest.files {
                let text = try #require(files[file.file])
                #expect(file.bytes == Int64(text.utf8.count))
                let sha256 = try await world.ledger.transaction { connection in
                    try connection.run(
                        "SELECT encode(sha256($1::bytea), 'hex') AS value",
                        [.bytea(Array(text.utf8))]
                    )[0].text("value")
                }
                #expect(file.sha256 == sha256)
                #expect(text.split(separator: "\r\n").count == file.rows + 1)
            }
            let written = try JSONDecoder().decode(Manifest.self, from: Data((files["manifest.json"] ?? "").utf8))
            #expect(written == manifest)
            #expect(manifest.run == 7 && manifest.job == "nightly-sync" && manifest.trustedRoots == ["ab"])
            #expect(manifest.snapshot.contains(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/))
            for name in files.keys {
                var status = stat()
                #expect(unsafe lstat("\(directory)/a/b/\(name)", &status) == 0)
                #expect(status.st_mode == S_IFREG | 0o600)
            }
        }
    }

    @Test func `the header is the table's columns, and cells are written as spreadsheets and scripts expect`()
        async throws
    {
        let world = try await TestLedger()
        var rows = PageRows(
            Rows.snapshot(
                Tables.transactions,
                "10",
                cells: [
                    "product_id": .text("=1+1"), "offer_identifier": .text(""), "currency": .text("E\"U,R\r\n"),
                    "is_upgraded": .boolean(true), "quantity": .integer(-2), "price_milliunits": .bigint(9_990),
                    "purchase_date": .timestamp(1_500), "expires_date": .timestamp(-1),
                    "app_account_token": .uuid([UInt8](repeating: 0xAB, count: 16)),
                ]
            )
        )
        rows.snapshots.append(
            Rows.snapshot(Tables.renewals, "10", cells: ["eligible_win_back_offer_ids": .textArray(["a", "b c"])])
        )
        try await fill(world, rows)
        try await withTemporaryDirectory { directory in
            _ = try await world.ledger.publish(order(directory, ["transactions", "renewals"]), of: world.app)
            let csv = try read("\(directory)/transactions.csv")
            let columns = try await world.value(
                """
                SELECT string_agg(column_name, ',' ORDER BY ordinal_position) FROM information_schema.columns
                 WHERE table_schema = 'appstore' AND table_name = 'transactions'
                   AND column_name <> 'app_id' AND data_type NOT IN ('jsonb', 'bytea')
                """
            )
            #expect(csv.split(separator: "\r\n").first.map(String.init) == columns)
            // A line end inside a cell must not mislead this test's simple reader.
            #expect(csv.contains(#""E""U,R\#r\#n""#))
            let row = cells(csv.replacing(#""E""U,R\#r\#n""#, with: "EUR"), line: 1)
            #expect(row["transaction_id"] == #""10""#)
            #expect(row["product_id"] == #""'=1+1""#)
            #expect(row["offer_identifier"] == #""""# && row["offer_type"] == "" && row["storefront"] == "")
            #expect(row["is_upgraded"] == "true" && row["quantity"] == "-2" && row["price_milliunits"] == "9990")
            #expect(row["purchase_date"] == "1970-01-01T00:00:01.5Z")
            #expect(row["expires_date"] == "1969-12-31T23:59:59.999Z")
            #expect(row["app_account_token"] == "abababab-abab-abab-abab-abababababab")
            #expect(try read("\(directory)/renewals.csv").contains(#""{a,""b c""}""#))
        }
    }

    @Test func `every table a job may name can be published`() async throws {
        let world = try await TestLedger()
        var (items, holder) = try await world.leased(["1"])
        try await world.commit(Rows.fullPage(), of: &items[0], for: holder)
        let share = PostgresRateLedger.Share(requestsPerSecond: 1, window: .hour)
        let budget = PostgresRateLedger(
            pool: world.ledger.control,
            app: world.app,
            shares: [.transactionHistory: share]
        )
        _ = try await budget.take(.transactionHistory, atMost: 1)
        try await withTemporaryDirectory { directory in
            let manifest = try await world.ledger.publish(order(directory, FileOutput.knownTables), of: world.app)
            let empty = manifest.files.filter { $0.rows == 0 }.map(\.table)
            #expect(
                empty == [
                    "refunds", "app_transactions", "subscription_statuses", "orders", "order_transactions",
                    "customer_groups", "group_members", "seats", "seat_claims", "advanced_commerce_refunds",
                    "seat_price_tiers", "coverage_gaps", "schema_drift",
                ]
            )
            #expect(cells(try read("\(directory)/rate_scopes.csv"), line: 1)["closed_until"] == "")
        }
    }

    @Test func `only the app's own rows are published`() async throws {
        let world = try await TestLedger()
        try await fill(world, Rows.fullPage())
        let other = try await world.ledger.app(bundleId: "com.example.game", environment: "Sandbox", appAppleId: nil)
        try await withTemporaryDirectory { directory in
            let manifest = try await world.ledger.publish(order(directory, ["transactions", "apps"]), of: other)
            #expect(manifest.files.map(\.rows) == [0, 1])
        }
    }

    @Test func `D28 all tables show one snapshot despite concurrent commits`() async throws {
        let world = try await TestLedger()
        try await fill(world, Rows.fullPage())
        let url = try TemporaryDatabase.conninfo
        try await withTemporaryDirectory { directory in
            let other = try PostgresConnection(conninfo: url)
            try other.script("SET search_path TO appstore; BEGIN; LOCK TABLE notifications IN ACCESS EXCLUSIVE MODE")
            let order = order(directory, ["transactions", "notifications", "renewals"])
            let publication = Task { try await world.ledger.publish(order, of: world.app) }
            // The first table is out once the second is waited for.
            // Other tests' databases can be copies with the same numbers of tables.
            let waiting = """
                SELECT FROM pg_locks WHERE NOT granted AND relation = 'notifications'::regclass
                   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                """
            while try other.run(waiting).isEmpty { await Task.yield() }
            try other.script("DELETE FROM notifications; DELETE FROM renewals; DELETE FROM transactions; COMMIT")
            let manifest = try await publication.value
            #expect(manifest.files.map(\.rows) == [20, 1, 1])
            #expect(try await world.count("renewals") == 0)
        }
    }

    @Test func `K12 a second publisher gets the error that the directory is taken`() async throws {
        let world = try await TestLedger()
        try await withTemporaryDirectory { directory in
            let taken = unsafe open(directory, O_RDONLY | O_DIRECTORY)
            defer { close(taken) }
            #expect(flock(taken, LOCK_EX) == 0)
            let error = await #expect(throws: LedgerError.self) {
                _ = try await world.ledger.publish(order(directory, ["transactions"]), of: world.app)
            }
            #expect(error == .directoryInUse(path: directory))
            let left = try files(directory)
            #expect(left.isEmpty)
        }
    }

    @Test func `K14 what a killed publisher left behind is removed, and nothing else`() async throws {
        let world = try await TestLedger()
        try await withTemporaryDirectory { directory in
            for name in [".transactions.csv.storeledger-tmp", ".renewals.csv.storeledger-tmp", ".hidden", "notes.txt"] {
                try Data("left".utf8).write(to: URL(filePath: "\(directory)/\(name)"))
            }
            _ = try await world.ledger.publish(order(directory, ["transactions"]), of: world.app)
            let names = try files(directory).keys.sorted()
            #expect(names == [".hidden", "manifest.json", "notes.txt", "transactions.csv"])
        }
    }

    @Test func `K09 a symbolic link in a file's place is replaced, not followed`() async throws {
        let world = try await TestLedger()
        try await withTemporaryDirectory { directory in
            let victim = "\(directory)/victim"
            try Data("precious".utf8).write(to: URL(filePath: victim))
            for name in ["transactions.csv", ".transactions.csv.storeledger-tmp"] {
                #expect(unsafe symlink(victim, "\(directory)/\(name)") == 0)
            }
            _ = try await world.ledger.publish(order(directory, ["transactions"]), of: world.app)
            #expect(try read(victim) == "precious")
            #expect(try read("\(directory)/transactions.csv").hasPrefix("transaction_id,"))
        }
    }

    @Test(arguments: ["file/below", "file"])
    func `a directory that cannot be made is named`(_ path: String) async throws {
        let world = try await TestLedger()
        try await withTemporaryDirectory { directory in
            try Data().write(to: URL(filePath: "\(directory)/file"))
            let error = await #expect(throws: LedgerError.self) {
                _ = try await world.ledger.publish(order("\(directory)/\(path)", ["transactions"]), of: world.app)
            }
            guard case .cannotCreate("\(directory)/\(path)", _) = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test func `a publication that fails leaves the files of the one before`() async throws {
        let world = try await TestLedger()
        try await fill(world, Rows.fullPage())
        try await withTemporaryDirectory { directory in
            _ = try await world.ledger.publish(order(directory, ["transactions"]), of: world.app)
            let before = try files(directory)
            try await fill(world, Rows.fullPage(prefix: "5"))
            await #expect(throws: LedgerError.self) {
                _ = try await world.ledger.publish(order(directory, ["transactions", "nonsense"]), of: world.app)
            }
            #expect(try files(directory) == before)
        }
    }

    @Test(arguments: ["directory", "pipe", "device", "read-only file"])
    func `JF07 a place that is taken by something else stays as it is, and so does the publication before`(
        _ kind: String
    ) async throws {
        let world = try await TestLedger()
        try await withTemporaryDirectory { directory in
            _ = try await world.ledger.publish(order(directory, ["transactions"]), of: world.app)
            let before = try files(directory)
            let place = "\(directory)/refunds.csv"
            switch kind {
            case "directory": #expect(unsafe mkdir(place, 0o700) == 0)
            case "pipe": #expect(unsafe mkfifo(place, 0o600) == 0)
            // Only root may make a device; a socket is as little a file.
            case "device" where getuid() == 0: #expect(unsafe mknod(place, S_IFCHR | 0o600, 0x0103) == 0)
            case "device": #expect(unsafe mknod(place, S_IFSOCK | 0o600, 0) == 0)
            default:
                try Data("precious".utf8).write(to: URL(filePath: place))
                #expect(unsafe chmod(place, 0o400) == 0)
            }
            var status = stat()
            #expect(unsafe lstat(place, &status) == 0)
            let (mode, inode) = (status.st_mode, status.st_ino)
            let error = await #expect(throws: LedgerError.self) {
                _ = try await world.ledger.publish(order(directory, ["transactions", "refunds"]), of: world.app)
            }
            guard case .cannotCreate(place, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(unsafe lstat(place, &status) == 0 && status.st_mode == mode && status.st_ino == inode)
            #expect(unsafe kind == "directory" ? rmdir(place) == 0 : unlink(place) == 0)
            let after = try files(directory)
            #expect(after == before)
        }
    }

    @Test(arguments: ["out", "out/below", "link/out", "link/out/below"])
    func `JF06 nothing is written through a symbolic link, wherever in the path it is`(_ path: String) async throws {
        let world = try await TestLedger()
        try await withTemporaryDirectory { directory in
            let outside = "\(directory)/outside"
            #expect(unsafe mkdir(outside, 0o700) == 0 && mkdir("\(directory)/job", 0o700) == 0)
            #expect(unsafe symlink(outside, "\(directory)/job/\(path.hasPrefix("link") ? "link" : "out")") == 0)
            let error = await #expect(throws: LedgerError.self) {
                _ = try await world.ledger.publish(order("\(directory)/job/\(path)", ["transactions"]), of: world.app)
            }
            guard case .cannotCreate(_, let reason) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.contains("is a symbolic link; name the directory it leads to"))
            let elsewhere = try files(outside)
            #expect(elsewhere.isEmpty)
        }
    }

    @Test func `JF06 a directory that is moved and replaced by a link while its files are made still gets them`()
        async throws
    {
        let world = try await TestLedger()
        try await fill(world, Rows.fullPage())
        let url = try TemporaryDatabase.conninfo
        try await withTemporaryDirectory { directory in
            let (outside, out, moved) = ("\(directory)/outside", "\(directory)/out", "\(directory)/moved")
            #expect(unsafe mkdir(outside, 0o700) == 0)
            let other = try PostgresConnection(conninfo: url)
            try other.script("SET search_path TO appstore; BEGIN; LOCK TABLE notifications IN ACCESS EXCLUSIVE MODE")
            let order = order(out, ["transactions", "notifications"])
            let publication = Task { try await world.ledger.publish(order, of: world.app) }
            // Other tests' databases can be copies with the same numbers of tables.
            let waiting = """
                SELECT FROM pg_locks WHERE NOT granted AND relation = 'notifications'::regclass
                   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                """
            while try other.run(waiting).isEmpty { await Task.yield() }
            #expect(unsafe rename(out, moved) == 0 && symlink(outside, out) == 0)
            try other.script("COMMIT")
            _ = try await publication.value
            let elsewhere = try files(outside)
            #expect(elsewhere.isEmpty)
            let names = try files(moved).keys.sorted()
            #expect(names == ["manifest.json", "notifications.csv", "transactions.csv"])
        }
    }

    @Test(.enabled(if: SmallDisk.isPossible, "only root can mount a small disk, and not in every container"))
    func `K07 a full disk is reported as full, and the old files stay complete`() async throws {
        let world = try await TestLedger()
        try await fill(world, Rows.fullPage())
        try await SmallDisk.with(kilobytes: 128) { disk in
            let directory = disk.path
            _ = try await world.ledger.publish(order(directory, ["transactions"]), of: world.app)
            let before = try files(directory)
            var many = PageRows()
            let name = String(repeating: "x", count: 20_000)
            for number in 0..<20 { many.snapshots.append(Rows.transaction("9\(number)", product: name)) }
            try await fill(world, many)
            let error = await #expect(throws: LedgerError.self) {
                _ = try await world.ledger.publish(order(directory, ["renewals", "transactions"]), of: world.app)
            }
            #expect(
                error == .cannotWrite(path: "\(directory)/transactions.csv", reason: "No space left on device")
            )
            #expect(try files(directory) == before)
        }
    }
}
