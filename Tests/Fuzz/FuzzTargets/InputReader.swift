/// Takes an input apart; beyond its end there are zeros, so that every input has a meaning.
struct InputReader {
    private var rest: ArraySlice<UInt8>

    init(_ input: [UInt8]) {
        rest = input[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 {
        rest.popFirst() ?? 0
    }

    mutating func number(below limit: Int) -> Int {
        (Int(byte()) << 8 | Int(byte())) % max(limit, 1)
    }

    mutating func int64() -> Int64 {
        (0..<8).reduce(0) { sum, _ in sum << 8 | Int64(byte()) }
    }

    mutating func bytes(upTo limit: Int) -> [UInt8] {
        let taken = rest.prefix(limit)
        rest = rest.dropFirst(limit)
        return Array(taken)
    }

    mutating func remaining() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }
}

/// Applies the rest of an input to `bytes` as small changes, so that the fuzzer can spoil what it could never make up.
func edited(_ bytes: [UInt8], by reader: inout InputReader) -> [UInt8] {
    var bytes = bytes
    while !reader.isAtEnd, bytes.count < 1 << 17 {
        let kind = reader.byte()
        let place = reader.number(below: bytes.count + 1)
        switch kind % 6 {
        case 0 where place < bytes.count: bytes[place] = reader.byte()
        case 1 where place < bytes.count: bytes[place] ^= 1 << (reader.byte() % 8)
        case 2: bytes.insert(reader.byte(), at: place)
        case 3: bytes.removeSubrange(place..<min(bytes.count, place + Int(reader.byte())))
        case 4: bytes.insert(contentsOf: reader.bytes(upTo: Int(reader.byte() % 16)), at: place)
        // A copy of a piece, as far behind itself as it is long.
        case 5: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + Int(reader.byte()))], at: place)
        default: break
        }
    }
    return bytes
}
