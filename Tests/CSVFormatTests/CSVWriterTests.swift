import CSVFormat
import Dispatch
import FoundationEssentials
import Glibc
import Testing

struct CSVWriterTests {
    private func written(_ rows: [[WrittenCell]], columns: [String]) throws -> String {
        try withFile("") { path throws in
            let count = try write(rows, columns: columns, to: path)
            #expect(count == rows.count)
            return String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        }
    }

    @Test func `K04 NULL, an empty text, texts and numbers look like this`() throws {
        let text = try written(
            [
                [.null, .text(""), .text("a \"b\", c\r\n"), .literal("-9990")],
                [.literal("2026-11-21T02:35:00.000Z"), .text("é🧾"), .null, .null],
            ],
            columns: ["a", "b", "c", "d"]
        )
        #expect(
            text == "a,b,c,d\r\n,\"\",\"a \"\"b\"\", c\r\n\",-9990\r\n2026-11-21T02:35:00.000Z,\"é🧾\",,\r\n"
        )
    }

    @Test(arguments: [
        "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "＋1", "－1", "＠1", "\"=1\"", ";=1", "=",
    ])
    func `K01 K02 a text that a spreadsheet would run gets an apostrophe`(formula: String) throws {
        try withFile("") { path throws in
            _ = try write([[.text(formula), .literal("-1")]], columns: ["a", "b"], to: path)
            #expect(try records(path) == [["a", "b"], ["'" + formula, "-1"]])
        }
    }

    @Test(arguments: ["a=1", "1-1", "'=1", "\"", ";", "", " ", "–1", "{\"a\":1}", "ｱ", "\u{EF}"])
    func `a harmless text stays as it is`(text: String) throws {
        try withFile("") { path throws in
            _ = try write([[.text(text), .literal("1")]], columns: ["a", "b"], to: path)
            #expect(try records(path)[1] == [text, "1"])
        }
    }

    @Test func `a literal that would be read as something else is quoted`() throws {
        let text = try written(
            [[.literal("1,5"), .literal("a\"b"), .literal(""), .literal(" 1")]],
            columns: ["a", "b", "c", "d"]
        )
        #expect(text == "a,b,c,d\r\n\"1,5\",\"a\"\"b\",\"\",\" 1\"\r\n")
    }

    @Test func `K05 a row of another width is refused`() throws {
        for row in [[WrittenCell.null], [.null, .null, .null]] {
            let error = #expect(throws: CSVError.self) { try written([[.null, .null], row], columns: ["a", "b"]) }
            #expect(error == .columnCountMismatch(row: 2, found: row.count, expected: 2))
        }
    }

    @Test func `K03 K06 twenty thousand random rows come back as they went`() throws {
        var generator = SplitMix64(state: 7)
        let alphabet = Array("ab\"\",,;\r\n\t '=+-@\\0é🧾\u{1}\u{FEFF}".unicodeScalars)
        let rows: [[WrittenCell]] = (0..<20_000).map { row in
            (0..<4).map { _ in
                if Int.random(in: 0..<5, using: &generator) == 0 { return .null }
                var scalars = String.UnicodeScalarView()
                let length = row % 1_000 == 0 ? 50_000 : Int.random(in: 0...12, using: &generator)
                for _ in 0..<length { scalars.append(alphabet[Int.random(in: alphabet.indices, using: &generator)]) }
                return .text(String(scalars))
            }
        }
        try withFile("") { path throws in
            _ = try write(rows, columns: ["a", "b", "c", "d"], to: path)
            let found = try records(path)
            #expect(found.count == rows.count + 1)
            let differing = zip(found.dropFirst(), rows).filter { found, written in !isSame(found, written) }
            #expect(differing.isEmpty)
        }
    }

    /// Byte for byte; a defused text is longer by its apostrophe.
    private func isSame(_ found: [String?], _ written: [WrittenCell]) -> Bool {
        found.count == written.count
            && zip(found, written).allSatisfy { found, written in
                guard case .text(let text) = written else { return found == nil }
                guard let found else { return false }
                return found.utf8.elementsEqual(text.utf8)
                    || (found.utf8.first == UInt8(ascii: "'") && found.utf8.dropFirst().elementsEqual(text.utf8))
            }
    }

    @Test(arguments: [0, 1, 100_000]) func `K07 a full disk is an error, never a short file`(rows: Int) throws {
        let error = #expect(throws: CSVError.self) {
            try write(Array(repeating: [.text("x"), .null], count: rows), columns: ["a", "b"], to: "/dev/full")
        }
        #expect(error == .cannotWrite(errno: ENOSPC))
    }

    @Test func `K13 a row across the fourth gigabyte is written whole`() throws {
        try withFile("") { path throws in
            let file = unsafe open(path, O_RDWR)
            defer { close(file) }
            // A hole takes no room on the disk.
            let start = (1 << 32) - 10
            try #require(lseek(file, off_t(start), SEEK_SET) == start)
            var writer = try CSVWriter(fileDescriptor: file, columns: ["a"])
            writer.append(text: "across the boundary".utf8.span)
            try writer.endRow()
            try writer.flush()
            var bytes = [UInt8](repeating: 0, count: 100)
            let count = unsafe pread(file, &bytes, bytes.count, off_t(start))
            #expect(String(decoding: bytes.prefix(count), as: UTF8.self) == "a\r\n\"across the boundary\"\r\n")
            #expect(lseek(file, 0, SEEK_END) == start + count && start + count > 1 << 32)
        }
    }

    @Test func `a descriptor that is not open for writing is an error`() throws {
        let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        let error = #expect(throws: CSVError.self) {
            var writer = try CSVWriter(fileDescriptor: descriptor, columns: ["a"])
            try writer.flush()
        }
        #expect(error == .cannotWrite(errno: EBADF))
    }

    @Test func `K08 writes that a pipe takes in parts arrive whole`() async throws {
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        let (readEnd, writeEnd) = (ends[0], ends[1])
        let rows = 50_000
        async let received = byteCount(from: readEnd)
        var writer = try CSVWriter(fileDescriptor: writeEnd, columns: ["a"])
        for _ in 0..<rows {
            writer.append(text: [0x78].span)
            try writer.endRow()
        }
        try writer.flush()
        close(writeEnd)
        #expect(await received == 3 + rows * 5)
        close(readEnd)
    }

    /// Reads until the other end is closed, on a separate thread.
    private func byteCount(from descriptor: Int32) async -> Int {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var buffer = [UInt8](repeating: 0, count: 1_000)
                var total = 0
                while true {
                    let count = unsafe buffer.withUnsafeMutableBytes {
                        unsafe read(descriptor, $0.baseAddress, $0.count)
                    }
                    guard count > 0 else { break }
                    total += count
                }
                continuation.resume(returning: total)
            }
        }
    }
}

/// A small generator with a seed, so that a failure can be repeated.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
