import Basics
import CSVFormat
package import Ledger
package import LedgerSchema
import Postgres
import SignedData

/// The tables to publish, and the target directory.
package struct CSVOrder: Sendable {
    /// Absolute.
    package let directory: String
    package let tables: [String]
    package let job: String
    package let run: Int64?
    /// SHA-256 of the trusted roots, hexadecimal, for the manifest.
    package let trustedRoots: [String]

    package init(directory: String, tables: [String], job: String, run: Int64?, trustedRoots: [String]) {
        self.directory = directory
        self.tables = tables
        self.job = job
        self.run = run
        self.trustedRoots = trustedRoots
    }
}

extension Ledger {
    /// Publishes an app's tables as CSV files, all or none, from one snapshot of the database.
    ///
    /// All files, including the manifest, are first written and synchronized under temporary names. If this fails, the
    /// previous publication is unchanged. Then the old manifest is removed, the files are renamed, and the new manifest
    /// is renamed last. A process that is stopped in between leaves complete files without a manifest.
    /// - Throws: ``LedgerError/cannotCreate(path:reason:)``, ``LedgerError/cannotWrite(path:reason:)``,
    ///   ``Postgres/PostgresError``.
    package func publish(_ order: CSVOrder, of app: AppID) async throws -> Manifest {
        // If the server goes away, the publication starts again; existing files are removed or replaced.
        try await transaction(.readOnlySnapshot) { connection in
            // Between two tables the session rests while a large file goes to disk.
            try connection.script("SET LOCAL idle_in_transaction_session_timeout = 0")
            let directory = try OutputDirectory(path: order.directory)
            let snapshot = try connection.run(
                "SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') AS moment"
            )[0].text("moment")
            var publication = Publication(directory: directory)
            for table in order.tables {
                try publication.write(try PublishedTable(table, connection), of: app, from: connection)
            }
            return try publication.publish(order, snapshot: snapshot)
        }
    }
}

/// The files of one publication.
private struct Publication: ~Copyable {
    private static let manifestName = "manifest.json"

    private let directory: OutputDirectory
    private var written: [Manifest.File] = []

    init(directory: consuming OutputDirectory) {
        self.directory = directory
    }

    /// Writes one table under a temporary name.
    mutating func write(
        _ table: PublishedTable,
        of app: AppID,
        from connection: borrowing PostgresConnection
    ) throws {
        let name = "\(table.name).csv"
        let file = try directory.newFile(name)
        crashPoint(.csvOpened)
        let rows: Int
        do {
            rows = try table.copy(rowsOf: app, from: connection, to: file.descriptor)
        } catch CSVError.cannotWrite(let number) {
            throw LedgerError.cannotWrite(path: "\(directory.path)/\(name)", reason: systemErrorText(number))
        }
        crashPoint(.csvFlushed)
        let (bytes, sha256) = try file.seal()
        crashPoint(.csvSealed)
        written.append(Manifest.File(file: name, table: table.name, rows: rows, bytes: bytes, sha256: sha256))
    }

    /// Renames every file to its final name, the manifest last.
    consuming func publish(_ order: CSVOrder, snapshot: String) throws -> Manifest {
        let manifest = Manifest(
            version: 1,
            job: order.job,
            run: order.run,
            snapshot: snapshot,
            trustedRoots: order.trustedRoots,
            files: written
        )
        let file = try directory.newFile(Self.manifestName)
        try file.write(manifest.json())
        _ = try file.seal()
        // From here on only renames: the old manifest goes first, because it would name files it does not describe.
        try directory.remove(Self.manifestName)
        try directory.synchronize()
        crashPoint(.csvManifestWithdrawn)
        for file in written {
            try directory.publish(file.file)
            crashPoint(.csvRenamed)
        }
        try directory.synchronize()
        crashPoint(.csvDirectorySynced)
        try directory.publish(Self.manifestName)
        try directory.synchronize()
        crashPoint(.csvManifestPublished)
        return manifest
    }
}
