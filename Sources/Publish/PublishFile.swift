import FoundationEssentials
package import Ledger

/// Publishes one file: whole, synchronised, in the place of the one that has its name, or not at all.
///
/// As with CSV files the folder is made where it is missing, and no part of its path may be a symbolic link.
///
/// - Parameters:
///   - bytes: The file.
///   - path: Where to; relative to the working directory.
/// - Throws: ``LedgerError/cannotCreate(path:reason:)``, ``LedgerError/cannotWrite(path:reason:)``,
///   ``LedgerError/directoryInUse(path:)``.
package func publishFile(_ bytes: [UInt8], at path: String) throws(LedgerError) {
    let absolute = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    let slash = absolute.lastIndex(of: "/") ?? absolute.startIndex
    let name = String(absolute[absolute.index(after: slash)...])
    guard !["", ".", ".."].contains(name) else { throw .cannotCreate(path: path, reason: "it names a folder") }
    let directory = try OutputDirectory(path: String(absolute[..<slash]))
    let file = try directory.newFile(name)
    try file.write(bytes)
    _ = try file.seal()
    try directory.publish(name)
    try directory.synchronize()
}
