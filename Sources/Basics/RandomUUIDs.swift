import Platform

/// Random UUIDs of version 4 (RFC 9562, section 5.4) from the system's generator.
///
/// The kernel is asked for the bytes of sixteen UUIDs at once, because a call takes longer than the bytes.
/// Noncopyable, because a copy would return the same UUIDs again.
package struct RandomUUIDs: ~Copyable {
    private static let byteCount = 16

    /// 256 bytes, the most that `getentropy` returns.
    private var bytes = [UInt8](repeating: 0, count: 16 * byteCount)
    private var used = 16 * byteCount

    package init() {}

    /// The sixteen bytes of a UUID that no call has returned.
    package mutating func next() -> [UInt8] {
        if used == bytes.count { fill() }
        var uuid = Array(bytes[used..<used + Self.byteCount])
        used += Self.byteCount
        uuid[6] = uuid[6] & 0x0F | 0x40
        uuid[8] = uuid[8] & 0x3F | 0x80
        return uuid
    }

    private mutating func fill() {
        let result = unsafe bytes.withUnsafeMutableBytes { unsafe getentropy($0.baseAddress, $0.count) }
        precondition(result == 0, "the kernel gives no random bytes")
        used = 0
    }
}
