import Glibc

/// An open file to read from; leaving the owner's scope closes it.
struct InputFile: ~Copyable {
    private let path: String
    private let descriptor: Int32

    init(path: String) throws(CSVError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw errno == ENOENT || errno == ENOTDIR
                ? .missingFile(path: path) : .unreadableFile(path: path, errno: errno)
        }
        self.path = path
        self.descriptor = descriptor
    }

    deinit { _ = close(descriptor) }

    /// - Returns: How many bytes were read; zero at the end of the file.
    borrowing func fill(_ buffer: inout [UInt8]) throws(CSVError) -> Int {
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 { return count }
            guard errno == EINTR else { throw .unreadableFile(path: path, errno: errno) }
        }
    }
}
