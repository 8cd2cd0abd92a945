/// What the chunks before the image data of a PNG file say; nothing is decoded.
///
/// Source: Portable Network Graphics, third edition, 5 and 11.
struct PNGHeader: Equatable {
    let width: Int
    let height: Int
    /// Whether the file has an alpha channel (colour types 4 and 6) or a tRNS chunk, also if each pixel is opaque.
    let hasTransparency: Bool

    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// - Returns: `nil` for bytes that are not a PNG file with image data.
    init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: Self.signature), Self.type(of: bytes, at: 8) == "IHDR",
            Self.number(bytes, at: 8) == 13, bytes.count >= 33
        else { return nil }
        width = Self.number(bytes, at: 16)
        height = Self.number(bytes, at: 20)
        var isTransparent = [4, 6].contains(bytes[25])
        var place = 33
        while let type = Self.type(of: bytes, at: place) {
            if type == "IDAT" {
                hasTransparency = isTransparent
                return
            }
            isTransparent = isTransparent || type == "tRNS"
            place += 12 + Self.number(bytes, at: place)
        }
        return nil
    }

    /// The type of the chunk that begins at `place`; `nil` behind the end.
    private static func type(of bytes: [UInt8], at place: Int) -> String? {
        guard place >= 0, place + 8 <= bytes.count else { return nil }
        return String(decoding: bytes[place + 4..<place + 8], as: UTF8.self)
    }

    private static func number(_ bytes: [UInt8], at place: Int) -> Int {
        bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
    }
}
