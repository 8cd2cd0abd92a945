import Basics
import Ledger

/// The migrations 0001 to 0062 of the time before version 0.1.0, which the baseline has replaced.
///
/// A ledger with all of them has the baseline's tables.
struct ReplacedMigrations: Sendable {
    /// SHA-256 by file name; empty for a directory without the list.
    private let checksums: [String: String]
    /// The first file of `migrations`.
    private let baseline: Migration?

    /// - Parameters:
    ///   - directory: The SQL files.
    ///   - migrations: The files of `migrations`, in order.
    /// - Throws: ``LedgerError/cannotRead(path:reason:)``.
    init(directory: SQLDirectory, migrations: [Migration]) throws(LedgerError) {
        var checksums: [String: String] = [:]
        for line in try directory.replacedMigrations().lines {
            let words = line.split(separator: " ")
            if words.count == 2 { checksums[String(words[1])] = String(words[0]) }
        }
        self.checksums = checksums
        baseline = migrations.first
    }

    var names: [String] { Array(checksums.keys) }

    /// Names the baseline in place of the migrations that it has replaced.
    ///
    /// - Parameter applied: Checksums by name, as in `schema_migrations`.
    /// - Returns: Checksums by name.
    /// - Throws: ``LedgerError/schemaTooOld(lacking:)``, ``LedgerError/migrationChanged(name:)``.
    func named(in applied: [String: String]) throws(LedgerError) -> [String: String] {
        guard let baseline, applied.keys.contains(where: { checksums[$0] != nil }) else { return applied }
        for (name, checksum) in checksums.sorted(by: { $0.key < $1.key }) {
            guard let found = applied[name] else { throw .schemaTooOld(lacking: name) }
            guard found == checksum else { throw .migrationChanged(name: name) }
        }
        var rest = applied.filter { checksums[$0.key] == nil }
        rest[baseline.name] = baseline.checksum
        return rest
    }
}
