import Glibc

/// A directory that whole files are published into; one publisher at a time.
struct OutputDirectory: ~Copyable {
    let path: String
    let descriptor: Int32

    /// Temporary files of a publisher that was killed are ours alone by this ending.
    private static let temporarySuffix = ".storeledger-tmp"

    /// Makes the directory and its parents where they are missing, opens and locks it.
    ///
    /// - Throws: ``LedgerError/cannotCreate(path:reason:)``, also when another process is publishing there.
    init(path: String) throws(LedgerError) {
        var made = ""
        for component in path.split(separator: "/", omittingEmptySubsequences: true) {
            made += "/" + component
            // Only the final open decides; a folder that exists already is what we want.
            _ = unsafe mkdir(made, 0o700)
        }
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .cannotCreate(path: path, reason: Self.lastError()) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw .cannotCreate(path: path, reason: "another process is writing CSV files there")
        }
        self.path = path
        self.descriptor = descriptor
        removeLeftovers()
    }

    deinit { close(descriptor) }

    /// Removes what a killed publisher left; with the lock held nobody else's file can be among it.
    private borrowing func removeLeftovers() {
        guard let folder = unsafe opendir(path) else { return }
        defer { unsafe closedir(folder) }
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name.hasPrefix("."), name.hasSuffix(Self.temporarySuffix) { unsafe unlinkat(descriptor, name, 0) }
        }
    }

    /// Opens a new temporary file for `name`; mode 0600.
    borrowing func newFile(_ name: String) throws(LedgerError) -> UnpublishedFile {
        let temporary = ".\(name)\(Self.temporarySuffix)"
        let file = unsafe openat(descriptor, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .cannotCreate(path: "\(path)/\(name)", reason: Self.lastError()) }
        return UnpublishedFile(directory: descriptor, path: path, name: name, temporary: temporary, descriptor: file)
    }

    /// Makes renames in the directory survive a power failure.
    borrowing func synchronize() throws(LedgerError) {
        guard fsync(descriptor) == 0 else { throw .cannotWrite(path: path, reason: Self.lastError()) }
    }

    static func lastError() -> String {
        unsafe String(cString: strerror(errno))
    }
}

/// A file that exists under its temporary name only; dropping it removes it.
struct UnpublishedFile: ~Copyable {
    private let directory: Int32
    private let path: String
    let name: String
    private let temporary: String
    let descriptor: Int32

    init(directory: Int32, path: String, name: String, temporary: String, descriptor: Int32) {
        self.directory = directory
        self.path = path
        self.name = name
        self.temporary = temporary
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
        unsafe unlinkat(directory, temporary, 0)
    }

    /// Brings the bytes to disk. A failed fsync is final: the pages may be gone although a second call says yes.
    borrowing func synchronize() throws(LedgerError) {
        guard fsync(descriptor) == 0 else {
            throw .cannotWrite(path: "\(path)/\(name)", reason: OutputDirectory.lastError())
        }
    }

    /// Puts the file in the place of the one that has its name.
    consuming func publish() throws(LedgerError) {
        guard unsafe renameat(directory, temporary, directory, name) == 0 else {
            throw .cannotWrite(path: "\(path)/\(name)", reason: OutputDirectory.lastError())
        }
    }

    /// Writes everything, or throws.
    borrowing func write(_ bytes: [UInt8]) throws(LedgerError) {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress.map { unsafe $0 + sent }, buffer.count - sent)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                throw .cannotWrite(path: "\(path)/\(name)", reason: OutputDirectory.lastError())
            }
            sent += count
        }
    }
}
