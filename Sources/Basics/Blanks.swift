/// Characters around a value that nobody sees: spaces and tabs, and those that spreadsheets and web pages add.
package enum Blanks {
    /// In UTF-8: space, tab, no-break space, figure space, narrow no-break space, zero-width space and byte order mark.
    private static let characters: [[UInt8]] = [
        [0x20], [0x09], [0xC2, 0xA0], [0xE2, 0x80, 0x87], [0xE2, 0x80, 0xAF], [0xE2, 0x80, 0x8B], [0xEF, 0xBB, 0xBF],
    ]

    /// - Parameter cell: UTF-8.
    /// - Returns: The cell without the blanks at its beginning and end.
    package static func trimmed(_ cell: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = cell
        while let first = rest.first, mayBeBlank(first), let blank = characters.first(where: { rest.starts(with: $0) })
        {
            rest = rest.dropFirst(blank.count)
        }
        while let last = rest.last, mayBeBlank(last),
            let blank = characters.first(where: { rest.suffix($0.count).elementsEqual($0) })
        {
            rest = rest.dropLast(blank.count)
        }
        return rest
    }

    private static func mayBeBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte >= 0x80 }
}
