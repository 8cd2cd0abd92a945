import Platform

extension Span<UInt8> {
    /// The place of the first byte with this value at or after `start`, which is at most ``Swift/Span/count``.
    package func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        precondition((0...count).contains(start), "the search begins outside of the bytes")
        return unsafe withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress,
                let found = unsafe memchr(base + start, Int32(byte), bytes.count - start)
            else { return nil }
            return unsafe UnsafeRawPointer(found) - base
        }
    }
}
