import Basics
import FoundationEssentials
import Ledger
import ObjectStorage
import Platform
import Synchronization

/// A part of a bucket for published files.
///
/// Every file is uploaded in parts (S3's multipart upload). Readers do not see it until its upload is completed.
///
/// A bucket has no locks. A publisher first begins the upload of its manifest, which is its claim. Then it aborts the uploads of all
/// other publishers, because it cannot know whether they still work. It does so again before it changes anything. A publisher whose
/// uploads are gone gives up. One that yields begins no claim while there is another; of two that begin at the same time, the one with the
/// smaller upload ID goes on.
final class OutputBucket: OutputDirectory {
    /// What two directories of the same publication share.
    private struct Claim: Sendable {
        let manifest: String
        let upload: Bucket.Upload
    }

    let path: String
    private let bucket: Bucket
    private let claim: Claim
    /// Begins the names of the files here: empty, or ends with a slash.
    private let folder: String
    /// Whose claim it is; `nil` for the directory that has begun it.
    private let root: OutputBucket?
    private let staged: Mutex<[String: Bucket.Upload]>

    /// S3's smallest part has 5 MiB.
    private static let usualPart = 8 << 20
    /// S3's most parts of one file.
    private static let mostParts = 10_000

    /// Begins this publisher's claim, and aborts the claims of other publishers.
    ///
    /// - Parameters: As for ``outputDirectory(at:manifest:files:yields:)``.
    static func claim(
        _ bucket: Bucket,
        manifest: String,
        files: [String],
        yields: Bool
    ) throws -> OutputBucket {
        if yields, try !claims(on: manifest, bucket).isEmpty { throw LedgerError.directoryInUse(path: bucket.url.text) }
        let claim = Claim(manifest: manifest, upload: try bucket.beginUpload(manifest))
        let directory = OutputBucket(bucket, claim, folder: "", root: nil)
        let others = try claims(on: manifest, bucket).filter { $0 != claim.upload }
        if yields, others.contains(where: { $0.id < claim.upload.id }) {
            throw LedgerError.directoryInUse(path: directory.path)
        }
        for other in others { try bucket.abort(other) }
        for file in files {
            for upload in try bucket.uploads(of: file) where upload.name == file { try bucket.abort(upload) }
        }
        return directory
    }

    private init(_ bucket: Bucket, _ claim: Claim, folder: String, root: OutputBucket?) {
        path = bucket.url.text + (folder.isEmpty ? "" : "/\(folder.dropLast())")
        self.bucket = bucket
        self.claim = claim
        self.folder = folder
        self.root = root
        staged = Mutex(root == nil ? [claim.manifest: claim.upload] : [:])
    }

    /// Ends the uploads that were not published; those that stay are ended by the next publication.
    func end() {
        let left = staged.withLock { staged in
            defer { staged = [:] }
            return staged
        }
        for upload in left.values { try? bucket.abort(upload, isLastAttempt: true) }
    }

    deinit { end() }

    /// The claims of all publishers.
    private static func claims(on manifest: String, _ bucket: Bucket) throws -> [Bucket.Upload] {
        try bucket.uploads(of: manifest).filter { $0.name == manifest }
    }

    func newFile(_ name: String) throws -> UnpublishedFile { try Self.temporaryFile(for: "\(path)/\(name)") }

    /// A local file without a name, so that nothing is left after a kill.
    ///
    /// - Parameter place: Where it is published, for messages.
    static func temporaryFile(for place: String) throws -> UnpublishedFile {
        let variable = ProcessInfo.processInfo.environment["TMPDIR"] ?? ""
        // Not /tmp, which is memory on many systems.
        let directory = variable.isEmpty ? "/var/tmp" : variable
        let temporary = "storeledger-\(UUID().uuidString)"
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        guard let folder = OpenDirectory(path: directory),
            case let descriptor = unsafe openat(folder.descriptor, temporary, flags, 0o600), descriptor >= 0
        else {
            throw LedgerError.cannotCreate(path: "a file in \(directory) (TMPDIR)", reason: systemErrorText(errno))
        }
        folder.remove(temporary)
        return UnpublishedFile(path: "\(place) (its temporary file in \(directory))", descriptor: descriptor)
    }

    func stage(_ file: borrowing UnpublishedFile, as name: String) throws {
        var status = stat()
        guard unsafe fstat(file.descriptor, &status) == 0 else {
            throw LedgerError.cannotRead(path: file.path, reason: systemErrorText(errno))
        }
        let size = Int(status.st_size)
        let part = max(Self.usualPart, (size + Self.mostParts - 1) / Self.mostParts)
        var upload = try staged.withLock { $0[name] } ?? bucket.beginUpload(folder + name)
        staged.withLock { $0[name] = upload }
        var place = 0
        repeat {
            let bytes = try file.read(min(part, size - place), at: place)
            guard try bucket.add(bytes, to: &upload) else { throw LedgerError.directoryInUse(path: path) }
            place += bytes.count
        } while place < size
        staged.withLock { $0[name] = upload }
    }

    func requireOwnership() throws {
        if let root { return try root.requireOwnership() }
        let claims = try Self.claims(on: claim.manifest, bucket)
        guard claims.contains(claim.upload) else { throw LedgerError.directoryInUse(path: path) }
        for other in claims where other != claim.upload { try bucket.abort(other) }
    }

    func publish(_ name: String) throws {
        guard let upload = staged.withLock({ $0[name] }) else {
            throw LedgerError.invariant("\(path)/\(name) was not staged")
        }
        guard try bucket.complete(upload) else { throw LedgerError.directoryInUse(path: path) }
        staged.withLock { _ = $0.removeValue(forKey: name) }
    }

    func remove(_ name: String) throws { try bucket.remove(folder + name) }

    /// Does nothing: what S3 has acknowledged is durable.
    func synchronize() {}

    func contents(of name: String) throws -> [UInt8]? { try bucket.contents(of: folder + name) }

    func directory(_ name: String) -> any OutputDirectory {
        OutputBucket(bucket, claim, folder: "\(folder)\(name)/", root: root ?? self)
    }

    func removeParts(below folders: [String], except known: Set<String>) throws {
        let isPart = { (name: String) in
            let names = name.split(separator: "/", omittingEmptySubsequences: false)
            return names.count == 3 && folders.contains(String(names[0])) && names[1].hasPrefix("dt=")
                && names[2].hasPrefix("part-")
        }
        let uploads = try bucket.uploads(of: "").filter { isPart($0.name) }
        let names = try bucket.names(of: "").filter { isPart($0) && !known.contains($0) }
        // If another publisher has taken over, these can be its parts.
        for upload in uploads {
            try requireOwnership()
            try bucket.abort(upload)
        }
        for name in names {
            try requireOwnership()
            try bucket.remove(name)
        }
    }
}
