import AppStoreModel
import CSVFormat

extension FuzzTarget {
    /// A CSV file of IDs: the right cells of the right lines, or an error.
    ///
    /// The first byte chooses the first column or the one named `id`.
    static let idList = FuzzTarget(name: "id-list", longestInput: 4_096) { input in
        var reader = InputReader(input)
        let column: String? = reader.byte() % 2 == 0 ? nil : "id"
        let bytes = reader.remaining()
        let lines = lines(of: bytes)
        var found: [Cell] = []
        do {
            try withFile(of: bytes) { path in
                try IDColumnReader(path: path, column: column).forEachCell { line, text in
                    try promise(line > found.last?.line ?? 0 && line <= lines.count, "line \(line) of \(lines.count)")
                    found.append(Cell(line: line, bytes: Array(text.utf8)))
                }
            }
        } catch let error as CSVError {
            _ = error.description
            return
        }
        try checkIDs(found, in: lines)
        // Without a quote a file can be read by splitting it.
        guard column == nil, !bytes.contains(0x22) else { return }
        let expected = lines.enumerated()
            .filter { !$1.trimmed.isEmpty }
            .map { Cell(line: $0 + 1, bytes: $1.firstCell) }
        let isHeader = found.count + 1 == expected.count
        try promise(found == (isHeader ? Array(expected.dropFirst()) : expected), "\(found) in place of \(expected)")
    }

    private static func checkIDs(_ found: [Cell], in lines: [ArraySlice<UInt8>]) throws {
        for cell in found where TransactionID(String(decoding: cell.bytes, as: UTF8.self)) != nil {
            try promise(
                (1...20).contains(cell.bytes.count) && cell.bytes.allSatisfy { (0x30...0x39).contains($0) },
                "an ID that is not one to twenty digits"
            )
            // A quoted cell may begin in a later line than its row.
            let rest = lines[(cell.line - 1)...]
            try promise(rest.contains { $0.holds(cell.bytes) }, "line \(cell.line) has no \(cell.bytes)")
        }
    }

    private struct Cell: Equatable {
        let line: Int
        let bytes: [UInt8]
    }

    /// LF, CR LF and CR each end a line; a byte order mark is not part of the first line.
    private static func lines(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        var at = start
        while at < bytes.count {
            let isLineEnd = bytes[at] == 0x0A || bytes[at] == 0x0D
            if isLineEnd { lines.append(bytes[start..<at]) }
            if bytes[at] == 0x0D, at + 1 < bytes.count, bytes[at + 1] == 0x0A { at += 1 }
            at += 1
            if isLineEnd { start = at }
        }
        return lines + [bytes[start...]]
    }
}

extension ArraySlice<UInt8> {
    fileprivate func holds(_ part: [UInt8]) -> Bool {
        indices.contains { self[$0...].starts(with: part) }
    }

    /// The line without the blanks at its beginning and end, if it is UTF-8.
    fileprivate var trimmed: [UInt8] {
        let blanks: Set<Unicode.Scalar> = [
            " ", "\t", "\u{A0}", "\u{2007}", "\u{202F}", "\u{200B}", "\u{FEFF}",
        ]
        let text = String(decoding: self, as: UTF8.self).unicodeScalars
        guard let first = text.firstIndex(where: { !blanks.contains($0) }),
            let last = text.lastIndex(where: { !blanks.contains($0) })
        else { return [] }
        return Array(String(text[first...last]).utf8)
    }

    fileprivate var firstCell: [UInt8] {
        prefix { $0 != UInt8(ascii: ",") }.trimmed
    }
}
