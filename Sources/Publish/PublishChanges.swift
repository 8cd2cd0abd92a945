import Basics
import JobFiles
import Ledger
package import LedgerSchema
import Postgres

extension Ledger {
    /// Publishes what changed in an app's tables since the last part, as a further part.
    ///
    /// The first part has all rows. So has a part after which the earlier ones do not count any more, because directory and
    /// ledger do not belong together: the directory is new or has been emptied, the ledger was restored from a backup, or the
    /// job exports other tables.
    ///
    /// sql/functions/change_exports.sql explains how the changes are found. A process can be stopped at any moment: until
    /// the manifest is renamed, the last published part counts, and the next export removes the files of the new one.
    /// - Returns: The part; `nil` if nothing has changed.
    /// - Throws: As ``publish(_:of:)``.
    package func publishChanges(_ order: PublishOrder, of app: AppID) async throws -> ChangeManifest.Part? {
        let (directory, published) = try await onBlockingThread {
            let directory = try outputDirectory(
                at: order.files.directory,
                manifest: ChangeManifest.fileName,
                yields: order.yields
            )
            return (directory, try ChangeManifest.read(in: directory))
        }
        defer { directory.end() }
        if let other = published?.job, other != order.job {
            let reason = "it has the parts of the job \(other); two jobs need two directories"
            throw LedgerError.cannotCreate(path: order.files.directory, reason: reason)
        }
        let export = ChangeExport(order: order, app: app, published: published?.parts ?? [])
        try await onBlockingThread {
            try export.removeUnpublishedFiles(in: directory)
            try directory.requireOwnership()
        }
        let snapshot = try await transaction { connection in try export.begin(on: connection) }
        if snapshot == nil { try await waitForOpenTransactions("transactions that change rows without logging them") }
        let written = try await transaction(.readOnlySnapshot) { connection in
            // Between two tables the session rests while a large file goes to disk.
            try connection.script("SET LOCAL idle_in_transaction_session_timeout = 0")
            return try export.write(into: directory, since: snapshot, from: connection)
        }
        guard let part = written else { return nil }
        crashPoint(.partWritten)
        try await transaction { connection in try export.announce(part, on: connection) }
        crashPoint(.partAnnounced)
        let manifest = ChangeManifest(
            version: 1,
            job: order.job,
            trustedRoots: order.trustedRoots,
            parts: (part.from == nil ? [] : export.published) + [part]
        )
        try await onBlockingThread {
            try directory.stage(try manifest.json(), as: ChangeManifest.fileName)
            try directory.publish(ChangeManifest.fileName)
            try directory.synchronize()
        }
        crashPoint(.manifestPublished)
        try await transaction { connection in try export.confirm(on: connection) }
        return part
    }
}

/// One publication of changes.
struct ChangeExport {
    let order: PublishOrder
    let app: AppID
    /// The parts in the manifest.
    let published: [ChangeManifest.Part]

    private var key: KeyValuePairs<String, Cell> {
        ["app": .integer(app.rawValue), "job": .text(order.job), "format": .text(order.files.format.rawValue)]
    }

    /// Continues the export, or starts it again.
    ///
    /// - Returns: The snapshot of the last published part; `nil` if the next part has all rows.
    func begin(on connection: borrowing PostgresConnection) throws -> String? {
        let known = try connection.run(
            .knownExport,
            key,
            ["tables": .textArray(order.files.tables)]
        )
        if known.count == 1, let last = published.last, try known[0].bool("continues") {
            if try known[0].textOrNil("next_part") == last.id {
                try confirm(on: connection)
                return last.to
            }
            if try known[0].textOrNil("part") == last.id { return try known[0].textOrNil("snapshot") }
        }
        _ = try connection.run(
            .startExport,
            key,
            ["tables": .textArray(order.files.tables)]
        )
        return nil
    }

    /// Writes the files of the next part, which is not published yet.
    ///
    /// - Parameters:
    ///   - root: Has the parts.
    ///   - last: The snapshot of the last part; `nil` to write all rows.
    ///   - connection: In a transaction with one snapshot.
    /// - Returns: `nil` if nothing has changed.
    /// - Throws: As ``Ledger/publishChanges(_:of:)``.
    func write(
        into root: any OutputDirectory,
        since last: String?,
        from connection: borrowing PostgresConnection
    ) throws -> ChangeManifest.Part? {
        let now = try connection.run(
            .describePart,
            key
        )
        guard now.count == 1 else { throw LedgerError.invariant("the change export was removed while it ran") }
        let moment = try now[0].text("moment")
        let number = (published.last?.part ?? 0) + 1
        let place = { (folder: String) in "\(folder)/dt=\(moment.prefix(10))" }
        let name = "part-\(order.run ?? 0)-\(number).\(order.files.format.rawValue)"
        var files: [Manifest.File] = []
        var tombstones: [Manifest.File] = []
        for tableName in order.files.tables {
            let table = try PublishedTable(tableName, connection)
            let changed = last.map { PublishedRows.changed(since: $0) } ?? .all
            let file = try write(changed, of: table, to: place(tableName), name, in: root, from: connection)
            if let file { files.append(file) }
            guard let last else { continue }
            let folder = place(Self.tombstoneFolder(of: tableName))
            let gone = try write(.gone(since: last), of: table.keys, to: folder, name, in: root, from: connection)
            if let gone { tombstones.append(gone) }
        }
        guard last == nil || !files.isEmpty || !tombstones.isEmpty else { return nil }
        return ChangeManifest.Part(
            part: number,
            id: try now[0].text("id"),
            run: order.run,
            snapshot: moment,
            from: last,
            to: try now[0].text("snapshot"),
            files: files,
            tombstones: tombstones
        )
    }

    /// Writes one file below the directory under its final name.
    ///
    /// - Returns: The file with its path in the directory; `nil` if there are no rows and the part is not the first.
    private func write(
        _ rows: PublishedRows,
        of table: PublishedTable,
        to folder: String,
        _ name: String,
        in root: any OutputDirectory,
        from connection: borrowing PostgresConnection
    ) throws -> Manifest.File? {
        if case .all = rows {
        } else {
            let sql = "SELECT EXISTS (\(try table.query(rows, of: app))) AS has_rows"
            guard try connection.run(sql)[0].bool("has_rows") else { return nil }
        }
        let directory = try root.directory(folder)
        let file = try directory.write(rows, of: table, as: order.files.format, to: name, of: app, from: connection)
        try directory.requireOwnership()
        try directory.publish(name)
        crashPoint(.fileRenamed)
        try directory.synchronize()
        return Manifest.File(
            file: "\(folder)/\(name)",
            table: file.table,
            rows: file.rows,
            bytes: file.bytes,
            sha256: file.sha256
        )
    }

    /// Records the part that is about to be published.
    func announce(_ part: ChangeManifest.Part, on connection: borrowing PostgresConnection) throws {
        let announced = try connection.run(
            .announcePart,
            key,
            ["part": .text(part.id), "snapshot": .text(part.to)]
        )
        guard announced.affected == 1 else {
            throw LedgerError.invariant("the change export was removed while it ran")
        }
    }

    /// Records that the announced part is published, and removes the logged changes that every export of the app has.
    func confirm(on connection: borrowing PostgresConnection) throws {
        _ = try connection.run(
            .confirmPart,
            key
        )
        _ = try connection.run(
            """
            DELETE FROM changed_rows c WHERE c.app_id = $1::integer AND NOT EXISTS (
                SELECT FROM change_exports e
                 WHERE e.app_id = $1 AND (e.snapshot IS NULL OR NOT pg_visible_in_snapshot(c.changed_in, e.snapshot)))
            """,
            [.integer(app.rawValue)]
        )
    }

    /// Removes files of parts that are not in the manifest.
    ///
    /// - Parameter directory: Has the parts.
    func removeUnpublishedFiles(in directory: any OutputDirectory) throws {
        try directory.removeParts(
            below: FileOutput.tablesWithChanges.flatMap { [$0, Self.tombstoneFolder(of: $0)] },
            except: Set(published.flatMap { $0.files + $0.tombstones }.map(\.file))
        )
    }

    /// Deletions are in a separate folder, because their files have other columns.
    private static func tombstoneFolder(of table: String) -> String { "\(table)-deleted" }
}
