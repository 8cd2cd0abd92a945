import Basics
import CSVFormat
import FoundationEssentials
import JobFiles
import Ledger
import LedgerSchema
import ObjectStorage
import ParquetFormat
import Postgres

/// Where files are published: a folder or a bucket, for one publisher at a time.
///
/// The rules are the same for both:
///
/// 1. A file is written, sealed and staged. Readers do not see it, and a publication that was stopped leaves the one before.
/// 2. When all files are staged, so is the manifest. The old manifest is withdrawn, because the files replace those that it names.
/// 3. Each file is published under its name as a whole, and the manifest last. A process that is stopped in between leaves whole
///    files without a manifest.
///
/// A manifest of changes names only new files, so it is replaced and not withdrawn.
protocol OutputDirectory: AnyObject, Sendable {
    /// The absolute path, or the URL.
    var path: String { get }

    /// Removes what was not published, and lets others publish; the last call.
    ///
    /// A reference that a thread still holds must not delay it.
    func end()

    /// Opens a new local file for `name`, with mode 0600.
    func newFile(_ name: String) throws -> UnpublishedFile

    /// Takes a sealed file to the place from which ``publish(_:)`` makes it visible at once.
    func stage(_ file: borrowing UnpublishedFile, as name: String) throws

    /// - Throws: ``LedgerError/directoryInUse(path:)`` if another publisher has taken over.
    func requireOwnership() throws

    /// Makes a staged file visible under its name, as a whole, in place of an existing one.
    func publish(_ name: String) throws

    /// Removes a published file if it exists.
    func remove(_ name: String) throws

    /// Makes what was published and removed survive a power failure.
    func synchronize() throws

    /// A published file; `nil` if there is none that can be read.
    func contents(of name: String) throws -> [UInt8]?

    /// A directory in this one.
    func directory(_ name: String) throws -> any OutputDirectory

    /// Removes the parts in `FOLDER/dt=DAY/part-…`, except known ones.
    func removeParts(below folders: [String], except known: Set<String>) throws
}

/// Opens the place where a job's files are published.
///
/// - Parameters:
///   - place: An absolute path, or `s3://bucket/prefix` (``JobFiles/FileOutput/directory``).
///   - manifest: The name of the manifest.
///   - files: The names of the other files, if they are the same in each publication.
///   - yields: See ``PublishOrder/yields``.
/// - Throws: ``LedgerError/cannotCreate(path:reason:)``, ``LedgerError/directoryInUse(path:)``, ``ObjectStorageError``.
func outputDirectory(
    at place: String,
    manifest: String,
    files: [String] = [],
    yields: Bool = false
) throws -> any OutputDirectory {
    guard let url = BucketURL(place) else { return try OutputFolder(path: place) }
    let access = try BucketAccess(url, environment: ProcessInfo.processInfo.environment)
    return try OutputBucket.claim(try Bucket(access), manifest: manifest, files: files, yields: yields)
}

extension OutputDirectory {
    /// Publishes the files of a manifest, and the manifest last.
    func publish(_ manifest: Manifest) throws {
        try stage(try manifest.json(), as: Manifest.fileName)
        try requireOwnership()
        // The old manifest is removed first, because it does not describe the files that come into their places.
        try remove(Manifest.fileName)
        try synchronize()
        crashPoint(.manifestWithdrawn)
        for file in manifest.files {
            try publish(file.file)
            crashPoint(.fileRenamed)
        }
        try synchronize()
        crashPoint(.directorySynced)
        try publish(Manifest.fileName)
        try synchronize()
        crashPoint(.manifestPublished)
    }

    /// Writes a whole content, for ``publish(_:)-(String)``.
    func stage(_ bytes: [UInt8], as name: String) throws {
        let file = try newFile(name)
        try file.write(bytes)
        _ = try file.seal()
        try stage(file, as: name)
    }

    /// Writes rows of a table, for ``publish(_:)-(String)``.
    func write(
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

    /// Writes a content, for ``publish(_:)-(String)``.
    ///
    /// - Parameters:
    ///   - table: The name of the content in the manifest.
    ///   - rows: Writes the content to a file descriptor, and returns the number of its rows.
    /// - Returns: The file, for the manifest.
    /// - Throws: ``LedgerError/cannotCreate(path:reason:)``, ``LedgerError/cannotWrite(path:reason:)``, errors of `rows`.
    func write(
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
        try stage(file, as: name)
        crashPoint(.fileSealed)
        return Manifest.File(file: name, table: table, rows: count, bytes: bytes, sha256: sha256)
    }
}
