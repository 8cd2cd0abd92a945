import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Every bad ID list that docs/evidence/bad-inputs.md names, given to the whole of `storeledger`.
@Suite(.migratedDatabase)
struct BadListTests {
    /// One ID list, and what `run` says to it.
    struct List: Sendable {
        let id: String
        let bytes: [UInt8]
        let words: [String]
        let code: Int32

        init(_ id: String, _ bytes: [UInt8], _ words: [String], code: Int32 = 65) {
            self.id = id
            self.bytes = bytes
            self.words = words
            self.code = code
        }

        init(_ id: String, _ text: String, _ words: String..., code: Int32 = 65) {
            self.init(id, Array(text.utf8), words, code: code)
        }

        /// A good row, and one that is no ID in the line after it.
        init(_ id: String, row: String, _ words: String...) {
            self.init(id, Array("transaction_id\n430000000000000\n\(row)\n".utf8), ["list.csv:3: "] + words)
        }
    }

    static let bad: [List] =
        [
            List("C01", "id\n1\n", "no column \"transaction_id\"", "\"id\""),
            List("C01", "transaction_id,transaction_id\n1,2\n", "more than once"),
            List("C01", "", "is empty"),
            List("C03", [0xFF, 0xFE] + "transaction_id\n1\n".utf16.flatMap { [UInt8($0), 0] }, ["UTF-16"]),
            List("C03", "transaction_id\n1\n".utf8.flatMap { [$0, 0] }, ["UTF-16"]),
            List("C03", "transaction_id\n1\n".utf8.flatMap { [0, 0, 0, $0] }, ["UTF-32"]),
            List("C03", [0xA3, 0x99, 0x81, 0x95, 0xA2, 0x15, 0xF1, 0x15], ["EBCDIC"]),
            List("C03", [0x1F, 0x8B, 0x08, 0x00, 0x00], ["gzip"]),
            List("C03", [0x50, 0x4B, 0x03, 0x04, 0x14], ["an Excel workbook"]),
            List("C04", "transaction_id\n1\n\"2\n3\n", "list.csv:3: ", "never closed"),
            List("C04", "transaction_id\n1\n2\"3\n", "list.csv:3: ", "a quote"),
            List("C04", "transaction_id\n1\n\"2\"3\n", "list.csv:3: ", "a quote"),
            List("C05", row: "+1"),
            List("C05", row: "1e15"),
            List("C05", row: "2.00E+15", "spreadsheet"),
        ]
        + [
            "../../v1/subscriptions/extend/x", "1/2", "1?revision=x", "1#", "%2e%2e", "1;drop",
        ].map { List("C06", row: $0) }
        + ["\u{661}\u{662}", "\u{FF11}\u{FF12}", "1\u{200D}2", "1\u{0}2", "1😀"].map { List("C07", row: $0) }
        + ["\"1\n2\"", "\"1\r2\"", "\"1\r\n2\""].map { List("C08", row: $0) }
        + ["\"\"", "null", "-"].map { List("C09", row: $0) }
        + [
            List("C10", row: "123456789012345678901"),
            List("C10", row: String(repeating: "1", count: 10_240), "1024 bytes"),
            List("C16", row: "=1+1"),
            List("C17", "transaction_id;b\n1;2\n", "\";\"", "commas"),
            List("C17", "transaction_id\tb\n1\t2\n", "tabs", "commas"),
            List(
                "C18",
                (1...5_000).map { "c\($0)" }.joined(separator: ",") + ",transaction_id\n1\n",
                "more than 1000 columns"
            ),
            List("C21", row: "2000000123456789.0", "decimal number"),
            List(
                "C23",
                "transaction_id\n2000000123456780\n2000000123456790\n430000000000000\n20000001234567800\n",
                "such as in 2000000123456780: a spreadsheet has rounded"
            ),
        ]
        + ["20261127", "1795219200000", "20261127213000", "9990", "1"].map { number in
            List(
                "C24",
                "transaction_id,price,id_of_purchase\n\(number),9.99,430000000000000\n\(number),4.99,\n",
                "numbers such as \(number); the column id_of_purchase looks right"
            )
        }

    @Test
    func `C01 C03 C04 C05 C06 C07 C08 C09 C10 C16 C17 C18 C21 C23 C24 a bad list is refused before anything is sent`()
        async throws
    {
        try await Stage.with(.init(customers: 1)) { stage in
            let path = try await Self.listing(stage)
            let book = try stage.book()
            for list in Self.bad {
                try Self.write(list.bytes, stage)
                let outcome = try await stage.storeledger("run", path, "--progress", "none")
                #expect(outcome.code == list.code, "\(list.id): \(outcome.errors)")
                #expect(outcome.output == "", "\(list.id)")
                for words in ["list.csv"] + list.words {
                    #expect(outcome.errors.contains(words), "\(list.id): \(outcome.errors)")
                }
                let isPrintable = outcome.errors.unicodeScalars.allSatisfy { $0.value >= 0x20 || $0 == "\n" }
                #expect(isPrintable && outcome.errors.utf8.count < 1_000, "\(list.id): \(outcome.errors)")
            }
            #expect(try await stage.store.requests().total == 0)
            #expect(try await book.count("SELECT count(*) FROM crawl_items") == 0)
            #expect(try await book.count("SELECT count(*) FROM runs") == 0)
        }
    }

    @Test func `C11 one bad row in twenty, or in a thousand, refuses the list with every line named`() async throws {
        try await Stage.with(.init(customers: 1)) { stage in
            let path = try await Self.listing(stage)
            for every in [20, 1_000] {
                let rows = (1...2_000).map { $0 % every == 0 ? "x\($0)" : "\(430_000_000_000_000 + $0)" }
                try Self.write(Array("transaction_id\n\(rows.joined(separator: "\n"))\n".utf8), stage)
                let outcome = try await stage.storeledger("run", path, "--progress", "none")
                #expect(outcome.code == 65)
                #expect(outcome.errors.contains("list.csv:\(every + 1): \"x\(every)\""), "\(outcome.errors)")
                #expect(outcome.errorLines.count == min(10, 2_000 / every) + (every == 20 ? 2 : 1))
            }
            #expect(try await stage.store.requests().total == 0)
        }
    }

    @Test func `rows with too many cells and rows that are no ID are named together, with hints`() async throws {
        try await Stage.with(.init(customers: 1)) { stage in
            let path = try await Self.listing(stage)
            try Self.write(Array("transaction_id\n'430000000000000'\n430,000,000\nx1\n".utf8), stage)
            let mixed = try await stage.storeledger("run", path, "--progress", "none")
            #expect(mixed.code == 65)
            for words in ["remove the apostrophe", "list.csv:3: this row has 3 cells", "list.csv:4: \"x1\" is not"] {
                #expect(mixed.errors.contains(words), "\(mixed.errors)")
            }
            try Self.write(Array("430000000000000\n".utf8), stage)
            let bare = try await stage.storeledger("run", path, "--progress", "none")
            #expect(bare.code == 65 && bare.errors.contains("the file has no header: remove column"), "\(bare.errors)")
        }
    }

    @Test func `C02 C05 C12 C22 a list that says the same in another way is the same list`() async throws {
        try await Stage.with(.init(customers: 3)) { stage in
            let path = try await Self.listing(stage)
            let ids = try String(contentsOfFile: stage.store.directory + "/ids.csv", encoding: .utf8)
                .split(separator: "\n").dropFirst().map(String.init)
            let book = try stage.book()
            let lists: [(text: String, duplicates: Int)] = [
                ("\u{FEFF}transaction_id\n\(ids[0])\n\(ids[1])\n\(ids[2])\n", 0),
                ("transaction_id\r\n\(ids[0])\r\n\(ids[1])\r\n\(ids[2])\r\n", 0),
                ("transaction_id\r\(ids[0])\r\(ids[1])\r\(ids[2])\r", 0),
                ("transaction_id\n\n\(ids[0])\n \n\(ids[1])\n\(ids[2])", 0),
                ("transaction_id\n \(ids[0])\n\(ids[1]) \n\"\(ids[2])\"\n", 0),
                ("transaction_id\n\u{A0}\(ids[0])\u{A0}\n\u{FEFF}\(ids[1])\n\(ids[2])\u{200B} \u{202F}\n", 0),
                ("\"x\ny\",transaction_id\n,\(ids[0])\n,\(ids[1])\n,\(ids[2])\n", 0),
                ("transaction_id\n\(ids[0])\n\(ids[1])\n\(ids[2])\n\(ids[0])\n \(ids[0])\n", 2),
            ]
            for (number, list) in lists.enumerated() {
                try Self.write(Array(list.text.utf8), stage)
                try await stage.run(path)
                let run = "SELECT listed_ids || ' ' || duplicate_ids FROM runs ORDER BY run_id DESC LIMIT 1"
                #expect(try await book.column(run) == ["3 \(list.duplicates)"], "list \(number)")
                #expect(try await book.column("SELECT item_key FROM crawl_items ORDER BY 1") == ids.sorted())
            }
            // Zeros at the front make another ID, which Apple then does not know.
            try Self.write(Array("transaction_id\n\(ids[0])\n0\(ids[0])\n".utf8), stage)
            try await stage.run(path, expecting: 2)
            #expect(
                try await book.column("SELECT item_key FROM crawl_items WHERE state = 'failed'") == ["0\(ids[0])"]
            )
            try Self.write(Array("transaction_id\n".utf8), stage)
            let outcome = try await stage.run(path, expecting: 2)
            #expect(outcome.output.contains("items              0 ("), "C01: \(outcome.output)")
        }
    }

    @Test func `C12 a million rows of one ID are one work item`() async throws {
        try await Stage.with(.init(customers: 1)) { stage in
            let path = try await Self.listing(stage)
            let ids = try String(contentsOfFile: stage.store.directory + "/ids.csv", encoding: .utf8)
            let row = Array((ids.split(separator: "\n")[1] + "\n").utf8)
            var bytes = Array("transaction_id\n".utf8)
            for _ in 0..<1_000_000 { bytes += row }
            try Self.write(bytes, stage)
            try await stage.run(path)
            let book = try stage.book()
            #expect(try await book.column("SELECT listed_ids || ' ' || duplicate_ids FROM runs") == ["1 999999"])
            #expect(try await stage.store.requests().total == 1)
        }
    }

    @Test func `C13 two IDs of one customer are both crawled, and double no row`() async throws {
        try await Stage.with(.init(customers: 1)) { stage in
            let path = try await Self.listing(stage)
            let world = try await stage.store.world().split(separator: "\n")
            let own = world.filter { $0.hasPrefix(#"{"kind":"transaction""#) }.compactMap {
                $0.firstMatch(of: /"key":"([0-9]+)"/).map { String($0.1) }
            }
            try #require(own.count > 1)
            try Self.write(Array("transaction_id\n\(own[0])\n\(own[1])\n".utf8), stage)
            try await stage.run(path)
            let book = try stage.book()
            #expect(try await book.count("SELECT count(*) FROM crawl_items WHERE state = 'done'") == 2)
            #expect(try await book.count("SELECT count(*) FROM transactions") == own.count)
            #expect(
                try await book.count("SELECT rows_new FROM crawl_items ORDER BY rows_new LIMIT 1") == 0,
                "the second finds nothing new"
            )
        }
    }

    @Test(arguments: ["transaction_id\n99", "transaction_id\nnonsense\n", nil])
    func `C15 a list that is changed or removed during a run stays the list with which the run began`(later: String?)
        async throws
    {
        try await Stage.with(.init(customers: 4)) { stage in
            var job = Self.job(stage)
            job.limits = "{concurrency: 1, share: 1, requestsPerSecond: {transactionHistory: 1}}"
            let path = try await stage.migrated(job)
            let ids = try String(contentsOfFile: stage.store.directory + "/ids.csv", encoding: .utf8)
            try Self.write(Array(ids.utf8), stage)
            try await stage.withStoreledger(["run", path, "--progress", "none"]) { process in
                try await stage.store.arrivals(1) { process.hasEnded }
                process.signal(SIGTERM)
                #expect(await process.wait() == 75)
            }
            if let later {
                try Self.write(Array(later.utf8), stage)
            } else {
                try FileManager.default.removeItem(atPath: stage.store.directory + "/list.csv")
            }
            job.limits = stage.job.limits
            let outcome = try await stage.storeledger("run", try stage.write(job), "--progress", "plain")
            #expect(outcome.code == 0)
            #expect(outcome.errors.contains("continuing run 1 with its original list of transaction IDs"))
            let listed = ids.split(separator: "\n").dropFirst().map(String.init).sorted()
            let book = try stage.book()
            #expect(try await book.column("SELECT item_key FROM crawl_items WHERE state = 'done' ORDER BY 1") == listed)
        }
    }

    @Test func `C25 C27 C28 rows whose receipt gives no ID are counted and named, and a damaged one ends with 2`()
        async throws
    {
        try await Stage.with(.init(customers: 4)) { stage in
            var job = Self.job(stage)
            job.transactionIds = "csv: {path: receipts.csv}"
            let path = try await stage.migrated(job)
            let book = try stage.book()
            let ids = try String(contentsOfFile: stage.store.directory + "/ids.csv", encoding: .utf8)
                .split(separator: "\n").dropFirst().map(String.init).sorted()
            let planned = try await stage.storeledger("plan", path)
            #expect(planned.code == 0 && planned.output.contains("4 transaction IDs"), "\(planned.output)")
            let left = ["without purchases is left out (line 6)", "from Xcode is left out (line 7)"]
            for words in left { #expect(planned.errors.contains(words), "\(planned.errors)") }
            let outcome = try await stage.storeledger("run", path, "--progress", "plain")
            #expect(outcome.code == 0, "\(outcome.errors)")
            for words in left { #expect(outcome.errors.contains(words), "\(outcome.errors)") }
            let done = try await book.column("SELECT item_key FROM crawl_items WHERE state = 'done' ORDER BY 1")
            #expect(done.count == ids.count)
            let list = stage.store.directory + "/receipts.csv"
            let text = try String(contentsOfFile: list, encoding: .utf8)
            try stage.write(text + "MIIDAMAGED\n", to: "receipts.csv")
            let damaged = try await stage.run(path, expecting: 2)
            #expect(damaged.output.contains("bad receipts       1"), "\(damaged.output)")
            #expect(try await book.column("SELECT unreadable_receipts FROM runs ORDER BY run_id") == ["0", "1"])
            let status = try await stage.storeledger("status", path)
            #expect(status.output.contains("1 listed receipt could not be read"), "\(status.output)")
            #expect(!(damaged.output + damaged.errors + status.output).contains("MIIDAMAGED"))
        }
    }

    @Test(arguments: ["digits", "a quoted cell"])
    func `C10 a cell of 64 MiB is refused without being read into memory`(kind: String) async throws {
        try await Stage.with(.init(customers: 1)) { stage in
            let path = try await Self.listing(stage)
            func plan(_ bytes: [UInt8]) async throws -> MeasuredProgram {
                try Self.write(bytes, stage)
                return try await stage.measured(["plan", path])
            }
            let start = Array("transaction_id\n1\n".utf8)
            let cell = [UInt8](repeating: UInt8(ascii: kind == "digits" ? "1" : "\n"), count: 64 * 1_024 * 1_024)
            let quote = kind == "digits" ? [] : [UInt8(ascii: "\"")]
            let short = try await plan(start), long = try await plan(start + quote + cell + quote)
            #expect(short.code == 0)
            #expect(long.code == 65)
            #expect(long.errors.contains("list.csv:3: a cell has more than"), "\(long.errors)")
            // What the program itself takes depends on the machine.
            #expect((1..<short.peak + 8 * 1_024).contains(long.peak), "\(short.peak) KiB without the cell")
        }
    }

    @Test
    func `C19 an ID of the sandbox is found there when the job allows it, and fails by itself when no server knows it`()
        async throws
    {
        let scene = try RecordStage.scenes(1)[0]
        let record = try scene.signed(["environment": #""Sandbox""#])
        let page =
            "{\"revision\":\"r\",\"hasMore\":false,\"environment\":\"Sandbox\",\"signedTransactions\":[\"\(record)\"]}"
        let rule = #"{"endpoint":"transactionHistory","transactionId":"\#(scene.item)","#
        let faults = RecordStage.faults([
            rule + #""atRequest":1,"fault":"status","status":404,"errorCode":4040010,"errorMessage":"Not found."}"#,
            rule + "\"fault\":\"garbageBody\",\"body\":\(BadRecord.quoted(page))}",
        ])
        try await Stage.with(.init(customers: 1, faults: faults)) { stage in
            var job = Self.job(stage)
            try RecordStage.trust(scene.authority, in: &job, stage)
            job.store = job.store.replacing("appStore:", with: "appStore:\n  sandboxFallback: true")
            try Self.write(Array("transaction_id\n\(scene.item)\n999999999999\n".utf8), stage)
            try await stage.run(try await stage.migrated(job), expecting: 2)
            let book = try stage.book()
            #expect(
                try await book.column("SELECT apps.environment FROM transactions JOIN apps USING (app_id)") == [
                    "Sandbox"
                ]
            )
            #expect(
                try await book.column(
                    "SELECT concat_ws(' ', item_key, state, other_environment, error_code) FROM crawl_items ORDER BY 1"
                ) == ["\(scene.item) done Sandbox", "999999999999 failed Sandbox 4040010"]
            )
            #expect(try await stage.store.requests().total == 4)
        }
    }

    @Test(arguments: ["pipe", "directory", "/dev/stdin", "/dev/zero"])
    func `C20 a list that is no regular file is refused at once`(kind: String) async throws {
        try await Stage.with(.init(customers: 1)) { stage in
            var job = Self.job(stage)
            let place = stage.store.directory + "/list.csv"
            switch kind {
            case "pipe": #expect(unsafe mkfifo(place, 0o600) == 0)
            case "directory": #expect(unsafe mkdir(place, 0o700) == 0)
            default: job.transactionIds = "csv: {path: \(kind)}"
            }
            let path = try await stage.migrated(job)
            let outcome = try await stage.storeledger("run", path, "--progress", "none")
            #expect(outcome.code == 66, "\(outcome.errors)")
            #expect(outcome.errors.contains("not a regular file"), "\(outcome.errors)")
            #expect(try await stage.store.requests().total == 0)
        }
    }

    private static func job(_ stage: Stage) -> JobText {
        var job = stage.job
        job.transactionIds = "csv: {path: list.csv, column: transaction_id}"
        job.streams = ["transactionHistory: {}"]
        return job
    }

    /// A migrated job whose list is `list.csv`.
    private static func listing(_ stage: Stage) async throws -> String {
        try await stage.migrated(job(stage))
    }

    private static func write(_ bytes: [UInt8], _ stage: Stage) throws {
        try Data(bytes).write(to: URL(filePath: stage.store.directory + "/list.csv"))
    }
}
