import Platform

/// An open directory, and the only place where files are removed.
///
/// Names are resolved in the open directory. A path could lead elsewhere: through a symbolic link in one of its directories, or
/// through a link that replaces a directory after a check. A function that fails leaves its reason in `errno`.
package struct OpenDirectory: ~Copyable, Sendable {
    package let descriptor: Int32

    /// Takes over an open descriptor.
    package init(descriptor: Int32) { self.descriptor = descriptor }

    /// Opens a directory by its path, whose symbolic links are followed; `nil` if it cannot be opened.
    ///
    /// - Parameter path: The user's own choice, because its links decide the place.
    package init?(path: String) {
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Opens a directory in this one; `nil` if it cannot be opened, or is a symbolic link.
    package borrowing func directory(_ name: String) -> OpenDirectory? {
        let next = unsafe openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        return next >= 0 ? OpenDirectory(descriptor: next) : nil
    }

    /// The names in the directory without `.` and `..`, in any order; empty if it cannot be read.
    package borrowing func names() -> [String] {
        // A separate descriptor, because reading moves the position and closing the stream closes the descriptor.
        let own = unsafe openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard own >= 0 else { return [] }
        guard let stream = unsafe fdopendir(own) else {
            close(own)
            return []
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Removes a file, or a symbolic link itself.
    ///
    /// - Returns: Whether the name is gone; also true if it did not exist.
    @discardableResult
    package borrowing func remove(_ name: String) -> Bool {
        unsafe unlinkat(descriptor, name, 0) == 0 || errno == ENOENT
    }

    /// Divides a path into its directory and the last name.
    package static func split(_ path: String) -> (directory: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[path.index(after: slash)...]))
    }
}
