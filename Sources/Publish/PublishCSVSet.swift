import Basics
import CSVFormat

/// Publishes CSV files of the same columns in one directory, all or none, with a manifest that is published last.
///
/// - Parameters:
///   - files: The name of each file, and the name of its content in the manifest.
///   - columns: The header of each file.
///   - directory: Absolute, or relative to the working directory.
///   - job: The job, for the manifest.
///   - snapshot: The time of the database snapshot of all files, ISO 8601, UTC.
///   - trustedRoots: SHA-256 of the trusted roots, hexadecimal, for the manifest.
///   - next: Returns the rows of a content after the given last row, which is `nil` for the first rows; empty at the end.
/// - Throws: ``LedgerError/cannotCreate(path:reason:)``, ``LedgerError/cannotWrite(path:reason:)``,
///   ``LedgerError/directoryInUse(path:)``, errors of `next`. If no file was renamed yet, existing files are unchanged.
package func publishCSVSet(
    _ files: [(name: String, table: String)],
    columns: [String],
    in directory: String,
    job: String,
    snapshot: String,
    trustedRoots: [String],
    next: (_ table: String, _ last: [CSVCell]?) throws -> [[CSVCell]]
) throws -> Manifest {
    let folder = try OutputFolder(path: try absolutePath(directory))
    var written: [Manifest.File] = []
    for (name, table) in files {
        written.append(
            try folder.write(table, to: name) { descriptor in
                try writeRows(columns, to: descriptor) { try next(table, $0) }
            }
        )
    }
    let manifest = Manifest(
        version: 1,
        job: job,
        run: nil,
        snapshot: snapshot,
        trustedRoots: trustedRoots,
        files: written
    )
    try folder.publish(manifest)
    return manifest
}

private func writeRows(
    _ columns: [String],
    to descriptor: Int32,
    next: (_ last: [CSVCell]?) throws -> [[CSVCell]]
) throws -> Int {
    var writer = try CSVWriter(fileDescriptor: descriptor, columns: columns)
    var last: [CSVCell]?
    while true {
        let rows = try next(last)
        guard let end = rows.last else { break }
        for row in rows {
            try writer.append(row)
            crashPoint(.fileRowWritten)
        }
        last = end
    }
    crashPoint(.fileUnflushed)
    try writer.flush()
    return writer.rowCount
}

extension CSVWriter {
    /// Appends one whole row.
    mutating func append(_ row: [CSVCell]) throws(CSVError) {
        for cell in row {
            switch cell {
            case .text(let text): append(text: text.utf8.span)
            case .number(let number): append(literal: String(number).utf8.span)
            case .null: appendNull()
            }
        }
        try endRow()
    }
}
