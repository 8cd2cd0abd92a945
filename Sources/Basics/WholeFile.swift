import Platform

/// Writes files so that a reader sees either the old content or the whole new content.
package enum WholeFile {
    /// Why a file was not written.
    ///
    /// The old file is then unchanged.
    package struct Failure: Error, Equatable, Sendable {
        package enum Step: Equatable, Sendable {
            /// The directory is missing, or files cannot be created in it.
            case create
            case write
        }

        package let step: Step
        package let path: String
        /// The system's message.
        package let reason: String
    }

    /// Writes a new file next to `path` and renames it to `path`.
    ///
    /// A symbolic link at `path` is replaced, not followed.
    ///
    /// - Parameters:
    ///   - path: The file to create or replace.
    ///   - mode: The permissions of the file from the beginning, regardless of the umask.
    ///   - isDurable: Whether the content is on disk before the file gets its name. The name itself can still be lost in a
    ///     power failure.
    /// - Throws: ``Failure``.
    package static func write(
        _ bytes: [UInt8],
        to path: String,
        mode: UInt32 = 0o644,
        isDurable: Bool = true
    ) throws(Failure) {
        let (folder, name) = OpenDirectory.split(path)
        guard let directory = OpenDirectory(path: folder) else { throw failure(.create, path) }
        // The process ID keeps two processes apart. A file with this name was left by a killed process.
        let draft = "\(name).\(getpid())"
        directory.remove(draft)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let descriptor = unsafe openat(directory.descriptor, draft, flags, mode)
        guard descriptor >= 0 else { throw failure(.create, path) }
        defer {
            close(descriptor)
            // Does nothing after the rename.
            directory.remove(draft)
        }
        guard fchmod(descriptor, mode) == 0 else { throw failure(.write, path) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Platform.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw failure(.write, path) }
            rest = rest.dropFirst(written)
        }
        guard !isDurable || fsync(descriptor) == 0 else { throw failure(.write, path) }
        guard unsafe renameat(directory.descriptor, draft, directory.descriptor, name) == 0 else {
            throw failure(.write, path)
        }
    }

    /// Takes the reason from `errno`.
    private static func failure(_ step: Failure.Step, _ path: String) -> Failure {
        Failure(step: step, path: path, reason: systemErrorText(errno))
    }
}
