/// A P-256 signature in OpenSSL's form: `SEQUENCE { INTEGER r, INTEGER s }` in a buffer of fixed size.
///
/// Written by hand, because general encoders have overflowed their buffers for an oversized r‖s.
struct ECDSASignatureDER {
    /// Two integers of 33 bytes with their tags and lengths, and the sequence around them.
    static let capacity = 72
    private static let fieldByteCount = 32

    private var bytes = InlineArray<72, UInt8>(repeating: 0)
    private var count = 0

    /// Returns `nil` unless `raw` has exactly 64 bytes.
    init?(raw: Span<UInt8>) {
        guard raw.count == 2 * Self.fieldByteCount else { return nil }
        append(DERTag.sequence)
        append(0)
        append(integer: raw, from: 0)
        append(integer: raw, from: Self.fieldByteCount)
        bytes[1] = UInt8(count - 2)
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

    /// The 64 bytes r‖s of a signature from OpenSSL, with both halves padded on the left.
    static func raw(fromTrustedDER der: ArraySlice<UInt8>) -> [UInt8]? {
        let der = Array(der)
        var reader = DERReader(der)
        guard var integers = reader.enter(DERTag.sequence), let r = integers.next(DERTag.integer),
            let s = integers.next(DERTag.integer)
        else { return nil }
        var raw = [UInt8](repeating: 0, count: 2 * fieldByteCount)
        for (element, end) in [(r, fieldByteCount), (s, 2 * fieldByteCount)] {
            let digits = der[element.content].drop { $0 == 0 }
            guard digits.count <= fieldByteCount else { return nil }
            raw.replaceSubrange(end - digits.count..<end, with: digits)
        }
        return raw
    }
}
