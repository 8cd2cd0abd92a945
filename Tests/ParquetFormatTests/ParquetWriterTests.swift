import Glibc
import ParquetFormat
import Testing

@Suite(.enabled(Comment(rawValue: ParquetFile.missing)) { await ParquetFile.canBeRead() })
struct ParquetWriterTests {
    private static let everyType: [ParquetColumn] = [
        ParquetColumn(name: "boolean", type: .boolean), ParquetColumn(name: "int32", type: .int32),
        ParquetColumn(name: "int64", type: .int64), ParquetColumn(name: "timestamp", type: .timestamp),
        ParquetColumn(name: "date", type: .date), ParquetColumn(name: "text", type: .text),
    ]

    @Test func `every type is read with its type, its NULLs and its extreme values`() async throws {
        // DuckDB and Arrow reserve the outermost moments for infinity; Arrow's dates end where its calendar does.
        let moments: [Int64] = [-9_223_372_022_400_000_000, 0, 9_223_372_036_854_775_806]
        let integers: [Int64] = [.min, 0, .max]
        let small: [Int64] = [Int64(Int32.min), 0, Int64(Int32.max)]
        let dates: [Int64] = [-719_162, 0, 2_932_896]
        let texts = ["", "é\u{1F600}\u{0}\n\"'", "\u{10FFFF}"]
        let file = try await ParquetFile.written(Self.everyType, keyValues: [("a", "b"), ("c", "")]) { writer in
            for row in 0..<3 {
                writer.append(row == 1)
                writer.append(small[row])
                writer.append(integers[row])
                writer.append(moments[row])
                writer.append(dates[row])
                writer.append(texts[row])
                try writer.endRow()
                for _ in Self.everyType { writer.appendNull() }
                try writer.endRow()
            }
        }
        #expect(file.types == ["bool", "int32", "int64", "timestamp[us, tz=UTC]", "date32[day]", "string"])
        func withNulls(_ values: [some CustomStringConvertible]) -> [String?] {
            values.flatMap { [$0.description, nil] }
        }
        #expect(file.columns[0] == withNulls(["False", "True", "False"]))
        #expect(file.columns[1] == withNulls(small))
        #expect(file.columns[2] == withNulls(integers))
        #expect(file.columns[3] == withNulls(moments))
        #expect(file.columns[4] == withNulls(dates))
        #expect(file.columns[5] == withNulls(texts))
        #expect(file.metadata["a"] == "b" && file.metadata["c"] == "")
        #expect(file.createdBy == "StoreLedger version 1.2.3")
        let chunks = try #require(file.groups.first).columns
        #expect(chunks.allSatisfy { $0.nulls == 3 && $0.compression == "ZSTD" })
        #expect(chunks[2].least == "-9223372036854775808" && chunks[2].greatest == "9223372036854775807")
        #expect(chunks[5].least == "" && chunks[5].greatest == "\u{10FFFF}")
    }

    @Test func `a table without rows has its columns`() async throws {
        let file = try await ParquetFile.written(Self.everyType) { _ in }
        #expect(file.types.count == Self.everyType.count && file.groups.isEmpty)
        #expect(file.columns.allSatisfy { $0.isEmpty })
    }

    @Test func `values that repeat are stored once, and others as they are`() async throws {
        // More values than a page, so that later pages use the dictionary of earlier ones with wider indices.
        let rows = 50_000
        let columns = [
            ParquetColumn(name: "repeated", type: .text), ParquetColumn(name: "growing", type: .int64),
            ParquetColumn(name: "unique", type: .text), ParquetColumn(name: "later_unique", type: .int64),
            ParquetColumn(name: "constant", type: .int32), ParquetColumn(name: "null", type: .text),
        ]
        func cells(_ row: Int) -> [String?] {
            [
                row % 10 == 3 ? nil : "product.\(row % 7)", "\(row / 100)", "id-\(row)",
                "\(row < 30_000 ? row % 50 : row)", "-1", nil,
            ]
        }
        let file = try await ParquetFile.written(columns) { writer in
            for row in 0..<rows {
                for (column, cell) in zip(columns, cells(row)) {
                    guard let cell else {
                        writer.appendNull()
                        continue
                    }
                    if column.type == .text { writer.append(cell) } else { writer.append(Int64(cell) ?? 0) }
                }
                try writer.endRow()
            }
        }
        for place in columns.indices {
            #expect(file.columns[place] == (0..<rows).map { cells($0)[place] }, "\(columns[place].name)")
        }
        let encodings = file.groups[0].columns.map { $0.encodings.contains("RLE_DICTIONARY") }
        #expect(encodings == [true, true, false, true, true, false])
        #expect(
            file.groups[0].columns[5]
                == .init(encodings: ["PLAIN", "RLE"], compression: "ZSTD", nulls: rows, least: nil, greatest: nil)
        )
        #expect(file.groups[0].columns[1].least == "0" && file.groups[0].columns[1].greatest == "499")
    }

    @Test func `a row group ends after its rows, and the next one begins again`() async throws {
        let columns = [ParquetColumn(name: "number", type: .int32), ParquetColumn(name: "text", type: .text)]
        let file = try await ParquetFile.written(columns, rowsPerGroup: 1_000) { writer in
            for row in 0..<2_500 {
                writer.append(Int64(row))
                writer.append("same")
                try writer.endRow()
            }
        }
        #expect(file.groups.map(\.rows) == [1_000, 1_000, 500])
        #expect(file.groups.map { $0.columns[0].least } == ["0", "1000", "2000"])
        #expect(file.columns[0] == (0..<2_500).map(String.init))
        #expect(file.columns[1].allSatisfy { $0 == "same" })
    }

    @Test func `long texts are read, and have no bounds`() async throws {
        let texts = (0..<40).map { String(repeating: "\($0 % 10)", count: 100_000 + $0) }
        let file = try await ParquetFile.written([ParquetColumn(name: "text", type: .text)]) { writer in
            for text in texts {
                writer.append(text)
                try writer.endRow()
            }
        }
        #expect(file.columns[0] == texts)
        #expect(file.groups[0].columns[0].least == nil)
    }

    @Test func `a full disk is an error`() throws {
        let descriptor = unsafe open("/dev/full", O_WRONLY)
        defer { close(descriptor) }
        #expect(throws: ParquetError.cannotWrite(errno: ENOSPC)) {
            _ = try ParquetWriter(
                fileDescriptor: descriptor,
                columns: Self.everyType,
                keyValues: [],
                createdBy: "StoreLedger"
            )
        }
    }
}
