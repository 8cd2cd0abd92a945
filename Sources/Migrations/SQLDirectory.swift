import Basics
import FoundationEssentials
package import Ledger
import Platform

/// The SQL files of a checkout or an installation.
package struct SQLDirectory: Sendable {
    package let path: String

    package var migrations: String { path + "/migrations" }
    package var functions: String { path + "/functions" }
    package var comments: String { path + "/comments" }
    package var views: String { path + "/views" }

    /// Searches the parent directories of the executable for `share/storeledger/sql` and `sql`.
    ///
    /// A checkout's executable is in `.build/…/debug`, so its `sql` is a few directories up. If the build directory is
    /// elsewhere, the checkout is found from the working directory.
    /// - Throws: ``LedgerError/noSQLFiles(searched:)``.
    package static func find(executable: String = currentExecutable()) throws(LedgerError) -> SQLDirectory {
        var searched: [String] = []
        for start in [executable, FileManager.default.currentDirectoryPath + "/."] {
            var folder = parent(of: start)
            while true {
                for candidate in [folder + "/share/storeledger/sql", folder + "/sql"] {
                    searched.append(candidate)
                    if FileManager.default.fileExists(atPath: candidate + "/migrations") {
                        return SQLDirectory(path: candidate)
                    }
                }
                guard folder.count > 1 else { break }
                folder = parent(of: folder)
            }
        }
        throw .noSQLFiles(searched: searched)
    }

    /// The files of a directory that end in `.sql`, by name.
    ///
    /// - Throws: ``LedgerError/cannotRead(path:reason:)``.
    func files(in folder: String) throws(LedgerError) -> [(name: String, text: String)] {
        guard FileManager.default.fileExists(atPath: folder) else { return [] }
        let names = try Self.reading(folder) { try FileManager.default.contentsOfDirectory(atPath: $0) }
        return try names.filter { $0.hasSuffix(".sql") }.sorted().map { name throws(LedgerError) in
            (
                name: name,
                text: try Self.reading(folder + "/" + name) { try String(contentsOfFile: $0, encoding: .utf8) }
            )
        }
    }

    /// The list of the files that the first migration has replaced, one `CHECKSUM  NAME` a line; empty if there is none.
    ///
    /// - Throws: ``LedgerError/cannotRead(path:reason:)``.
    func replacedMigrations() throws(LedgerError) -> String {
        let file = path + "/replaced-migrations.sha256"
        guard FileManager.default.fileExists(atPath: file) else { return "" }
        return try Self.reading(file) { try String(contentsOfFile: $0, encoding: .utf8) }
    }

    private static func reading<Content>(
        _ path: String,
        _ body: (String) throws -> Content
    ) throws(LedgerError) -> Content {
        do {
            return try body(path)
        } catch {
            let cause = (error as? CocoaError)?.underlying ?? error
            throw .cannotRead(
                path: path,
                reason: (cause as? POSIXError).map { systemErrorText($0.code.rawValue) } ?? "\(cause)"
            )
        }
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
