/// Recognises files of other formats that have been renamed to `.csv`, by their first bytes.
///
/// - Returns: A name for the format, or `nil` when it can be UTF-8 text.
func kindOfBinary(_ start: ArraySlice<UInt8>) -> String? {
    let signatures: [(bytes: [UInt8], kind: String)] = [
        ([0xFF, 0xFE, 0x00, 0x00], "UTF-32"), ([0x00, 0x00, 0xFE, 0xFF], "UTF-32"),
        ([0xFF, 0xFE], "UTF-16"), ([0xFE, 0xFF], "UTF-16"),
        ([0x1F, 0x8B], "gzip"), ([0x50, 0x4B, 0x03, 0x04], "an Excel workbook or another zip archive"),
        ([0xD0, 0xCF, 0x11, 0xE0], "an old Excel workbook"), ([0x28, 0xB5, 0x2F, 0xFD], "zstd"),
        ([0x42, 0x5A, 0x68], "bzip2"), ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "xz"), ([0x25, 0x50, 0x44, 0x46], "PDF"),
    ]
    if let signature = signatures.first(where: { start.starts(with: $0.bytes) }) { return signature.kind }
    // Without a byte order mark, ASCII characters have three NULs each in UTF-32 and one in UTF-16.
    let first = Array(start.prefix(4))
    guard first.count == 4 else { return nil }
    return switch first.map({ $0 == 0 }) {
    case [false, true, true, true], [true, true, true, false]: "UTF-32"
    case [false, true, false, true], [true, false, true, false]: "UTF-16"
    default: nil
    }
}
