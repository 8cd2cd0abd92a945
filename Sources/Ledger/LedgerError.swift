/// Why the ledger cannot be used as it is; each sentence says what to do.
package enum LedgerError: Error, Equatable, Sendable, CustomStringConvertible {
    case schemaMissing(schema: String)
    case schemaOlder(missing: [String])
    case schemaNewer(schema: String, unknown: String)
    case migrationChanged(name: String)
    /// A view of the user's stands on one of ours that has to be made anew.
    case viewInUse(view: String, by: String)
    /// A materialised view that has no rows yet because nobody has refreshed it.
    case viewNotFilled(view: String)
    case noSQLFiles(searched: [String])
    /// The app's row says something else than the job file.
    case appMismatch(found: Int64, job: Int64)
    /// A promise of ours is broken; a bug.
    case invariant(String)
    /// Another process is publishing into the directory.
    case directoryInUse(path: String)
    case cannotCreate(path: String, reason: String)
    case cannotRead(path: String, reason: String)
    case cannotWrite(path: String, reason: String)

    package var description: String {
        switch self {
        case .schemaMissing(let schema):
            "the schema \"\(schema)\" has no StoreLedger tables; run: storeledger migrate JOB"
        case .schemaOlder(let missing):
            "the schema lacks \(missing.joined(separator: ", ")); run: storeledger migrate JOB"
        case .schemaNewer(let schema, let unknown):
            "the schema \"\(schema)\" has been through \(unknown), which this storeledger does not know; use a newer storeledger"
        case .migrationChanged(let name):
            "sql/migrations/\(name) has been edited since it was applied; restore the file, and put the change into a new one"
        case .viewInUse(let view, let user):
            "\(user) uses the view \(view), which has to be made anew; drop \(user), migrate, and make it again"
        case .viewNotFilled(let view):
            "the view \(view) was never filled; run: storeledger refresh JOB"
        case .noSQLFiles(let searched):
            "no SQL files found; looked for a migrations folder in \(searched.prefix(6).joined(separator: ", ")), and further up"
        case .appMismatch(let found, let job):
            "the ledger knows this app by Apple ID \(found), the job file says \(job); mend app.appAppleId"
        case .invariant(let sentence):
            "a promise of the ledger is broken, please report it: \(sentence)"
        case .directoryInUse(let path):
            "cannot write into \(path): another process is writing CSV files there; run again when it is done"
        case .cannotCreate(let path, let reason):
            "cannot create \(path): \(reason)"
        case .cannotRead(let path, let reason):
            "cannot read \(path): \(reason)"
        case .cannotWrite(let path, let reason):
            "cannot write \(path): \(reason)"
        }
    }
}
