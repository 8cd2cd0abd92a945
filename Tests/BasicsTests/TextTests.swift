import Basics
import Testing

struct UUIDTextTests {
    private static let bytes: [UInt8] =
        [0x57, 0x24, 0x65, 0x42, 0x96, 0xFE, 0x1A, 0x63] + [0xE0, 0x53, 8, 0x24, 0xD0, 0, 7, 0x2A]

    @Test func `a random UUID has version 4, and each is another one`() {
        var random = RandomUUIDs()
        var other = RandomUUIDs()
        let all = (0..<50).flatMap { _ in [random.next(), other.next()] }
        #expect(all.allSatisfy { $0.count == 16 && $0[6] >> 4 == 4 && $0[8] >> 6 == 2 })
        #expect(Set(all).count == 100)
    }

    @Test func `a UUID is read in either case and written in lower case`() {
        #expect(UUIDText.text(of: Self.bytes) == "57246542-96fe-1a63-e053-0824d000072a")
        for text in ["57246542-96fe-1a63-e053-0824d000072a", "57246542-96FE-1a63-E053-0824D000072A"] {
            #expect(UUIDText.bytes(of: text) == Self.bytes)
        }
    }

    @Test(arguments: [
        "", "57246542-96fe-1a63-e053-0824d000072", "57246542-96fe-1a63-e053-0824d000072aa",
        "5724654296fe1a63e0530824d000072a", "57246542-96fe-1a63-e053-0824d000072g",
        "57246542_96fe-1a63-e053-0824d000072a",
        "{57246542-96fe-1a63-e053-0824d00007}", "57246542-96fe-1a63-e053-0824d00007é",
    ])
    func `text of another form is not a UUID`(text: String) {
        #expect(UUIDText.bytes(of: text) == nil)
    }
}

struct PrintableTextTests {
    @Test func `text from outside stays one line and cannot control a terminal`() {
        #expect(printable("plain ü \"x\" \\") == "plain ü \"x\" \\")
        #expect(printable("a\nb\u{1B}[2J\u{202E}\u{2028}") == #"a\nb\u{1B}[2J\u{202E}\u{2028}"#)
    }

    @Test func `a limit counts characters, and a sign replaces the rest`() {
        #expect(printable("abcd", limit: 4) == "abcd")
        #expect(printable("abcde", limit: 4) == "abcd…")
        #expect(printable("ab\ncde", limit: 3, asciiOnly: true, quoted: true) == #""ab\n"..."#)
    }

    @Test func `quoted ASCII has no other quotes and no other characters`() {
        #expect(printable("a\"b\\é🧾", asciiOnly: true, quoted: true) == #""a\"b\\\u{00E9}\u{0001F9FE}""#)
    }
}

struct DurationTextTests {
    @Test(
        arguments: [
            (2_000, "33 min", "34 min"), (4_000, "1 h 7 min", "1 h 7 min"), (3_600, "1 h", "1 h"),
            (60.2, "60 s", "61 s"),
            (7_200.5, "2 h", "2 h 1 min"), (0.84, "0.8 s", "0.9 s"), (0, "0.0 s", "0.0 s"), (3_599, "60 min", "60 min"),
            // The last bits of a quotient add no minute.
            (600.000_000_000_1, "10 min", "10 min"),
        ] as [(Double, String, String)]
    )
    func `a duration is rounded to its last unit, and a least duration up`(
        seconds: Double,
        nearest: String,
        least: String
    ) {
        #expect(Duration.seconds(seconds).inWords == nearest)
        #expect(Duration.seconds(seconds).inWords(rounded: .up) == least)
    }
}
