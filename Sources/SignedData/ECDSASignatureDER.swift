/// A P-256 signature in OpenSSL's form: `SEQUENCE { INTEGER r, INTEGER s }` in a buffer of fixed size.
///
/// Written by hand, because general encoders have overflowed their buffers for an oversized r‖s.
struct ECDSASignatureDER {
    /// Two integers of 33 bytes with their tags and lengths, and the sequence around them.
    static let capacity = 72
    private static let fieldByteCount = 32

    private var bytes = InlineArray<72, UInt8>(repeating: 0)
    private var count = 0

    /// Takes what `write` writes into a buffer of ``capacity`` bytes; `nil` when it fails.
    ///
    /// - Parameter write: Sets the count, and returns whether it succeeded.
    @safe
    init?(writtenBy write: (_ buffer: UnsafeMutablePointer<UInt8>?, _ count: inout Int) -> Bool) {
        var span = bytes.mutableSpan
        var count = Self.capacity
        let isWritten = unsafe span.withUnsafeMutableBufferPointer { unsafe write($0.baseAddress, &count) }
        guard isWritten, count <= Self.capacity else { return nil }
        self.count = count
    }

    /// Returns `nil` unless `raw` has exactly 64 bytes.
    init?(raw: Span<UInt8>) {
        guard raw.count == 2 * Self.fieldByteCount else { return nil }
        append(DERTag.sequence)
        append(0)
        append(integer: raw, from: 0)
        append(integer: raw, from: Self.fieldByteCount)
        bytes[1] = UInt8(count - 2)
    }

    func withSpan<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        body(bytes.span.extracting(first: count))
    }

    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        unsafe bytes.span.withUnsafeBufferPointer { unsafe body(UnsafeBufferPointer(rebasing: $0[..<count])) }
    }

    private mutating func append(_ byte: UInt8) {
        bytes[count] = byte
        count += 1
    }

    private mutating func append(integer raw: Span<UInt8>, from start: Int) {
        let end = start + Self.fieldByteCount
        var first = start
        while first < end - 1, raw[first] == 0 { first += 1 }
        // DER integers are signed: without a zero in front, a set top bit would mean a negative number.
        let needsLeadingZero = raw[first] & 0x80 != 0
        append(DERTag.integer)
        append(UInt8(end - first + (needsLeadingZero ? 1 : 0)))
        if needsLeadingZero { append(0) }
        for index in first..<end { append(raw[index]) }
    }

    /// The 64 bytes r‖s, with both halves padded on the left.
    var raw: InlineArray<64, UInt8>? { withSpan { Self.raw(fromTrustedDER: $0) } }

    /// The 64 bytes r‖s of a signature from OpenSSL; `nil` when it has not two integers of at most 32 bytes.
    static func raw(fromTrustedDER der: Span<UInt8>) -> InlineArray<64, UInt8>? {
        var raw = InlineArray<64, UInt8>(repeating: 0)
        var start = 2
        for half in 1...2 {
            guard start + 2 <= der.count, der[start] == DERTag.integer else { return nil }
            var first = start + 2
            let next = first + Int(der[start + 1])
            guard next <= der.count else { return nil }
            while first < next, der[first] == 0 { first += 1 }
            guard next - first <= fieldByteCount else { return nil }
            for index in first..<next { raw[half * fieldByteCount - next + index] = der[index] }
            start = next
        }
        return raw
    }
}
