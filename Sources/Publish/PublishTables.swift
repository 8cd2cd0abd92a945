import Basics
package import JobFiles
import Ledger
package import LedgerSchema
import Postgres

/// The files to publish, and what the manifest says of them.
package struct PublishOrder: Sendable {
    package let files: FileOutput
    package let job: String
    package let run: Int64?
    /// SHA-256 of the trusted roots, hexadecimal, for the manifest.
    package let trustedRoots: [String]
    /// Further apps in the same files.
    ///
    /// Their rows come after the rows of the first app.
    let furtherApps: [AppID]
    /// Whether the publication waits for another one in the same bucket; otherwise it takes the other for abandoned and ends it.
    let yields: Bool

    package init(
        _ files: FileOutput,
        job: String,
        run: Int64?,
        trustedRoots: [String],
        furtherApps: [AppID] = [],
        yields: Bool = false
    ) {
        self.furtherApps = furtherApps
        self.yields = yields
        self.files = files
        self.job = job
        self.run = run
        self.trustedRoots = trustedRoots
    }
}

extension Ledger {
    /// Publishes an app's tables as files, all or none, from one snapshot of the database.
    ///
    /// ``OutputDirectory`` says in which order. If writing the files fails, the previous publication is unchanged.
    /// - Throws: ``LedgerError/directoryInUse(path:)`` if another process is publishing there;
    ///   ``LedgerError/cannotCreate(path:reason:)``, ``LedgerError/cannotWrite(path:reason:)``,
    ///   ``Postgres/PostgresError``.
    package func publish(_ order: PublishOrder, of app: AppID) async throws -> Manifest {
        // If the server goes away, the publication starts again; existing files are removed or replaced.
        try await snapshot { connection, replica in
            // Between two tables the session rests while a large file goes to disk.
            try connection.script("SET LOCAL idle_in_transaction_session_timeout = 0")
            let directory = try outputDirectory(
                at: order.files.directory,
                manifest: Manifest.fileName,
                files: order.files.tables.map(order.files.fileName),
                yields: order.yields
            )
            defer { directory.end() }
            let now = try connection.run(
                "SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') AS moment"
            )[0].text("moment")
            var publication = UnpublishedFiles(of: order.files, in: directory)
            for table in order.files.tables {
                try publication.write(
                    try PublishedTable(table, connection, furtherApps: order.furtherApps),
                    of: app,
                    from: connection
                )
            }
            return try publication.publish(order, snapshot: replica?.appliedUntil ?? now)
        }
    }
}

/// The files of one publication, which have only their temporary names yet.
private struct UnpublishedFiles {
    private let output: FileOutput
    private let directory: any OutputDirectory
    private var written: [Manifest.File] = []

    init(of output: FileOutput, in directory: any OutputDirectory) {
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
    func publish(_ order: PublishOrder, snapshot: String) throws -> Manifest {
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
