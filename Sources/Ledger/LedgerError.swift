package import Basics

/// Why the ledger cannot be used; each message says what to do.
package enum LedgerError: ExplainedError, Equatable, Sendable, CustomStringConvertible {
    case schemaMissing(schema: String)
    case schemaOlder(missing: [String])
    /// The schema lacks one of the migrations that the baseline has replaced.
    case schemaTooOld(lacking: String)
    /// The schema has other functions than the files of `sql/functions` make.
    case functionsDiffer(schema: String, files: [String])
    /// PostgreSQL refuses a file of `sql/functions` or `sql/comments`.
    case definitionRefused(file: String, reason: String)
    case schemaNewer(schema: String, unknown: String)
    case migrationChanged(name: String)
    /// Another process has migrated the schema since this one opened it.
    case schemaChanged(schema: String)
    /// A view of the user depends on a view of StoreLedger that must be recreated.
    case viewInUse(view: String, by: String)
    /// A view whose figures the next refresh computes from every record.
    case viewNotRefreshed(view: String)
    /// The ledger has another number of partitions (0 for none, with rows) than `migrate --partitions` requested.
    case partitionsDecided(schema: String, found: Int, requested: Int)
    case noSQLFiles(searched: [String])
    /// The server is a streaming replica, and the command writes.
    case readOnlyReplica
    /// The app's row has another Apple ID than the job file.
    case appMismatch(found: Int64, job: Int64)
    /// An invariant of the ledger is broken: an internal error.
    case invariant(String)
    /// Another process is publishing into the directory.
    case directoryInUse(path: String)
    /// A URL where only a path is possible.
    case isURL(path: String)
    case cannotCreate(path: String, reason: String)
    case cannotRead(path: String, reason: String)
    case cannotWrite(path: String, reason: String)

    /// Whether no later transaction of the process can succeed, because the schema is not the one that it opened.
    package var isOfOtherSchema: Bool {
        switch self {
        case .schemaChanged, .schemaMissing: true
        default: false
        }
    }

    package var description: String {
        switch self {
        case .schemaMissing(let schema):
            "the schema \"\(schema)\" has no StoreLedger tables; run: storeledger migrate JOB"
        case .schemaOlder(let missing):
            "the schema lacks \(missing.joined(separator: ", ")); run: storeledger migrate JOB"
        case .schemaTooOld(let lacking):
            "the schema is of a version before 0.1.0 and lacks its migration \(lacking); run `storeledger migrate JOB` of commit 37ec4c14, which has the migrations up to 0062, and then of this version"
        case .functionsDiffer(let schema, let files):
            "the schema \"\(schema)\" has other functions than this storeledger (\(files.joined(separator: ", "))); all machines need the same version; with the newest one run: storeledger migrate JOB"
        case .definitionRefused(let file, let reason):
            "sql/\(file) cannot be applied: \(reason); the schema is unchanged. Install storeledger again"
        case .schemaNewer(let schema, let unknown):
            "the schema \"\(schema)\" has the migration \(unknown), which this storeledger does not know; use a newer storeledger"
        case .migrationChanged(let name):
            "sql/migrations/\(name) has been edited since it was applied; restore the file, and write a new migration"
        case .schemaChanged(let schema):
            "the schema \"\(schema)\" was migrated while this process worked, so it stops; nothing was stored since the migration. Start the storeledger that belongs to the schema"
        case .viewInUse(let view, let user):
            "the view \(view) must be created again, but \(user) uses it; drop \(user), migrate, then create \(user) again"
        case .viewNotRefreshed(let view):
            "the view \(view) must be computed from every record; run: storeledger refresh JOB"
        case .partitionsDecided(let schema, let found, let requested):
            "--partitions \(requested): the schema \"\(schema)\" has \(found == 0 ? "tables without partitions (0), with rows in them" : "tables with \(found) partitions"); the number is decided while a ledger is new and cannot be changed. Migrate without --partitions, or name another schema in output.postgres.schema for a new ledger"
        case .noSQLFiles(let searched):
            "no SQL files found; searched for a migrations directory in \(searched.prefix(6).joined(separator: ", ")) and above"
        case .readOnlyReplica:
            "this PostgreSQL server is a read-only replica, and the command changes the ledger; name its primary (output.postgres.url or DATABASE_URL)"
        case .appMismatch(let found, let job):
            "the ledger has this app with Apple ID \(found), the job file has \(job); correct app.appAppleId. If the ledger's is the wrong one, docs/troubleshooting.md says how to correct it"
        case .invariant(let sentence):
            "internal error in the ledger, please report it: \(sentence)"
        case .directoryInUse(let path):
            "cannot write into \(path): another process is publishing files there; run again when it is done"
        case .isURL(let path):
            "\(path) is a URL; name a path on this machine. Only output.csv.directory and output.parquet.directory of a job file, and export --directory, can name a bucket (s3://BUCKET/PREFIX)"
        case .cannotCreate(let path, let reason):
            "cannot create \(path): \(reason). Name a path that this account can write"
        case .cannotRead(let path, let reason):
            "cannot read \(path): \(reason)"
        case .cannotWrite(let path, let reason):
            "cannot write \(path): \(reason)"
        }
    }

    package var status: ExitStatus {
        switch self {
        case .schemaMissing, .schemaOlder, .schemaTooOld, .schemaNewer, .schemaChanged, .functionsDiffer,
            .definitionRefused,
            .migrationChanged, .viewInUse, .viewNotRefreshed, .noSQLFiles,
            .readOnlyReplica, .appMismatch, .partitionsDecided:
            .configuration
        case .invariant: .bug
        case .isURL: .badInput
        case .cannotCreate, .directoryInUse: .cannotCreate
        case .cannotRead, .cannotWrite: .ioError
        }
    }
}
