import Basics

/// A seeded random number generator: the same seed gives the same numbers on every machine and with every Swift version.
///
/// The standard library may change how `random(in:using:)` maps numbers to a range, so the generator has its own methods.
struct SplitMix64: Sendable {
    private var state: UInt64

    /// - `path`: Identifies the part of the world that uses the numbers, so that parts do not influence each other.
    init(seed: UInt64, path: UInt64...) {
        state = seed
        for step in path {
            state = next() ^ (step &* 0xD6E8_FEB8_6659_FD93)
        }
        _ = next()
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to, but not including, `bound`, which is at least 1.
    mutating func below(_ bound: Int) -> Int {
        Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    mutating func within(_ range: Range<Int64>) -> Int64 {
        range.lowerBound + Int64(below(Int(range.upperBound - range.lowerBound)))
    }

    mutating func chance(percent: Int) -> Bool {
        below(100) < percent
    }

    mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[below(choices.count)]
    }

    mutating func shuffle<Element>(_ elements: inout [Element]) {
        for last in stride(from: elements.count - 1, to: 0, by: -1) {
            elements.swapAt(last, below(last + 1))
        }
    }

    /// A version 4 UUID in lower case.
    mutating func uuid() -> String {
        let high = (next() & ~0xF000) | 0x4000
        let low = (next() & ~(0b11 << 62)) | (0b10 << 62)
        return UUIDText.text(
            of: [high, low].flatMap { word in
                (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) }
            }
        )
    }
}
