import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Published files as others read them, and what surrounds a publication.
@Suite(.migratedDatabase)
struct PublishedFileTests {
    /// Reads a file as Python's csv module does, and prints the texts of one column as JSON.
    ///
    /// It also looks for a cell that a spreadsheet would run; LibreOffice itself does not read the files.
    private static let reader = #"""
        import csv, json, sys
        rows = list(csv.reader(open(sys.argv[1], newline="", encoding="utf-8"), strict=True))
        place = rows[0].index(sys.argv[2])
        assert all(len(row) == len(rows[0]) for row in rows)
        for row in rows[1:]:
            for cell in row:
                runs = cell[:1] in list("=+@\t\r\n＝＋－＠;") or cell[:2] == '"=' or cell[:1] == "-" and not cell[1:].isdigit()
                assert not runs, repr(cell)
        print(json.dumps([row[place] for row in rows[1:]]))
        """#

    @Test func `K01 K02 K03 K04 what Python reads is what was stored, and nothing in it is a formula`() async throws {
        let cells = [
            "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "＋1", "－1", "＠1", "\"=1\"", ";=1", "a,b",
            "a\"b\"", "a\r\nb", "\u{1}\u{2}\u{7F}\u{FEFF}é🧾", "'", "", "NULL", "-", "--1", "=",
        ]
        try await Publisher.with { publisher in
            let python = try? await withChildProcess("/usr/bin/env", ["python3", "-V"], environment: Self.search) {
                await $0.wait()
            }
            guard python == 0 else {
                // The line says what is skipped. The rest of the suite reads the files with its own reader.
                print("K01: python3 is not installed")
                return
            }
            let book = try publisher.stage.book()
            try await book.change("UPDATE transactions SET price_milliunits = -9990")
            for (number, cell) in cells.enumerated() {
                let hex = cell.utf8.map { String(format2: $0) }.joined()
                try await book.change(
                    """
                    UPDATE transactions SET product_id = convert_from('\\x\(hex)', 'UTF8')
                     WHERE transaction_id = (SELECT transaction_id FROM transactions ORDER BY transaction_id COLLATE "C" LIMIT 1 OFFSET \(number))
                    """
                )
            }
            let outcome = try await publisher.stage.storeledger("export", publisher.job)
            #expect(outcome.code == 0, "\(outcome.errors)")
            let file = publisher.directory + "/transactions.csv"
            let read = try await withChildProcess(
                "/usr/bin/env",
                ["python3", "-c", Self.reader, file, "product_id"],
                environment: Self.search
            ) { process in
                let code = await process.wait()
                #expect(code == 0, "\(process.errors)")
                return try JSONDecoder().decode([String].self, from: Data(process.output.utf8))
            }
            let defused = cells.prefix(13).map { "'" + $0 } + cells[13..<20] + ["'-", "'--1", "'="]
            let expected = Set(defused.map { Array($0.utf8) })
            #expect(expected.isSubset(of: Set(read.map { Array($0.utf8) })), "\(read.prefix(30))")
            let text = String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
            #expect(text.contains(",-9990,") && !text.contains("'-9990"))
        }
    }

    private static let search = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]

    @Test(arguments: ["000", "077", "777"])
    func `K11 only the owner can read a file, with any umask`(mask: String) async throws {
        try await Publisher.with { publisher in
            try FileManager.default.removeItem(atPath: publisher.directory)
            let code = try await withChildProcess(
                "/bin/sh",
                ["-c", "umask \(mask); exec \"$0\" export \"$1\"", Executables.storeledger, publisher.job],
                environment: ["DATABASE_URL": publisher.stage.databaseURL()]
            ) { await $0.wait() }
            // A umask that takes the owner's own rights away is obeyed; root does not notice.
            guard mask != "777" else { return #expect(code == 0 || getuid() != 0) }
            #expect(code == 0)
            for name in try publisher.files().keys {
                var status = stat()
                #expect(unsafe stat("\(publisher.directory)/\(name)", &status) == 0)
                #expect(status.st_mode & 0o777 == 0o600, "\(name)")
            }
        }
    }

    @Test func `K12 two exports into one directory take turns or the second ends with 73`() async throws {
        try await Publisher.with { publisher in
            let codes = try await withThrowingTaskGroup(of: Stage.Outcome.self) { group in
                for _ in 0..<4 {
                    group.addTask { try await publisher.stage.storeledger("export", publisher.job) }
                }
                var outcomes: [Stage.Outcome] = []
                for try await outcome in group { outcomes.append(outcome) }
                return outcomes
            }
            #expect(codes.contains { $0.code == 0 })
            for outcome in codes where outcome.code != 0 {
                #expect(outcome.code == 73 && outcome.errors.contains("another process"), "\(outcome.errors)")
            }
            let files = try publisher.files()
            let reader = try await publisher.reader(of: [files])
            let complaint = try reader.complaint(about: publisher.directory)
            #expect(complaint == nil && files.count == 3, "\(complaint ?? "")")
        }
    }

    @Test func `K15 a run is complete even if no process reads its messages`() async throws {
        try await Stage.with { stage in
            let path = try await stage.migrated(stage.job)
            let code = try await withChildProcess(
                "/bin/sh",
                ["-c", "exec \"$0\" run \"$1\" --progress json 2>/dev/full", Executables.storeledger, path],
                environment: ["DATABASE_URL": stage.databaseURL()]
            ) { await $0.wait() }
            #expect(code == 0)
            expectNone(try await stage.book().differences(from: stage.store.world()))
        }
    }
}

extension String {
    /// Two hexadecimal digits.
    fileprivate init(format2 byte: UInt8) {
        self = (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}
