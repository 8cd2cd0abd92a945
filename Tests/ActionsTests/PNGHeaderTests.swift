import TestSupport
import Testing

@testable import Actions

struct PNGHeaderTests {
    @Test func `size and transparency are read from the chunks before the picture`() throws {
        let plain = try #require(PNGHeader(TestPNG.bytes(3_840, 2_160)))
        #expect(plain.width == 3_840 && plain.height == 2_160 && !plain.hasTransparency)
        #expect(PNGHeader(TestPNG.bytes(10, 20, colourType: 6))?.hasTransparency == true)
        #expect(PNGHeader(TestPNG.bytes(10, 20, colourType: 4))?.hasTransparency == true)
        #expect(PNGHeader(TestPNG.bytes(10, 20, colourType: 3, hasTransparentColour: true))?.hasTransparency == true)
    }

    @Test func `a file that is not a PNG or ends early has no header`() {
        let bytes = TestPNG.bytes(10, 20)
        #expect(PNGHeader([]) == nil && PNGHeader(Array("GIF89a, and more bytes than a header".utf8)) == nil)
        for length in 0..<bytes.count - 28 { #expect(PNGHeader(Array(bytes.prefix(length))) == nil) }
        var huge = bytes
        // A chunk that claims to be longer than the file.
        huge[33] = 0x7F
        #expect(PNGHeader(huge) == nil)
    }
}
