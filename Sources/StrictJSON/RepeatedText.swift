extension JSONElement {
    private static let comparedOneByOne = 16

    /// The first element of an array whose member `key` is a text that an earlier element has too, byte for byte.
    ///
    /// A short array is searched linearly, which is faster than hashing. The texts of a long one are hashed, so that the cost stays
    /// linear.
    package func firstRepetition(of key: String) -> Int? {
        let texts = elements.map { $0[key] }
        guard texts.count > Self.comparedOneByOne else {
            return texts.indices.first { place in texts[..<place].contains { Self.areSameText($0, texts[place]) } }
        }
        var seen: Set<ExactText> = []
        return texts.indices.first { place in
            guard let text = texts[place]?.string else { return false }
            return !seen.insert(ExactText(text)).inserted
        }
    }

    private static func areSameText(_ left: JSONElement?, _ right: JSONElement?) -> Bool {
        guard let left, let right else { return false }
        return left.withText { left in right.withText { right in areSameBytes(left, right) } ?? false } ?? false
    }
}
