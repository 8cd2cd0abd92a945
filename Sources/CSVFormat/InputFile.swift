import Platform

/// A file that is open for reading; the end of the owner's scope closes it.
///
/// Only regular files: in a pipe, the end of the list looks the same as a writer that has died.
package struct InputFile: ~Copyable {
    private let path: String
    private let descriptor: Int32

    package init(path: String) throws(CSVError) {
        // Without O_NONBLOCK, opening a pipe without a writer blocks.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw errno == ENOENT || errno == ENOTDIR
                ? .missingFile(path: path) : .unreadableFile(path: path, errno: errno)
        }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .notAFile(path: path)
        }
        self.path = path
        self.descriptor = descriptor
    }

    deinit { _ = close(descriptor) }

    /// - Returns: The number of bytes; zero at the end of the file.
    package borrowing func fill(_ buffer: inout [UInt8]) throws(CSVError) -> Int {
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 { return count }
            guard errno == EINTR else { throw .unreadableFile(path: path, errno: errno) }
        }
    }
}
