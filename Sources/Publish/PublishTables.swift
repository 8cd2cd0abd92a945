import Basics
import CSVFormat
package import JobPlan
package import Ledger
package import LedgerSchema
import ParquetFormat
import Postgres

/// The files to publish, and what the manifest says of them.
package struct PublishOrder: Sendable {
    package let files: FileOutput
    package let job: String
    package let run: Int64?
    /// SHA-256 of the trusted roots, hexadecimal, for the manifest.
    package let trustedRoots: [String]

    package init(_ files: FileOutput, job: String, run: Int64?, trustedRoots: [String]) {
        self.files = files
        self.job = job
        self.run = run
        self.trustedRoots = trustedRoots
    }
}

extension Ledger {
    /// Publishes an app's tables as files, all or none, from one snapshot of the database.
    ///
    /// All files, including the manifest, are first written and synchronized under temporary names. If this fails, the
    /// previous publication is unchanged. Then the old manifest is removed, the files are renamed, and the new manifest
    /// is renamed last. A process that is stopped in between leaves complete files without a manifest.
    /// - Throws: ``LedgerError/directoryInUse(path:)`` if another process is publishing there;
    ///   ``LedgerError/cannotCreate(path:reason:)``, ``LedgerError/cannotWrite(path:reason:)``,
    ///   ``Postgres/PostgresError``.
    package func publish(_ order: PublishOrder, of app: AppID) async throws -> Manifest {
        // If the server goes away, the publication starts again; existing files are removed or replaced.
        try await snapshot { connection, replica in
            // Between two tables the session rests while a large file goes to disk.
            try connection.script("SET LOCAL idle_in_transaction_session_timeout = 0")
            let directory = try OutputDirectory(path: order.files.directory)
            let now = try connection.run(
                "SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') AS moment"
            )[0].text("moment")
            var publication = UnpublishedFiles(of: order.files, in: directory)
            for table in order.files.tables {
                try publication.write(try PublishedTable(table, connection), of: app, from: connection)
            }
            return try publication.publish(order, snapshot: replica?.appliedUntil ?? now)
        }
    }
}

/// The files of one publication, which have only their temporary names yet.
private struct UnpublishedFiles: ~Copyable {
    private let output: FileOutput
    private let directory: OutputDirectory
    private var written: [Manifest.File] = []

    init(of output: FileOutput, in directory: consuming OutputDirectory) {
        self.output = output
        self.directory = directory
    }

    /// Writes one table under a temporary name.
    mutating func write(
        _ table: PublishedTable,
        of app: AppID,
        from connection: borrowing PostgresConnection
    ) throws {
        let name = output.fileName(of: table.name)
        written.append(try directory.write(.all, of: table, as: output.format, to: name, of: app, from: connection))
    }

    /// Renames every file to its final name, the manifest last.
    consuming func publish(_ order: PublishOrder, snapshot: String) throws -> Manifest {
        let manifest = Manifest(
            version: 1,
            job: order.job,
            run: order.run,
            snapshot: snapshot,
            trustedRoots: order.trustedRoots,
            files: written
        )
        try directory.publish(manifest)
        return manifest
    }
}

extension OutputDirectory {
    private static let manifestName = "manifest.json"

    /// Renames the files of a manifest to their final names, and publishes the manifest last.
    borrowing func publish(_ manifest: Manifest) throws {
        let file = try newFile(Self.manifestName)
        try file.write(manifest.json())
        _ = try file.seal()
        // The old manifest is removed first, because it does not describe the files that the renames put in place.
        try remove(Self.manifestName)
        try synchronize()
        crashPoint(.manifestWithdrawn)
        for file in manifest.files {
            try publish(file.file)
            crashPoint(.fileRenamed)
        }
        try synchronize()
        crashPoint(.directorySynced)
        try publish(Self.manifestName)
        try synchronize()
        crashPoint(.manifestPublished)
    }

    /// Writes rows of a table under a temporary name, and synchronizes the file.
    borrowing func write(
        _ selection: PublishedRows,
        of table: PublishedTable,
        as format: FileFormat,
        to name: String,
        of app: AppID,
        from connection: borrowing PostgresConnection
    ) throws -> Manifest.File {
        try write(table.name, to: name) { descriptor in
            switch format {
            case .csv: try table.writeCSV(selection, of: app, from: connection, to: descriptor)
            case .parquet: try table.writeParquet(selection, of: app, from: connection, to: descriptor)
            }
        }
    }

    /// Writes a content under a temporary name, and synchronizes the file.
    ///
    /// - Parameters:
    ///   - table: The name of the content in the manifest.
    ///   - rows: Writes the content to a file descriptor, and returns the number of its rows.
    /// - Returns: The file, for the manifest.
    /// - Throws: ``LedgerError/cannotCreate(path:reason:)``, ``LedgerError/cannotWrite(path:reason:)``, errors of `rows`.
    borrowing func write(
        _ table: String,
        to name: String,
        rows: (_ descriptor: Int32) throws -> Int
    ) throws -> Manifest.File {
        let file = try newFile(name)
        crashPoint(.fileOpened)
        let count: Int
        do {
            count = try rows(file.descriptor)
        } catch CSVError.cannotWrite(let number), ParquetError.cannotWrite(let number) {
            throw LedgerError.cannotWrite(path: "\(path)/\(name)", reason: systemErrorText(number))
        }
        crashPoint(.fileFlushed)
        let (bytes, sha256) = try file.seal()
        crashPoint(.fileSealed)
        return Manifest.File(file: name, table: table, rows: count, bytes: bytes, sha256: sha256)
    }
}
