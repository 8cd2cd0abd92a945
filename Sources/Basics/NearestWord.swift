/// The word that is most similar to `word`, or `nil` if none is similar.
package func nearest(to word: String, among words: [String]) -> String? {
    let candidates = words.map { (word: $0, distance: editDistance(word.lowercased(), $0.lowercased())) }
    guard let best = candidates.min(by: { $0.distance < $1.distance }) else { return nil }
    // Up to a third of the letters may differ.
    return best.distance <= max(1, best.word.count / 3) ? best.word : nil
}

/// The Levenshtein distance of two words.
///
/// Words are cut to 64 letters, because the cost is the product of the lengths.
private func editDistance(_ left: String, _ right: String) -> Int {
    let left = Array(left.prefix(64))
    let right = Array(right.prefix(64))
    var previous = Array(0...right.count)
    for (row, leftLetter) in left.enumerated() {
        var current = [row + 1]
        for (column, rightLetter) in right.enumerated() {
            let changed = previous[column] + (leftLetter == rightLetter ? 0 : 1)
            current.append(min(changed, previous[column + 1] + 1, current[column] + 1))
        }
        previous = current
    }
    return previous[right.count]
}
