import FoundationEssentials
import Glibc
import ParquetFormat
import TestSupport

/// What pyarrow and DuckDB read from a Parquet file; both must read the same.
struct ParquetFile: Decodable {
    struct Group: Decodable {
        let rows: Int
        let columns: [Chunk]
    }

    struct Chunk: Decodable, Equatable {
        let encodings: [String]
        let compression: String
        let nulls: Int
        let least: String?
        let greatest: String?
    }

    /// Arrow's names.
    let types: [String]
    /// The cells of each column as texts; `nil` for NULL.
    let columns: [[String?]]
    let groups: [Group]
    let metadata: [String: String]
    let createdBy: String

    static let missing = "python3, pyarrow or duckdb is not installed; .ci/run installs them if it can"

    static func canBeRead() async -> Bool { await PythonScript.canImport("duckdb", "pyarrow") }

    /// Writes a file with the rows that `body` appends, and reads it.
    static func written(
        _ columns: [ParquetColumn],
        rowsPerGroup: Int = ParquetWriter.rowsPerGroup,
        keyValues: [(key: String, value: String)] = [],
        _ body: (inout ParquetWriter) throws -> Void
    ) async throws -> ParquetFile {
        try await withTemporaryDirectory { directory in
            let path = directory + "/table.parquet"
            let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
            defer { close(descriptor) }
            var writer = try ParquetWriter(
                fileDescriptor: descriptor,
                columns: columns,
                keyValues: keyValues,
                createdBy: "StoreLedger version 1.2.3",
                rowsPerGroup: rowsPerGroup
            )
            try body(&writer)
            _ = try writer.finish()
            let output = try await PythonScript.run("ParquetReaders/read.py", path)
            return try JSONDecoder().decode(ParquetFile.self, from: Data(output.utf8))
        }
    }
}

extension ParquetWriter {
    mutating func append(_ text: String) {
        append(text.utf8.span)
    }
}
