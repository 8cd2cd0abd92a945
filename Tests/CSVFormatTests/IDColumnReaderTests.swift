import CSVFormat
import Testing

struct IDColumnReaderTests {
    @Test func `the named column is read, each cell with its line`() throws {
        try withFile("note,transaction_id\nfirst,1\n\"two\nlines\",2\n,3\n") { path throws in
            let cells = try idCells(path, column: "transaction_id")
            #expect(cells == [IDCell(2, "1"), IDCell(3, "2"), IDCell(5, "3")])
        }
    }

    @Test func `C01 a missing, a doubled and an only column name are distinguished`() throws {
        try withFile("a,b\n1,2\n") { path throws in
            #expect(
                try failure(reading: path, column: "c") == .missingColumn(path: path, name: "c", found: ["a", "b"])
            )
        }
        try withFile("a,a\n1,2\n") { path throws in
            #expect(try failure(reading: path, column: "a") == .ambiguousColumn(path: path, name: "a"))
        }
        try withFile("a\n") { path throws in
            #expect(try idCells(path, column: "a").isEmpty)
        }
    }

    @Test(arguments: ["", "\n\n", "\u{FEFF}", " \r\n"])
    func `C01 an empty file is an error with and without a column name`(text: String) throws {
        try withFile(text) { path throws in
            #expect(try failure(reading: path, column: nil) == .noRecord(path: path))
            #expect(try failure(reading: path, column: "a") == .noRecord(path: path))
        }
    }

    @Test func `a missing file is a missing input`() throws {
        let error = try #require(try failure(reading: "/nonexistent/ids.csv", column: nil))
        #expect(error == .missingFile(path: "/nonexistent/ids.csv"))
        #expect(error.isMissingInput)
        let directory = try #require(try failure(reading: "/", column: nil))
        #expect(directory.isMissingInput)
    }

    @Test func `a row with more cells than the header is an error, because an ID with commas would become another ID`()
        throws
    {
        try withFile("transaction_id\n430\n430,000,000\n") { path throws in
            let expected = CSVError.tooManyCells(path: path, line: 3, found: 3, expected: 1)
            #expect(try failure(reading: path, column: "transaction_id") == expected)
            #expect(try failure(reading: path, column: nil) == expected)
        }
        try withFile("transaction_id\n\"430,000,000\"\n430,, \n") { path throws in
            let cells = try idCells(path, column: "transaction_id")
            #expect(cells == [IDCell(2, "430,000,000"), IDCell(3, "430")])
        }
    }

    @Test(arguments: ["\n", "\r\n", "\r"])
    func `C02 every line end counts as one line, and blank lines as lines but not as rows`(end: String) throws {
        let text = "\u{FEFF}id,n" + end + "1" + end + end + "  " + end + "\"2" + end + "x\",9" + end + "3"
        try withFile(text) { path throws in
            let cells = try idCells(path, column: "id")
            #expect(cells == [IDCell(2, "1"), IDCell(5, "2\(end)x"), IDCell(7, "3")])
        }
    }

    @Test func `a line with only invisible characters is skipped, and an empty cell in quotes is a row`() throws {
        try withFile("\u{A0}\nid\n\u{FEFF}\n1\n \u{200B} \n\"\"\n2\n\u{2007}") { path throws in
            #expect(try idCells(path, column: nil) == [IDCell(4, "1"), IDCell(6, ""), IDCell(7, "2")])
            #expect(try idCells(path, column: "id") == [IDCell(4, "1"), IDCell(6, ""), IDCell(7, "2")])
        }
    }

    @Test func `a line feed after a lone carriage return's line ends a separate line`() throws {
        try withFile("id\r1\n2\r\n\r3\n4") { path in
            var lines: [Int] = []
            try CSVReader(path: path).forEachRecord { lines.append($0.line) }
            #expect(lines == [1, 2, 3, 5, 6])
        }
    }

    @Test func `C02 line numbers stay right where a chunk ends between CR and LF`() throws {
        let filler = String(repeating: "x", count: 65_535)
        try withFile(filler + "\r\n1\r\n2") { path throws in
            var lines: [Int] = []
            try CSVReader(path: path).forEachRecord { lines.append($0.line) }
            #expect(lines == [1, 2, 3])
        }
    }

    @Test func `without a column name a first row that begins with a letter is the header`() throws {
        for (text, expected) in [
            ("transaction_id\n1\n", [IDCell(2, "1")]),
            ("_id,b\n1,2\n", [IDCell(2, "1")]),
            ("1\n2\n", [IDCell(1, "1"), IDCell(2, "2")]),
            ("+1\n", [IDCell(1, "+1")]),
            ("2.00E+15\n", [IDCell(1, "2.00E+15")]),
            ("\u{FF11}\n", [IDCell(1, "\u{FF11}")]),
        ] {
            try withFile(text) { path throws in
                let cells = try idCells(path, column: nil)
                #expect(cells == expected)
            }
        }
    }

    @Test func `C05 spaces and tabs around a cell go, everything in it stays`() throws {
        let text = "id,x\n 1\n1 \t\n\" 1 \"\n00012\n+1\n1e15\n../../v1\n\"\"\n\"a\rb\"\n=1+1\n\u{661}\u{662}\n1\0\n,x\n"
        try withFile(text) { path throws in
            let texts = try idCells(path, column: "id").map(\.text)
            #expect(
                texts == [
                    "1", "1", "1", "00012", "+1", "1e15", "../../v1", "", "a\rb", "=1+1", "\u{661}\u{662}", "1\0", "",
                ]
            )
        }
    }

    @Test func `a row too short for the column is an empty cell`() throws {
        try withFile("a,b\n1\n1,2\n") { path throws in
            let cells = try idCells(path, column: "b")
            #expect(cells == [IDCell(2, ""), IDCell(3, "2")])
        }
    }

    @Test(
        arguments: [
            ([0xFF, 0xFE, 0x31, 0x00], "UTF-16"), ([0xFE, 0xFF, 0x00, 0x31], "UTF-16"),
            ([0x31, 0x00, 0x32, 0x00], "UTF-16"), ([0x00, 0x31, 0x00, 0x32], "UTF-16"),
            ([0xFF, 0xFE, 0x00, 0x00, 0x31, 0, 0, 0], "UTF-32"), ([0x31, 0, 0, 0], "UTF-32"),
            ([0, 0, 0, 0x31], "UTF-32"),
            ([0x1F, 0x8B, 0x08, 0x00], "gzip"), ([0x50, 0x4B, 0x03, 0x04], "an Excel workbook or another zip archive"),
        ] as [([UInt8], String)]
    )
    func `C03 a file of another kind is named`(bytes: [UInt8], kind: String) throws {
        try withFile(bytes) { path throws in
            #expect(try failure(reading: path, column: nil) == .notText(path: path, line: 1, looksLike: kind))
        }
    }

    @Test(
        arguments: [
            [0x69, 0x64, 0x0A, 0x31, 0x0A, 0xE9, 0x0A], [0x69, 0x64, 0x0A, 0x31, 0x0A, 0xF1, 0xF2, 0x15],
            [0x69, 0x64, 0x0A, 0x31, 0x0A, 0x78, 0x2C, 0xC3],
        ] as [[UInt8]]
    )
    func `C03 bytes that are not UTF-8 are an error with their line, in any column`(bytes: [UInt8]) throws {
        try withFile(bytes) { path throws in
            guard case .notText(_, 3, _) = try failure(reading: path, column: "id") else {
                Issue.record("it was read, or the line is wrong")
                return
            }
        }
    }

    @Test func `C04 a quote in the wrong place is an error with its line`() throws {
        for text in ["id\n1\n2\"3\n", "id\n1\n\"2\"3\n", "id\n1\n\"2\" \"3\"\n"] {
            try withFile(text) { path throws in
                #expect(try failure(reading: path, column: "id") == .malformed(path: path, line: 3))
            }
        }
        try withFile("id\n1\n\"2\n3\n4\n") { path throws in
            #expect(try failure(reading: path, column: "id") == .unterminatedQuote(path: path, line: 3))
        }
    }

    @Test func `C17 another delimiter is recognized`() throws {
        for (text, delimiter) in [("id;b\n1;2\n", ";"), ("id\tb\n1\t2\n", "\t"), ("id|b\n1|2\n", "|")]
            as [(String, Character)]
        {
            try withFile(text) { path throws in
                let expected = CSVError.wrongDelimiter(path: path, line: 1, found: delimiter)
                #expect(try failure(reading: path, column: "id") == expected)
                #expect(try failure(reading: path, column: nil) == expected)
            }
        }
    }

    @Test func `C18 a header may have line ends in quotes, and at most a thousand columns`() throws {
        try withFile("\"a\nb\",id\n1,2\n") { path throws in
            #expect(try idCells(path, column: "id") == [IDCell(3, "2")])
        }
        let columns = (1...1_000).map { "c\($0)" }.joined(separator: ",")
        try withFile("\(columns)\n1\n") { path throws in
            #expect(try idCells(path, column: "c1") == [IDCell(2, "1")])
        }
        try withFile("\(columns),c1001\n1\n") { path throws in
            #expect(try failure(reading: path, column: "c1") == .tooManyColumns(path: path, line: 1, limit: 1_000))
        }
    }

    @Test func `C10 an ID cell of more than a kilobyte and any cell of more than a megabyte are errors`() throws {
        try withFile("id\n\(String(repeating: "1", count: 1_025))\n") { path throws in
            #expect(try failure(reading: path, column: "id") == .fieldTooLong(path: path, line: 2, limitInBytes: 1_024))
        }
        try withFile("id,b\n1,\(String(repeating: "x", count: 1_000_000))\n") { path throws in
            #expect(try idCells(path, column: "id").count == 1)
        }
        try withFile("id,b\n1,\"\(String(repeating: "\n", count: 3_000_000))\n") { path throws in
            #expect(
                try failure(reading: path, column: "id") == .fieldTooLong(path: path, line: 2, limitInBytes: 1 << 20)
            )
        }
    }

    @Test func `an error thrown for a row ends the reading`() throws {
        struct Enough: Error {}
        try withFile("1\n2\n3\n") { path throws in
            var seen = 0
            #expect(throws: Enough.self) {
                try IDColumnReader(path: path, column: nil).forEachCell { _, _ in
                    seen += 1
                    throw Enough()
                }
            }
            #expect(seen == 1)
        }
    }
}
