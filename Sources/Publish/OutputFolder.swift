import Basics
import FoundationEssentials
import Ledger
import Platform
import Synchronization

/// A folder for published files, locked for one publisher at a time.
final class OutputFolder: OutputDirectory {
    let path: String
    private let folder: OpenDirectory
    private let isOpen = Mutex(true)

    private var descriptor: Int32 { folder.descriptor }

    /// The suffix of temporary files; under the lock, existing ones were left by a killed publisher.
    private static let temporarySuffix = ".storeledger-tmp"

    /// Creates the directory and its parents if they are missing, opens it and locks it.
    ///
    /// No part of the path may be a symbolic link, because a link could redirect the files.
    /// - Throws: ``LedgerError/cannotCreate(path:reason:)``; ``LedgerError/directoryInUse(path:)`` if another process is
    ///   publishing there.
    init(path: String) throws(LedgerError) {
        let folder = OpenDirectory(descriptor: try Self.openDirectory(path))
        guard flock(folder.descriptor, LOCK_EX | LOCK_NB) == 0 else { throw .directoryInUse(path: path) }
        self.path = path
        self.folder = folder
    }

    deinit { end() }

    func end() {
        let isFirst = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        guard isFirst else { return }
        for name in folder.names() where name.hasPrefix(".") && name.hasSuffix(Self.temporarySuffix) {
            folder.remove(name)
        }
        flock(folder.descriptor, LOCK_UN)
    }

    /// Opens a new temporary file for `name`, with mode 0600.
    ///
    /// If `name` exists, it must be a writable file, or a link, which is replaced and not followed.
    func newFile(_ name: String) throws(LedgerError) -> UnpublishedFile {
        if let mode = Self.mode(of: name, in: descriptor), mode & S_IFMT != S_IFLNK {
            let isFile = mode & S_IFMT == S_IFREG
            guard isFile, mode & S_IWUSR != 0 else {
                let reason = isFile ? "a read-only file is in its place" : "something other than a file is in its place"
                throw .cannotCreate(path: "\(path)/\(name)", reason: reason)
            }
        }
        let temporary = Self.temporaryName(name)
        folder.remove(temporary)
        let file = unsafe openat(descriptor, temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .cannotCreate(path: "\(path)/\(name)", reason: systemErrorText(errno)) }
        return UnpublishedFile(path: "\(path)/\(name)", descriptor: file)
    }

    /// Does nothing: the file is complete under its temporary name.
    func stage(_ file: borrowing UnpublishedFile, as name: String) {}

    /// Does nothing: the lock excludes others.
    func requireOwnership() {}

    /// Renames a sealed file to its final name, and replaces an existing file.
    func publish(_ name: String) throws(LedgerError) {
        guard unsafe renameat(descriptor, Self.temporaryName(name), descriptor, name) == 0 else {
            throw .cannotWrite(path: "\(path)/\(name)", reason: systemErrorText(errno))
        }
    }

    /// Removes a published file if it exists.
    func remove(_ name: String) throws(LedgerError) {
        guard folder.remove(name) else {
            throw .cannotWrite(path: "\(path)/\(name)", reason: systemErrorText(errno))
        }
    }

    /// Makes renames survive a power failure.
    func synchronize() throws(LedgerError) {
        guard fsync(descriptor) == 0 else { throw .cannotWrite(path: path, reason: systemErrorText(errno)) }
    }

    func contents(of name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: "\(path)/\(name)").map(Array.init)
    }

    func directory(_ name: String) throws(LedgerError) -> any OutputDirectory {
        try OutputFolder(path: "\(path)/\(name)")
    }

    /// A symbolic link in place of a directory is not followed.
    func removeParts(below folders: [String], except known: Set<String>) {
        for name in folders {
            guard let days = folder.directory(name) else { continue }
            for day in days.names() where day.hasPrefix("dt=") {
                guard let parts = days.directory(day) else { continue }
                for part in parts.names()
                where (part.hasPrefix("part-") || part.hasPrefix(".part-"))
                    && !known.contains("\(name)/\(day)/\(part)")
                {
                    parts.remove(part)
                }
            }
        }
    }

    /// Opens the directory component by component from the root, so that each step starts at a checked directory.
    private static func openDirectory(_ path: String) throws(LedgerError) -> Int32 {
        var place = unsafe open("/", openPathOnly | O_DIRECTORY | O_CLOEXEC)
        defer { close(place) }
        var pathSoFar = ""
        for component in path.split(separator: "/").map(String.init) {
            pathSoFar += "/" + component
            // The directory can already exist; the open below decides.
            let made = unsafe mkdirat(place, component, 0o700)
            let whyNotMade = errno
            if made == 0 { try synchronize(place, pathSoFar) }
            let next = unsafe openat(place, component, openPathOnly | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard next >= 0 else {
                let reason = systemErrorText(errno == ENOENT && made != 0 ? whyNotMade : errno)
                let isLink = mode(of: component, in: place).map { $0 & S_IFMT == S_IFLNK } ?? false
                throw .cannotCreate(
                    path: path,
                    reason: isLink ? "\(pathSoFar) is a symbolic link; name the directory it leads to" : reason
                )
            }
            close(place)
            place = next
        }
        return try readable(place, path)
    }

    /// Opens the same directory for reading, locking and synchronizing.
    private static func readable(_ place: Int32, _ path: String) throws(LedgerError) -> Int32 {
        let descriptor = unsafe openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .cannotCreate(path: path, reason: systemErrorText(errno)) }
        return descriptor
    }

    /// Makes the new directory `pathSoFar` survive a power failure.
    private static func synchronize(_ parent: Int32, _ pathSoFar: String) throws(LedgerError) {
        let descriptor = try readable(parent, pathSoFar)
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .cannotWrite(path: pathSoFar, reason: systemErrorText(errno)) }
    }

    /// The file type and permissions of `name`; `nil` if it does not exist.
    private static func mode(of name: String, in descriptor: Int32) -> mode_t? {
        var status = stat()
        guard unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return status.st_mode
    }

    private static func temporaryName(_ name: String) -> String { ".\(name)\(temporarySuffix)" }
}
