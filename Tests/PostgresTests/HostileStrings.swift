/// Strings of the kind that breaks escaping, then random ones; the same at every call.
func hostileStrings(count: Int) -> [String] {
    let known = [
        "", " ", "'; DROP TABLE texts; --", "\\", "\\.", "\\N", "C:\\new\\table", "\t", "\n", "\r\n", "\"", "'", "\"\"",
        "\u{2028}", "\u{1A}", "\u{1}", "\u{7F}", "\u{FEFF}", "\u{10FFFF}", "🧾👩‍👩‍👧‍👦", "e\u{301}", "\u{E9}", "$1", "%s%n",
        "\\x41",
        "{a,b}", "NULL", "null", ",", ";", "\u{0B}\u{0C}\u{8}",
    ]
    var generator = SplitMix64(state: 2_026)
    let random = (known.count..<max(count, known.count)).map { _ in
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...40, using: &generator) {
            let upper: UInt32 = Bool.random(using: &generator) ? 0x7F : 0x10FFFF
            if let scalar = Unicode.Scalar(UInt32.random(in: 1...upper, using: &generator)) { text.append(scalar) }
        }
        return String(text)
    }
    return known + random
}

/// A small generator with a seed, so that a failure can be repeated.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
