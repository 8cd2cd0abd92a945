/// Encodes numbers in Parquet's hybrid of run lengths and bit packing (encoding RLE, 3).
///
/// Runs of at least eight equal values become a run length; all others are packed in groups of eight. Source: the Parquet
/// format's Encodings.md, "Run Length Encoding / Bit-Packing Hybrid".
///
/// - Parameters:
///   - values: Each less than 2^`bitWidth`.
///   - bitWidth: 1 to 32.
///   - bytes: Gets the encoded values, without a length.
func encodeRunLengths(_ values: [UInt32], bitWidth: Int, into bytes: inout [UInt8]) {
    var start = 0
    var index = 0
    while index < values.count {
        var end = index + 1
        while end < values.count, values[end] == values[index] { end += 1 }
        // Packed values before another run must fill groups of eight; the first ones of this run complete the last group.
        let missing = (8 - (index - start) % 8) % 8
        if end - index - missing >= 8 {
            pack(values[start..<(index + missing)], bitWidth, into: &bytes)
            bytes.appendVarint(UInt64(end - index - missing) << 1)
            bytes.appendLittleEndian(Int64(values[index]), count: (bitWidth + 7) / 8)
            start = end
        }
        index = end
    }
    pack(values[start...], bitWidth, into: &bytes)
}

/// Packs values; the last group of eight is filled with zeros.
private func pack(_ values: ArraySlice<UInt32>, _ bitWidth: Int, into bytes: inout [UInt8]) {
    guard !values.isEmpty else { return }
    let groups = (values.count + 7) / 8
    bytes.appendVarint(UInt64(groups) << 1 | 1)
    var pending: UInt64 = 0
    var bits = 0
    func fill(_ value: UInt32, _ bytes: inout [UInt8]) {
        pending |= UInt64(value) << bits
        bits += bitWidth
        while bits >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: pending))
            pending >>= 8
            bits -= 8
        }
    }
    for value in values { fill(value, &bytes) }
    for _ in values.count..<(8 * groups) { fill(0, &bytes) }
}
