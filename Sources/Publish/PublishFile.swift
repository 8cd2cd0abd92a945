import FoundationEssentials
package import Ledger

/// Publishes one file atomically: it is complete and synchronized before it replaces an existing file.
///
/// As with CSV files, missing directories are created, and no part of the path may be a symbolic link.
///
/// - Parameters:
///   - bytes: The content.
///   - path: The path, relative to the working directory.
/// - Throws: ``LedgerError/cannotCreate(path:reason:)``, ``LedgerError/cannotWrite(path:reason:)``,
///   ``LedgerError/directoryInUse(path:)``.
package func publishFile(_ bytes: [UInt8], at path: String) throws(LedgerError) {
    let absolute = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    let slash = absolute.lastIndex(of: "/") ?? absolute.startIndex
    let name = String(absolute[absolute.index(after: slash)...])
    guard !["", ".", ".."].contains(name) else { throw .cannotCreate(path: path, reason: "it is a directory") }
    let directory = try OutputDirectory(path: String(absolute[..<slash]))
    let file = try directory.newFile(name)
    try file.write(bytes)
    _ = try file.seal()
    try directory.publish(name)
    try directory.synchronize()
}
