import Basics
import CSVFormat
import FoundationEssentials
package import Ledger

/// Publishes one file atomically: it is complete and synchronized before it replaces an existing file.
///
/// As with CSV files, missing directories are created, and no part of the path may be a symbolic link. The file has mode
/// 0600.
///
/// - Parameter path: The path, relative to the working directory.
/// - Throws: ``LedgerError/cannotCreate(path:reason:)``, ``LedgerError/cannotWrite(path:reason:)``,
///   ``LedgerError/directoryInUse(path:)``.
package func publishFile(_ bytes: [UInt8], at path: String) throws(LedgerError) {
    let (folder, name) = try parts(of: path)
    let directory = try OutputFolder(path: folder)
    let file = try directory.newFile(name)
    try file.write(bytes)
    _ = try file.seal()
    try directory.publish(name)
    try directory.synchronize()
}

/// Publishes one file atomically, as ``publishFile(_:at:)`` does, from parts that are not in memory at the same time.
///
/// - Parameters:
///   - path: The path, relative to the working directory.
///   - next: The next part; `nil` at the end.
/// - Throws: As ``publishFile(_:at:)``; errors of `next`. An existing file is then unchanged.
package func publishFile(at path: String, next: () async throws -> [UInt8]?) async throws {
    try await publishParts(at: path) { write in
        while let bytes = try await next() { try write(bytes) }
    }
}

/// Publishes one file atomically, as ``publishFile(_:at:)`` does, from the parts that `body` writes.
///
/// - Parameters:
///   - path: The path, relative to the working directory.
///   - body: Gets the function that writes the next part.
/// - Throws: As ``publishFile(_:at:)``; errors of `body`. An existing file is then unchanged.
package func publishParts<Value>(
    at path: String,
    _ body: (_ write: ([UInt8]) throws -> Void) async throws -> Value
) async throws -> Value {
    let (folder, name) = try parts(of: path)
    let directory = try OutputFolder(path: folder)
    let file = try directory.newFile(name)
    let value = try await body { bytes in try file.write(bytes) }
    _ = try file.seal()
    try directory.publish(name)
    try directory.synchronize()
    return value
}

/// One cell of ``publishCSV(at:columns:next:)``.
package enum CSVCell: Equatable, Sendable {
    case text(String)
    case number(Int64)
    case null
}

/// Publishes one CSV file atomically, as ``publishFile(_:at:)`` does, in the format of the published tables.
///
/// - Parameters:
///   - path: The path, relative to the working directory.
///   - columns: The header, at least two columns.
///   - next: The next rows; `nil` at the end.
/// - Returns: The number of rows.
/// - Throws: As ``publishFile(_:at:)``; errors of `next`. An existing file is then unchanged.
package func publishCSV(
    at path: String,
    columns: [String],
    next: () async throws -> [[CSVCell]]?
) async throws -> Int {
    let (folder, name) = try parts(of: path)
    let directory = try OutputFolder(path: folder)
    let file = try directory.newFile(name)
    var rows = 0
    do {
        var writer = try CSVWriter(fileDescriptor: file.descriptor, columns: columns)
        while let batch = try await next() {
            for row in batch { try writer.append(row) }
        }
        try writer.flush()
        rows = writer.rowCount
    } catch CSVError.cannotWrite(let number) {
        throw LedgerError.cannotWrite(path: path, reason: systemErrorText(number))
    }
    _ = try file.seal()
    try directory.publish(name)
    try directory.synchronize()
    return rows
}

/// The path, absolute if it was relative to the working directory.
///
/// - Throws: ``LedgerError/isURL(path:)``.
func absolutePath(_ path: String) throws(LedgerError) -> String {
    guard urlScheme(of: path) == nil else { throw .isURL(path: path) }
    return path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
}

/// The absolute directory and the name of a file.
private func parts(of path: String) throws(LedgerError) -> (directory: String, name: String) {
    let absolute = try absolutePath(path)
    let slash = absolute.lastIndex(of: "/") ?? absolute.startIndex
    let name = String(absolute[absolute.index(after: slash)...])
    guard !["", ".", ".."].contains(name) else { throw .cannotCreate(path: path, reason: "it is a directory") }
    return (String(absolute[..<slash]), name)
}
