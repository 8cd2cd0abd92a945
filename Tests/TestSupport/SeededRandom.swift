/// Random numbers that are the same in every run of a test (SplitMix64).
package struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number in `0..<1`.
    package mutating func unit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// A number in `range`; all are equally likely.
    package mutating func uniform(_ range: Range<Double>) -> Double {
        range.lowerBound + unit() * (range.upperBound - range.lowerBound)
    }

    /// A text of this many ASCII characters of an alphabet; all are equally likely.
    package mutating func text(of alphabet: String, _ count: Int) -> String {
        let all = Array(alphabet.utf8)
        let bytes = (0..<count).map { _ in all[Int.random(in: 0..<all.count, using: &self)] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
