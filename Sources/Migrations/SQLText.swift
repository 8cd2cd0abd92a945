extension String {
    /// The lines that are not empty.
    ///
    /// They are found by their bytes. Finding them by `Character` takes many times as long, and every command reads all migrations.
    var lines: [Substring] { utf8.split(separator: UInt8(ascii: "\n")).map(Substring.init) }

    /// Looks for these words, byte by byte.
    ///
    /// - Parameter words: Not empty. Its first byte occurs in it only once, so that a search never has to go back.
    /// - Returns: Whether the text contains them.
    func mentions(_ words: StaticString) -> Bool {
        let sought = Array("\(words)".utf8)
        var found = 0
        for byte in utf8 {
            if byte == sought[found] {
                found += 1
                if found == sought.count { return true }
            } else {
                found = byte == sought[0] ? 1 : 0
            }
        }
        return false
    }
}

extension Substring {
    /// Whether a line has nothing but a comment.
    var isSQLComment: Bool { utf8.drop { $0 == UInt8(ascii: " ") }.starts(with: "--".utf8) }

    /// The runs of letters, digits and underscores.
    ///
    /// A character outside ASCII counts as a letter.
    var words: [Substring] {
        utf8.split { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): false
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...: false
            default: true
            }
        }
        .map(Substring.init)
    }
}
