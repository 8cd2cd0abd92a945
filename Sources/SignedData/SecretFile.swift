import Basics
import Platform

/// A file with a key or with the shared secret, which only its owner and the group of this process can read.
///
/// Kubernetes and Docker mount a secret as a file of root for a group, behind links. Links are therefore followed: one name at a
/// time in open directories, so that what was checked is what is opened.
enum SecretFile {
    /// As many links as the kernel follows in one path.
    private static let maximumLinkCount = 40

    /// Reads a file of at most ``SigningKey/maximumFileByteCount`` bytes.
    ///
    /// All checks use open descriptors, so that nothing can be replaced in between. The caller overwrites the bytes.
    static func contents(of path: String) throws(SigningKey.Refusal) -> [UInt8] {
        let descriptor = try open(path)
        defer { close(descriptor) }
        try checkAccess(to: descriptor)
        return try contents(of: descriptor)
    }

    /// Opens the file to which the path leads.
    private static func open(_ path: String) throws(SigningKey.Refusal) -> Int32 {
        // The names still to resolve, the next one last.
        var names = Array(path.split(separator: "/").reversed())
        guard !names.isEmpty else { throw refused(path.isEmpty ? .notFound : .notRegularFile) }
        var place = path.hasPrefix("/") ? "" : "."
        guard var directory = OpenDirectory(path: place + "/") else { throw unreadable() }
        var links: [String] = []
        while let name = names.popLast() {
            let entry = unsafe openat(directory.descriptor, String(name), openPathOnly | O_NOFOLLOW | O_CLOEXEC)
            guard entry >= 0 else {
                guard [ENOENT, ENOTDIR].contains(errno) else { throw unreadable() }
                throw refused(links.last.map { .missingTarget(link: $0) } ?? .notFound)
            }
            let next = OpenDirectory(descriptor: entry)
            let found = try status(of: entry)
            if found.st_mode & S_IFMT == S_IFLNK {
                links.append("\(place)/\(name)")
                guard links.count <= maximumLinkCount else { throw refused(.linkLoop) }
                try checkLink(found, named: "\(place)/\(name)", in: status(of: directory.descriptor), at: place)
                let target = try target(of: entry)
                if target.hasPrefix("/") {
                    guard let root = OpenDirectory(path: "/") else { throw unreadable() }
                    directory = root
                    place = ""
                }
                names += target.split(separator: "/").reversed()
            } else if names.isEmpty {
                // O_NONBLOCK: opening a FIFO must not block.
                let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
                let descriptor = unsafe openat(directory.descriptor, String(name), flags)
                guard descriptor >= 0 else { throw unreadable() }
                return descriptor
            } else {
                directory = next
                place += "/\(name)"
            }
        }
        throw refused(.notRegularFile)
    }

    /// Refuses a link that another user can replace, and so lead this process to another file.
    ///
    /// The permissions of a link mean nothing. Who may write to its directory may replace it. In a sticky directory, only the owners of
    /// the link and of the directory may.
    private static func checkLink(
        _ link: stat,
        named name: String,
        in directory: stat,
        at place: String
    ) throws(SigningKey.Refusal) {
        let mode = directory.st_mode
        let isOpen = mode & 0o002 != 0 || mode & 0o020 != 0 && !isOwnGroup(directory.st_gid)
        let isKept = mode & S_ISVTX != 0 && [0, geteuid(), directory.st_uid].contains(link.st_uid)
        guard !isOpen || isKept else {
            throw refused(.replaceableLink(name, directory: place.isEmpty ? "/" : place, mode: mode & 0o7777))
        }
    }

    private static func checkAccess(to descriptor: Int32) throws(SigningKey.Refusal) {
        let status = try status(of: descriptor)
        let mode = status.st_mode & 0o7777
        guard status.st_mode & S_IFMT == S_IFREG else { throw refused(.notRegularFile) }
        let isForOwnGroup = mode & 0o040 != 0 && isOwnGroup(status.st_gid)
        guard [0, geteuid()].contains(status.st_uid) || isForOwnGroup else {
            throw refused(.foreignOwner(owner: status.st_uid, process: geteuid()))
        }
        guard mode & 0o007 == 0 else { throw refused(.tooPermissive(mode: mode)) }
        guard mode & 0o020 == 0 else { throw refused(.groupWritable(mode: mode)) }
        guard mode & 0o040 == 0 || isForOwnGroup else { throw refused(.foreignGroup(status.st_gid, mode: mode)) }
        guard mode & 0o040 == 0 || !hasAccessList(descriptor) else { throw refused(.accessList) }
    }

    private static func isOwnGroup(_ group: gid_t) -> Bool {
        if group == getegid() { return true }
        var groups = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
        let count = unsafe getgroups(Int32(groups.count), &groups)
        return groups.prefix(Int(max(0, count))).contains(group)
    }

    private static func contents(of descriptor: Int32) throws(SigningKey.Refusal) -> [UInt8] {
        let size = try status(of: descriptor).st_size
        guard size <= SigningKey.maximumFileByteCount else { throw refused(.tooLong(Int64(size))) }
        guard size > 0 else { throw refused(.empty) }
        var text = [UInt8](repeating: 0, count: Int(size))
        var count = 0
        while count < text.count {
            let remaining = text.count - count
            let length = unsafe text.withUnsafeMutableBytes {
                unsafe read(descriptor, $0.baseAddress.map { unsafe $0 + count }, remaining)
            }
            guard length != 0 else { break }
            if length < 0, errno == EINTR { continue }
            guard length > 0 else {
                text.cleanse()
                throw unreadable()
            }
            count += length
        }
        text.removeLast(text.count - count)
        return text
    }

    private static func status(of descriptor: Int32) throws(SigningKey.Refusal) -> stat {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw unreadable() }
        return status
    }

    /// Where an open link leads.
    private static func target(of link: Int32) throws(SigningKey.Refusal) -> String {
        guard let path = Platform.target(ofLink: link) else { throw unreadable() }
        return path
    }

    private static func refused(_ reason: KeyFileError.Reason) -> SigningKey.Refusal {
        SigningKey.Refusal(reason: reason)
    }

    /// The last system call has failed.
    private static func unreadable() -> SigningKey.Refusal { refused(.unreadable(systemErrorText(errno))) }
}
