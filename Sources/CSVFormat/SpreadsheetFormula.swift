/// Whether a spreadsheet can run a text as a formula.
///
/// Such a text begins with one of `= + - @`, their full-width forms, TAB, CR or LF, possibly after quotes and semicolons,
/// which some spreadsheets treat as the end of a cell.
func startsFormula(_ text: Span<UInt8>) -> Bool {
    var at = 0
    while at < text.count, text[at] == UInt8(ascii: "\"") || text[at] == UInt8(ascii: ";") { at += 1 }
    guard at < text.count else { return false }
    switch text[at] {
    case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"), 0x09, 0x0D, 0x0A:
        return true
    case 0xEF where at + 2 < text.count && text[at + 1] == 0xBC:
        // U+FF1D ＝, U+FF0B ＋, U+FF0D －, U+FF20 ＠
        return [0x9D, 0x8B, 0x8D, 0xA0].contains(text[at + 2])
    default:
        return false
    }
}

/// Whether a cell needs quotes to be read back unchanged.
func needsQuotes(_ cell: Span<UInt8>) -> Bool {
    if cell.isEmpty || cell[0] <= 0x20 || cell[cell.count - 1] <= 0x20 { return true }
    for place in cell.indices {
        switch cell[place] {
        case UInt8(ascii: ","), UInt8(ascii: "\""), 0x0A, 0x0D: return true
        default: continue
        }
    }
    return false
}
