extension [UInt8] {
    /// The lines that begin with these words, without the line feeds.
    package func lines(beginningWith words: String) -> [[UInt8]] {
        let words = Array(words.utf8)
        return split(separator: UInt8(ascii: "\n")).filter { $0.starts(with: words) }.map(Array.init)
    }
}
