/// PNG files without picture data: enough for everything that reads only the chunks before it.
package enum TestPNG {
    /// - Parameters:
    ///   - colourType: 2 for colours without an alpha channel; 4 and 6 have one.
    ///   - hasTransparentColour: Whether the file has a tRNS chunk.
    ///   - note: A comment, so that files of one size differ.
    package static func bytes(
        _ width: Int,
        _ height: Int,
        colourType: UInt8 = 2,
        hasTransparentColour: Bool = false,
        note: String = ""
    ) -> [UInt8] {
        let header = number(width) + number(height) + [8, colourType, 0, 0, 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", header)
            + chunk("tEXt", Array("Comment\0\(note)".utf8))
            + (hasTransparentColour ? chunk("tRNS", [0, 0, 0, 0, 0, 0]) : [])
            + chunk("IDAT", [0x78, 0x9C, 0x03, 0x00]) + chunk("IEND", [])
    }

    /// The checksum is zero: nothing here reads it.
    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        number(data.count) + Array(type.utf8) + data + [0, 0, 0, 0]
    }

    private static func number(_ value: Int) -> [UInt8] { (0..<4).reversed().map { UInt8(value >> ($0 * 8) & 0xFF) } }
}
