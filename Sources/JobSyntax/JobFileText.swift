import Basics
import Platform

/// Reads the text of a job file.
///
/// Refuses FIFOs, large files and other encodings than UTF-8.
package enum JobFileText {
    static let sizeLimit = 65_536

    package static func read(path: String) throws(JobFileError) -> String {
        let bytes = try readBytes(path: path)
        func invalid(_ found: String, _ expected: String) -> JobFileError {
            failure(.invalid, path, found, expected)
        }
        guard bytes.count <= sizeLimit else {
            throw invalid(
                "is longer than 64 KiB",
                "put long ID lists into a CSV file, and its path into transactionIds.csv.path"
            )
        }
        guard !bytes.isEmpty else { throw invalid("is empty", "it must hold at least version, name and app") }
        if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) {
            throw invalid("is UTF-16", "save it as UTF-8")
        }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            throw invalid("begins with a byte order mark", "save it as UTF-8 without one")
        }
        if let offset = bytes.firstIndex(of: 0) {
            throw invalid("holds a NUL byte at offset \(offset)", "save it as UTF-8 text")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw invalid("is not UTF-8", "save it as UTF-8")
        }
        return text
    }

    /// Reads at most one byte more than the limit, so that a huge file is not read whole.
    private static func readBytes(path: String) throws(JobFileError) -> [UInt8] {
        func unreadable(_ found: String) -> JobFileError {
            failure(.missingFile, path, found, "name a regular file that can be read")
        }
        // Without O_NONBLOCK, opening a FIFO without a writer would block forever.
        let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            let found = "cannot be opened: \(systemErrorText(errno))"
            let file = "\(path).yaml"
            guard errno == ENOENT, unsafe access(file, R_OK) == 0 else { throw unreadable(found) }
            throw failure(.missingFile, path, found, "did you mean \(file)?")
        }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw unreadable("is not a regular file")
        }
        var bytes = [UInt8](repeating: 0, count: sizeLimit + 1)
        var count = 0
        while count < bytes.count {
            let length = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Platform.read(descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count)
            }
            guard length >= 0 else {
                throw unreadable("cannot be read: \(systemErrorText(errno))")
            }
            guard length > 0 else { break }
            count += length
        }
        return Array(bytes.prefix(count))
    }

    private static func failure(
        _ kind: JobFileError.Kind,
        _ path: String,
        _ found: String,
        _ expected: String
    ) -> JobFileError {
        let problems = Problems()
        problems.report(.wholeFile, found, expected, kind: kind)
        return JobFileError(path: path, kind: kind, problems: problems.error(path: path)?.problems ?? [])
    }
}
