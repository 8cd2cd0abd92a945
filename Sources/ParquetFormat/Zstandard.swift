import CZstd

/// Compresses pages; one compressor is used for all pages of a file.
@safe
struct Zstandard: ~Copyable {
    /// The level of libzstd's default.
    private static let level: Int32 = 3

    private let context: OpaquePointer

    init() {
        guard let context = unsafe ZSTD_createCCtx() else { preconditionFailure("libzstd is out of memory") }
        unsafe self.context = context
    }

    deinit { unsafe ZSTD_freeCCtx(context) }

    /// - Returns: One frame of Zstandard.
    borrowing func compressed(_ bytes: [UInt8]) throws(ParquetError) -> [UInt8] {
        var frame = [UInt8](repeating: 0, count: ZSTD_compressBound(bytes.count))
        let count = unsafe frame.withUnsafeMutableBytes { target in
            unsafe bytes.withUnsafeBytes { source in
                unsafe ZSTD_compressCCtx(
                    context,
                    target.baseAddress,
                    target.count,
                    source.baseAddress,
                    source.count,
                    Self.level
                )
            }
        }
        guard ZSTD_isError(count) == 0 else {
            throw .cannotCompress(unsafe String(cString: ZSTD_getErrorName(count)))
        }
        frame.removeSubrange(count...)
        return frame
    }
}
