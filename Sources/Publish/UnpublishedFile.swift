import Basics
import Hashing
import Ledger
import Platform

/// A file that has only its temporary name yet.
struct UnpublishedFile: ~Copyable {
    let path: String
    let descriptor: Int32

    deinit { close(descriptor) }

    /// Writes all bytes, or throws.
    borrowing func write(_ bytes: [UInt8]) throws(LedgerError) {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Platform.write(descriptor, buffer.baseAddress.map { unsafe $0 + sent }, buffer.count - sent)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw .cannotWrite(path: path, reason: systemErrorText(errno)) }
            sent += count
        }
    }

    /// Reads bytes, or throws if there are not as many.
    borrowing func read(_ count: Int, at place: Int) throws(LedgerError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var got = 0
        while got < count {
            let more = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe pread(descriptor, buffer.baseAddress.map { unsafe $0 + got }, count - got, off_t(place + got))
            }
            if more < 0 && errno == EINTR { continue }
            guard more > 0 else {
                throw .cannotRead(path: path, reason: more == 0 ? "it is too short" : systemErrorText(errno))
            }
            got += more
        }
        return bytes
    }

    /// Synchronizes the file to disk, and reads it back to compute its length and SHA-256 in hexadecimal.
    ///
    /// A failed fsync is not repeated: the kernel may have dropped the data, and a second call would report success.
    borrowing func seal() throws(LedgerError) -> (bytes: Int64, sha256: String) {
        guard fsync(descriptor) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw .cannotWrite(path: path, reason: systemErrorText(errno))
        }
        var hash = SHA256()
        var length: Int64 = 0
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes {
                unsafe Platform.read(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .cannotWrite(path: path, reason: systemErrorText(errno)) }
            if count == 0 { return (length, hash.finish().hexadecimal) }
            hash.update(chunk.span.extracting(0..<count))
            length += Int64(count)
        }
    }
}
