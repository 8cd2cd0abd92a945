import Glibc

/// Lends a path to `bytes`, for code that wants a file to open.
///
/// The file has no name in any directory, and is gone afterwards.
@safe
func withFile(of bytes: [UInt8], _ body: (_ path: String) throws -> Void) throws {
    guard let file = unsafe tmpfile() else {
        throw BrokenPromise(description: "no temporary file: error \(errno)")
    }
    defer { unsafe fclose(file) }
    let written = unsafe bytes.withUnsafeBytes { unsafe write(fileno(file), $0.baseAddress, $0.count) }
    try promise(written == bytes.count, "no room for a file: error \(errno)")
    try body("/proc/self/fd/\(unsafe fileno(file))")
}
